"""The runtime of VisageClient: everything blocks the thread."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Callable, Optional

import grpc

from visage._connection import CHANNEL_OPTIONS
from visage._operation import iterate_blocking, run_blocking
from visage._runtime import Cancellable, Metadata, T, Trailer
from visage._watchdog import Watchdog


class ThreadEvent:
    def __init__(self) -> None:
        self._event = threading.Event()
        self.set = self._event.set
        self.is_set = self._event.is_set

    async def wait(self, timeout: Optional[float] = None) -> bool:
        return self._event.wait(timeout)


class ThreadCondition:
    def __init__(self) -> None:
        self._condition = threading.Condition()
        self.notify_all = self._condition.notify_all

    def __enter__(self) -> None:
        self._condition.acquire()

    def __exit__(self, *_: object) -> None:
        self._condition.release()

    async def wait(self, timeout: Optional[float] = None) -> None:
        self._condition.wait(timeout)


class ThreadReader:
    def __init__(self, cancel: Callable[[], object]) -> None:
        self._watchdog = Watchdog(cancel)
        self.close = self._watchdog.close

    @property
    def is_overdue(self) -> bool:
        return self._watchdog.has_cancelled

    async def read(self, call: Any, timeout: Optional[float] = None) -> Any:
        if timeout is None:
            return next(call, None)
        with self._watchdog.limit(timeout):
            return next(call, None)


class ThreadRuntime:
    event = ThreadEvent
    condition = ThreadCondition
    reader = ThreadReader

    def open_channel(self, target: str, credentials: Optional[grpc.ChannelCredentials]) -> grpc.Channel:
        if credentials:
            return grpc.secure_channel(target, credentials, CHANNEL_OPTIONS)
        return grpc.insecure_channel(target, CHANNEL_OPTIONS)

    async def close(self, channel: grpc.Channel) -> None:
        channel.close()

    async def send(
        self, method: Any, request: Any, *, timeout: float, metadata: Metadata
    ) -> tuple[Any, Trailer]:
        if isinstance(method, grpc.UnaryStreamMultiCallable):
            stream: Any = method(request, timeout=timeout, metadata=metadata)
            return list(stream), stream.trailing_metadata()
        response, call = method.with_call(request, timeout=timeout, metadata=metadata)
        return response, call.trailing_metadata()

    def open_stream(self, method: Any, request: Any, metadata: Metadata) -> Cancellable:
        messages = iterate_blocking(request) if isinstance(request, AsyncGenerator) else request
        call: Cancellable = method(messages, metadata=metadata)
        return call

    async def prepare(self, create: Callable[[], T]) -> T:
        return create()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> Cancellable:
        threading.Thread(target=run_blocking, args=(coroutine,), name="visage-stream", daemon=True).start()
        return _NotCancellable()


class _NotCancellable:
    """A thread, which must be told to end."""

    def cancel(self) -> None:
        pass
