"""The results of calls of galleries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Optional

from visage.names import CandidatesReason, Population
from visage.results import Box, FaceQuality, Pose, Template

NEVER = timedelta(0)
"""The `ttl` of people and galleries that are kept without an end."""


@dataclass(frozen=True)
class Gallery:
    """A collection of people who can be identified."""

    gallery_id: str
    display_name: str
    """A name for people, possibly empty."""
    model: str
    """The model of all its templates."""
    max_distance: Optional[float]
    """The threshold of the gallery, 0 to 0.9. None if the service chooses one that fits the number of faces."""
    people_count: int
    face_count: int
    revision: int
    """Increases with every change of people and faces."""
    create_time: datetime
    alias: str
    """Another id of the gallery, possibly empty."""
    read_only: bool
    """Whether the templates are of another model than that of the service, so that no faces can be enrolled."""
    expire_time: Optional[datetime] = None
    """When the gallery is deleted with everybody in it. None if it is kept."""


@dataclass(frozen=True)
class EnrolledFace:
    """A face of a person."""

    face_id: str
    create_time: datetime


@dataclass(frozen=True)
class Person:
    """An enrolled person."""

    person_id: str
    display_name: str
    """A name for people, possibly empty."""
    faces: Sequence[EnrolledFace]
    """The faces, by id; at most 20."""
    create_time: datetime
    expire_time: Optional[datetime] = None
    """When the person is deleted. None if the person is kept."""


@dataclass(frozen=True)
class PersonDeletion:
    """The deletion of a person from a gallery."""

    gallery_id: str
    face_count: int


@dataclass(frozen=True)
class DeletionReceipt:
    """A receipt of the deletion of a person."""

    person_id: str
    deletions: Sequence[PersonDeletion]
    """The galleries that had the person, by id."""
    delete_time: datetime
    request_id: str
    """The id of the request, as in the log of the service."""
    erasure_finished: bool
    """Whether the service has finished the erasure of the templates; otherwise it goes on."""


@dataclass(frozen=True)
class ExportedFace:
    """A face of an exported person with its template."""

    face_id: str
    template: Template
    create_time: datetime


@dataclass(frozen=True)
class ExportedPerson:
    """Everything that a gallery has of a person. It is biometric data."""

    gallery_id: str
    gallery_display_name: str
    person_id: str
    display_name: str
    create_time: datetime
    expire_time: Optional[datetime]
    faces: Sequence[ExportedFace]


@dataclass(frozen=True)
class PersonMatch:
    """A person whom a face resembles."""

    person_id: str
    display_name: str
    """A name for people, possibly empty."""
    face_id: str
    """The nearest face of the person."""
    distance: float
    """0 to 0.9."""


@dataclass(frozen=True)
class Enrolment:
    """An enrolled face."""

    face_id: str
    box: Optional[Box]
    """The face in the image. None if a template was enrolled."""
    revision: int
    """The revision of the gallery that has the face."""
    person_distance: Optional[float]
    """Distance to the nearest other face of the person. None without `check_person`, or if there is none."""
    nearest_other: Optional[PersonMatch]
    """The nearest other person who matches. None without `check_person`, or if nobody does."""
    quality: Optional[FaceQuality] = None
    """How well the face is suited for recognition. None for a template, or if the check was skipped."""
    pose: Optional[Pose] = None
    """Where the face is turned to. None like the quality."""


@dataclass(frozen=True)
class IdentifiedFace:
    """Who one face may be."""

    box: Optional[Box]
    """The face in the image. None if a template was searched."""
    matches: Sequence[PersonMatch]
    """The people within the threshold, the nearest first. Empty for a stranger."""
    threshold: float
    """The distance below which the face matches a person."""
    false_positive_rate: Optional[float]
    """Expected share of strangers of the population who match somebody (FPIR). None beyond the measured curve."""
    population: Population
    """For whom `false_positive_rate` holds, if everybody in the gallery is of this population, too."""
    candidates_only: bool
    """Whether the matches are only candidates for a person to judge."""
    candidates_reason: Optional[CandidatesReason]
    """Why, if `candidates_only` is true."""
    quality: Optional[FaceQuality] = None
    """Whether the face is suited for recognition. None unless the call asked for it."""
    pose: Optional[Pose] = None
    """Where the face is turned to. None unless the call asked for quality."""


@dataclass(frozen=True)
class Identification:
    """Who the faces of an image may be."""

    faces: Sequence[IdentifiedFace]
    """One entry for each face, the most prominent first."""
    threshold: float
    """The smallest threshold of the faces; for adults if there is no face."""
    false_positive_rate: Optional[float]
    """The highest false positive rate of the faces; for adults if there is no face."""
    candidates_only: bool
    """Whether the matches of a face are candidates for a person to judge."""
    model: str
    revision: int
    """The revision of the gallery that was searched."""
    stale: bool
    """Whether the database could not be reached, so that recent changes may be missing."""


@dataclass(frozen=True)
class GalleryFace:
    """A face of a gallery with its template, as `export` returns it and `import_faces` takes it. It is biometric data."""

    person_id: str
    template: Template
    face_id: str = ""
    """By default it is made from the embedding."""
    display_name: str = ""
    """The name of the person. An import keeps an earlier name if this is empty."""
    create_time: Optional[datetime] = None
    """When the face was enrolled first. An import ignores it."""
    expire_time: Optional[datetime] = None
    """When the person is deleted. None if the person is kept; an import then keeps an earlier time. In an import, a time
    of the past is valid: the person is deleted at once."""
    ttl: Optional[timedelta] = None
    """For an import, instead of `expire_time`: the time from now, or `NEVER`."""


@dataclass(frozen=True)
class ImportResult:
    """The result of an import."""

    face_count: int
    revision: int
    """The revision of the gallery that has the faces."""
