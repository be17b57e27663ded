"""The runtime of AsyncVisageClient: everything is awaited. Only the thread of the event loop uses it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Callable, Optional
from weakref import WeakSet

import grpc
import grpc.aio

from visage._connection import CHANNEL_OPTIONS
from visage._runtime import Cancellable, Metadata, T, Trailer


class AsyncEvent:
    def __init__(self) -> None:
        self._future = asyncio.get_running_loop().create_future()
        self.is_set = self._future.done

    def set(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    async def wait(self, timeout: Optional[float] = None) -> bool:
        # Before Python 3.12, asyncio.wait_for may lose a cancellation.
        await asyncio.wait([self._future], timeout=timeout)
        return self._future.done()


class AsyncCondition:
    """Needs no lock, because there is but one thread."""

    def __init__(self) -> None:
        self._change = AsyncEvent()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    async def wait(self, timeout: Optional[float] = None) -> None:
        await self._change.wait(timeout)

    def notify_all(self) -> None:
        self._change.set()
        self._change = AsyncEvent()


class LocallyCancelled(grpc.RpcError):
    """This client has cancelled the call. gRPC raises the same error for it as for the cancellation of the task."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.CANCELLED

    def details(self) -> str:
        return "The call was cancelled."

    def trailing_metadata(self) -> tuple[()]:
        return ()


async def _outcome(call: Any, awaitable: Awaitable[Any], timeout: Optional[float] = None) -> Any:
    """Returns what comes from a call. Cancels the call if the task is cancelled or nothing comes within the timeout."""
    task = asyncio.ensure_future(awaitable)
    try:
        await asyncio.wait([task], timeout=timeout)
    finally:
        if not task.done():
            call.cancel()
            task.cancel()
    if not task.done():
        raise asyncio.TimeoutError
    if task.cancelled():
        raise LocallyCancelled
    return task.result()


async def _next(call: Any) -> Any:
    # Its method `read` would drop the messages before an error.
    async for message in call:
        return message
    return None


async def _all(call: Any) -> Any:
    return [message async for message in call]


class AsyncReader:
    def __init__(self, cancel: Callable[[], object]) -> None:
        self.is_overdue = False

    async def read(self, call: Any, timeout: Optional[float] = None) -> Any:
        try:
            return await _outcome(call, _next(call), timeout)
        except asyncio.TimeoutError:
            self.is_overdue = True
            raise LocallyCancelled from None

    def close(self) -> None:
        pass


class AsyncRuntime:
    event = AsyncEvent
    condition = AsyncCondition
    reader = AsyncReader

    def __init__(self) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            message = "Create AsyncVisageClient in a coroutine: it belongs to the event loop that runs."
            raise RuntimeError(message) from None
        self._calls: WeakSet[Any] = WeakSet()

    def open_channel(self, target: str, credentials: Optional[grpc.ChannelCredentials]) -> grpc.aio.Channel:
        if credentials:
            return grpc.aio.secure_channel(target, credentials, CHANNEL_OPTIONS)
        return grpc.aio.insecure_channel(target, CHANNEL_OPTIONS)

    async def close(self, channel: grpc.aio.Channel) -> None:
        # Older versions of gRPC do not find all of them.
        for call in list(self._calls):
            call.cancel()
        await channel.close()

    async def send(
        self, method: Any, request: Any, *, timeout: float, metadata: Metadata
    ) -> tuple[Any, Trailer]:
        call = method(request, timeout=timeout, metadata=metadata)
        self._calls.add(call)
        is_stream = isinstance(method, grpc.aio.UnaryStreamMultiCallable)
        response = await _outcome(call, _all(call) if is_stream else call)
        return response, await call.trailing_metadata()

    def open_stream(self, method: Any, request: Any, metadata: Metadata) -> Cancellable:
        call: Cancellable = method(request, metadata=metadata)
        self._calls.add(call)
        return call

    async def prepare(self, create: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, create)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> Cancellable:
        return asyncio.ensure_future(coroutine)
