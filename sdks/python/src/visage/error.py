"""The error of a failed call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional, Protocol, Union, cast

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

# Trailing metadata of an error: its google.rpc.Status, and the delay before a retry (gRFC A6).
_DETAILS = "grpc-status-details-bin"
_PUSHBACK = "grpc-retry-pushback-ms"

# Statuses of errors without a response of the service after which a call may be retried. CANCELLED and INTERNAL mean
# that another party has reset the stream: the client reports its own cancellations itself.
_RETRYABLE = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
)


class VisageError(Exception):
    """A failed call: an error of the service, or of the connection to it. `__cause__` is the error of gRPC."""

    def __init__(
        self,
        message: str,
        reason: str,
        code: Optional[str] = None,
        field: Optional[str] = None,
        stage: Optional[str] = None,
        retryable: bool = False,
        retry_after: float = 0.0,
    ) -> None:
        # All fields are arguments of Exception, so that errors can be pickled.
        super().__init__(message, reason, code, field, stage, retryable, retry_after)
        self.message = message
        """One sentence for people. It may change between versions of the service."""
        self.reason = reason
        """The reason from the table of errors, such as `NO_FACE`. Without a response of the service it is
        `UNREACHABLE`, `DEADLINE_PASSED` or `CANCELLED`, and `UNREADABLE_IMAGE` for an image that could not be read."""
        self.code = code
        """The code from the table of errors, such as `3001`; None without a response of the service."""
        self.field = field
        """The field of the request that caused the error, such as `img_1` or `gallery_id`; None if it was none."""
        self.stage = stage
        """The stage that failed, such as `decode`; None without a response of the service."""
        self.retryable = retryable
        """Whether the same call may succeed later."""
        self.retry_after = retry_after
        """The delay in seconds that the service asks for before a retry; 0 if it asks for none."""

    def __str__(self) -> str:
        field = f" ({self.field})" if self.field else ""
        return f"{self.reason}{field}: {self.message}"


def error_from_rpc(cause: grpc.RpcError) -> VisageError:
    """Converts the error of a gRPC call. Its details come from the trailing metadata of the response."""
    call = _call_of(cause)
    status = call.code()
    info, retry = _read_details(_trailer(call).get(_DETAILS))
    message = call.details() or status.name
    if info.reason:
        return _error_from_details(message, info, retry)
    is_deadline = status == grpc.StatusCode.DEADLINE_EXCEEDED
    return VisageError(
        message,
        reason="DEADLINE_PASSED" if is_deadline else "UNREACHABLE",
        retryable=status in _RETRYABLE,
        retry_after=retry.retry_delay.ToMicroseconds() / 1e6,
    )


def error_from_status(status: status_pb2.Status) -> VisageError:
    """Converts the error of one image of a stream."""
    info, retry = _unpack_details(status)
    return _error_from_details(status.message, info, retry)


def forbids_retry(cause: grpc.RpcError) -> bool:
    """Whether the service asks not to retry, because the delay is longer than a call should last."""
    pushback = _trailer(_call_of(cause)).get(_PUSHBACK)
    return isinstance(pushback, str) and pushback.startswith("-")


def _error_from_details(
    message: str, info: error_details_pb2.ErrorInfo, retry: error_details_pb2.RetryInfo
) -> VisageError:
    return VisageError(
        message,
        reason=info.reason,
        code=info.metadata.get("code"),
        field=info.metadata.get("field"),
        stage=info.metadata.get("stage"),
        retryable=info.metadata.get("retryable") == "true",
        retry_after=retry.retry_delay.ToMicroseconds() / 1e6,
    )


class _FailedCall(Protocol):
    def code(self) -> grpc.StatusCode: ...
    def details(self) -> Optional[str]: ...
    def trailing_metadata(self) -> Optional[Iterable[tuple[str, Union[str, bytes]]]]: ...


def _call_of(cause: grpc.RpcError) -> _FailedCall:
    # The stubs of gRPC do not say so, but every error of a call has these methods.
    return cast(_FailedCall, cause)


def _trailer(call: _FailedCall) -> dict[str, Union[str, bytes]]:
    return dict(call.trailing_metadata() or ())


def _read_details(
    status_bytes: object,
) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo]:
    try:
        status = status_pb2.Status.FromString(status_bytes if isinstance(status_bytes, bytes) else b"")
        return _unpack_details(status)
    except DecodeError:
        # Not written by the service. The status says enough.
        return error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()


def _unpack_details(
    status: status_pb2.Status,
) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo]:
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    for detail in status.details:
        detail.Unpack(info) or detail.Unpack(retry)
    return info, retry
