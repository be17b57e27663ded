"""Tests what happens to calls of galleries that fail, with a service in this process."""

from __future__ import annotations

import threading
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from fake_galleries import (
    DRAINING,
    INTERNAL,
    NO_RESPONSE,
    NOT_FOUND,
    OVERLOADED,
    WAIT_SECONDS,
    FailingService,
    GalleryTestCase,
)
from fake_service import failure

from visage import GalleryFace, Template, VisageError
from visage._thread_runtime import ThreadReader


class GalleryCallsTest(GalleryTestCase):
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
