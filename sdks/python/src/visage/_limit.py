"""The limit of calls in flight."""

from __future__ import annotations

import heapq
import itertools
import threading
from typing import Optional

from visage._runtime import Event, Runtime

# The first limit.
_INITIAL_LIMIT = 8


class InFlightLimit:
    """Limits the calls in flight. Calls get their slots in the order of their numbers.

    The limit adapts to the service between 1 and the maximum, like the congestion window of TCP: it grows by one with
    every accepted call until the first rejection, and by one with every full window of accepted calls after it. A
    rejection halves it. Without this, a service that is slower than the maximum would reject some calls until their
    deadline.
    """

    def __init__(self, maximum: int, runtime: Runtime) -> None:
        self._maximum = maximum
        self._limit = float(min(maximum, _INITIAL_LIMIT))
        self._has_rejection = False
        self._in_flight = 0
        # Rejected calls that wait for their delay. Meanwhile no call starts.
        self._pauses = 0
        self._numbers = itertools.count()
        # A heap of the calls that wait for a slot, by number.
        self._waiters: list[tuple[int, Event]] = []
        self._lock = threading.Lock()
        self._runtime = runtime
        self._closed = runtime.event()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def close(self) -> None:
        """Ends every wait for a slot."""
        with self._lock:
            self._closed.set()
            for _, granted in self._waiters:
                granted.set()

    def slot(self) -> Slot:
        """Creates the slot of a new call. It is not acquired yet."""
        return Slot(self, next(self._numbers))

    async def sleep(self, delay: float) -> None:
        """Waits for a delay in seconds, or until the limit is closed."""
        await self._closed.wait(delay)

    def _start_waiting(self) -> None:
        # The caller holds the lock.
        while self._waiters and self._pauses == 0 and self._in_flight < int(self._limit):
            _, granted = heapq.heappop(self._waiters)
            self._in_flight += 1
            granted.set()


class Slot:
    """The right of one call to be in flight. Only one thread or task may use it."""

    def __init__(self, limit: InFlightLimit, number: int) -> None:
        self._limit = limit
        self._number = number
        self._is_held = False

    async def acquire(self, timeout: Optional[float] = None) -> bool:
        """Waits for the slot. Returns false after the timeout in seconds, or if the limit was closed."""
        limit = self._limit
        granted = limit._runtime.event()
        waiter = (self._number, granted)
        with limit._lock:
            heapq.heappush(limit._waiters, waiter)
            limit._start_waiting()
        try:
            await granted.wait(timeout)
        finally:
            # Also after a KeyboardInterrupt or the cancellation of the task.
            with limit._lock:
                if waiter in limit._waiters:
                    limit._waiters.remove(waiter)
                    heapq.heapify(limit._waiters)
                else:
                    self._is_held = True
        return self._is_held and not limit.is_closed

    def accept(self) -> None:
        """Reports that the service accepted the call."""
        limit = self._limit
        with limit._lock:
            growth = 1 / limit._limit if limit._has_rejection else 1
            limit._limit = min(limit._maximum, limit._limit + growth)
            limit._start_waiting()

    async def reject(self, delay: float) -> None:
        """Reports that the service rejected the call because of its load. Releases the slot and lets no call start for
        the delay in seconds."""
        limit = self._limit
        with limit._lock:
            limit._has_rejection = True
            # Calls that were sent together are rejected together.
            if limit._pauses == 0:
                limit._limit = max(1, limit._limit / 2)
            limit._pauses += 1
        self.release()
        try:
            await limit.sleep(delay)
        finally:
            with limit._lock:
                limit._pauses -= 1
                limit._start_waiting()

    def release(self) -> None:
        """Gives the slot back, if the call has it."""
        if not self._is_held:
            return
        self._is_held = False
        with self._limit._lock:
            self._limit._in_flight -= 1
            self._limit._start_waiting()
