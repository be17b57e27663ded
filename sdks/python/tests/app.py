"""A web application that calls the service, for test_app.py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request

from visage import AsyncVisageClient, VisageError

T = TypeVar("T")


def create_app(address: str, api_key: str) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncVisageClient(address, api_key, timeout=300) as client:
            app.state.visage = client
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/faces")
    async def count_faces(request: Request) -> dict[str, int]:
        photo = await request.body()
        try:
            analysis = await while_connected(request, app.state.visage.analyze_image(photo, features=["quality"]))
        except VisageError as error:
            raise HTTPException(503 if error.retryable else 422, error.reason) from error
        return {"faces": len(analysis.faces)}

    return app


async def while_connected(request: Request, call: Coroutine[Any, Any, T]) -> T:
    """Cancels a call when the caller disconnects. The body of the request must have been read."""
    task = asyncio.ensure_future(call)
    disconnected = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([task, disconnected], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(499)
        return task.result()
    finally:
        task.cancel()
        disconnected.cancel()
