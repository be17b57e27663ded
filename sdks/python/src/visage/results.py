"""The results of the operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, Optional, TypeVar, Union

from visage.error import VisageError
from visage.face.v1 import face_pb2
from visage.image import ImageInput
from visage.v1 import face_analysis_pb2

Key = TypeVar("Key")

Feature = Literal["landmarks", "attributes", "embedding", "quality"]
"""A part of an analysis that a caller may choose. `attributes` (age and gender) and `embedding` each run a network for
every face; the others cost next to nothing."""


class Box(NamedTuple):
    """A bounding box in pixels of the upright image."""

    x1: int
    y1: int
    x2: int
    y2: int


class Point(NamedTuple):
    """A point in pixels of the upright image. It may lie outside the image."""

    x: int
    y: int


@dataclass(frozen=True)
class Match:
    """The comparison of two faces."""

    distance: float
    """0 to 0.9, to four decimals."""
    is_match: bool
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


@dataclass(frozen=True)
class Template:
    """The embedding of a face. `math.dist` of two embeddings of the same model is below 0.5 for the same person."""

    vector: Sequence[float]
    """128 numbers."""
    model: str
    """The model that computed the embedding. Store it: embeddings of different models cannot be compared."""


BoxInput = Union["tuple[float, float, float, float]", face_analysis_pb2.BoundingBox]
"""A bounding box of an image: four numbers, such as a Box, or the message of an analysis."""

FaceInput = Union[ImageInput, Template, face_analysis_pb2.Embedding]
"""A face in an image, or its embedding: a Template, or that of an analysis."""


@dataclass(frozen=True)
class StreamResult(Generic[Key]):
    """The result of an image of a stream: either `response` or `error` is not None."""

    key: Key
    """The key of the image."""
    response: Optional[face_analysis_pb2.AnalyzeImageResponse]
    """The faces of the image."""
    error: Optional[VisageError]
    """Why this image was not analysed. Other images are not affected."""


def match_from_message(data: face_pb2.MatchFacesData) -> Match:
    return Match(distance=float(data.score), is_match=data.status == "match")


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


def template_from_message(
    data: face_pb2.GetFaceVecData, trailer: Optional[Iterable[tuple[str, Union[str, bytes]]]]
) -> Template:
    model = next((value for key, value in trailer or () if key == "x-visage-model"), "")
    return Template(vector=tuple(data.vector), model=str(model))
