"""The client for threads. `visage.aio` has the one for asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Callable, Optional, TypeVar

import grpc
from typing_extensions import deprecated

from visage import _requests, results
from visage._connection import (
    CHANNEL_OPTIONS,
    Pem,
    credentials_from_options,
    metadata_from_key,
    target_from_address,
)
from visage._limit import InFlightLimit, Slot
from visage._retry import Attempts, cancelled, is_rejection
from visage.error import error_from_rpc
from visage.face.v1.face_pb2_grpc import FaceServiceStub
from visage.image import ImageInput
from visage.results import Box, Comparison, ImageAttributes, Match, Template

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class VisageClient:
    """Calls the service over gRPC. Create one and share it: threads may call it at the same time.

    Calls raise VisageError, or the error of reading an image. They connect on first use and reconnect when the
    connection is lost. Create the client after a fork.
    """

    raw: FaceServiceStub
    """The generated client for everything else. It does not retry, and needs `metadata=client.metadata`."""
    metadata: tuple[tuple[str, str], ...]
    """The metadata that authenticates a call of `raw`."""

    def __init__(
        self,
        address: str,
        api_key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        max_in_flight: int = 32,
        ca: Optional[Pem] = None,
        client_certificate: Optional[Pem] = None,
        client_key: Optional[Pem] = None,
    ) -> None:
        """Args:
            address: URL of the service, such as `http://localhost:8080`. `https:` uses TLS.
            api_key: Key of the user; None if a client certificate identifies the user.
            timeout: Deadline of a call including its retries, in seconds.
            retries: How often a call with a retryable error is retried. `INTERNAL` is retried once at most. Unless
                it is 0, calls that the service rejects because of load are retried until the deadline.
            max_in_flight: The most calls at the same time. Further calls wait, which does not count against `timeout`.
                The client lowers the limit while the service rejects calls because of load.
            ca: Certificates to trust instead of those that gRPC brings along: PEM bytes, or a path.
            client_certificate: Certificate chain of this client: PEM bytes, or a path.
            client_key: Private key of `client_certificate`.
        """
        target = target_from_address(address)
        credentials = credentials_from_options(address, ca, client_certificate, client_key)
        self.metadata = metadata_from_key(api_key)
        if timeout <= 0 or retries < 0 or max_in_flight < 1:
            raise ValueError("timeout and max_in_flight must be positive, and retries must not be negative.")
        self._timeout = timeout
        self._retries = retries
        self._limit = InFlightLimit(max_in_flight)
        self._channel = (
            grpc.secure_channel(target, credentials, CHANNEL_OPTIONS)
            if credentials
            else grpc.insecure_channel(target, CHANNEL_OPTIONS)
        )
        self.raw = FaceServiceStub(self._channel)

    def match_faces(
        self,
        one: ImageInput,
        other: ImageInput,
        *,
        box_1: Optional[Box] = None,
        box_2: Optional[Box] = None,
        detect: Optional[bool] = None,
    ) -> Match:
        """Compares the faces of two images. A box selects the face of its image. `detect=False` skips detection: the
        box is taken as a face, or the whole image if there is no box."""
        response, _ = self._call(
            self.raw.MatchFaces, lambda: _requests.match_request(one, other, box_1, box_2, detect)
        )
        return results.match_from_message(response.data)

    @deprecated("Use match_faces, which gives the same verdict.")
    def compare_faces(
        self,
        one: ImageInput,
        other: ImageInput,
        *,
        box_1: Optional[Box] = None,
        box_2: Optional[Box] = None,
        detect: Optional[bool] = None,
    ) -> Comparison:
        """Compares the faces of two images by confidence. Deprecated: use match_faces."""
        response, _ = self._call(
            self.raw.CompareFaces,  # type: ignore[deprecated]
            lambda: _requests.compare_request(one, other, box_1, box_2, detect),
        )
        return results.comparison_from_message(response.data)

    def get_image_attr(
        self, image: ImageInput, *, boxes: Iterable[Box] = (), detect: Optional[bool] = None
    ) -> ImageAttributes:
        """Analyses all faces of an image, or those in the boxes. `detect=False` skips detection."""
        response, _ = self._call(
            self.raw.GetImageAttr, lambda: _requests.attributes_request(image, boxes, detect)
        )
        return results.attributes_from_message(response.data.attributes)

    def get_face_vec(
        self,
        image: ImageInput,
        *,
        box: Optional[Box] = None,
        quality: bool = False,
        detect: Optional[bool] = None,
    ) -> Template:
        """Computes the template of a face. `quality` rejects a face that is too small, too dark or turned away.
        `detect=False` skips detection."""
        response, call = self._call(
            self.raw.GetFaceVec, lambda: _requests.vector_request(image, box, quality, detect)
        )
        return results.template_from_message(response.data, call.trailing_metadata())

    def close(self) -> None:
        """Closes the connection and cancels all calls. They raise VisageError with the reason `CANCELLED`."""
        self._limit.close()
        self._channel.close()

    def __enter__(self) -> VisageClient:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def _call(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        create_request: Callable[[], _Request],
    ) -> tuple[_Response, grpc.Call]:
        slot = self._limit.slot()
        try:
            # Images are read after this, so that waiting calls do not hold them in memory.
            if not slot.acquire():
                raise cancelled()
            attempts = Attempts(self._timeout, self._retries)
            request = create_request()
            while True:
                try:
                    result = method.with_call(request, timeout=attempts.remaining(), metadata=self.metadata)
                    slot.accept()
                    return result
                # gRPC raises ValueError for a closed channel.
                except (grpc.RpcError, ValueError) as cause:
                    if self._limit.is_closed:
                        raise cancelled() from cause
                    if not isinstance(cause, grpc.RpcError):
                        raise
                    self._wait_for_retry(slot, attempts, cause)
        finally:
            slot.release()

    def _wait_for_retry(self, slot: Slot, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the call may be tried again. Raises VisageError if it may not."""
        error = error_from_rpc(cause)
        delay = attempts.delay_after(cause, error)
        if is_rejection(error):
            slot.reject(delay)
            has_slot = slot.acquire(attempts.remaining())
        else:
            self._limit.sleep(delay)
            has_slot = True
        if self._limit.is_closed:
            raise cancelled() from cause
        if not has_slot:
            raise error from cause
