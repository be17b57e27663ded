"""Tests how long people are kept, their exports and their receipts, with a service in this process."""

from __future__ import annotations

import asyncio
import os
import time
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any
from unittest import mock

import grpc
from fake_galleries import DRAINING, NO_RESPONSE, NOT_FOUND, OVERLOADED, FailingService, GalleryTestCase
from fake_service import failure

from visage import NEVER, AsyncVisageClient, GalleryFace, Template, VisageError
from visage._requests import expiration_fields


class PersonCallsTest(GalleryTestCase):
    def test_a_call_says_how_long_something_is_kept(self) -> None:
        end = datetime(2100, 1, 1, 1, 0, 0, 500_000, timezone(timedelta(hours=1)))
        template = Template([0.5], "model")
        for option, expected in (
            ({"expire_time": end}, "2100-01-01T00:00:00.500Z"),
            ({"ttl": timedelta(days=30)}, "2592000s"),
            ({"ttl": NEVER}, "0s"),
            ({}, None),
        ):
            service = FailingService()
            galleries = self.client(service).galleries
            options: dict[str, Any] = dict(option)
            galleries.create("staff", **options)
            galleries.update("staff", **options)
            galleries.enrol_face("staff", "ann", template, **options)
            galleries.update_person("staff", "ann", **options)
            galleries.import_faces("staff", [GalleryFace("ann", template, **options)])
            sent = [getattr(request, request.WhichOneof("expiration") or "", None) for request in service.requests]
            self.assertEqual([value and value.ToJsonString() for value in sent], [expected] * (5 if option else 4))

    @unittest.skipUnless(hasattr(time, "tzset"), "The time zone cannot be set")
    def test_a_datetime_without_a_time_zone_is_local_time(self) -> None:
        # Two hours ahead of UTC.
        with mock.patch.dict(os.environ, {"TZ": "TEST-2"}):
            time.tzset()
            self.addCleanup(time.tzset)
            fields = expiration_fields(datetime(2100, 1, 1, 2), None)
        self.assertEqual(fields["expire_time"].ToJsonString(), "2100-01-01T00:00:00Z")

    def test_a_time_and_a_duration_cannot_be_combined(self) -> None:
        service = FailingService()
        with self.assertRaisesRegex(ValueError, "not both"):
            self.client(service).galleries.update_person("staff", "ann", expire_time=datetime.now(), ttl=NEVER)
        self.assertEqual(service.requests, [])

    def test_a_deletion_of_a_person_returns_a_receipt_unless_its_response_was_lost(self) -> None:
        service = FailingService()
        receipt = self.client(service).galleries.delete_person("-", "ann")
        assert receipt
        self.assertEqual((receipt.person_id, service.requests[0].gallery_id), ("ann", "-"))
        service = FailingService(NO_RESPONSE, failure(grpc.StatusCode.NOT_FOUND, "PERSON_NOT_FOUND"))
        self.assertIsNone(self.client(service).galleries.delete_person("-", "ann"))

    def test_an_export_of_a_person_starts_again_after_a_break(self) -> None:
        service = FailingService(DRAINING, OVERLOADED)
        exported = self.client(service).galleries.export_person("-", "ann")
        self.assertEqual([(one.gallery_id, one.person_id) for one in exported], [("one", "ann"), ("two", "ann")])
        self.assertEqual((service.requests[2].gallery_id, service.calls), ("-", 3))
        service = FailingService(NOT_FOUND)
        with self.assertRaisesRegex(VisageError, "GALLERY_NOT_FOUND"):
            self.client(service).galleries.export_person("staff", "ann")

    def test_people_are_exported_and_deleted_with_asyncio(self) -> None:
        service = FailingService(DRAINING)
        address = self.serve(service)

        async def run() -> None:
            async with AsyncVisageClient(address, "key-of-tests") as client:
                exported = await client.galleries.export_person("-", "ann")
                self.assertEqual([one.gallery_id for one in exported], ["one", "two"])
                receipt = await client.galleries.delete_person("-", "ann")
                self.assertEqual(receipt and receipt.person_id, "ann")

        asyncio.run(run())
        self.assertEqual(service.calls, 3)


if __name__ == "__main__":
    unittest.main()
