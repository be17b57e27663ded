"""The results of the original API, face.v1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from visage.face.v1 import face_pb2
from visage.results import Box, Point


@dataclass(frozen=True)
class Match:
    """The comparison of two faces."""

    distance: float
    """0 to 0.9, to four decimals."""
    matched: bool
    """Whether both faces are the same person: the distance is below 0.5."""


@dataclass(frozen=True)
class FaceAttributes:
    """The attributes of a face. Age range and gender are how the face appears, not facts about the person."""

    box: Box
    age: str
    """One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`."""
    gender: str
    """`male` or `female`."""
    gender_confidence: float
    """0.501 to 1."""
    landmarks: Mapping[str, Point]
    """68 landmarks by the keys of docs/api.md."""


@dataclass(frozen=True)
class ImageAttributes:
    """The faces of an image."""

    width: int
    """Width of the upright image in pixels."""
    height: int
    """Height of the upright image in pixels."""
    faces: Sequence[FaceAttributes]
    """The most prominent face comes first; if the call gave boxes, in their order."""


def match_from_message(data: face_pb2.MatchFacesData) -> Match:
    return Match(distance=float(data.score), matched=data.status == "match")


def attributes_from_message(attributes: face_pb2.Attributes) -> ImageAttributes:
    height, width = attributes.image_size
    # A Protobuf map is unordered.
    faces = [attributes.faces[f"face_id_{i}"] for i in range(len(attributes.faces))]
    return ImageAttributes(width=width, height=height, faces=tuple(_face_from_message(face) for face in faces))


def _face_from_message(face: face_pb2.Face) -> FaceAttributes:
    points = face.landmarks.face_land_mark.items()
    return FaceAttributes(
        box=Box(*face.face_rectangle),
        age=face.age,
        gender=face.gender,
        gender_confidence=face.gender_confidence,
        landmarks={key: Point(point.x, point.y) for key, point in points},
    )
