"""What differs between the clients: how they wait, send and receive. In VisageClient none of the coroutines suspends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Coroutine, Iterable
from contextlib import AbstractContextManager
from typing import Any, Callable, Optional, Protocol, TypeVar, Union

import grpc

Metadata = tuple[tuple[str, str], ...]
Trailer = Iterable[tuple[str, Union[str, bytes]]]

T = TypeVar("T")


class Event(Protocol):
    """Something that happens once."""

    def set(self) -> None: ...
    def is_set(self) -> bool: ...
    async def wait(self, timeout: Optional[float] = None) -> bool:
        """Returns whether it has happened within the timeout in seconds."""
        ...


class Condition(AbstractContextManager[Any], Protocol):
    """A lock, and something that changes. The lock is held to wait and to notify."""

    async def wait(self, timeout: Optional[float] = None) -> object: ...
    def notify_all(self) -> None: ...


class Cancellable(Protocol):
    def cancel(self) -> object: ...


class Reader(Protocol):
    """Receives the messages of a stream."""

    is_overdue: bool
    """Whether a message did not come in time. The stream was then cancelled."""

    async def read(self, call: Any, timeout: Optional[float] = None) -> Any:
        """Returns the next message; None at the end. Raises grpc.RpcError, also if the stream was cancelled."""
        ...

    def close(self) -> None: ...


class Runtime(Protocol):
    def open_channel(self, target: str, credentials: Optional[grpc.ChannelCredentials]) -> Any: ...
    async def close(self, channel: Any) -> None:
        """Closes the channel and cancels its calls."""
        ...

    def event(self) -> Event: ...
    def condition(self) -> Condition: ...
    def reader(self, cancel: Callable[[], object]) -> Reader:
        """`cancel` is a method that cancels the stream. Its object is not kept alive."""
        ...

    async def send(
        self, method: Any, request: Any, *, timeout: float, metadata: Metadata
    ) -> tuple[Any, Trailer]:
        """Makes one attempt of a call. The response is a list if the method returns a stream. Raises grpc.RpcError, or
        ValueError if the channel was closed."""
        ...

    def open_stream(self, method: Any, request: Any, metadata: Metadata) -> Cancellable:
        """`request` is a message, or an asynchronous generator of messages."""
        ...

    async def prepare(self, create: Callable[[], T]) -> T:
        """Calls a function that may read files."""
        ...

    def start(self, coroutine: Coroutine[Any, Any, None]) -> Cancellable:
        """Runs a coroutine at the same time. It must also end without being cancelled."""
        ...


async def each(items: Union[Iterable[T], AsyncIterable[T]]) -> AsyncGenerator[T, None]:
    """Iterates over items of either kind."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
