"""A service of galleries in this process that fails as a test wants."""

from __future__ import annotations

import itertools
import threading
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import grpc
from fake_service import Failure, failure

from visage import VisageClient
from visage.v1 import gallery_pb2 as messages
from visage.v1 import gallery_pb2_grpc
from visage.v1.face_analysis_pb2 import Embedding

DRAINING = failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True)
OVERLOADED = failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True)
INTERNAL = failure(grpc.StatusCode.INTERNAL, "INTERNAL", retryable=True)
NOT_FOUND = failure(grpc.StatusCode.NOT_FOUND, "GALLERY_NOT_FOUND")
# Such as a connection that was lost after the request.
NO_RESPONSE = Failure(grpc.StatusCode.UNAVAILABLE)
WAIT_SECONDS = 30
EMBEDDING = Embedding(values=[0.5], model="model")


# For type checkers all methods are abstract, and the service needs but a few.
_Servicer: Any = gallery_pb2_grpc.GalleryServiceServicer


class FailingService(_Servicer):  # type: ignore[misc]
    """Raises the failures one after the other, then succeeds."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.faces_before_failure = 0
        """Of an export that fails."""
        self.faces: Optional[int] = 3
        """Of an export; None for no end."""
        self.imported: list[int] = []
        self.requests: list[Any] = []
        """Of calls that say how long something is kept, and of deletions and exports of a person."""
        self.export_ended = threading.Event()
        self.release = threading.Event()
        """Until it is set, an export waits after its faces."""
        self.release.set()

    def fail(self, context: grpc.ServicerContext) -> None:
        self.calls += 1
        if self.failures:
            failure = self.failures.pop(0)
            context.set_trailing_metadata(failure.trailer)
            context.abort(failure.code, "Sorry.")

    def CreateGallery(
        self, request: messages.CreateGalleryRequest, context: grpc.ServicerContext
    ) -> messages.CreateGalleryResponse:
        self.requests.append(request)
        self.fail(context)
        return messages.CreateGalleryResponse(gallery=messages.Gallery(gallery_id=request.gallery_id))

    def UpdateGallery(
        self, request: messages.UpdateGalleryRequest, context: grpc.ServicerContext
    ) -> messages.UpdateGalleryResponse:
        self.requests.append(request)
        return messages.UpdateGalleryResponse()

    def EnrolFace(
        self, request: messages.EnrolFaceRequest, context: grpc.ServicerContext
    ) -> messages.EnrolFaceResponse:
        self.requests.append(request)
        return messages.EnrolFaceResponse()

    def UpdatePerson(
        self, request: messages.UpdatePersonRequest, context: grpc.ServicerContext
    ) -> messages.UpdatePersonResponse:
        self.requests.append(request)
        return messages.UpdatePersonResponse()

    def DeletePerson(
        self, request: messages.DeletePersonRequest, context: grpc.ServicerContext
    ) -> messages.DeletePersonResponse:
        self.requests.append(request)
        self.fail(context)
        return messages.DeletePersonResponse(person_id=request.person_id)

    def ExportPerson(
        self, request: messages.ExportPersonRequest, context: grpc.ServicerContext
    ) -> Iterator[messages.ExportPersonResponse]:
        self.requests.append(request)
        yield messages.ExportPersonResponse(gallery_id="one", person_id=request.person_id)
        self.fail(context)
        yield messages.ExportPersonResponse(gallery_id="two", person_id=request.person_id)

    def DeleteGallery(
        self, request: messages.DeleteGalleryRequest, context: grpc.ServicerContext
    ) -> messages.DeleteGalleryResponse:
        self.fail(context)
        return messages.DeleteGalleryResponse()

    def ExportGallery(
        self, request: messages.ExportGalleryRequest, context: grpc.ServicerContext
    ) -> Iterator[messages.ExportGalleryResponse]:
        context.add_callback(self.export_ended.set)
        for number in itertools.count():
            if number == self.faces_before_failure:
                self.fail(context)
            if number == self.faces or not context.is_active():
                break
            yield messages.ExportGalleryResponse(person_id=str(number), embedding=EMBEDDING)
        self.release.wait(WAIT_SECONDS)

    def ImportFaces(
        self, request_iterator: Iterator[messages.ImportFacesRequest], context: grpc.ServicerContext
    ) -> messages.ImportFacesResponse:
        count = 0
        for count, request in enumerate(request_iterator, 1):
            if request.WhichOneof("expiration"):
                self.requests.append(request)
        self.fail(context)
        self.imported.append(count)
        return messages.ImportFacesResponse(face_count=count, revision=len(self.imported))


class GalleryTestCase(unittest.TestCase):
    def serve(self, service: FailingService) -> str:
        server = grpc.server(ThreadPoolExecutor(8))
        gallery_pb2_grpc.add_GalleryServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        self.addCleanup(service.release.set)
        return f"http://127.0.0.1:{port}"

    def client(self, service: FailingService, **options: Any) -> VisageClient:
        client = VisageClient(self.serve(service), "key-of-tests", **options)
        self.addCleanup(client.close)
        return client
