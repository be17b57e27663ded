package dev.visage;

import io.grpc.ConnectivityState;
import io.grpc.Deadline;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs the calls of a client: their slots, deadlines and retries. */
final class Calls {
  private final ManagedChannel channel;
  private final Duration timeout;
  private final int maxInFlight;
  private final Semaphore slots;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Retry retry;

  Calls(ManagedChannel channel, Duration timeout, int retries, int maxInFlight) {
    this.channel = channel;
    this.timeout = timeout;
    this.maxInFlight = maxInFlight;
    slots = new Semaphore(maxInFlight, true);
    retry = new Retry(timeout, retries, closed);
  }

  ManagedChannel channel() {
    return channel;
  }

  Duration timeout() {
    return timeout;
  }

  int maxInFlight() {
    return maxInFlight;
  }

  Retry retry() {
    return retry;
  }

  /** Its count is zero when the client is closed. */
  CountDownLatch closed() {
    return closed;
  }

  /**
   * Waits for a slot, creates the request and calls. The deadline starts after that, and files are not read before, so
   * any number of calls may wait.
   */
  <B, R> R run(Supplier<B> request, Consumer<B> options, BiFunction<Deadline, B, R> rpc) {
    return run(
        () -> {
          B builder = request.get();
          options.accept(builder);
          return builder;
        },
        rpc,
        true);
  }

  /** Calls with a request that needs no preparation. */
  <Q, R> R run(Q request, BiFunction<Deadline, Q, R> rpc) {
    return run(() -> request, rpc, true);
  }

  /** A call that is not idempotent is only repeated if the service has rejected it without any work. */
  <Q, R> R run(Supplier<Q> request, BiFunction<Deadline, Q, R> rpc, boolean isIdempotent) {
    try {
      slots.acquire();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw VisageException.cancelled("The call was interrupted.", interrupt);
    }
    try {
      if (closed.getCount() == 0) throw VisageException.cancelled("The client is closed.", null);
      Q prepared = request.get();
      return retry.run(deadline -> rpc.apply(deadline, prepared), isIdempotent);
    } finally {
      slots.release();
    }
  }

  /**
   * The stub, which connects again if the last attempt to connect failed. gRPC by itself would fail every call for a
   * second or more before it does.
   */
  <S> S reconnecting(S stub) {
    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) channel.enterIdle();
    return stub;
  }

  /** Ends all calls. */
  void close() {
    closed.countDown();
    channel.shutdownNow();
  }
}
