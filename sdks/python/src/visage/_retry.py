"""When to retry a call. The rules are those of every Visage client."""

from __future__ import annotations

import random
import time

import grpc

from visage.error import VisageError, forbids_retry

# The first delay of the exponential backoff in seconds, if the service does not ask for a longer one.
_INITIAL_DELAY = 0.1
# The longest delay of the exponential backoff in seconds.
_MAX_DELAY = 1.0
# Delays are extended at random by up to this fraction, so that rejected clients do not retry at the same time.
_JITTER = 0.5
# The service asks for patience, so the call is retried until its deadline.
_REJECTIONS = ("OVERLOADED", "TOO_MANY_REQUESTS", "TOO_MANY_IN_FLIGHT")


class Attempts:
    """The attempts of one call within one deadline. A call that is not idempotent is only repeated if the service has
    rejected it without any work, because otherwise it may have succeeded."""

    may_be_done = False
    """Whether an earlier attempt may have succeeded without a response."""

    def __init__(self, timeout: float, retries: int, *, is_idempotent: bool = True) -> None:
        self._timeout = timeout
        self._retries = retries
        self._retries_left = retries
        self._is_idempotent = is_idempotent
        self._delay = _INITIAL_DELAY
        self._had_internal_error = False
        self.start()

    def start(self) -> None:
        """Starts the time until the deadline again."""
        self._deadline = time.monotonic() + self._timeout

    def remaining(self) -> float:
        """The time until the deadline in seconds; at least a millisecond."""
        return max(0.001, self._deadline - time.monotonic())

    def delay_after(self, cause: grpc.RpcError, error: VisageError) -> float:
        """Returns the delay in seconds before the next attempt. Raises the error if there is none."""
        # After a rejection, the limit of calls in flight is the backoff.
        backoff = _INITIAL_DELAY if is_rejection(error) else self._delay
        delay = max(error.retry_after, backoff) * (1 + _JITTER * random.random())
        # A request that causes two internal errors is likely to be the cause.
        is_internal = error.reason == "INTERNAL"
        if (
            not error.retryable
            or not (self._is_idempotent or is_rejection(error))
            or forbids_retry(cause)
            or (self._retries if is_rejection(error) else self._retries_left) == 0
            or (is_internal and self._had_internal_error)
            or time.monotonic() + delay >= self._deadline
        ):
            raise error from cause
        self._had_internal_error |= is_internal
        if not is_rejection(error):
            self.may_be_done = True
            self._retries_left -= 1
            self._delay = min(_MAX_DELAY, self._delay * 2)
        return delay


def is_rejection(error: VisageError) -> bool:
    """Whether the service rejected the call because of its load or a rate limit, without any work."""
    return error.reason in _REJECTIONS


def cancelled() -> VisageError:
    """The error of a call whose client was closed."""
    return VisageError("The client was closed.", reason="CANCELLED")
