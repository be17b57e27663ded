"""The results of the analysis, in the words of the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Optional, TypeVar, Union

from visage.error import VisageError
from visage.image import ImageInput
from visage.names import CandidatesReason, Gender, Population, QualityComponent, QualityIssue

Key = TypeVar("Key")


class Box(NamedTuple):
    """A bounding box in pixels of the upright image."""

    x1: float
    y1: float
    x2: float
    y2: float


class Point(NamedTuple):
    """A point in pixels of the upright image. It may lie outside the image."""

    x: float
    y: float


@dataclass(frozen=True)
class Template:
    """The embedding of a face with its model. `math.dist` of two embeddings of the same model is below 0.5 for the same
    person."""

    embedding: Sequence[float]
    """128 numbers."""
    model: str
    """The model that computed the embedding. Store it: embeddings of different models cannot be compared."""


BoxInput = tuple[float, float, float, float]
"""A bounding box of an image: a Box, or its four numbers."""

FaceInput = Union[ImageInput, Template]
"""A face in an image, or its template."""


@dataclass(frozen=True)
class Pose:
    """Where a face is turned to, in degrees. All are 0 for a face that looks at the camera."""

    yaw: float
    """Positive if the face is turned to the right of the image."""
    pitch: float
    """Positive if the face looks up."""
    roll: float
    """Positive if the head is tilted clockwise as seen in the image."""


@dataclass(frozen=True)
class ComponentQuality:
    """One component of the quality of a face."""

    component: QualityComponent
    value: int
    """How likely the face matches if only this component harms it, 0 to 100 percent."""
    measure: float
    """What was measured; `QualityComponent` in the proto has the unit and range."""


@dataclass(frozen=True)
class FaceQuality:
    """Whether a face is suited for recognition."""

    size: int
    """The shorter side of the box in whole pixels."""
    brightness: float
    """Mean luma of the face, 0 to 255."""
    issues: Sequence[QualityIssue]
    """What makes the face unusable, the worst first."""
    usable: bool
    """Whether the value is at least 88."""
    value: int
    """How likely the face matches a good photo of the same person, 0 to 100 percent."""
    components: Sequence[ComponentQuality]
    """What the value is the product of."""


@dataclass(frozen=True)
class ApparentAge:
    """An apparent age."""

    min_years: int
    """Start of the range in years."""
    max_years: int
    """End of the range in years, exclusive."""
    confidence: float
    """Probability of the range, 0.2 to 1."""

    @property
    def range(self) -> str:
        """One of `0-10`, `10-20`, `20-40`, `40-60`, `60-100`."""
        return f"{self.min_years}-{self.max_years}"


@dataclass(frozen=True)
class ApparentGender:
    """An apparent gender."""

    value: Gender
    confidence: float
    """Probability of the gender, 0.501 to 1."""


@dataclass(frozen=True)
class AnalyzedFace:
    """A face. Age and gender are estimates of how it appears to annotators of photographs."""

    box: Box
    """From forehead to chin, in pixels with a fraction."""
    detection_score: Optional[float]
    """0 to 1. None if the call gave the box."""
    presence: float
    """Detection score of the upright face in a crop of its own, 0 to 1."""
    prominence: Optional[float]
    """The order of the faces: the share of the image that a face covers, 0 to 1. None if the call gave the box."""
    pose: Optional[Pose]
    """None without the features `landmarks` and `quality`."""
    landmarks: Sequence[Point]
    """68 landmarks in the usual numbering. Empty without the feature `landmarks`."""
    quality: Optional[FaceQuality]
    """None without the feature `quality`."""
    age: Optional[ApparentAge]
    """None without the feature `attributes`."""
    gender: Optional[ApparentGender]
    """None without the feature `attributes`."""
    template: Optional[Template]
    """The embedding with its model. None without the feature `embedding`."""


@dataclass(frozen=True)
class ImageAnalysis:
    """The faces of an image, with everything that was measured."""

    width: int
    """Width of the upright image in pixels."""
    height: int
    """Height of the upright image in pixels."""
    faces: Sequence[AnalyzedFace]
    """The most prominent face comes first; if the call gave boxes, in their order."""
    faces_found: int
    """Number of faces found. May exceed the number of `faces`."""


@dataclass(frozen=True)
class FaceMatch:
    """The comparison with one face of the target."""

    box: Optional[Box]
    """The face in the target. None if the target is a template."""
    distance: float
    """0 to 0.9."""
    confidence: float
    """Probability that both are the same person, 0 to 1."""
    matched: bool
    """Whether the distance is below the threshold. False if `candidates_only` is true."""
    threshold: float
    """The distance below which these faces match."""
    false_match_rate: float
    """How often two different people of the population are nearer than the threshold."""
    extrapolated: bool
    """Whether `false_match_rate` is an estimate, because too few pairs were so near when it was measured."""
    population: Population
    """For whom `false_match_rate` holds."""
    candidates_only: bool
    """Whether no threshold holds the rate that was asked for. The distance is for a person to judge."""
    candidates_reason: Optional[CandidatesReason]
    """Why, if `candidates_only` is true."""
    quality: Optional[FaceQuality] = None
    """Whether the face is suited for recognition. None unless the call asked for it."""
    pose: Optional[Pose] = None
    """Where the face is turned to. None unless the call asked for quality."""


@dataclass(frozen=True)
class FaceComparison:
    """The comparison of a face with every face of the target."""

    matches: Sequence[FaceMatch]
    """One entry for each face of the target, the nearest first."""
    threshold: float
    """The smallest threshold of the matches; of the source alone if there are none."""
    false_match_rate: float
    """The highest false match rate of the matches; of the source alone if there are none."""
    extrapolated: bool
    """Whether a rate of the matches, or that of the source alone, is an estimate."""
    source_box: Optional[Box]
    """The face of the source that was compared. None if the source is a template."""
    model: str
    """The model that computed the embeddings."""
    source_quality: Optional[FaceQuality] = None
    """Whether the face of the source is suited for recognition. None unless the call asked for it."""
    source_pose: Optional[Pose] = None
    """Where the face of the source is turned to. None unless the call asked for quality."""


@dataclass(frozen=True)
class StreamResult(Generic[Key]):
    """The result of an image of a stream: either `response` or `error` is not None."""

    key: Key
    """The key of the image."""
    response: Optional[ImageAnalysis]
    """The faces of the image."""
    error: Optional[VisageError]
    """Why this image was not analysed. Other images are not affected."""
