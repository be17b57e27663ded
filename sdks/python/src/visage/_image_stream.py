"""The analysis of many images on one stream."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, Union

import grpc

from visage._call_runner import CallRunner
from visage._convert import analysis_from_message
from visage._retry import Attempts, cancelled
from visage._runtime import Cancellable, each
from visage.error import VisageError, error_from_rpc, error_from_status
from visage.image import ImageInput
from visage.results import Key, StreamResult
from visage.v1 import face_analysis_pb2 as typed

# How long the service lets an image wait for its turn in seconds, in addition to the time that it needs.
_MAX_WAIT = 30.0

Images = Union[Iterable[tuple[Key, ImageInput]], AsyncIterable[tuple[Key, ImageInput]]]


@dataclass
class _Sent(Generic[Key]):
    """An image that has no result yet."""

    key: Key
    request: typed.AnalyzeImagesRequest
    attempt: int
    """The number of the stream on which it was sent last."""


@dataclass(frozen=True)
class _End:
    """The end of a stream."""

    cause: Optional[grpc.RpcError]
    """None if the service ended the stream without an error."""
    was_idle: bool
    """Whether all images had their results."""


class ImageStream(Generic[Key]):
    """Sends images and yields their results. When the stream breaks, it opens a new one and sends the images that have
    no result again.

    Four coroutines share it: the caller's takes the results, gRPC's sends the images, one reads them, and one receives
    the responses. In VisageClient each has its own thread, and `_changed` guards the fields.
    """

    def __init__(
        self,
        method: Any,
        images: Images[Key],
        create_request: Callable[[ImageInput], typed.AnalyzeImageRequest],
        calls: CallRunner,
        timeout: Optional[float],
    ) -> None:
        self._method = method
        self._images = images
        self._create_request = create_request
        self._calls = calls
        self._timeout = calls.timeout_of(timeout)
        self._changed = calls.runtime.condition()
        # By the key of their requests. The caller's own key may be of any type, and need not be unique.
        self._unanswered: dict[str, _Sent[Key]] = {}
        self._results: deque[StreamResult[Key]] = deque()
        self._is_source_done = False
        self._source_error: Optional[BaseException] = None
        # The number of the current stream. The coroutines of earlier streams end.
        self._attempt = 0
        # What is in progress besides the caller's coroutine: reading, and the stream with its responses.
        self._running: list[Cancellable] = []
        self._call: Optional[Cancellable] = None
        self._end: Optional[_End] = None
        # The attempts since the last result, and the time of it.
        self._attempts: Optional[Attempts] = None
        self._waiting_since = 0.0

    async def results(self) -> AsyncGenerator[StreamResult[Key], None]:
        try:
            self._running.append(self._calls.runtime.start(self._read_images()))
            while (result := await self._next_result()) is not None:
                yield result
            if self._source_error is not None:
                raise self._source_error
        finally:
            with self._changed:
                self._attempt = -1
                self._changed.notify_all()
            for running in self._running:
                running.cancel()

    async def _next_result(self) -> Optional[StreamResult[Key]]:
        """Returns None at the end. Raises VisageError if the stream cannot go on."""
        self._waiting_since = time.monotonic()
        while True:
            with self._changed:
                while not (self._results or self._is_done() or self._needs_stream()):
                    await self._wait()
                if self._results:
                    self._changed.notify_all()
                    return self._results.popleft()
                if self._is_done():
                    return None
            await self._open()

    def _is_done(self) -> bool:
        return self._is_source_done and not self._unanswered

    def _needs_stream(self) -> bool:
        return self._call is None and bool(self._unanswered)

    async def _wait(self) -> None:
        """Waits for a change. Cancels the stream if a result is overdue."""
        left = None
        if self._unanswered:
            left = self._waiting_since + self._timeout + _MAX_WAIT - time.monotonic()
        if left is not None and left <= 0:
            self._cancel_call()
            left = None
        await self._changed.wait(left)

    def _cancel_call(self) -> None:
        if self._call:
            self._call.cancel()

    async def _open(self) -> None:
        """Opens a stream, after a delay if the last one broke. Raises VisageError if there must be none."""
        end = self._end
        # The service also ends a stream on which nothing was sent for a while.
        if end and not end.was_idle:
            if end.cause is None:
                raise VisageError("The stream ended before all results came.", reason="UNREACHABLE", retryable=True)
            cause = self._calls.require_rpc_error(end.cause)
            self._attempts = self._attempts or self._calls.attempts(self._timeout)
            await self._calls.limit.sleep(self._attempts.delay_after(cause, error_from_rpc(cause)))
        if self._calls.limit.is_closed:
            raise cancelled()
        with self._changed:
            self._attempt += 1
            attempt = self._attempt
        try:
            call = self._calls.runtime.open_stream(self._method, self._requests(attempt), self._calls.metadata)
        except ValueError as cause:
            raise self._calls.require_rpc_error(cause)
        with self._changed:
            self._call = call
        self._waiting_since = time.monotonic()
        self._running[1:] = [call, self._calls.runtime.start(self._receive(call, attempt))]

    async def _receive(self, call: Cancellable, attempt: int) -> None:
        reader = self._calls.runtime.reader(self._cancel_call)
        cause: Optional[grpc.RpcError] = None
        try:
            while (response := await reader.read(call)) is not None:
                with self._changed:
                    # The caller is slow: the service waits, too.
                    while self._results and self._attempt == attempt:
                        await self._changed.wait()
                    if self._attempt != attempt:
                        return
                    self._add_response(response)
        except grpc.RpcError as error:
            cause = error
        with self._changed:
            if self._attempt == attempt:
                self._call = None
                self._end = _End(cause, was_idle=not self._unanswered)
                self._changed.notify_all()

    def _add_response(self, response: typed.AnalyzeImagesResponse) -> None:
        sent = self._unanswered.pop(response.key, None)
        if sent is None:
            return
        self._attempts = None
        if response.HasField("error"):
            self._results.append(StreamResult(sent.key, None, error_from_status(response.error)))
        else:
            self._results.append(StreamResult(sent.key, analysis_from_message(response.response), None))
        self._changed.notify_all()

    async def _requests(self, attempt: int) -> AsyncGenerator[typed.AnalyzeImagesRequest, None]:
        """The requests of a stream. gRPC takes the next one when it has sent the last one."""
        while True:
            with self._changed:
                sent = self._unsent(attempt)
                while sent is None and self._attempt == attempt and not self._is_source_done:
                    await self._changed.wait()
                    sent = self._unsent(attempt)
                if sent is None or self._attempt != attempt:
                    return
                sent.attempt = attempt
            yield sent.request

    def _unsent(self, attempt: int) -> Optional[_Sent[Key]]:
        """The first image that was not sent on this stream."""
        return next((sent for sent in self._unanswered.values() if sent.attempt != attempt), None)

    async def _read_images(self) -> None:
        """Reads images as long as few enough have no result or one that was not taken."""
        error: Optional[BaseException] = None
        number = 0
        try:
            async for key, image in each(self._images):
                outcome = await self._read(key, image, str(number))
                with self._changed:
                    self._add(outcome, str(number))
                    number += 1
                    while self._is_full() and self._attempt >= 0:
                        await self._changed.wait()
                    if self._attempt < 0:
                        return
        except BaseException as cause:
            error = cause
        with self._changed:
            self._is_source_done = True
            self._source_error = error
            self._changed.notify_all()

    def _is_full(self) -> bool:
        return len(self._unanswered) + len(self._results) >= self._calls.max_in_flight

    async def _read(self, key: Key, image: ImageInput, number: str) -> Union[_Sent[Key], StreamResult[Key]]:
        try:
            request = await self._calls.runtime.prepare(lambda: self._create_request(image))
        except VisageError as error:
            return StreamResult(key, None, error)
        return _Sent(key, typed.AnalyzeImagesRequest(key=number, request=request), attempt=0)

    def _add(self, outcome: Union[_Sent[Key], StreamResult[Key]], number: str) -> None:
        if isinstance(outcome, StreamResult):
            self._results.append(outcome)
        else:
            if not self._unanswered:
                self._waiting_since = time.monotonic()
            self._unanswered[number] = outcome
        self._changed.notify_all()
