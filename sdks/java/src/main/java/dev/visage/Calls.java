package dev.visage;

import io.grpc.CallOptions;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.Deadline;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Runs the calls of a client: their slots, deadlines and retries. */
final class Calls {
  private final ManagedChannel channel;
  private final String address;
  private final Duration timeout;
  private final int maxInFlight;
  private final Semaphore slots;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Retry retry;

  Calls(ManagedChannel channel, String address, Duration timeout, int retries, int maxInFlight) {
    this.channel = channel;
    this.address = address;
    this.timeout = timeout;
    this.maxInFlight = maxInFlight;
    slots = new Semaphore(maxInFlight, true);
    retry = new Retry(timeout, retries, address, closed);
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

  boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Converts what a call has thrown. */
  VisageException errorFrom(StatusRuntimeException cause) {
    return VisageException.from(cause, address);
  }

  /** Applies options to the builder of a request. */
  static <B> B with(B request, Consumer<B> options) {
    options.accept(request);
    return request;
  }

  /** Calls a method as {@link #run(Supplier, BiFunction, boolean)} does. A repeated deletion succeeds. */
  <Q, R> R run(MethodDescriptor<Q, R> method, Supplier<Q> request, ClientInterceptor... interceptors) {
    var intercepted = ClientInterceptors.intercept(channel, interceptors);
    BiFunction<Deadline, Q, R> rpc =
        (deadline, prepared) ->
            ClientCalls.blockingUnaryCall(
                reconnecting(intercepted), method, CallOptions.DEFAULT.withDeadline(deadline), prepared);
    boolean isDeletion = method.getBareMethodName().startsWith("Delete");
    return run(request, isDeletion ? deletion(rpc) : rpc, method.isIdempotent());
  }

  /**
   * Waits for a slot, creates the request and calls. The deadline starts after that, and files are not read before, so
   * any number of calls may wait.
   *
   * @param isIdempotent whether the call may run twice; otherwise it is only repeated if the service has rejected it
   *     without any work
   */
  <Q, R> R run(Supplier<Q> request, BiFunction<Deadline, Q, R> rpc, boolean isIdempotent) {
    try {
      slots.acquire();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw VisageException.cancelled("The call was interrupted.", interrupt);
    }
    try {
      if (isClosed()) throw VisageException.cancelled("The client is closed.", null);
      Q prepared = request.get();
      return retry.run(deadline -> rpc.apply(deadline, prepared), isIdempotent);
    } finally {
      slots.release();
    }
  }

  /**
   * The stub or channel, which connects again if the last attempt to connect failed. gRPC by itself would fail every
   * call for a second or more before it does.
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

  /** Lets a repeated deletion succeed: if the first response was lost, the second time there is nothing to delete. */
  private <Q, R> BiFunction<Deadline, Q, R> deletion(BiFunction<Deadline, Q, R> rpc) {
    var mayBeDone = new AtomicBoolean();
    return (deadline, request) -> {
      try {
        return rpc.apply(deadline, request);
      } catch (StatusRuntimeException cause) {
        VisageException error = errorFrom(cause);
        if (mayBeDone.get() && error.reason().endsWith("_NOT_FOUND")) return null;
        if (!Retry.isRejection(error)) mayBeDone.set(true);
        throw cause;
      }
    };
  }
}
