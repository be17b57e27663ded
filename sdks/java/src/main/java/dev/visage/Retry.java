package dev.visage;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Repeats a call while its error is retryable. */
final class Retry {
  /** The first delay of the exponential backoff, if the service does not ask for a longer one. */
  private static final Duration INITIAL_DELAY = Duration.ofMillis(100);

  /** The longest delay of the exponential backoff. */
  private static final Duration MAX_DELAY = Duration.ofSeconds(1);

  /** Delays are extended at random by up to this fraction, so that rejected clients do not retry at the same time. */
  private static final double JITTER = 0.5;

  /** An internal error is retried once: a request that causes a second one is likely to be the cause. */
  private static final String INTERNAL = "INTERNAL";

  /** Rejections without any work. The service asks for patience, so the call is retried until its deadline. */
  private static final Set<String> REJECTIONS =
      Set.of("OVERLOADED", "TOO_MANY_REQUESTS", "TOO_MANY_IN_FLIGHT");

  private final long timeoutNanos;
  private final int retries;
  private final String address;
  private final CountDownLatch closed;

  /**
   * @param timeout the deadline of all attempts together
   * @param retries the number of attempts after the first; rejections do not count, unless it is zero
   * @param address the URL of the service
   * @param closed ends waiting and retrying when its count is zero
   */
  Retry(Duration timeout, int retries, String address, CountDownLatch closed) {
    this.timeoutNanos = timeout.toNanos();
    this.retries = retries;
    this.address = address;
    this.closed = closed;
  }

  /**
   * Calls, and retries with exponential backoff or after the delay that the service asks for. Fails at once if the next
   * delay would exceed the deadline. An interrupt ends the call and stays set, and so does the end of the gRPC context.
   *
   * @param isIdempotent whether the call may run twice; otherwise it is only repeated if the service has rejected it
   *     without any work
   * @throws VisageException if the last attempt failed, the thread was interrupted or the client was closed
   */
  <T> T run(Function<Deadline, T> call, boolean isIdempotent) {
    Attempts attempts = new Attempts(isIdempotent);
    while (true) {
      try {
        return call.apply(attempts.deadline);
      } catch (StatusRuntimeException cause) {
        attempts.awaitNext(cause);
      }
    }
  }

  /** Attempts with one deadline. */
  final class Attempts {
    private final Deadline deadline = Deadline.after(timeoutNanos, TimeUnit.NANOSECONDS);
    private final boolean isIdempotent;
    private int retriesLeft = retries;
    private boolean hadInternalError;
    private int attempt;

    Attempts() {
      this(true);
    }

    private Attempts(boolean isIdempotent) {
      this.isIdempotent = isIdempotent;
    }

    /**
     * Waits before the next attempt.
     *
     * @throws VisageException if there is none, the thread was interrupted or the client was closed
     */
    void awaitNext(StatusRuntimeException cause) {
      requireNotCancelled(cause);
      VisageException error = VisageException.from(cause, address);
      boolean isRejection = isRejection(error);
      boolean isInternal = error.reason().equals(INTERNAL);
      long delayNanos = delayNanosAfter(error, attempt++);
      boolean isLast =
          (isRejection ? retries : retriesLeft) == 0
              || delayNanos >= deadline.timeRemaining(TimeUnit.NANOSECONDS);
      boolean mayHaveSucceeded = !isIdempotent && !isRejection;
      if (!error.retryable() || isLast || mayHaveSucceeded || (isInternal && hadInternalError)) throw error;
      hadInternalError |= isInternal;
      if (!isRejection) retriesLeft--;
      sleep(delayNanos, error);
    }
  }

  /** Whether the service rejected a call without any work, because of its load or a rate limit. */
  static boolean isRejection(VisageException error) {
    return REJECTIONS.contains(error.reason());
  }

  private void requireNotCancelled(StatusRuntimeException cause) {
    if (closed.getCount() == 0) throw VisageException.cancelled("The client is closed.", cause);
    if (Thread.currentThread().isInterrupted()) {
      throw VisageException.cancelled("The call was interrupted.", cause);
    }
    if (cause.getStatus().getCode() == Status.Code.CANCELLED && Context.current().isCancelled()) {
      throw VisageException.cancelled("The context of the call was cancelled.", cause);
    }
  }

  private static long delayNanosAfter(VisageException error, int attempt) {
    double backoffMs = Math.min(MAX_DELAY.toMillis(), Math.scalb((double) INITIAL_DELAY.toMillis(), attempt));
    double retryAfterMs = error.retryAfter().toSeconds() * 1e3 + error.retryAfter().toMillisPart();
    double delayMs = Math.max(retryAfterMs, backoffMs);
    return (long) (delayMs * (1 + JITTER * ThreadLocalRandom.current().nextDouble()) * 1e6);
  }

  private void sleep(long nanos, VisageException error) {
    try {
      if (closed.await(nanos, TimeUnit.NANOSECONDS)) {
        throw VisageException.cancelled("The client is closed.", error);
      }
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw VisageException.cancelled("The call was interrupted.", interrupt);
    }
  }
}
