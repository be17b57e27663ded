"""Tests which calls of accounts are retried, with a service in this process."""

from __future__ import annotations

import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from fake_service import Failure, failure

from visage import AsyncVisageClient, VisageClient, VisageError
from visage.v1 import account_pb2, account_pb2_grpc, admin_pb2, admin_pb2_grpc

OVERLOADED = failure(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retryable=True)
NOT_FOUND = failure(grpc.StatusCode.NOT_FOUND, "KEY_NOT_FOUND")
NO_RESPONSE = Failure(grpc.StatusCode.UNAVAILABLE)

# For type checkers all methods are abstract, and the services answer all with an empty message.
_Account: Any = account_pb2_grpc.AccountServiceServicer
_Admin: Any = admin_pb2_grpc.AdminServiceServicer


class FailingAccounts(_Account, _Admin):  # type: ignore[misc]
    """Raises the failures one after the other, then succeeds."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.requests: list[object] = []

    def __getattribute__(self, name: str) -> Any:
        response = next(
            (getattr(file, f"{name}Response") for file in (account_pb2, admin_pb2) if hasattr(file, f"{name}Response")),
            None,
        )
        if response is None:
            return super().__getattribute__(name)

        def answer(request: object, context: grpc.ServicerContext) -> object:
            self.requests.append(request)
            if self.failures:
                failure = self.failures.pop(0)
                context.set_trailing_metadata(failure.trailer)
                context.abort(failure.code, "Sorry.")
            return response()

        return answer


def serve(test: unittest.TestCase, service: FailingAccounts) -> str:
    """Serves until the test ends, and returns the address."""
    server = grpc.server(ThreadPoolExecutor(2))
    account_pb2_grpc.add_AccountServiceServicer_to_server(service, server)
    admin_pb2_grpc.add_AdminServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    test.addCleanup(lambda: server.stop(0).wait())
    return f"http://127.0.0.1:{port}"


class AccountsTest(unittest.TestCase):
    def client(self, service: FailingAccounts) -> VisageClient:
        client = VisageClient(serve(self, service), "key-of-tests")
        self.addCleanup(client.close)
        return client

    def test_has_every_call_of_the_services(self) -> None:
        service = FailingAccounts()
        client = self.client(service)
        for part, file in ((client.account, account_pb2), (client.admin, admin_pb2)):
            (descriptor,) = file.DESCRIPTOR.services_by_name.values()
            for method in descriptor.methods:
                name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method.name)[1:]
                response = getattr(part, name)()
                self.assertEqual(response.DESCRIPTOR.full_name, method.output_type.full_name)
        self.assertEqual(len(service.requests), 16)

    def test_retries_what_the_contract_calls_idempotent(self) -> None:
        service = FailingAccounts(NO_RESPONSE, OVERLOADED)
        self.client(service).account.get_usage(account_pb2.GetUsageRequest(first_month="2026-01"))
        self.assertEqual(service.requests, [account_pb2.GetUsageRequest(first_month="2026-01")] * 3)
        service = FailingAccounts(OVERLOADED, NO_RESPONSE)
        client = self.client(service)
        for call in (client.account.create_key, client.admin.create_user, client.admin.update_user):
            service.failures = [OVERLOADED, NO_RESPONSE]
            with self.assertRaisesRegex(VisageError, "UNREACHABLE"):
                call()
        self.assertEqual(len(service.requests), 6)

    def test_a_deletion_whose_response_was_lost_succeeds(self) -> None:
        service = FailingAccounts(NO_RESPONSE, NOT_FOUND)
        self.client(service).account.delete_key(account_pb2.DeleteKeyRequest(fingerprint="abc"))
        self.assertEqual(len(service.requests), 2)


class AsyncAccountsTest(unittest.IsolatedAsyncioTestCase):
    async def test_waits_for_the_response(self) -> None:
        service = FailingAccounts(OVERLOADED)
        async with AsyncVisageClient(serve(self, service), "key-of-tests") as client:
            self.assertEqual((await client.admin.list_users(timeout=10)).total_size, 0)


if __name__ == "__main__":
    unittest.main()
