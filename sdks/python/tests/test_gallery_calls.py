"""Tests what happens to calls of galleries that fail, with a service in this process."""

from __future__ import annotations

import itertools
import threading
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

import grpc
from fake_service import Failure, failure

from visage import GalleryFace, Template, VisageClient, VisageError
from visage._thread_runtime import ThreadReader
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
        self.fail(context)
        return messages.CreateGalleryResponse(gallery=messages.Gallery(gallery_id=request.gallery_id))

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
        count = sum(1 for _ in request_iterator)
        self.fail(context)
        self.imported.append(count)
        return messages.ImportFacesResponse(face_count=count, revision=len(self.imported))


class GalleryCallsTest(unittest.TestCase):
    def client(self, service: FailingService, **options: Any) -> VisageClient:
        server = grpc.server(ThreadPoolExecutor(8))
        gallery_pb2_grpc.add_GalleryServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        self.addCleanup(service.release.set)
        client = VisageClient(f"http://127.0.0.1:{port}", "key-of-tests", **options)
        self.addCleanup(client.close)
        return client

    def test_a_creation_is_only_retried_after_a_rejection(self) -> None:
        service = FailingService(OVERLOADED, OVERLOADED)
        self.client(service).galleries.create("staff")
        self.assertEqual(service.calls, 3)
        for failure, reason in ((NO_RESPONSE, "UNREACHABLE"), (INTERNAL, "INTERNAL")):
            service = FailingService(failure)
            with self.assertRaisesRegex(VisageError, reason):
                self.client(service).galleries.create("staff")
            self.assertEqual(service.calls, 1)

    def test_a_deletion_is_retried(self) -> None:
        service = FailingService(NO_RESPONSE, DRAINING)
        self.client(service).galleries.delete("staff")
        self.assertEqual(service.calls, 3)

    def test_a_deletion_whose_response_was_lost_succeeds(self) -> None:
        service = FailingService(NO_RESPONSE, NOT_FOUND)
        self.client(service).galleries.delete("staff")
        self.assertEqual(service.calls, 2)
        for failures in ([NOT_FOUND], [OVERLOADED, NOT_FOUND]):
            service = FailingService(*failures)
            with self.assertRaisesRegex(VisageError, "GALLERY_NOT_FOUND"):
                self.client(service).galleries.delete("staff")

    def test_an_export_goes_on_after_a_break(self) -> None:
        for faces_before_failure in (0, 2, 3):
            service = FailingService(NO_RESPONSE, OVERLOADED)
            service.faces_before_failure = faces_before_failure
            faces = list(self.client(service).galleries.export("staff"))
            self.assertEqual(([face.person_id for face in faces], service.calls), (["0", "1", "2"], 3))

    def test_an_export_without_progress_fails(self) -> None:
        service = FailingService(*[DRAINING] * 3)
        service.faces_before_failure = 2
        taken = []
        with self.assertRaises(VisageError) as raised:
            for face in self.client(service, retries=2).galleries.export("staff"):
                taken.append(face)
        self.assertEqual((raised.exception.reason, raised.exception.retryable), ("DRAINING", True))
        self.assertEqual((len(taken), service.calls), (2, 3))

    def test_an_export_whose_last_face_was_deleted_meanwhile_fails(self) -> None:
        service = FailingService(DRAINING)
        service.faces_before_failure = 2
        export = self.client(service).galleries.export("staff")
        self.assertEqual([next(export).person_id, next(export).person_id], ["0", "1"])
        service.faces = 1
        with self.assertRaisesRegex(VisageError, "has changed since"):
            next(export)
        self.assertEqual(list(export), [])

    def test_leaving_an_export_ends_it(self) -> None:
        service = FailingService()
        service.faces = None
        with self.client(service).galleries.export("staff") as faces:
            next(faces)
        self.assertTrue(service.export_ended.wait(WAIT_SECONDS))
        for thread in threading.enumerate():
            if thread.name == "visage-watchdog":
                thread.join(WAIT_SECONDS)
        self.assertNotIn("visage-watchdog", [thread.name for thread in threading.enumerate()])

    def test_a_forgotten_export_ends(self) -> None:
        service = FailingService()
        service.faces = None
        next(self.client(service, timeout=1).galleries.export("staff"))
        self.assertTrue(service.export_ended.wait(WAIT_SECONDS))

    def test_an_export_without_a_face_in_time_fails(self) -> None:
        service = FailingService()
        service.release.clear()
        export = self.client(service, timeout=1).galleries.export("staff")
        taken = []
        with self.assertRaises(VisageError) as raised:
            for face in export:
                taken.append(face)
        self.assertEqual((raised.exception.reason, len(taken)), ("DEADLINE_PASSED", 3))
        self.assertTrue(service.export_ended.wait(WAIT_SECONDS))

    def test_closing_an_export_in_another_thread_ends_its_wait(self) -> None:
        service = FailingService()
        service.release.clear()
        export = self.client(service).galleries.export("staff")
        for _ in range(3):
            next(export)
        with ThreadPoolExecutor(1) as pool:
            wait = pool.submit(next, export)
            reader = export._reader
            assert isinstance(reader, ThreadReader)
            while not reader._watchdog._is_waiting:
                time.sleep(0.001)
            export.close()
            self.assertEqual(getattr(wait.exception(WAIT_SECONDS / 2), "reason", None), "CANCELLED")

    def test_an_export_that_was_closed_while_it_waits_for_a_retry_opens_no_stream(self) -> None:
        service = FailingService(failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True, retry_after=1))
        export = self.client(service).galleries.export("staff")
        with ThreadPoolExecutor(1) as pool:
            wait = pool.submit(next, export)
            while not service.calls or export._call:
                time.sleep(0.001)
            export.close()
            self.assertEqual(getattr(wait.exception(WAIT_SECONDS), "reason", None), "CANCELLED")
        self.assertEqual(service.calls, 1)

    def test_each_call_of_an_import_is_retried(self) -> None:
        service = FailingService(OVERLOADED, NO_RESPONSE)
        faces = (GalleryFace("ann", Template([0.5], "model"), str(number)) for number in range(10_001))
        response = self.client(service).galleries.import_faces("staff", faces)
        self.assertEqual((response.face_count, response.revision), (10_001, 3))
        self.assertEqual((service.imported, service.calls), ([5000, 5000, 1], 5))

    def test_the_faces_of_an_import_may_come_from_other_calls(self) -> None:
        service = FailingService()
        # An import that kept its slot while it reads the faces would wait for itself.
        galleries = self.client(service, max_in_flight=1).galleries

        def faces() -> Iterator[GalleryFace]:
            for face in galleries.export("staff"):
                galleries.delete("other")
                yield face

        self.assertEqual(galleries.import_faces("copy", faces()).face_count, 3)


if __name__ == "__main__":
    unittest.main()
