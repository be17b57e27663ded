"""The account of the caller, and users and plans for the operator. Requests and responses are the messages of visage.v1,
whose protos describe the calls."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, Optional, Protocol, TypeVar, overload

from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.message import Message

from visage._call_runner import CallRunner
from visage._operation import Awaiting, Blocking, SharedMethod, run_blocking
from visage.v1 import account_pb2, admin_pb2
from visage.v1.account_pb2_grpc import AccountServiceStub
from visage.v1.admin_pb2_grpc import AdminServiceStub

_Request = TypeVar("_Request", bound=Message)
_Response = TypeVar("_Response", bound=Message)
_TakenRequest = TypeVar("_TakenRequest", contravariant=True)
_Returned = TypeVar("_Returned", covariant=True)


class _Method(Protocol[_TakenRequest, _Returned]):
    def __call__(
        self, request: Optional[_TakenRequest] = None, *, timeout: Optional[float] = None
    ) -> _Returned: ...


class _Rpc(SharedMethod, Generic[_Request, _Response]):
    """A method that sends a message and returns the response. It is retried if the proto calls it idempotent."""

    def __init__(self, request_type: type[_Request], response_type: type[_Response]) -> None:
        name = request_type.DESCRIPTOR.name[: -len("Request")]
        (service,) = request_type.DESCRIPTOR.file.services_by_name.values()
        options = service.methods_by_name[name].GetOptions()
        is_idempotent = options.idempotency_level == MethodOptions.IDEMPOTENT

        async def call(
            self: _Service, request: Optional[_Request] = None, *, timeout: Optional[float] = None
        ) -> _Response:
            message = request_type() if request is None else request
            method = getattr(self.raw, name)
            if name.startswith("Delete"):
                return await self._calls.delete(method, message, timeout) or response_type()
            response: _Response = await self._calls.run(method, message, timeout, is_idempotent=is_idempotent)
            return response

        super().__init__(call, run_blocking)

    @overload
    def __get__(self, instance: Blocking, owner: type) -> _Method[_Request, _Response]: ...
    @overload
    def __get__(
        self, instance: Awaiting, owner: type
    ) -> _Method[_Request, Coroutine[Any, Any, _Response]]: ...
    def __get__(self, instance: object, owner: type) -> Any:
        return self._bind(instance, owner)


class _Service:
    _stub_type: Any

    def __init__(self, channel: Any, calls: CallRunner) -> None:
        self.raw = self._stub_type(channel)
        self._calls = calls


class AccountOperations(_Service):
    """The account of the caller: plan, subscription, usage and keys."""

    _stub_type = AccountServiceStub

    get_account = _Rpc(account_pb2.GetAccountRequest, account_pb2.GetAccountResponse)
    get_usage = _Rpc(account_pb2.GetUsageRequest, account_pb2.GetUsageResponse)
    create_key = _Rpc(account_pb2.CreateKeyRequest, account_pb2.CreateKeyResponse)
    delete_key = _Rpc(account_pb2.DeleteKeyRequest, account_pb2.DeleteKeyResponse)


class AdminOperations(_Service):
    """Users, plans and usage of the whole service. The API key of the client must be the admin key."""

    _stub_type = AdminServiceStub

    list_users = _Rpc(admin_pb2.ListUsersRequest, admin_pb2.ListUsersResponse)
    get_user = _Rpc(admin_pb2.GetUserRequest, admin_pb2.GetUserResponse)
    create_user = _Rpc(admin_pb2.CreateUserRequest, admin_pb2.CreateUserResponse)
    update_user = _Rpc(admin_pb2.UpdateUserRequest, admin_pb2.UpdateUserResponse)
    delete_user = _Rpc(admin_pb2.DeleteUserRequest, admin_pb2.DeleteUserResponse)
    create_user_key = _Rpc(admin_pb2.CreateUserKeyRequest, admin_pb2.CreateUserKeyResponse)
    delete_user_key = _Rpc(admin_pb2.DeleteUserKeyRequest, admin_pb2.DeleteUserKeyResponse)
    list_plans = _Rpc(admin_pb2.ListPlansRequest, admin_pb2.ListPlansResponse)
    create_plan = _Rpc(admin_pb2.CreatePlanRequest, admin_pb2.CreatePlanResponse)
    update_plan = _Rpc(admin_pb2.UpdatePlanRequest, admin_pb2.UpdatePlanResponse)
    delete_plan = _Rpc(admin_pb2.DeletePlanRequest, admin_pb2.DeletePlanResponse)
    sum_usage = _Rpc(admin_pb2.SumUsageRequest, admin_pb2.SumUsageResponse)


class Account(AccountOperations, Blocking):
    __doc__ = AccountOperations.__doc__


class AsyncAccount(AccountOperations, Awaiting):
    __doc__ = AccountOperations.__doc__


class Admin(AdminOperations, Blocking):
    __doc__ = AdminOperations.__doc__


class AsyncAdmin(AdminOperations, Awaiting):
    __doc__ = AdminOperations.__doc__
