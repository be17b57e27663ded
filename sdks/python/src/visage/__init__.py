"""Client of Visage, a self-hosted face-analysis service."""

from visage.client import VisageClient
from visage.error import VisageError
from visage.image import ImageInput, Url
from visage.results import Box, Comparison, FaceAttributes, ImageAttributes, Match, Point, Template

__all__ = [
    "Box",
    "Comparison",
    "FaceAttributes",
    "ImageAttributes",
    "ImageInput",
    "Match",
    "Point",
    "Template",
    "Url",
    "VisageClient",
    "VisageError",
]
