"""The faces of an export, on one stream."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Callable, Optional, Protocol

import grpc

from visage._call_runner import CallRunner
from visage._retry import Attempts, cancelled
from visage._watchdog import Watchdog
from visage.error import VisageError, error_from_rpc
from visage.gallery_face import GalleryFace, face_from_message
from visage.v1 import gallery_pb2


class Call(Protocol):
    """A stream from the service."""

    def __next__(self) -> gallery_pb2.ExportGalleryResponse: ...
    def cancel(self) -> object: ...


class GalleryExport(Iterator[GalleryFace]):
    """The faces of a gallery. Only one thread may iterate over it. Close it if you do not take all faces.

    The stream is opened for the first face, and retried until that has come. Later errors are raised, because a new
    stream would repeat the faces. Each face must come within the timeout of the client; the time that the caller takes
    does not count.
    """

    def __init__(self, open_call: Callable[[], Call], calls: CallRunner) -> None:
        """`Galleries.export` creates it."""
        self._open_call = open_call
        self._calls = calls
        self._call: Optional[Call] = None
        self._watchdog = Watchdog(self._cancel_call)
        self._has_face = False
        self._is_closed = False

    def __next__(self) -> GalleryFace:
        if self._is_closed:
            raise StopIteration
        try:
            face = self._take()
        except BaseException:
            # Also at the end, and after a KeyboardInterrupt.
            self.close()
            raise
        self._has_face = True
        return face_from_message(face)

    def close(self) -> None:
        """Cancels the stream. There are no more faces."""
        self._is_closed = True
        self._watchdog.close()
        self._cancel_call()

    def __enter__(self) -> GalleryExport:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def _take(self) -> gallery_pb2.ExportGalleryResponse:
        attempts = Attempts(self._calls.timeout, 0 if self._has_face else self._calls.retries)
        while True:
            try:
                self._call = self._call or self._open_call()
                with self._watchdog.limit(attempts.remaining()):
                    return next(self._call)
            except (grpc.RpcError, ValueError) as cause:
                self._wait_for_retry(attempts, self._calls.require_rpc_error(cause))

    def _wait_for_retry(self, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the stream may be opened again. Raises VisageError if it may not."""
        self._call = None
        if self._is_closed:
            raise VisageError("The export was closed.", reason="CANCELLED") from cause
        if self._watchdog.has_cancelled:
            raise VisageError("No face came in time.", reason="DEADLINE_PASSED", retryable=True) from cause
        self._calls.limit.sleep(attempts.delay_after(cause, error_from_rpc(cause)))
        if self._calls.limit.is_closed:
            raise cancelled() from cause

    def _cancel_call(self) -> None:
        call = self._call
        if call:
            call.cancel()
