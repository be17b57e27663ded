"""Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_API_KEY and VISAGE_PHOTOS."""

from __future__ import annotations

import math
import os
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from visage import ImageInput, Url, VisageClient, VisageError
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

    def test_compares_two_photographs(self) -> None:
        with self.assertWarns(DeprecationWarning):
            comparison = self.client.compare_faces(self.photo(3), self.photo(3))  # type: ignore[deprecated]
        self.assertEqual((comparison.confidence, comparison.is_match), (1, True))

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
        # 144 KB each. The machine of the test may be slow.
        photos = [self.photo(1)] * 300
        with VisageClient(ADDRESS, KEY, timeout=300) as client, ThreadPoolExecutor(len(photos)) as pool:
            vectors = {template.vector for template in pool.map(client.get_face_vec, photos)}
        self.assertEqual(len(vectors), 1)


if __name__ == "__main__":
    unittest.main()
