"""Client of Visage, a self-hosted face-analysis service."""

from visage._gallery_export import GalleryExport
from visage.client import VisageClient
from visage.error import VisageError
from visage.galleries import Galleries
from visage.gallery_face import GalleryFace
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
    "Galleries",
    "GalleryExport",
    "GalleryFace",
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
