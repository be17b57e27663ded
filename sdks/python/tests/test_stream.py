"""Tests what happens to a stream of images that breaks, with a service in this process."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import grpc
from fake_service import Failure, failure

from visage import VisageClient, VisageError
from visage.v1 import face_analysis_pb2 as typed
from visage.v1 import face_analysis_pb2_grpc

DRAINING = failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True)
TOO_SLOW = failure(grpc.StatusCode.DEADLINE_EXCEEDED, "REQUEST_TOO_SLOW", retryable=True)


class BreakingService(face_analysis_pb2_grpc.FaceAnalysisServiceServicer):
    """Reads `reads` images of a stream, answers `answers` of them and fails."""

    def __init__(self, reads: int, answers: int, failure: Failure) -> None:
        self.reads = reads
        self.answers = answers
        self.failure = failure
        self.streams = 0
        self.on_failure: Callable[[], object] = lambda: None
        self.started, self.ended = threading.Event(), threading.Event()

    def AnalyzeImages(
        self, request_iterator: Iterator[typed.AnalyzeImagesRequest], context: grpc.ServicerContext
    ) -> Iterator[typed.AnalyzeImagesResponse]:
        self.streams += 1
        context.add_callback(self.ended.set)
        for number, request in enumerate(request_iterator, 1):
            self.started.set()
            if number <= self.answers:
                yield typed.AnalyzeImagesResponse(key=request.key, response=typed.AnalyzeImageResponse())
            if number == self.reads:
                self.on_failure()
                context.set_trailing_metadata(self.failure.trailer)
                context.abort(self.failure.code, "Sorry.")

    def AnalyzeImage(
        self, request: typed.AnalyzeImageRequest, context: grpc.ServicerContext
    ) -> typed.AnalyzeImageResponse:
        raise NotImplementedError

    def CompareFaces(
        self, request: typed.CompareFacesRequest, context: grpc.ServicerContext
    ) -> typed.CompareFacesResponse:
        raise NotImplementedError


class StreamTest(unittest.TestCase):
    def client(self, service: BreakingService, **options: Any) -> VisageClient:
        server = grpc.server(ThreadPoolExecutor(8))
        face_analysis_pb2_grpc.add_FaceAnalysisServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        client = VisageClient(f"http://127.0.0.1:{port}", "key-of-tests", **options)
        self.addCleanup(client.close)
        return client

    def test_images_without_a_result_are_sent_again(self) -> None:
        service = BreakingService(reads=5, answers=3, failure=DRAINING)
        images = [(key, b"photo") for key in range(20)]
        results = list(self.client(service).analyze_images(images))
        self.assertEqual(sorted(result.key for result in results), list(range(20)))
        # Three results a stream.
        self.assertEqual(service.streams, 7)

    def test_a_stream_that_makes_no_progress_fails(self) -> None:
        service = BreakingService(reads=1, answers=0, failure=DRAINING)
        with self.assertRaises(VisageError) as raised:
            list(self.client(service, retries=2).analyze_images([(1, b"photo")]))
        self.assertEqual((raised.exception.reason, service.streams), ("DRAINING", 3))

    def test_a_stream_that_ends_while_no_image_is_due_is_opened_again(self) -> None:
        service = BreakingService(reads=1, answers=1, failure=TOO_SLOW)
        has_failed = threading.Event()
        service.on_failure = has_failed.set

        def images() -> Iterator[tuple[int, bytes]]:
            for key in range(3):
                yield key, b"photo"
                self.assertTrue(has_failed.wait(30))
                has_failed.clear()

        results = self.client(service).analyze_images(images())
        self.assertEqual([result.key for result in results], [0, 1, 2])
        self.assertGreaterEqual(service.streams, 3)


if __name__ == "__main__":
    unittest.main()
