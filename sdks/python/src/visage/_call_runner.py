"""How a call runs: its slot, its deadline and its retries."""

from __future__ import annotations

from typing import Callable, Protocol, TypeVar

import grpc

from visage._limit import InFlightLimit, Slot
from visage._retry import Attempts, cancelled, is_rejection
from visage.error import error_from_rpc

Metadata = tuple[tuple[str, str], ...]

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_SentRequest = TypeVar("_SentRequest", contravariant=True)
_Received = TypeVar("_Received", covariant=True)


class Send(Protocol[_SentRequest, _Received]):
    """Makes one attempt of a call, such as `with_call` of a method of a stub."""

    def __call__(
        self, request: _SentRequest, /, *, timeout: float, metadata: Metadata
    ) -> tuple[_Received, grpc.Call]: ...


class CallRunner:
    """Runs the calls of a client."""

    def __init__(self, timeout: float, retries: int, metadata: Metadata, limit: InFlightLimit) -> None:
        self.timeout = timeout
        self.retries = retries
        self.metadata = metadata
        self.limit = limit

    def run(
        self,
        send: Send[_Request, _Response],
        create_request: Callable[[], _Request],
        *,
        is_idempotent: bool = True,
    ) -> _Response:
        """Waits for a slot, creates the request and sends it, with retries within the deadline. A call that is not
        idempotent is only repeated if the service has rejected it without any work."""
        return self.run_with_call(send, create_request, is_idempotent=is_idempotent)[0]

    def run_with_call(
        self,
        send: Send[_Request, _Response],
        create_request: Callable[[], _Request],
        *,
        is_idempotent: bool = True,
    ) -> tuple[_Response, grpc.Call]:
        """Like `run`, and returns the call, which has the metadata of the response, too."""
        slot = self.limit.slot()
        try:
            # Images are read after this, so that waiting calls do not hold them in memory.
            if not slot.acquire():
                raise cancelled()
            attempts = Attempts(self.timeout, self.retries, is_idempotent=is_idempotent)
            request = create_request()
            while True:
                try:
                    result = send(request, timeout=attempts.remaining(), metadata=self.metadata)
                    slot.accept()
                    return result
                except (grpc.RpcError, ValueError) as cause:
                    self._wait_for_retry(slot, attempts, self.require_rpc_error(cause))
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

    def _wait_for_retry(self, slot: Slot, attempts: Attempts, cause: grpc.RpcError) -> None:
        """Returns when the call may be tried again. Raises VisageError if it may not."""
        error = error_from_rpc(cause)
        delay = attempts.delay_after(cause, error)
        if is_rejection(error):
            slot.reject(delay)
            has_slot = slot.acquire(attempts.remaining())
        else:
            self.limit.sleep(delay)
            has_slot = True
        if self.limit.is_closed:
            raise cancelled() from cause
        if not has_slot:
            raise error from cause
