"""Client of Visage, a self-hosted face-analysis service."""

from visage._gallery_export import AsyncGalleryExport, GalleryExport
from visage.accounts import Account, Admin, AsyncAccount, AsyncAdmin
from visage.client import AsyncVisageClient, VisageClient
from visage.error import VisageError
from visage.face_results import FaceAttributes, ImageAttributes, Match
from visage.galleries import AsyncGalleries, Galleries
from visage.gallery_results import (
    EnrolledFace,
    Enrolment,
    Gallery,
    GalleryFace,
    Identification,
    IdentifiedFace,
    ImportResult,
    Person,
    PersonMatch,
)
from visage.image import ImageInput, Url
from visage.names import CandidatesReason, Feature, Gender, Population, QualityComponent, QualityIssue
from visage.results import (
    AnalyzedFace,
    ApparentAge,
    ApparentGender,
    Box,
    BoxInput,
    ComponentQuality,
    FaceComparison,
    FaceInput,
    FaceMatch,
    FaceQuality,
    ImageAnalysis,
    Point,
    Pose,
    StreamResult,
    Template,
)

__all__ = [
    "Account",
    "Admin",
    "AnalyzedFace",
    "ApparentAge",
    "ApparentGender",
    "AsyncAccount",
    "AsyncAdmin",
    "AsyncGalleries",
    "AsyncGalleryExport",
    "AsyncVisageClient",
    "Box",
    "BoxInput",
    "CandidatesReason",
    "ComponentQuality",
    "EnrolledFace",
    "Enrolment",
    "FaceAttributes",
    "FaceComparison",
    "FaceInput",
    "FaceMatch",
    "FaceQuality",
    "Feature",
    "Galleries",
    "Gallery",
    "GalleryExport",
    "GalleryFace",
    "Gender",
    "Identification",
    "IdentifiedFace",
    "ImageAnalysis",
    "ImageAttributes",
    "ImageInput",
    "ImportResult",
    "Match",
    "Person",
    "PersonMatch",
    "Point",
    "Population",
    "Pose",
    "QualityComponent",
    "QualityIssue",
    "StreamResult",
    "Template",
    "Url",
    "VisageClient",
    "VisageError",
]
