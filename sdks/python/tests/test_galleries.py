"""Tests galleries against a running service, as test_service.py does. VISAGE_OTHER_API_KEY is the key of another user."""

from __future__ import annotations

import base64
import math
import os
import random
import unittest
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Callable

from visage import NEVER, GalleryFace, Template, Url, VisageClient, VisageError

ADDRESS = os.environ.get("VISAGE_ADDRESS", "")
KEY = os.environ.get("VISAGE_API_KEY", "")
OTHER_KEY = os.environ.get("VISAGE_OTHER_API_KEY", "")
PHOTOS = Path(os.environ.get("VISAGE_PHOTOS", ""))

# A number that a float of 32 bits can hold.
MAX_DISTANCE = 0.375
# A grey square of 64 pixels.
NO_FACE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAAAAACPAi4CAAAAKUlEQVR42u3MQREAAAwCIKMb3RD77SAA6VEEAoFAIBAIBAKBQCAQfA8G320AeXC6efoAAAAASUVORK5CYII="
)


@unittest.skipUnless(ADDRESS, "VISAGE_ADDRESS is not set")
class GalleriesTest(unittest.TestCase):
    def setUp(self) -> None:
        client = VisageClient(ADDRESS, KEY)
        self.addCleanup(client.close)
        self.client = client
        self.galleries = client.galleries
        self.gallery = f"python-{uuid.uuid4()}"
        self.galleries.create(self.gallery)
        self.addCleanup(self.delete_gallery)

    def delete_gallery(self) -> None:
        with VisageClient(ADDRESS, KEY) as client:
            client.galleries.delete(self.gallery)

    def photo(self, number: int) -> Path:
        return PHOTOS / f"sample{number}.jpg"

    def fails(self, reason: str, call: Callable[[], object]) -> VisageError:
        with self.assertRaises(VisageError) as raised:
            call()
        self.assertEqual(raised.exception.reason, reason)
        return raised.exception

    def random_faces(self, count: int) -> list[GalleryFace]:
        """Faces of strangers, two for each person."""
        model = self.galleries.get(self.gallery).model
        numbers = random.Random(1)
        faces = []
        for number in range(count):
            vector = [numbers.gauss(0, 1) for _ in range(128)]
            scale = 0.45 / math.hypot(*vector)
            template = Template([value * scale for value in vector], model)
            faces.append(GalleryFace(f"person-{number // 2:05}", template, f"face-{number:05}", f"Person {number // 2}"))
        return faces

    def test_a_gallery_is_found_by_its_alias_and_replaced_by_another_one(self) -> None:
        successor, alias = f"{self.gallery}-next", f"{self.gallery}-alias"
        self.galleries.create(successor)
        self.assertEqual(self.galleries.update(self.gallery, alias=alias).alias, alias)
        self.fails("GALLERY_CHANGED", lambda: self.galleries.replace(self.gallery, successor, revision=1000))
        self.assertEqual(self.galleries.replace(self.gallery, successor).gallery_id, self.gallery)
        self.assertEqual(self.galleries.get(alias).gallery_id, self.gallery)
        self.fails("GALLERY_NOT_FOUND", lambda: self.galleries.get(successor))

    def test_a_gallery_is_created_changed_and_deleted(self) -> None:
        other = f"{self.gallery}-2"
        created = self.galleries.create(other, display_name="Staff", max_distance=MAX_DISTANCE)
        self.assertEqual((created.gallery_id, created.display_name, created.max_distance), (other, "Staff", MAX_DISTANCE))
        self.fails("GALLERY_EXISTS", lambda: self.galleries.create(other))
        listed = [gallery.gallery_id for gallery in self.galleries.list()]
        self.assertLessEqual({self.gallery, other}, set(listed))
        self.assertEqual(listed, sorted(listed))
        renamed = self.galleries.update(other, display_name="Guests")
        self.assertEqual((renamed.display_name, renamed.max_distance), ("Guests", MAX_DISTANCE))
        automatic = self.galleries.update(other, max_distance=0)
        self.assertEqual((automatic.display_name, automatic.max_distance), ("Guests", None))
        self.galleries.delete(other)
        self.fails("GALLERY_NOT_FOUND", lambda: self.galleries.get(other))
        self.fails("GALLERY_NOT_FOUND", lambda: self.galleries.delete(other))

    def test_a_person_is_enrolled_identified_and_deleted(self) -> None:
        with self.photo(3).open("rb") as file:
            enrolled = self.galleries.enrol_face(self.gallery, "ann", file, face_id="first", display_name="Ann")
        self.assertEqual(enrolled.face_id, "first")
        self.galleries.enrol_face(self.gallery, "ann", self.photo(3), box=enrolled.box)
        self.assertEqual(len(self.galleries.get_person(self.gallery, "ann").faces), 2)

        result = self.galleries.identify(self.gallery, self.photo(3), max_results=3, quality=True)
        self.assertTrue(all(face.quality and face.pose for face in result.faces))
        self.assertEqual([[match.display_name for match in face.matches] for face in result.faces], [["Ann"], [], []])
        template = self.client.get_face_vec(self.photo(3))
        (face,) = self.galleries.identify(self.gallery, template, max_distance=0.3).faces
        (adult,) = self.galleries.identify(self.gallery, template, assume_adults=True).faces
        self.assertEqual(adult.population, "adults")
        self.assertEqual([match.person_id for match in face.matches], ["ann"])
        (stranger,) = self.galleries.identify(self.gallery, self.photo(3), box=result.faces[1].box).faces
        self.assertEqual(len(stranger.matches), 0)

        self.galleries.enrol_face(self.gallery, "ben", template)
        self.galleries.update_person(self.gallery, "ben", display_name="Ben")
        people = [(person.person_id, person.display_name) for person in self.galleries.list_people(self.gallery)]
        self.assertEqual(people, [("ann", "Ann"), ("ben", "Ben")])
        self.galleries.delete_face(self.gallery, "ann", "first")
        self.fails("FACE_NOT_FOUND", lambda: self.galleries.delete_face(self.gallery, "ann", "first"))
        self.galleries.delete_person(self.gallery, "ann")
        self.assertEqual([person.person_id for person in self.galleries.list_people(self.gallery)], ["ben"])

    def test_people_and_galleries_have_an_end(self) -> None:
        (face,) = self.random_faces(1)
        person, end = face.person_id, datetime(2100, 1, 1, tzinfo=timezone.utc)
        self.galleries.enrol_face(self.gallery, person, face.template, expire_time=end)
        self.assertEqual(self.galleries.get_person(self.gallery, person).expire_time, end)
        exported = list(self.galleries.export(self.gallery))
        self.assertEqual([face.expire_time for face in exported], [end])
        self.assertIsNone(self.galleries.update_person(self.gallery, person, ttl=NEVER).expire_time)
        self.galleries.import_faces(self.gallery, exported)
        self.assertEqual([person.expire_time for person in self.galleries.list_people(self.gallery)], [end])
        before = datetime.now(timezone.utc)
        gallery = self.galleries.update(self.gallery, ttl=timedelta(days=30))
        assert gallery.expire_time
        self.assertLess(abs(gallery.expire_time - before - timedelta(days=30)), timedelta(hours=1))
        self.assertIsNone(self.galleries.update(self.gallery, ttl=NEVER).expire_time)
        past = lambda: self.galleries.update(self.gallery, expire_time=before)
        self.fails("BAD_REQUEST", past)

    def test_a_person_is_exported_and_deleted_with_a_receipt(self) -> None:
        face, other = self.random_faces(1)[0], f"{self.gallery}-other"
        person = f"person-{uuid.uuid4()}"
        self.galleries.create(other, display_name="Other")
        for gallery in (self.gallery, other):
            self.galleries.enrol_face(gallery, person, face.template, face_id="a", display_name="Ann")
        exported = self.galleries.export_person("-", person)
        self.assertEqual([(one.gallery_id, one.gallery_display_name) for one in exported], [(self.gallery, ""), (other, "Other")])
        self.assertEqual([one.display_name for one in exported], ["Ann", "Ann"])
        self.assertLess(math.dist(exported[0].faces[0].template.embedding, face.template.embedding), 1e-6)
        self.assertEqual(self.galleries.export_person(other, person), exported[1:])
        receipt = self.galleries.delete_person("-", person)
        assert receipt
        self.assertEqual([(one.gallery_id, one.face_count) for one in receipt.deletions], [(self.gallery, 1), (other, 1)])
        self.assertEqual((receipt.person_id, receipt.erasure_finished, bool(receipt.request_id)), (person, True, True))
        for call in (self.galleries.export_person, self.galleries.delete_person):
            self.fails("PERSON_NOT_FOUND", lambda: call("-", person))
        self.galleries.delete(other)

    def test_reports_errors(self) -> None:
        self.fails("NO_FACE", lambda: self.galleries.enrol_face(self.gallery, "ann", NO_FACE))
        self.assertEqual(len(self.galleries.identify(self.gallery, NO_FACE).faces), 0)
        error = self.fails("UNSUPPORTED_FORMAT", lambda: self.galleries.enrol_face(self.gallery, "ann", b"no image"))
        self.assertEqual(error.field, "source")
        url = Url("http://127.0.0.1/photo.jpg")
        self.fails("URL_UNREACHABLE", lambda: self.galleries.identify(self.gallery, url))
        for call in (self.galleries.get_person, self.galleries.delete_person):
            self.fails("PERSON_NOT_FOUND", lambda: call(self.gallery, "nobody"))
        self.fails("PERSON_NOT_FOUND", lambda: self.galleries.update_person(self.gallery, "nobody", display_name="N"))
        foreign = Template([0.45, *[0.0] * 127], "another")
        self.fails("MODEL_MISMATCH", lambda: self.galleries.enrol_face(self.gallery, "ann", foreign))
        self.fails("MODEL_MISMATCH", lambda: self.galleries.import_faces(self.gallery, [GalleryFace("ann", foreign)]))
        self.fails("BAD_REQUEST", lambda: self.galleries.create("no spaces"))

    @unittest.skipUnless(OTHER_KEY, "VISAGE_OTHER_API_KEY is not set")
    def test_another_user_finds_nothing(self) -> None:
        with VisageClient(ADDRESS, OTHER_KEY) as client:
            other = client.galleries
            for call in (other.get, other.delete, lambda id: list(other.list_people(id)), lambda id: list(other.export(id))):
                self.fails("GALLERY_NOT_FOUND", lambda: call(self.gallery))
            self.fails("GALLERY_NOT_FOUND", lambda: other.import_faces(self.gallery, self.random_faces(1)))
            self.assertNotIn(self.gallery, [gallery.gallery_id for gallery in other.list()])

    def test_an_export_can_be_imported(self) -> None:
        # More than a page of people, and more than an import sends in one call.
        faces = self.random_faces(5100)
        imported = self.galleries.import_faces(self.gallery, faces)
        self.assertEqual(imported.face_count, 5100)
        self.assertEqual(imported.revision, self.galleries.get(self.gallery).revision)
        people = [person.person_id for person in self.galleries.list_people(self.gallery)]
        self.assertEqual(people, [f"person-{number:05}" for number in range(2550)])

        with self.galleries.export(self.gallery) as export:
            exported = list(export)
        self.assertEqual([face.face_id for face in exported], [face.face_id for face in faces])
        self.assertTrue(all(face.create_time for face in exported))
        self.assertLess(math.dist(exported[7].template.embedding, faces[7].template.embedding), 1e-6)
        (match,) = self.galleries.identify(self.gallery, faces[7].template).faces[0].matches
        self.assertEqual((match.person_id, match.display_name), ("person-00003", "Person 3"))

        # Again, from a stream to a stream.
        copied = self.galleries.import_faces(self.gallery, self.galleries.export(self.gallery))
        self.assertEqual((copied.face_count, self.galleries.get(self.gallery).face_count), (5100, 5100))

    def test_an_export_can_be_left(self) -> None:
        self.galleries.import_faces(self.gallery, self.random_faces(1200))
        with self.galleries.export(self.gallery) as faces:
            for face in faces:
                if face.face_id == "face-00010":
                    break
        self.assertEqual(list(faces), [])
        with self.assertRaises(VisageError) as raised:
            for face in self.galleries.export(self.gallery):
                self.client.close()
        self.assertEqual(raised.exception.reason, "CANCELLED")

    def test_an_import_of_nothing_succeeds(self) -> None:
        self.galleries.import_faces(self.gallery, self.random_faces(1))
        response = self.galleries.import_faces(self.gallery, [])
        self.assertEqual((response.face_count, response.revision), (0, 1))
        self.fails("GALLERY_NOT_FOUND", lambda: self.galleries.import_faces("missing", []))

    def test_an_import_whose_faces_fail_can_be_repeated(self) -> None:
        faces = self.random_faces(100)

        def failing() -> Iterator[GalleryFace]:
            yield from faces[:50]
            raise OSError("The disk is gone.")

        with self.assertRaisesRegex(OSError, "The disk is gone"):
            self.galleries.import_faces(self.gallery, failing())
        # No call was sent, as the first one was not complete.
        self.assertEqual(self.galleries.get(self.gallery).face_count, 0)
        self.assertEqual(self.galleries.import_faces(self.gallery, faces).face_count, 100)


if __name__ == "__main__":
    unittest.main()
