"""Tests the client in a web application, whose requests run at the same time. The first test needs a running service, as
in test_service.py."""

from __future__ import annotations

import asyncio
import os
import threading
import unittest
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
from fake_service import failure
from test_stream import BreakingService

from visage.v1 import face_analysis_pb2 as typed
from visage.v1 import face_analysis_pb2_grpc

try:
    import httpx
    import uvicorn
    from app import create_app
except ImportError as cause:
    raise unittest.SkipTest(f"{cause.name} is not installed") from cause

ADDRESS = os.environ.get("VISAGE_ADDRESS", "")
KEY = os.environ.get("VISAGE_API_KEY", "")
PHOTOS = Path(os.environ.get("VISAGE_PHOTOS", ""))
WAIT_SECONDS = 30


class SlowService(BreakingService):
    """Answers no image, until it is released."""

    def __init__(self) -> None:
        super().__init__(0, 0, failure(grpc.StatusCode.INTERNAL, "INTERNAL"))
        self.release = threading.Event()

    def AnalyzeImage(
        self, request: typed.AnalyzeImageRequest, context: grpc.ServicerContext
    ) -> typed.AnalyzeImageResponse:
        context.add_callback(self.ended.set)
        self.started.set()
        self.release.wait(WAIT_SECONDS)
        return typed.AnalyzeImageResponse()


@asynccontextmanager
async def run_app(address: str) -> AsyncIterator[httpx.AsyncClient]:
    """Runs the application on a port of this machine, and yields a client of it."""
    server = uvicorn.Server(uvicorn.Config(create_app(address, KEY or "key-of-tests"), port=0, log_level="warning"))
    serving = asyncio.ensure_future(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


class AppTest(unittest.IsolatedAsyncioTestCase):
    @unittest.skipUnless(ADDRESS, "VISAGE_ADDRESS is not set")
    async def test_50_requests_at_once_succeed(self) -> None:
        photo = (PHOTOS / "portrait.jpg").read_bytes()
        async with run_app(ADDRESS) as app:
            requests = (app.post("/faces", content=photo) for _ in range(50))
            responses = await asyncio.gather(*requests, app.post("/faces", content=b"no image"))
        outcomes = [(response.status_code, response.json()) for response in responses]
        self.assertEqual(outcomes, [(200, {"faces": 1})] * 50 + [(422, {"detail": "UNSUPPORTED_FORMAT"})])

    async def test_a_caller_that_disconnects_cancels_the_call(self) -> None:
        service = SlowService()
        server = grpc.server(ThreadPoolExecutor(2))
        face_analysis_pb2_grpc.add_FaceAnalysisServiceServicer_to_server(service, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        self.addCleanup(service.release.set)
        async with run_app(f"http://127.0.0.1:{port}") as app:
            request = asyncio.ensure_future(app.post("/faces", content=b"photo"))
            self.assertTrue(await asyncio.to_thread(service.started.wait, WAIT_SECONDS))
            request.cancel()
            self.assertTrue(await asyncio.to_thread(service.ended.wait, WAIT_SECONDS / 2))
            self.assertFalse(service.release.is_set())


if __name__ == "__main__":
    unittest.main()
