"""Tests AsyncVisageClient against a service in this process."""

from __future__ import annotations

import asyncio
import inspect
import tempfile
import threading
import unittest
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Union
from unittest import mock

import grpc
from fake_galleries import FailingService
from fake_service import FakeService, failure, serve
from test_stream import BreakingService

from visage import AsyncVisageClient, GalleryFace, Template, VisageClient, VisageError
from visage.v1 import face_analysis_pb2_grpc, gallery_pb2_grpc

DRAINING = failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True)
OVERLOADED = failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True)
NOT_FOUND = failure(grpc.StatusCode.NOT_FOUND, "GALLERY_NOT_FOUND")
PATIENCE = failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True, retry_after=500)
LATER = failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", retryable=True, retry_after=20)
WAIT_SECONDS = 30


class AsyncClientTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.service = FakeService()
        self.started, self.release = threading.Event(), threading.Event()
        server = serve(self.service)
        self.port = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        self.addCleanup(self.release.set)

    def client(self, **options: Any) -> AsyncVisageClient:
        client = AsyncVisageClient(f"http://127.0.0.1:{self.port}", "key-of-tests", **options)
        self.addAsyncCleanup(client.close)
        return client

    def hold_calls(self) -> None:
        def hold() -> None:
            self.started.set()
            self.release.wait(WAIT_SECONDS)

        self.service.on_call = hold

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        async def poll() -> None:
            while not condition():
                await asyncio.sleep(0.001)

        await asyncio.wait_for(poll(), WAIT_SECONDS)

    async def cancel(self, call: asyncio.Future[Any]) -> None:
        """Cancels a task, which must end at once."""
        call.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(call, WAIT_SECONDS / 2)

    async def reason_of(self, call: Coroutine[Any, Any, object]) -> str:
        with self.assertRaises(VisageError) as raised:
            await asyncio.wait_for(call, WAIT_SECONDS)
        return raised.exception.reason

    async def test_returns_a_template_with_its_model(self) -> None:
        template = await self.client().get_face_vec(b"photo")
        self.assertEqual((len(template.embedding), template.model), (128, "test-model"))
        self.assertEqual(self.service.metadata[0]["authorization"], "Bearer key-of-tests")

    async def test_retries_and_maps_errors_like_the_other_client(self) -> None:
        self.service.failures = [DRAINING, OVERLOADED, DRAINING]
        await self.client().get_face_vec(b"photo")
        self.assertEqual(len(self.service.requests), 4)
        self.service.failures = [failure(grpc.StatusCode.FAILED_PRECONDITION, "NO_FACE")]
        with self.assertRaises(VisageError) as raised:
            await self.client().get_face_vec(b"photo")
        self.assertEqual((raised.exception.reason, raised.exception.field), ("NO_FACE", "img"))
        self.service.failures = [DRAINING] * 2
        self.assertEqual(await self.reason_of(self.client(retries=1).get_face_vec(b"photo")), "DRAINING")

    async def test_reads_files(self) -> None:
        client = self.client()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "photo.jpg")
            path.write_bytes(b"photo")
            await client.get_face_vec(path)
            missing = client.get_face_vec(Path(folder, "missing.jpg"))
            self.assertEqual(await self.reason_of(missing), "UNREADABLE_IMAGE")
        self.assertEqual([request.img.content for request in self.service.requests], [b"photo"])

    async def test_a_call_may_have_a_timeout_of_its_own(self) -> None:
        self.hold_calls()
        self.assertEqual(await self.reason_of(self.client().get_face_vec(b"photo", timeout=0.05)), "DEADLINE_PASSED")
        with self.assertRaises(ValueError):
            await self.client().get_face_vec(b"photo", timeout=0)

    async def test_cancelling_a_task_cancels_its_call(self) -> None:
        self.hold_calls()
        call = asyncio.ensure_future(self.client().get_face_vec(b"photo"))
        await asyncio.to_thread(self.started.wait, WAIT_SECONDS)
        await self.cancel(call)
        # The service has not answered yet.
        self.assertTrue(await asyncio.to_thread(self.service.ended.wait, WAIT_SECONDS / 2))
        self.assertFalse(self.release.is_set())

    async def test_cancelling_a_call_that_waits_for_a_slot_leaves_no_trace(self) -> None:
        self.hold_calls()
        client = self.client(max_in_flight=1)
        first = asyncio.ensure_future(client.get_face_vec(b"first"))
        await asyncio.to_thread(self.started.wait, WAIT_SECONDS)
        second = asyncio.ensure_future(client.get_face_vec(b"second"))
        await self.wait_for(lambda: len(client._calls.limit._waiters) == 1)
        await self.cancel(second)
        self.release.set()
        await first
        await client.get_face_vec(b"third")
        self.assertEqual([request.img.content for request in self.service.requests], [b"first", b"third"])

    async def test_cancelling_a_call_between_its_attempts_leaves_no_trace(self) -> None:
        for reason in (PATIENCE, LATER):
            self.service.failures = [reason]
            client = self.client(timeout=1000, max_in_flight=1)
            limit = client._calls.limit
            with mock.patch.object(limit, "sleep", wraps=limit.sleep) as sleep:
                call = asyncio.ensure_future(client.get_face_vec(b"first"))
                await self.wait_for(lambda: sleep.call_count == 1)
                await self.cancel(call)
            await asyncio.wait_for(client.get_face_vec(b"second"), WAIT_SECONDS / 2)

    async def test_close_cancels_every_call(self) -> None:
        self.hold_calls()
        client = self.client(max_in_flight=2)
        calls = [asyncio.ensure_future(client.get_face_vec(b"photo")) for _ in range(5)]
        await asyncio.to_thread(self.started.wait, WAIT_SECONDS)
        await client.close()
        errors = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), WAIT_SECONDS / 2)
        self.assertEqual([getattr(error, "reason", error) for error in errors], ["CANCELLED"] * 5)
        self.assertEqual(await self.reason_of(client.get_face_vec(b"photo")), "CANCELLED")

    async def test_limits_the_calls_in_flight(self) -> None:
        client = self.client(max_in_flight=3)
        most = 0

        def count() -> None:
            nonlocal most
            most = max(most, client._calls.limit._in_flight)

        self.service.on_call = count
        await asyncio.gather(*(client.get_face_vec(b"photo") for _ in range(40)))
        self.assertLessEqual(most, 3)
        self.assertEqual(len(self.service.requests), 40)

    async def test_has_coroutines_where_the_other_client_blocks(self) -> None:
        self.assertTrue(inspect.iscoroutinefunction(AsyncVisageClient.analyze_image))
        self.assertFalse(inspect.iscoroutinefunction(VisageClient.analyze_image))
        self.assertTrue(inspect.iscoroutinefunction(self.client().galleries.enrol_face))
        self.assertIn("features", inspect.signature(VisageClient.analyze_image).parameters)


