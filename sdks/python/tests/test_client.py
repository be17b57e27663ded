"""Tests the client against a service in this process."""

from __future__ import annotations

import io
import pickle
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import grpc
from fake_service import Failure, FakeService, failure, serve

from visage import Url, VisageClient, VisageError

KEY = "key-of-tests"
DRAINING = failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True)
OVERLOADED = failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True)
INTERNAL = failure(grpc.StatusCode.INTERNAL, "INTERNAL", retryable=True)
NO_FACE = failure(grpc.StatusCode.FAILED_PRECONDITION, "NO_FACE")
WAIT_SECONDS = 30


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        server = serve(self.service)
        self.port = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)

    def client(self, **options: Any) -> VisageClient:
        client = VisageClient(f"http://127.0.0.1:{self.port}", KEY, **options)
        self.addCleanup(client.close)
        return client

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.perf_counter() + WAIT_SECONDS
        while not condition():
            self.assertLess(time.perf_counter(), deadline)
            time.sleep(0.001)

    def fails(self, *failures: Failure, **options: Any) -> VisageError:
        self.service.failures = list(failures)
        with self.assertRaises(VisageError) as raised:
            self.client(**options).get_face_vec(b"photo")
        return raised.exception

    def test_returns_a_template_with_its_model(self) -> None:
        template = self.client().get_face_vec(b"photo")
        self.assertEqual((len(template.embedding), template.model), (128, "test-model"))
        self.assertEqual(self.service.metadata[0]["authorization"], f"Bearer {KEY}")

    def test_maps_the_details_of_an_error(self) -> None:
        error = self.fails(NO_FACE)
        self.assertEqual(
            (error.reason, error.code, error.field, error.stage, error.retryable, error.retry_after),
            ("NO_FACE", "9999", "img", "find", False, 0),
        )
        self.assertEqual(str(error), "NO_FACE (img): Sorry.")
        self.assertIsInstance(error.__cause__, grpc.RpcError)
        self.assertEqual(len(self.service.requests), 1)

    def test_an_error_survives_pickling(self) -> None:
        error = self.fails(NO_FACE)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.code, copy.field), (str(error), "9999", "img"))

    def test_an_error_with_unreadable_details_keeps_its_status(self) -> None:
        error = self.fails(Failure(grpc.StatusCode.NOT_FOUND, (("grpc-status-details-bin", b"\xff\xff"),)))
        self.assertEqual((error.reason, error.code, error.retryable), ("UNREACHABLE", None, False))

    def test_retries_as_often_as_allowed(self) -> None:
        self.service.failures = [DRAINING, DRAINING]
        self.client(retries=2).get_face_vec(b"photo")
        self.assertEqual(len(self.service.requests), 3)
        error = self.fails(DRAINING, DRAINING, retries=1)
        self.assertEqual((error.reason, error.retryable), ("DRAINING", True))
        self.assertEqual(len(self.service.requests), 5)

    def test_retries_a_rejection_until_the_deadline(self) -> None:
        self.service.failures = [OVERLOADED] * 4
        self.client(retries=1).get_face_vec(b"photo")
        self.assertEqual(len(self.service.requests), 5)
        self.assertEqual(self.fails(OVERLOADED, retries=0).reason, "OVERLOADED")
        self.assertEqual(len(self.service.requests), 6)

    def test_retries_a_stream_that_another_party_has_reset(self) -> None:
        self.service.failures = [Failure(grpc.StatusCode.CANCELLED), Failure(grpc.StatusCode.INTERNAL)]
        self.client().get_face_vec(b"photo")
        self.assertEqual(len(self.service.requests), 3)

    def test_retries_an_internal_error_once(self) -> None:
        self.assertEqual(self.fails(INTERNAL, INTERNAL, retries=5).reason, "INTERNAL")
        self.assertEqual(len(self.service.requests), 2)

    def test_fails_at_once_if_the_delay_exceeds_the_deadline(self) -> None:
        error = self.fails(failure(grpc.StatusCode.UNAVAILABLE, "ACCOUNTS_UNAVAILABLE", retryable=True, retry_after=31))
        self.assertEqual((error.reason, error.retry_after), ("ACCOUNTS_UNAVAILABLE", 31))
        self.assertEqual(len(self.service.requests), 1)

    def test_does_not_retry_if_the_quota_is_spent(self) -> None:
        self.fails(failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_SPENT", pushback="-1"))
        self.assertEqual(len(self.service.requests), 1)

    def test_fails_at_once_if_the_pushback_is_negative(self) -> None:
        self.fails(failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True, pushback="-1"))
        self.assertEqual(len(self.service.requests), 1)

    def test_reports_an_unreachable_service(self) -> None:
        with serve(FakeService()) as port:
            pass
        with VisageClient(f"http://127.0.0.1:{port}", KEY, retries=1) as client:
            with self.assertRaises(VisageError) as raised:
                client.get_face_vec(b"photo")
        self.assertEqual((raised.exception.reason, raised.exception.retryable), ("UNREACHABLE", True))

    def test_reconnects_to_a_restarted_service(self) -> None:
        with serve(FakeService()) as port:
            pass
        with VisageClient(f"http://127.0.0.1:{port}", KEY) as client:
            with mock.patch.object(client._calls, "_retries", 0), self.assertRaises(VisageError):
                client.get_face_vec(b"photo")
            # All retries come before gRPC would connect again by default.
            with serve(FakeService(), port):
                client.get_face_vec(b"photo")

    def test_reports_a_passed_deadline(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)
        self.service.on_call = lambda: self.assertTrue(release.wait(WAIT_SECONDS))
        self.assertEqual(self.fails(timeout=0.05).reason, "DEADLINE_PASSED")

    def test_a_call_may_have_a_timeout_of_its_own(self) -> None:
        client = self.client(timeout=0.001)
        client.get_face_vec(b"photo", timeout=60)
        self.assertGreater(self.service.times_remaining[0], 30)
        with self.assertRaises(ValueError):
            client.get_face_vec(b"photo", timeout=0)

    def test_limits_the_calls_in_flight(self) -> None:
        counter = Counter()
        self.service.on_call = counter.count
        client = self.client(max_in_flight=3)
        with ThreadPoolExecutor(40) as pool:
            self.assertEqual(len(list(pool.map(client.get_face_vec, [b"photo"] * 40))), 40)
        self.assertLessEqual(counter.most, 3)

    def test_lowers_the_limit_while_the_service_rejects_calls(self) -> None:
        # A service that can only take two calls at the same time.
        counter = Counter()

        def reject_the_third() -> None:
            if counter.count() > 2:
                self.service.failures.append(OVERLOADED)

        self.service.on_call = reject_the_third
        client = self.client(max_in_flight=32)
        with ThreadPoolExecutor(100) as pool:
            self.assertEqual(len(list(pool.map(client.get_face_vec, [b"photo"] * 100))), 100)
        self.assertEqual((client._calls.limit._in_flight, client._calls.limit._pauses), (0, 0))

    def test_a_waiting_call_neither_reads_its_image_nor_uses_its_time(self) -> None:
        client = self.client(max_in_flight=1, timeout=60)
        started, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def hold() -> None:
            started.set()
            release.wait(WAIT_SECONDS)

        self.service.on_call = hold
        image = mock.Mock(spec=io.BytesIO, read=mock.Mock(return_value=b"photo"))
        clock = mock.Mock(return_value=0.0)
        with mock.patch("visage._retry.time.monotonic", clock), ThreadPoolExecutor(2) as pool:
            first = pool.submit(client.get_face_vec, b"photo")
            self.assertTrue(started.wait(WAIT_SECONDS))
            second = pool.submit(client.get_face_vec, image)
            self.wait_for(lambda: len(client._calls.limit._waiters) == 1)
            image.read.assert_not_called()
            clock.return_value = 1000.0
            release.set()
            first.result(WAIT_SECONDS)
            second.result(WAIT_SECONDS)
        image.read.assert_called_once()
        self.assertGreater(self.service.times_remaining[-1], 30)

    def test_close_cancels_every_call(self) -> None:
        started, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)

        def hold() -> None:
            started.set()
            release.wait(WAIT_SECONDS)

        self.service.on_call = hold
        client = self.client(max_in_flight=1)
        with ThreadPoolExecutor(5) as pool:
            calls = [pool.submit(client.get_face_vec, b"photo") for _ in range(5)]
            self.assertTrue(started.wait(WAIT_SECONDS))
            client.close()
            errors = [call.exception(WAIT_SECONDS) for call in calls]
        self.assertEqual([getattr(error, "reason", error) for error in errors], ["CANCELLED"] * 5)
        with self.assertRaisesRegex(VisageError, "CANCELLED"):
            client.get_face_vec(b"photo")

    def test_close_ends_the_wait_for_a_retry(self) -> None:
        self.service.failures = [failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True, retry_after=500)]
        client = self.client(timeout=1000)
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(client.get_face_vec, b"photo")
            self.wait_for(lambda: client._calls.limit._pauses == 1)
            client.close()
            self.assertEqual(getattr(call.exception(WAIT_SECONDS), "reason", None), "CANCELLED")

    def test_accepts_bytes_paths_files_and_urls(self) -> None:
        client = self.client()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "photo.jpg")
            path.write_bytes(b"photo")
            with path.open("rb") as file:
                for image in (b"photo", bytearray(b"photo"), memoryview(b"photo"), path, file, io.BytesIO(b"photo")):
                    client.get_face_vec(image)
            client.get_face_vec(Url("https://example.org/photo.jpg"))
            with self.assertRaises(VisageError) as raised:
                client.get_face_vec(Path(folder, "missing.jpg"))
        self.assertEqual((raised.exception.reason, raised.exception.retryable), ("UNREADABLE_IMAGE", False))
        self.assertIsInstance(raised.exception.__cause__, FileNotFoundError)
        self.assertEqual([request.img.content for request in self.service.requests[:-1]], [b"photo"] * 6)
        self.assertEqual(self.service.requests[-1].img.url, "https://example.org/photo.jpg")

    def test_rejects_images_of_other_types(self) -> None:
        client = self.client()
        inputs: list[Any] = ["photo.jpg", None, io.StringIO("photo")]
        for image in inputs:
            with self.subTest(image), self.assertRaises(TypeError):
                client.get_face_vec(image)

    def test_sends_only_the_options_that_are_given(self) -> None:
        client = self.client()
        client.get_face_vec(b"photo")
        client.get_face_vec(b"photo", box=(1, 2, 3, 4), quality=True, detect=False)
        plain, full = self.service.requests
        self.assertEqual((plain.HasField("bboxes"), plain.HasField("face_det"), plain.quality), (False, False, False))
        self.assertEqual((full.bboxes.x2, full.HasField("face_det"), full.face_det, full.quality), (3, True, False, True))

    def test_rejects_options_that_cannot_work(self) -> None:
        key = "secret\n"
        faults: list[tuple[str, Any, dict[str, Any]]] = [
            ("localhost:8080", KEY, {}),
            ("ftp://localhost", KEY, {}),
            ("http://localhost/api", KEY, {}),
            ("http://localhost:port", KEY, {}),
            ("http://localhost", key, {}),
            ("http://localhost", "", {}),
            ("http://localhost", KEY, {"ca": b"pem"}),
            ("https://localhost", KEY, {"client_certificate": b"pem"}),
            ("http://localhost", KEY, {"retries": -1}),
            ("http://localhost", KEY, {"timeout": 0}),
            ("http://localhost", KEY, {"max_in_flight": 0}),
        ]
        for address, api_key, options in faults:
            with self.subTest(address=address, **options), self.assertRaises(ValueError) as raised:
                VisageClient(address, api_key, **options)
            self.assertNotIn("secret", str(raised.exception))


class Counter:
    """The most calls at the same time."""

    def __init__(self) -> None:
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def count(self) -> int:
        with self._lock:
            self._now += 1
            now = self._now
            self.most = max(self.most, now)
        # Another call that could start would do so while this one waits.
        threading.Event().wait(0.005)
        with self._lock:
            self._now -= 1
        return now


if __name__ == "__main__":
    unittest.main()
