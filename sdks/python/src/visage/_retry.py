"""When to retry a call. The rules are those of every Visage client."""

from __future__ import annotations

import random
import time

import grpc

from visage.error import VisageError, error_from_rpc, forbids_retry

# The first delay of the exponential backoff in seconds, if the service does not ask for a longer one.
_INITIAL_DELAY = 0.1
# Delays are extended at random by up to this fraction, so that rejected clients do not retry at the same time.
_JITTER = 0.5


class Attempts:
    """The attempts of one call within one deadline."""

    def __init__(self, timeout: float, retries: int) -> None:
        self._deadline = time.monotonic() + timeout
        self._retries_left = retries
        self._delay = _INITIAL_DELAY
        self._had_internal_error = False

    def remaining(self) -> float:
        """The time until the deadline in seconds; at least a millisecond."""
        return max(0.001, self._deadline - time.monotonic())

    def delay_after(self, cause: grpc.RpcError) -> float:
        """Returns the delay in seconds before the next attempt. Raises VisageError if there is none."""
        error = error_from_rpc(cause)
        delay = max(error.retry_after, self._delay) * (1 + _JITTER * random.random())
        # A request that causes two internal errors is likely to be the cause.
        is_internal = error.reason == "INTERNAL"
        if (
            not error.retryable
            or forbids_retry(cause)
            or self._retries_left == 0
            or (is_internal and self._had_internal_error)
            or time.monotonic() + delay >= self._deadline
        ):
            raise error from cause
        self._had_internal_error |= is_internal
        self._retries_left -= 1
        self._delay *= 2
        return delay


def cancelled() -> VisageError:
    """The error of a call whose client was closed."""
    return VisageError("The client was closed.", reason="CANCELLED")