class AsyncClientWithoutLoopTest(unittest.TestCase):
    def test_needs_the_event_loop(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "in a coroutine"):
            AsyncVisageClient("http://localhost")


class AsyncStreamsTest(unittest.IsolatedAsyncioTestCase):
    def serve(self, add: Callable[[grpc.Server], None], **options: Any) -> AsyncVisageClient:
        server = grpc.server(ThreadPoolExecutor(8))
        add(server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        client = AsyncVisageClient(f"http://127.0.0.1:{port}", "key-of-tests", **options)
        self.addAsyncCleanup(client.close)
        return client

    def analysis(self, service: BreakingService, **options: Any) -> AsyncVisageClient:
        return self.serve(
            lambda server: face_analysis_pb2_grpc.add_FaceAnalysisServiceServicer_to_server(service, server), **options
        )

    def galleries(self, service: FailingService, **options: Any) -> AsyncVisageClient:
        self.addCleanup(service.release.set)
        return self.serve(
            lambda server: gallery_pb2_grpc.add_GalleryServiceServicer_to_server(service, server), **options
        )

    async def test_images_without_a_result_are_sent_again(self) -> None:
        service = BreakingService(reads=5, answers=3, failure=DRAINING)

        async def images() -> AsyncIterator[tuple[int, bytes]]:
            for key in range(20):
                await asyncio.sleep(0)
                yield key, b"photo"

        results = [result async for result in self.analysis(service).analyze_images(images())]
        self.assertEqual(sorted(result.key for result in results), list(range(20)))
        self.assertEqual(service.streams, 7)

    async def test_a_stream_that_makes_no_progress_fails(self) -> None:
        service = BreakingService(reads=1, answers=0, failure=DRAINING)
        with self.assertRaisesRegex(VisageError, "DRAINING"):
            async for _ in self.analysis(service, retries=2).analyze_images([(1, b"photo")]):
                pass
        self.assertEqual(service.streams, 3)

    async def test_an_image_that_cannot_be_read_does_not_stop_the_others(self) -> None:
        service = BreakingService(reads=9, answers=9, failure=DRAINING)
        images: list[tuple[int, Union[bytes, Path]]] = [(1, b"photo"), (2, Path("no-such-file.jpg")), (3, b"photo")]
        results = [result async for result in self.analysis(service).analyze_images(images)]
        reasons = {result.key: result.error and result.error.reason for result in results}
        self.assertEqual(reasons, {1: None, 2: "UNREADABLE_IMAGE", 3: None})

    async def test_cancelling_the_task_cancels_its_stream(self) -> None:
        service = BreakingService(reads=9, answers=0, failure=DRAINING)

        async def images() -> AsyncIterator[tuple[int, bytes]]:
            yield 1, b"photo"
            await asyncio.Event().wait()

        async def analyze() -> None:
            async for _ in self.analysis(service).analyze_images(images()):
                pass

        task = asyncio.ensure_future(analyze())
        await asyncio.to_thread(service.started.wait, WAIT_SECONDS)
        before = asyncio.all_tasks()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(task, WAIT_SECONDS)
        self.assertTrue(await asyncio.to_thread(service.ended.wait, WAIT_SECONDS))
        # The tasks of the stream have ended, too.
        others = [task for task in before if task is not asyncio.current_task()]
        _, pending = await asyncio.wait(others, timeout=WAIT_SECONDS / 2)
        self.assertEqual(pending, set())

    async def test_an_export_goes_on_after_a_break(self) -> None:
        service = FailingService(DRAINING, OVERLOADED)
        service.faces_before_failure = 2
        faces = [face async for face in self.galleries(service).galleries.export("staff")]
        self.assertEqual(([face.person_id for face in faces], service.calls), (["0", "1", "2"], 3))

    async def test_leaving_an_export_ends_it(self) -> None:
        service = FailingService()
        service.faces = None
        async with self.galleries(service).galleries.export("staff") as faces:
            await faces.__anext__()
        self.assertTrue(await asyncio.to_thread(service.export_ended.wait, WAIT_SECONDS))
        self.assertEqual([face async for face in faces], [])

    async def test_cancelling_a_task_ends_its_export(self) -> None:
        service = FailingService()
        service.release.clear()
        export = self.galleries(service).galleries.export("staff")
        for _ in range(3):
            await export.__anext__()
        task = asyncio.ensure_future(export.__anext__())
        await asyncio.sleep(0.01)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertTrue(await asyncio.to_thread(service.export_ended.wait, WAIT_SECONDS))

    async def test_an_export_without_a_face_in_time_fails(self) -> None:
        service = FailingService()
        service.release.clear()
        taken = []
        with self.assertRaisesRegex(VisageError, "DEADLINE_PASSED"):
            async for face in self.galleries(service).galleries.export("staff", timeout=1):
                taken.append(face)
        self.assertEqual(len(taken), 3)
        self.assertTrue(await asyncio.to_thread(service.export_ended.wait, WAIT_SECONDS))

    async def test_closing_the_client_ends_an_export(self) -> None:
        service = FailingService()
        service.release.clear()
        client = self.galleries(service)
        with self.assertRaisesRegex(VisageError, "CANCELLED"):
            async for face in client.galleries.export("staff"):
                if face.person_id == "2":
                    asyncio.ensure_future(client.close())

    async def test_imports_faces_of_either_kind_of_iterable(self) -> None:
        service = FailingService(OVERLOADED)
        galleries = self.galleries(service).galleries
        faces = (GalleryFace("ann", Template([0.5], "model"), str(number)) for number in range(5_001))
        result = await galleries.import_faces("staff", faces)
        self.assertEqual((result.face_count, result.revision, service.imported), (5_001, 2, [5000, 1]))
        copied = await galleries.import_faces("copy", galleries.export("staff"))
        self.assertEqual(copied.face_count, 3)

    async def test_a_deletion_whose_response_was_lost_succeeds(self) -> None:
        service = FailingService(DRAINING, NOT_FOUND)
        await self.galleries(service).galleries.delete("staff")
        self.assertEqual(service.calls, 2)


if __name__ == "__main__":
    unittest.main()
