"""A deadline for each message of a stream."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable, Optional


class Watchdog:
    """Cancels a stream if a message does not come in time. gRPC only knows deadlines of whole calls.

    Its thread ends when it is closed, or when nobody has waited for as long as the limit.
    """

    def __init__(self, cancel: Callable[[], object]) -> None:
        """`cancel` is a method. Its object is not kept alive, so that a stream that nobody closes can be collected."""
        self._cancel = weakref.WeakMethod(cancel)
        self._changed = threading.Condition()
        self._deadline = 0.0
        self._is_waiting = False
        self._is_closed = False
        self._thread: Optional[threading.Thread] = None
        self.has_cancelled = False

    @contextmanager
    def limit(self, timeout: float) -> Iterator[None]:
        """Limits the time in seconds that the body may take. It is the same for all messages."""
        with self._changed:
            self._deadline = time.monotonic() + timeout
            self._is_waiting = True
            if not self._thread and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="visage-watchdog", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._is_waiting = False

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._is_closed and (left := self._deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            self._thread = None
            self.has_cancelled = self._is_waiting and not self._is_closed
        cancel = self._cancel()
        if self.has_cancelled and cancel:
            cancel()
