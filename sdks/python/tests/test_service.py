"""Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_API_KEY and VISAGE_PHOTOS."""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import time
import unittest
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from visage import AsyncVisageClient, Box, ImageInput, Template, Url, VisageClient, VisageError
from visage.face.v1 import face_pb2
from visage.v1.account_pb2 import DeleteKeyRequest, GetUsageRequest
from visage.v1.admin_pb2 import CreateUserRequest, DeleteUserRequest, GetUserRequest

ADDRESS = os.environ.get("VISAGE_ADDRESS", "")
KEY = os.environ.get("VISAGE_API_KEY", "")
ADMIN_KEY = os.environ.get("VISAGE_ADMIN_KEY", "")
PHOTOS = Path(os.environ.get("VISAGE_PHOTOS", ""))

AGE_RANGES = ("0-10", "10-20", "20-40", "40-60", "60-100")


@unittest.skipUnless(ADDRESS, "VISAGE_ADDRESS is not set")
class ServiceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = VisageClient(ADDRESS, KEY)
        self.addCleanup(self.client.close)

    def photo(self, number: int) -> Path:
        return PHOTOS / f"sample{number}.jpg"

    def test_matches_two_photographs(self) -> None:
        match = self.client.match_faces(self.photo(3), self.photo(3))
        self.assertEqual((match.distance, match.matched), (0, True))

    def test_compares_images_and_vectors(self) -> None:
        comparison = self.client.compare_faces(self.photo(3), self.photo(3))
        self.assertEqual([match.matched for match in comparison.matches], [True, False, False])
        template = self.client.get_face_vec(self.photo(3))
        (match,) = self.client.compare_faces(
            template, self.photo(3), target_box=comparison.matches[0].box, max_false_match_rate=0.001
        ).matches
        self.assertTrue(match.matched)
        analysis = self.client.analyze_image(self.photo(3), features=["embedding"], max_faces=1)
        analyzed = analysis.faces[0].template
        assert analyzed
        (stored,) = self.client.compare_faces(analyzed, template).matches
        self.assertEqual(stored.distance, 0)
        (adult,) = self.client.compare_faces(analyzed, template, assume_adults=True).matches
        self.assertLess(adult.false_match_rate, stored.false_match_rate)
        other = Template(template.embedding, "another")
        with self.assertRaises(VisageError) as raised:
            self.client.compare_faces(other, template)
        self.assertEqual(raised.exception.reason, "MODEL_MISMATCH")

    def test_analyses_an_image(self) -> None:
        analysis = self.client.analyze_image(self.photo(1))
        self.assertEqual((analysis.width, analysis.height), (1920, 1280))
        self.assertEqual([len(face.landmarks) for face in analysis.faces], [68, 68, 68])
        self.assertTrue(all(face.quality and face.quality.usable for face in analysis.faces))
        self.assertTrue(all(face.age and face.age.range in AGE_RANGES for face in analysis.faces))
        self.assertTrue(all(face.gender and face.gender.value in ("female", "male") for face in analysis.faces))
        with self.assertRaises(VisageError) as raised:
            self.client.analyze_image(self.photo(1), boxes=[Box(9000, 9000, 9100, 9100)])
        self.assertEqual(raised.exception.reason, "BAD_BOX")
        (face,) = self.client.analyze_image(self.photo(1), boxes=[analysis.faces[2].box], features=["quality"]).faces
        self.assertEqual(len(face.landmarks), 0)
        with self.assertRaises(ValueError):
            self.client.analyze_image(self.photo(1), features=["age"])  # type: ignore[list-item]

    def test_analyses_many_images_on_a_stream(self) -> None:
        images: list[tuple[str, ImageInput]] = [
            *((str(number), self.photo(number)) for number in range(1, 7)),
            ("broken", b"no image"),
            ("missing", Path("no-such-file.jpg")),
        ]
        outcomes = {
            result.key: result.error.reason if result.error else len(result.response.faces if result.response else ())
            for result in self.client.analyze_images(images, max_faces=1)
        }
        expected: dict[str, object] = {str(number): 1 for number in range(1, 7)}
        self.assertEqual(outcomes, {**expected, "broken": "UNSUPPORTED_FORMAT", "missing": "UNREADABLE_IMAGE"})

    def test_a_stream_reads_images_as_fast_as_its_results_are_taken(self) -> None:
        taken = 0
        most_ahead = 0

        def images() -> Iterator[tuple[int, bytes]]:
            nonlocal most_ahead
            for key in itertools.count():
                most_ahead = max(most_ahead, key - taken)
                yield key, b"no image"

        with VisageClient(ADDRESS, KEY, max_in_flight=8) as client:
            for result in client.analyze_images(images()):
                self.assertEqual(result.error and result.error.reason, "UNSUPPORTED_FORMAT")
                taken += 1
                if taken == 10:
                    time.sleep(0.5)
                if taken == 300:
                    break
        self.assertLess(most_ahead, 12)

    def test_the_error_of_the_images_comes_after_their_results(self) -> None:
        def images() -> Iterator[tuple[int, Path]]:
            yield 1, self.photo(1)
            yield 2, self.photo(2)
            raise OSError("The disk is gone.")

        keys: list[int] = []
        with self.assertRaisesRegex(OSError, "The disk is gone"):
            for result in self.client.analyze_images(images()):
                keys.append(result.key)
        self.assertEqual(sorted(keys), [1, 2])

    def test_a_stream_reports_an_unknown_key(self) -> None:
        with VisageClient(ADDRESS, "nobody") as client, self.assertRaises(VisageError) as raised:
            list(client.analyze_images([(1, self.photo(3))]))
        self.assertEqual(raised.exception.reason, "UNKNOWN_USER")

    def test_closing_the_client_ends_a_stream(self) -> None:
        with VisageClient(ADDRESS, KEY) as client, self.assertRaises(VisageError) as raised:
            for _ in client.analyze_images((key, self.photo(3)) for key in itertools.count()):
                client.close()
        self.assertEqual(raised.exception.reason, "CANCELLED")

    def test_returns_every_face(self) -> None:
        attributes = self.client.get_image_attr(self.photo(1))
        self.assertEqual((attributes.height, attributes.width, len(attributes.faces)), (1280, 1920, 3))
        self.assertTrue(all(len(face.landmarks) == 68 for face in attributes.faces))
        boxes = [face.box for face in reversed(attributes.faces)]
        selected = self.client.get_image_attr(self.photo(1), boxes=boxes)
        self.assertEqual(len(selected.faces), 3)
        for box, face in zip(boxes, selected.faces):
            self.assertLess(math.dist(box, face.box), 100)

    def test_converts_a_face_to_a_vector(self) -> None:
        one = self.client.get_face_vec(self.photo(1), quality=True)
        two = self.client.get_face_vec(self.photo(3))
        self.assertEqual(len(one.embedding), 128)
        self.assertTrue(one.model)
        self.assertEqual(one.model, two.model)
        self.assertGreater(math.dist(one.embedding, two.embedding), 0)

    def test_the_generated_client_asks_for_details(self) -> None:
        image = face_pb2.Image(content=self.photo(3).read_bytes())
        request = face_pb2.GetFaceVecRequest(img=image, detail=True)
        response = self.client.raw.GetFaceVec(request, metadata=self.client.metadata, timeout=30)
        self.assertTrue(response.data.detail.model)

    def test_reports_errors(self) -> None:
        cases: list[tuple[ImageInput, str, str]] = [
            (b"no image", "UNSUPPORTED_FORMAT", "2004"),
            (Url("http://127.0.0.1/photo.jpg"), "URL_UNREACHABLE", "2006"),
        ]
        for image, reason, code in cases:
            with self.subTest(reason), self.assertRaises(VisageError) as raised:
                self.client.match_faces(self.photo(3), image)
            error = raised.exception
            self.assertEqual((error.reason, error.code, error.field, error.retryable), (reason, code, "img_2", False))

    def test_shows_the_account(self) -> None:
        account = self.client.account.get_account()
        self.assertTrue(account.keys[0].current)
        self.client.get_face_vec(self.photo(3))
        usage = self.client.account.get_usage(GetUsageRequest(), timeout=10)
        self.assertTrue(all(count.month == account.quota.month for count in usage.counts))
        with self.assertRaisesRegex(VisageError, "BAD_REQUEST"):
            self.client.account.get_usage(GetUsageRequest(first_month="yesterday"))

    @unittest.skipUnless(ADMIN_KEY, "VISAGE_ADMIN_KEY is not set")
    def test_manages_users(self) -> None:
        with VisageClient(ADDRESS, ADMIN_KEY) as client:
            created = client.admin.create_user(CreateUserRequest(name=f"python-{uuid.uuid4()}"))
            request = GetUserRequest(user=created.user.user_id)
            self.assertEqual(client.admin.get_user(request).user.name, created.user.name)
            self.assertIn("trial", [summary.plan.name for summary in client.admin.list_plans().plans])
            client.admin.delete_user(DeleteUserRequest(user=created.user.user_id))
            with self.assertRaisesRegex(VisageError, "USER_NOT_FOUND"):
                client.admin.get_user(request)

    def test_reports_an_unknown_key(self) -> None:
        with VisageClient(ADDRESS, "nobody") as client, self.assertRaises(VisageError) as raised:
            client.get_face_vec(self.photo(3))
        self.assertEqual(raised.exception.code, "4002")

    def test_300_calls_at_once_succeed(self) -> None:
        # 124 KB of one face. The machine of the test may be slow.
        photos = [PHOTOS / "portrait.jpg"] * 300
        with VisageClient(ADDRESS, KEY, timeout=300) as client, ThreadPoolExecutor(len(photos)) as pool:
            vectors = {template.embedding for template in pool.map(client.get_face_vec, photos)}
        self.assertEqual(len(vectors), 1)


