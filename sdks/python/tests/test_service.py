"""Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_API_KEY and VISAGE_PHOTOS."""

from __future__ import annotations

import itertools
import math
import os
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from visage import Box, ImageInput, Template, Url, VisageClient, VisageError
from visage.face.v1 import face_pb2

ADDRESS = os.environ.get("VISAGE_ADDRESS", "")
KEY = os.environ.get("VISAGE_API_KEY", "")
PHOTOS = Path(os.environ.get("VISAGE_PHOTOS", ""))


@unittest.skipUnless(ADDRESS, "VISAGE_ADDRESS is not set")
class ServiceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = VisageClient(ADDRESS, KEY)
        self.addCleanup(self.client.close)

    def photo(self, number: int) -> Path:
        return PHOTOS / f"sample{number}.jpg"

    def test_matches_two_photographs(self) -> None:
        match = self.client.match_faces(self.photo(3), self.photo(3))
        self.assertEqual((match.distance, match.is_match), (0, True))

    def test_compares_images_and_vectors(self) -> None:
        comparison = self.client.compare_faces(self.photo(3), self.photo(3))
        self.assertEqual([match.matched for match in comparison.matches], [True, False, False])
        template = self.client.get_face_vec(self.photo(3))
        (match,) = self.client.compare_faces(
            template, self.photo(3), target_box=comparison.matches[0].box, max_false_match_rate=0.001
        ).matches
        self.assertTrue(match.matched)
        analysis = self.client.analyze_image(self.photo(3), features=["embedding"], max_faces=1)
        embedding = analysis.faces[0].embedding
        (stored,) = self.client.compare_faces(embedding, template).matches
        self.assertEqual(stored.distance, 0)
        (adult,) = self.client.compare_faces(embedding, template, assume_adults=True).matches
        self.assertLess(adult.false_match_rate, stored.false_match_rate)
        other = Template(template.vector, "another")
        with self.assertRaises(VisageError) as raised:
            self.client.compare_faces(other, template)
        self.assertEqual(raised.exception.reason, "MODEL_MISMATCH")

    def test_analyses_an_image(self) -> None:
        analysis = self.client.analyze_image(self.photo(1))
        self.assertEqual((analysis.image_size.width, analysis.image_size.height), (1920, 1280))
        self.assertEqual([len(face.landmarks) for face in analysis.faces], [68, 68, 68])
        self.assertTrue(all(face.quality.usable and face.age.min_years >= 0 for face in analysis.faces))
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
        self.assertEqual(len(one.vector), 128)
        self.assertTrue(one.model)
        self.assertEqual(one.model, two.model)
        self.assertGreater(math.dist(one.vector, two.vector), 0)

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
            self.assertEqual((error.reason, error.code, error.image, error.retryable), (reason, code, "img_2", False))

    def test_reports_an_unknown_key(self) -> None:
        with VisageClient(ADDRESS, "nobody") as client, self.assertRaises(VisageError) as raised:
            client.get_face_vec(self.photo(3))
        self.assertEqual(raised.exception.code, "4002")

    def test_300_calls_at_once_succeed(self) -> None:
        # 124 KB of one face. The machine of the test may be slow.
        photos = [PHOTOS / "portrait.jpg"] * 300
        with VisageClient(ADDRESS, KEY, timeout=300) as client, ThreadPoolExecutor(len(photos)) as pool:
            vectors = {template.vector for template in pool.map(client.get_face_vec, photos)}
        self.assertEqual(len(vectors), 1)


if __name__ == "__main__":
    unittest.main()
