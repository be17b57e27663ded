"""The analysis of many images on one stream."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Callable, Generic, Optional, Protocol

import grpc

from visage._limit import InFlightLimit
from visage._retry import Attempts, cancelled
from visage.error import VisageError, error_from_rpc, error_from_status
from visage.image import ImageInput
from visage.results import Key, StreamResult
from visage.v1 import face_analysis_pb2 as typed

# How long the service lets an image wait for its turn in seconds, in addition to the time that it needs.
_MAX_WAIT = 30.0


class Call(Protocol):
    """A stream to the service."""

    def __iter__(self) -> Iterator[typed.AnalyzeImagesResponse]: ...
    def cancel(self) -> object: ...


@dataclass(frozen=True)
class StreamLimits:
    """The options of the client that a stream needs."""

    timeout: float
    retries: int
    max_in_flight: int
    calls: InFlightLimit
    """Is closed with the client."""


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

    Three threads share it, and `_changed` guards the fields: the caller's takes the results, one of gRPC reads the images
    and sends them, and one receives the responses.
    """

    def __init__(
        self,
        images: Iterable[tuple[Key, ImageInput]],
        create_request: Callable[[ImageInput], typed.AnalyzeImageRequest],
        open_call: Callable[[Iterator[typed.AnalyzeImagesRequest]], Call],
        limits: StreamLimits,
    ) -> None:
        self._source = iter(images)
        self._create_request = create_request
        self._open_call = open_call
        self._limits = limits
        self._changed = threading.Condition()
        # By the key of their requests. The caller's own key may be of any type, and need not be unique.
        self._unanswered: dict[str, _Sent[Key]] = {}
        self._results: deque[StreamResult[Key]] = deque()
        self._next_key = 0
        # Whether a thread reads the next image.
        self._is_reading = False
        self._is_source_done = False
        self._source_error: Optional[BaseException] = None
        # The number of the current stream. Threads of earlier streams end.
        self._attempt = 0
        self._call: Optional[Call] = None
        self._end: Optional[_End] = None
        # The attempts since the last result, and the time of it.
        self._attempts: Optional[Attempts] = None
        self._waiting_since = 0.0

    def results(self) -> Iterator[StreamResult[Key]]:
        try:
            self._open()
            while True:
                result = self._next_result()
                if result is None:
                    break
                yield result
            if self._source_error is not None:
                raise self._source_error
        finally:
            with self._changed:
                self._attempt += 1
                self._changed.notify_all()
            if self._call:
                self._call.cancel()

    def _next_result(self) -> Optional[StreamResult[Key]]:
        """Returns None at the end. Raises VisageError if the stream cannot go on."""
        self._waiting_since = time.monotonic()
        while True:
            with self._changed:
                while not self._results and not self._has_ended():
                    self._wait()
                if self._results:
                    self._changed.notify_all()
                    return self._results.popleft()
                if self._is_source_done and not self._unanswered:
                    return None
                end = self._end
            self._prepare_reopen(end)
            self._open()

    def _has_ended(self) -> bool:
        """Whether the stream has ended. If a thread still reads an image for it, that image comes first."""
        return self._end is not None and (bool(self._unanswered) or not self._is_reading)

    def _wait(self) -> None:
        """Waits for a change. Cancels the stream if a result is overdue."""
        if not self._unanswered or self._end is not None:
            self._changed.wait()
            return
        left = self._waiting_since + self._limits.timeout + _MAX_WAIT - time.monotonic()
        if left > 0:
            self._changed.wait(left)
        elif self._call:
            self._call.cancel()
            self._changed.wait()

    def _prepare_reopen(self, end: Optional[_End]) -> None:
        """Waits before a new stream. Raises VisageError if there must be none."""
        if self._limits.calls.is_closed:
            raise cancelled()
        # The service also ends a stream on which nothing was sent for a while.
        if end is None or end.was_idle:
            return
        if end.cause is None:
            raise VisageError("The stream ended before all results came.", reason="UNREACHABLE", retryable=True)
        error = error_from_rpc(end.cause)
        self._attempts = self._attempts or Attempts(self._limits.timeout, self._limits.retries)
        self._limits.calls.sleep(self._attempts.delay_after(end.cause, error))
        if self._limits.calls.is_closed:
            raise cancelled()

    def _open(self) -> None:
        with self._changed:
            self._attempt += 1
            self._end = None
            attempt = self._attempt
        try:
            call = self._open_call(self._requests(attempt))
        except ValueError as cause:
            # gRPC raises it for a closed channel.
            if self._limits.calls.is_closed:
                raise cancelled() from cause
            raise
        self._call = call
        self._waiting_since = time.monotonic()
        threading.Thread(target=self._receive, args=(call, attempt), name="visage-stream", daemon=True).start()

    def _receive(self, call: Call, attempt: int) -> None:
        cause: Optional[grpc.RpcError] = None
        try:
            for response in call:
                with self._changed:
                    # The caller is slow: the service waits, too.
                    self._changed.wait_for(lambda: not self._results or self._attempt != attempt)
                    if self._attempt != attempt:
                        return
                    self._add_response(response)
        except grpc.RpcError as error:
            cause = error
        with self._changed:
            if self._attempt == attempt:
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
            self._results.append(StreamResult(sent.key, response.response, None))
        self._changed.notify_all()

    def _requests(self, attempt: int) -> Iterator[typed.AnalyzeImagesRequest]:
        """The requests of a stream. gRPC takes the next one when it has sent the last one."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._attempt != attempt or self._can_send(attempt))
                if self._attempt != attempt:
                    return
                sent = self._unsent(attempt)
                if sent is None:
                    if self._is_source_done:
                        return
                    self._is_reading = True
                else:
                    sent.attempt = attempt
            if sent is not None:
                yield sent.request
            else:
                self._read_image()

    def _can_send(self, attempt: int) -> bool:
        if self._unsent(attempt) is not None:
            return True
        if self._is_reading:
            return False
        return self._is_source_done or len(self._unanswered) + len(self._results) < self._limits.max_in_flight

    def _unsent(self, attempt: int) -> Optional[_Sent[Key]]:
        """The first image that was not sent on this stream."""
        return next((sent for sent in self._unanswered.values() if sent.attempt != attempt), None)

    def _read_image(self) -> None:
        """Adds the next image to those that have no result. It may belong to a later stream by then."""
        sent: Optional[_Sent[Key]] = None
        failed: Optional[StreamResult[Key]] = None
        source_error: Optional[BaseException] = None
        try:
            key, image = next(self._source)
            try:
                request = typed.AnalyzeImagesRequest(key=str(self._next_key), request=self._create_request(image))
                sent = _Sent(key, request, attempt=0)
            except Exception as cause:
                error = VisageError(str(cause), reason="UNREADABLE_IMAGE")
                error.__cause__ = cause
                failed = StreamResult(key, None, error)
        except StopIteration:
            pass
        except BaseException as error:
            source_error = error
        with self._changed:
            self._is_reading = False
            if sent:
                if not self._unanswered:
                    self._waiting_since = time.monotonic()
                self._unanswered[str(self._next_key)] = sent
                self._next_key += 1
            elif failed:
                self._results.append(failed)
            else:
                self._is_source_done = True
                self._source_error = source_error
            self._changed.notify_all()