@unittest.skipUnless(ADDRESS, "VISAGE_ADDRESS is not set")
class AsyncServiceTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = await AsyncVisageClient(ADDRESS, KEY, timeout=300).__aenter__()
        self.addAsyncCleanup(self.client.close)

    def photo(self, number: int) -> Path:
        return PHOTOS / f"sample{number}.jpg"

    async def test_has_the_results_of_the_other_client(self) -> None:
        with VisageClient(ADDRESS, KEY) as client:
            photo = self.photo(3)
            self.assertEqual(await self.client.analyze_image(photo), client.analyze_image(photo))
            self.assertEqual(await self.client.compare_faces(photo, photo), client.compare_faces(photo, photo))
            self.assertEqual(await self.client.match_faces(photo, photo), client.match_faces(photo, photo))
            self.assertEqual(await self.client.get_image_attr(photo), client.get_image_attr(photo))
            self.assertEqual(await self.client.get_face_vec(photo), client.get_face_vec(photo))

    async def test_analyses_many_images_on_a_stream(self) -> None:
        images: list[tuple[int, ImageInput]] = [(number, self.photo(number)) for number in range(1, 7)]
        images.append((7, b"no image"))
        results = {result.key: result async for result in self.client.analyze_images(images, max_faces=1)}
        responses = [result.response for result in results.values() if result.response]
        self.assertEqual([len(response.faces) for response in responses], [1] * 6)
        self.assertRegex(str(results[7].error), "UNSUPPORTED_FORMAT")

    async def test_leaving_a_stream_ends_it(self) -> None:
        results = self.client.analyze_images((key, b"no image") for key in itertools.count())
        async for result in results:
            if result.key == 50:
                break
        await results.aclose()
        self.assertEqual(len((await self.client.analyze_image(self.photo(3))).faces), 3)

    async def test_galleries(self) -> None:
        galleries = self.client.galleries
        gallery = f"python-{uuid.uuid4()}"
        await galleries.create(gallery)
        self.addAsyncCleanup(galleries.delete, gallery)
        await galleries.enrol_face(gallery, "ann", self.photo(3), display_name="Ann")
        result = await galleries.identify(gallery, self.photo(3))
        self.assertEqual([[match.display_name for match in face.matches] for face in result.faces], [["Ann"], [], []])
        exported = [face async for face in galleries.export(gallery)]
        await galleries.delete_person(gallery, "ann")
        self.assertEqual((await galleries.import_faces(gallery, exported)).face_count, 1)
        self.assertEqual([person.display_name async for person in galleries.list_people(gallery)], ["Ann"])
        self.assertIn(gallery, [each.gallery_id async for each in galleries.list()])

    async def test_100_calls_at_once_succeed(self) -> None:
        photo = PHOTOS / "portrait.jpg"
        templates = await asyncio.gather(*(self.client.get_face_vec(photo) for _ in range(100)))
        self.assertEqual(len({template.embedding for template in templates}), 1)

    async def test_accounts(self) -> None:
        account = await self.client.account.get_account()
        self.assertEqual(account.keys[0].current, True)
        with self.assertRaisesRegex(VisageError, "KEY_IN_USE"):
            await self.client.account.delete_key(DeleteKeyRequest(fingerprint=account.keys[0].fingerprint))


if __name__ == "__main__":
    unittest.main()
