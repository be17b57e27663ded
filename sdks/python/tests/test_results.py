"""Tests how messages become results."""

from __future__ import annotations

import unittest
from dataclasses import fields
from datetime import datetime, timezone

from google.protobuf.timestamp_pb2 import Timestamp

from visage import (
    AnalyzedFace,
    ApparentGender,
    Box,
    DeletionReceipt,
    ExportedFace,
    ExportedPerson,
    Gallery,
    GalleryFace,
    IdentifiedFace,
    Person,
    PersonDeletion,
    PersonMatch,
    Point,
    Template,
)
from visage import names as visage_names
from visage._convert import result_from_message
from visage.v1 import face_analysis_pb2 as typed
from visage.v1 import gallery_pb2


class ResultsTest(unittest.TestCase):
    def test_enums_become_names(self) -> None:
        quality = typed.Quality(
            issues=[typed.QUALITY_ISSUE_TOO_SMALL, typed.QUALITY_ISSUE_CUT_OFF],
            components=[typed.ComponentQuality(component=typed.QUALITY_COMPONENT_EYES_VISIBLE, value=7, measure=0.5)],
        )
        face = result_from_message(AnalyzedFace, typed.Face(quality=quality, gender=typed.GenderEstimate(value=typed.GENDER_FEMALE)))
        assert face.quality
        self.assertEqual(face.quality.issues, ("too_small", "cut_off"))
        self.assertEqual(face.quality.components[0].component, "eyes_visible")
        self.assertEqual(face.gender, ApparentGender("female", 0))

    def test_the_names_are_those_of_the_contract(self) -> None:
        for name in ("CandidatesReason", "Feature", "Gender", "Population", "QualityComponent", "QualityIssue"):
            enum = typed.DESCRIPTOR.enum_types_by_name[name]
            first, *others = [value.name for value in enum.values]
            prefix = first[: -len("UNSPECIFIED")]
            expected = {other[len(prefix) :].lower() for other in others}
            self.assertEqual(set(getattr(visage_names, name).__args__), expected)

    def test_a_face_has_every_field_of_the_contract(self) -> None:
        expected = {"template" if name == "embedding" else name for name in typed.Face.DESCRIPTOR.fields_by_name}
        self.assertEqual({field.name for field in fields(AnalyzedFace)}, expected)

    def test_a_name_of_a_newer_service_is_unknown(self) -> None:
        face = result_from_message(IdentifiedFace, gallery_pb2.IdentifiedFace(population=99))  # type: ignore[arg-type]
        self.assertEqual(face.population, "unknown")

    def test_what_is_missing_is_none(self) -> None:
        face = result_from_message(AnalyzedFace, typed.Face(box=typed.BoundingBox(x2=1.5)))
        self.assertEqual(face.box, Box(0, 0, 1.5, 0))
        self.assertEqual((face.age, face.template, face.prominence, face.landmarks), (None, None, None, ()))
        gallery = gallery_pb2.Gallery(gallery_id="staff", create_time=Timestamp(seconds=60))
        created = datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)
        expected = Gallery("staff", "", "", None, 0, 0, 0, created, "", False, None)
        self.assertEqual(result_from_message(Gallery, gallery), expected)

    def test_the_end_of_people_and_galleries_is_a_time(self) -> None:
        created, end = Timestamp(seconds=60), Timestamp(seconds=120, nanos=500_000_000)
        created_at = datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)
        ends_at = datetime(1970, 1, 1, 0, 2, 0, 500_000, timezone.utc)
        gallery = gallery_pb2.Gallery(create_time=created, expire_time=end)
        self.assertEqual(result_from_message(Gallery, gallery).expire_time, ends_at)
        person = gallery_pb2.Person(person_id="17", create_time=created, expire_time=end)
        self.assertEqual(result_from_message(Person, person), Person("17", "", (), created_at, ends_at))
        embedding = typed.Embedding(values=[0.5], model="model")
        template = Template((0.5,), "model")
        face = gallery_pb2.ExportGalleryResponse(person_id="17", embedding=embedding, create_time=created, expire_time=end)
        self.assertEqual(result_from_message(GalleryFace, face), GalleryFace("17", template, "", "", created_at, ends_at))
        exported = gallery_pb2.ExportPersonResponse(
            gallery_id="staff",
            person_id="17",
            create_time=created,
            faces=[gallery_pb2.ExportedFace(face_id="a", embedding=embedding, create_time=created)],
        )
        faces = (ExportedFace("a", template, created_at),)
        expected = ExportedPerson("staff", "", "17", "", created_at, None, faces)
        self.assertEqual(result_from_message(ExportedPerson, exported), expected)

    def test_a_receipt_has_the_deletions_by_gallery(self) -> None:
        message = gallery_pb2.DeletePersonResponse(
            person_id="17",
            deletions=[gallery_pb2.PersonDeletion(gallery_id="staff", face_count=2)],
            delete_time=Timestamp(seconds=60),
            request_id="request",
            erasure_finished=True,
        )
        deleted = datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc)
        receipt = DeletionReceipt("17", (PersonDeletion("staff", 2),), deleted, "request", True)
        self.assertEqual(result_from_message(DeletionReceipt, message), receipt)

    def test_messages_in_messages_become_results(self) -> None:
        message = gallery_pb2.IdentifiedFace(
            matches=[gallery_pb2.PersonMatch(person_id="17", distance=0.5)],
            candidates_reason=typed.CANDIDATES_REASON_POPULATION,
        )
        identified = result_from_message(IdentifiedFace, message)
        self.assertEqual(identified.matches, (PersonMatch("17", "", "", 0.5),))
        self.assertEqual(identified.candidates_reason, "population")
        embedding = typed.Embedding(values=[0.5], model="model")
        face = result_from_message(AnalyzedFace, typed.Face(embedding=embedding, landmarks=[typed.Point(x=1, y=2)]))
        self.assertEqual((face.template, face.landmarks), (Template((0.5,), "model"), (Point(1, 2),)))


if __name__ == "__main__":
    unittest.main()
