"""The faces of an export, on one stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Optional

import grpc
from typing_extensions import Self

from visage._call_runner import CallRunner
from visage._convert import result_from_message
from visage._operation import run_blocking
from visage._retry import Attempts, cancelled
from visage._runtime import Cancellable
from visage.error import VisageError, error_from_rpc
from visage.gallery_results import GalleryFace
from visage.v1 import gallery_pb2


class ExportStream:
    """The faces of a gallery. Only one thread or task may iterate over it. Close it if you do not take all faces.

    The stream is opened for the first face. When it breaks, a new one is opened, which has the same order, and the faces
    up to the last one that came are skipped. Each face must come within the timeout; the time that the caller takes does
    not count.
    """

    def __init__(self, method: Any, gallery_id: str, calls: CallRunner, timeout: Optional[float]) -> None:
        """`export` of the galleries creates it."""
        self._method = method
        self._request = gallery_pb2.ExportGalleryRequest(gallery_id=gallery_id)
        self._calls = calls
        self._timeout = calls.timeout_of(timeout)
        self._call: Optional[Cancellable] = None
        self._reader = calls.runtime.reader(self._cancel_call)
        self._last: Optional[gallery_pb2.ExportGalleryResponse] = None
        self._is_skipping = False
        self._is_closed = False

    def close(self) -> None:
        """Cancels the stream. There are no more faces."""
        self._is_closed = True
        self._reader.close()
        self._cancel_call()

    async def _next(self) -> Optional[GalleryFace]:
        """Returns None at the end."""
        if self._is_closed:
            return None
        try:
            face = await self._take()
        except BaseException:
            # Also after a KeyboardInterrupt or the cancellation of the task.
            self.close()
            raise
        if face is None:
            self.close()
            return None
        self._last = face
        return result_from_message(GalleryFace, face)

    async def _take(self) -> Optional[gallery_pb2.ExportGalleryResponse]:
        attempts = self._calls.attempts(self._timeout)
        while True:
            try:
                face = await self._read()
                if not self._is_skipping:
                    return face
                self._is_skipping = not _is_same(face, self._last)
            except (grpc.RpcError, ValueError) as cause:
                await self._wait_for_retry(attempts, self._calls.require_rpc_error(cause))

    async def _read(self) -> Optional[gallery_pb2.ExportGalleryResponse]:
        if self._call is None:
            if self._calls.limit.is_closed:
                raise cancelled()
            self._call = self._calls.runtime.open_stream(self._method, self._request, self._calls.metadata)
            self._is_skipping = self._last is not None
            if self._is_closed:
                # Another thread has closed the export before it could see this call.
                self._call.cancel()
        face: Optional[gallery_pb2.ExportGalleryResponse] = await self._reader.read(self._call, self._timeout)
        if face is None and self._is_skipping:
            # The last face was deleted meanwhile.
            message = "The stream broke, and the gallery has changed since."
            raise VisageError(message, reason="UNREACHABLE", retryable=True)
        return face

    async def _wait_for_retry(self, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the stream may be opened again. Raises VisageError if it may not."""
        self._call = None
        self._require_open(cause)
        if self._reader.is_overdue:
            raise VisageError("No face came in time.", reason="DEADLINE_PASSED", retryable=True) from cause
        await self._calls.limit.sleep(attempts.delay_after(cause, error_from_rpc(cause)))
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


class GalleryExport(ExportStream, Iterator[GalleryFace]):
    __doc__ = ExportStream.__doc__

    def __next__(self) -> GalleryFace:
        face = run_blocking(self._next())
        if face is None:
            raise StopIteration
        return face

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncGalleryExport(ExportStream, AsyncIterator[GalleryFace]):
    __doc__ = ExportStream.__doc__

    async def __anext__(self) -> GalleryFace:
        face = await self._next()
        if face is None:
            raise StopAsyncIteration
        return face

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


def _is_same(
    face: Optional[gallery_pb2.ExportGalleryResponse], other: Optional[gallery_pb2.ExportGalleryResponse]
) -> bool:
    if face is None or other is None:
        return False
    return (face.person_id, face.face_id) == (other.person_id, other.face_id)
