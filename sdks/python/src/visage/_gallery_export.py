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

    The stream is opened for the first face. When it breaks, a new one is opened, which has the same order, and the faces
    up to the last one that came are skipped. Each face must come within the timeout of the client; the time that the
    caller takes does not count.
    """

    def __init__(self, open_call: Callable[[], Call], calls: CallRunner) -> None:
        """`Galleries.export` creates it."""
        self._open_call = open_call
        self._calls = calls
        self._call: Optional[Call] = None
        self._watchdog = Watchdog(self._cancel_call)
        self._last: Optional[gallery_pb2.ExportGalleryResponse] = None
        self._is_skipping = False
        self._is_closed = False

    def __next__(self) -> GalleryFace:
        if self._is_closed:
            raise StopIteration
        try:
            self._last = self._take()
        except BaseException:
            # Also at the end, and after a KeyboardInterrupt.
            self.close()
            raise
        return face_from_message(self._last)

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
        attempts = Attempts(self._calls.timeout, self._calls.retries)
        while True:
            try:
                face = self._read()
                if not self._is_skipping:
                    return face
                self._is_skipping = not _is_same(face, self._last)
            except (grpc.RpcError, ValueError) as cause:
                self._wait_for_retry(attempts, self._calls.require_rpc_error(cause))

    def _read(self) -> gallery_pb2.ExportGalleryResponse:
        if self._call is None:
            self._call = self._open_call()
            self._is_skipping = self._last is not None
            if self._is_closed:
                # Another thread has closed the export before it could see this call.
                self._call.cancel()
        try:
            with self._watchdog.limit(self._calls.timeout):
                return next(self._call)
        except StopIteration:
            if self._is_skipping:
                # The last face was deleted meanwhile.
                message = "The stream broke, and the gallery has changed since."
                raise VisageError(message, reason="UNREACHABLE", retryable=True) from None
            raise

    def _wait_for_retry(self, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the stream may be opened again. Raises VisageError if it may not."""
        self._call = None
        self._require_open(cause)
        if self._watchdog.has_cancelled:
            raise VisageError("No face came in time.", reason="DEADLINE_PASSED", retryable=True) from cause
        self._calls.limit.sleep(attempts.delay_after(cause, error_from_rpc(cause)))
        self._require_open(cause)

    def _require_open(self, cause: grpc.RpcError) -> None:
        if self._calls.limit.is_closed:
            raise cancelled() from cause
        if self._is_closed:
            raise VisageError("The export was closed.", reason="CANCELLED") from cause

    def _cancel_call(self) -> None:
        call = self._call
        if call:
            call.cancel()


def _is_same(
    face: gallery_pb2.ExportGalleryResponse, other: Optional[gallery_pb2.ExportGalleryResponse]
) -> bool:
    return other is not None and (face.person_id, face.face_id) == (other.person_id, other.face_id)
