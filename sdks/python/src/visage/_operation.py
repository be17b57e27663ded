"""Operations are written once, as coroutines, and serve both clients.

What a coroutine waits for blocks the thread in VisageClient (`_thread_runtime.py`), so there it never suspends and can be
run to its end without an event loop. In AsyncVisageClient (`_async_runtime.py`) it is awaited.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import Any, Callable, Generic, TypeVar, cast, overload

from typing_extensions import Concatenate, ParamSpec

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class Blocking:
    """The base of VisageClient and its parts."""


class Awaiting:
    """The base of AsyncVisageClient and its parts."""


def run_blocking(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return cast(_Result, end.value)
    raise RuntimeError("A coroutine of VisageClient was suspended.")


def iterate_blocking(items: AsyncGenerator[_Result, None]) -> Generator[_Result, None, None]:
    """Iterates over what never suspends."""
    try:
        while True:
            try:
                item = run_blocking(items.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run_blocking(items.aclose())


class SharedMethod:
    """A method that is an asynchronous function. In a Blocking class, `drive` runs what it returns."""

    def __init__(self, function: Callable[..., Any], drive: Callable[[Any], Any]) -> None:
        @functools.wraps(function)
        def blocking(*args: Any, **options: Any) -> Any:
            return drive(function(*args, **options))

        self._function = function
        self._blocking = blocking

    def _bind(self, instance: object, owner: type) -> Any:
        function = self._blocking if issubclass(owner, Blocking) else self._function
        return function if instance is None else function.__get__(instance, owner)


class operation(SharedMethod, Generic[_Parameters, _Result]):
    """Decorates an operation, which is a coroutine function."""

    def __init__(
        self, function: Callable[Concatenate[Any, _Parameters], Coroutine[Any, Any, _Result]]
    ) -> None:
        super().__init__(function, run_blocking)

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(self, instance: Blocking, owner: type) -> Callable[_Parameters, _Result]: ...
    @overload
    def __get__(
        self, instance: Awaiting, owner: type
    ) -> Callable[_Parameters, Coroutine[Any, Any, _Result]]: ...
    def __get__(self, instance: object, owner: type) -> Any:
        return self._bind(instance, owner)


class iteration(SharedMethod, Generic[_Parameters, _Result]):
    """Decorates an operation that is an asynchronous generator."""

    def __init__(
        self, function: Callable[Concatenate[Any, _Parameters], AsyncGenerator[_Result, None]]
    ) -> None:
        super().__init__(function, iterate_blocking)

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., Any]: ...
    @overload
    def __get__(
        self, instance: Blocking, owner: type
    ) -> Callable[_Parameters, Generator[_Result, None, None]]: ...
    @overload
    def __get__(
        self, instance: Awaiting, owner: type
    ) -> Callable[_Parameters, AsyncGenerator[_Result, None]]: ...
    def __get__(self, instance: object, owner: type) -> Any:
        return self._bind(instance, owner)
