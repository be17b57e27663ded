"""A service in this process that answers as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Callable, Optional

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from visage.face.v1 import face_pb2, face_pb2_grpc

Trailer = tuple[tuple[str, bytes], ...]


class Failure(Exception):
    """The error that the next call ends with."""

    def __init__(self, code: grpc.StatusCode, trailer: Trailer = ()) -> None:
        super().__init__(code)
        self.code = code
        self.trailer = trailer


def failure(
    code: grpc.StatusCode,
    reason: str,
    *,
    retryable: bool = False,
    retry_after: float = 0,
    pushback: Optional[str] = None,
) -> Failure:
    """An error with the details that the real service sends."""
    info = error_details_pb2.ErrorInfo(
        reason=reason,
        domain="visage.dev",
        metadata={"code": "9999", "retryable": str(retryable).lower(), "stage": "find", "field": "img"},
    )
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromTimedelta(timedelta(seconds=retry_after))
    details = [_pack(info), *([_pack(retry)] if retryable else [])]
    status = status_pb2.Status(code=code.value[0], message="Sorry.", details=details)
    trailer = (("grpc-status-details-bin", status.SerializeToString()),)
    return Failure(code, trailer if pushback is None else (*trailer, ("grpc-retry-pushback-ms", pushback.encode())))


def _pack(message: Message) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed


class FakeService(face_pb2_grpc.FaceServiceServicer):
    """Raises the failures one after the other, then succeeds. `on_call` runs first in every call."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.on_call: Callable[[], object] = lambda: None
        self.requests: list[face_pb2.GetFaceVecRequest] = []
        self.metadata: list[dict[str, object]] = []
        self.times_remaining: list[float] = []
        self.ended = threading.Event()
        """Set when a call has ended, be it that the client has cancelled it."""
        self._lock = threading.Lock()

    def GetFaceVec(
        self, request: face_pb2.GetFaceVecRequest, context: grpc.ServicerContext
    ) -> face_pb2.GetFaceVecResponse:
        remaining = context.time_remaining()
        context.add_callback(self.ended.set)
        self.on_call()
        with self._lock:
            self.times_remaining.append(remaining)
            self.requests.append(request)
            self.metadata.append(dict(context.invocation_metadata()))
            failure = self.failures.pop(0) if self.failures else None
        if failure:
            context.set_trailing_metadata(failure.trailer)
            context.abort(failure.code, "Sorry.")
        context.set_trailing_metadata((("x-visage-model", "test-model"),))
        return face_pb2.GetFaceVecResponse(data=face_pb2.GetFaceVecData(vector=[0.5] * 128))

    def MatchFaces(
        self, request: face_pb2.MatchFacesRequest, context: grpc.ServicerContext
    ) -> face_pb2.MatchFacesResponse:
        raise NotImplementedError

    def CompareFaces(
        self, request: face_pb2.CompareFacesRequest, context: grpc.ServicerContext
    ) -> face_pb2.CompareFacesResponse:
        raise NotImplementedError

    def GetImageAttr(
        self, request: face_pb2.GetImageAttrRequest, context: grpc.ServicerContext
    ) -> face_pb2.GetImageAttrResponse:
        raise NotImplementedError


@contextmanager
def serve(
    service: FakeService, port: int = 0, credentials: Optional[grpc.ServerCredentials] = None
) -> Iterator[int]:
    """Serves on a port of this machine, which it yields."""
    server = grpc.server(ThreadPoolExecutor(64))
    face_pb2_grpc.add_FaceServiceServicer_to_server(service, server)
    address = f"127.0.0.1:{port}"
    bound = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    server.start()
    try:
        yield bound
    finally:
        server.stop(0).wait()
