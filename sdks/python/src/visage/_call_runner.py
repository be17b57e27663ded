"""How a call runs: its slot, its deadline and its retries."""

from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar, Union

import grpc

from visage._limit import InFlightLimit, Slot
from visage._retry import Attempts, cancelled, is_rejection
from visage._runtime import Metadata, Runtime, Trailer
from visage.error import VisageError, error_from_rpc

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class CallRunner:
    """Runs the calls of a client."""

    def __init__(
        self, runtime: Runtime, timeout: float, retries: int, metadata: Metadata, max_in_flight: int
    ) -> None:
        if timeout <= 0 or retries < 0 or max_in_flight < 1:
            raise ValueError("timeout and max_in_flight must be positive, and retries must not be negative.")
        self.runtime = runtime
        self.metadata = metadata
        self.max_in_flight = max_in_flight
        self.limit = InFlightLimit(max_in_flight, runtime)
        self._timeout = timeout
        self._retries = retries

    def timeout_of(self, timeout: Optional[float]) -> float:
        """Returns the timeout of a call, which is that of the client if the call has none."""
        if timeout is not None and timeout <= 0:
            raise ValueError("timeout must be positive.")
        return timeout or self._timeout

    def attempts(self, timeout: Optional[float], *, is_idempotent: bool = True) -> Attempts:
        return Attempts(self.timeout_of(timeout), self._retries, is_idempotent=is_idempotent)

    async def run(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: Union[_Request, Callable[[], _Request]],
        timeout: Optional[float],
        *,
        is_idempotent: bool = True,
    ) -> _Response:
        """Waits for a slot, creates the request if it is a function, and sends it, with retries within the deadline. A
        call that is not idempotent is only repeated if the service has rejected it without any work."""
        attempts = self.attempts(timeout, is_idempotent=is_idempotent)
        response, _ = await self.run_attempts(method, request, attempts)
        return response

    async def delete(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: _Request,
        timeout: Optional[float],
    ) -> Optional[_Response]:
        """Runs a deletion. A repeated one succeeds: if the first response was lost, there is nothing left to delete."""
        attempts = self.attempts(timeout)
        try:
            response, _ = await self.run_attempts(method, request, attempts)
            return response
        except VisageError as error:
            if attempts.may_be_done and error.reason.endswith("_NOT_FOUND"):
                return None
            raise

    async def run_attempts(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: Union[_Request, Callable[[], _Request]],
        attempts: Attempts,
    ) -> tuple[_Response, Trailer]:
        """Like `run`, and returns the trailing metadata of the response, too."""
        slot = self.limit.slot()
        try:
            # Images are read after this, so that waiting calls do not hold them in memory.
            if not await slot.acquire():
                raise cancelled()
            attempts.start()
            message = await self.runtime.prepare(request) if callable(request) else request
            while True:
                try:
                    result = await self._send(method, message, attempts)
                    slot.accept()
                    return result
                except (grpc.RpcError, ValueError) as cause:
                    await self._wait_for_retry(slot, attempts, self.require_rpc_error(cause))
        finally:
            slot.release()

    def require_rpc_error(self, cause: Exception) -> grpc.RpcError:
        """Returns the error of a call. Raises VisageError if the client was closed, and errors that are not of gRPC."""
        # gRPC raises ValueError for a closed channel.
        if self.limit.is_closed:
            raise cancelled() from cause
        if not isinstance(cause, grpc.RpcError):
            raise cause
        return cause

    async def _send(self, method: Any, message: Any, attempts: Attempts) -> tuple[Any, Trailer]:
        if self.limit.is_closed:
            raise cancelled()
        # The messages of a stream.
        request = iter(message) if isinstance(message, list) else message
        return await self.runtime.send(method, request, timeout=attempts.remaining(), metadata=self.metadata)

    async def _wait_for_retry(self, slot: Slot, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the call may be tried again. Raises VisageError if it may not."""
        error = error_from_rpc(cause)
        delay = attempts.delay_after(cause, error)
        if is_rejection(error):
            await slot.reject(delay)
            has_slot = await slot.acquire(attempts.remaining())
        else:
            await self.limit.sleep(delay)
            has_slot = True
        if self.limit.is_closed:
            raise cancelled() from cause
        if not has_slot:
            raise error from cause
