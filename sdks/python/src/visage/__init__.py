"""Client of Visage, a self-hosted face-analysis service."""

from visage.client import VisageClient
from visage.error import VisageError
from visage.image import ImageInput, Url
from visage.results import (
    Box,
    BoxInput,
    FaceAttributes,
    FaceInput,
    Feature,
    ImageAttributes,
    Match,
    Point,
    StreamResult,
    Template,
)

__all__ = [
    "Box",
    "BoxInput",
    "FaceAttributes",
    "FaceInput",
    "Feature",
    "ImageAttributes",
    "ImageInput",
    "Match",
    "Point",
    "StreamResult",
    "Template",
    "Url",
    "VisageClient",
    "VisageError",
]
