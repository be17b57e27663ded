"""A face of a gallery with its embedding."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Optional

from visage.results import Template
from visage.v1 import face_analysis_pb2, gallery_pb2


@dataclass(frozen=True)
class GalleryFace:
    """A face of a gallery with its embedding, as `export` returns it and `import_faces` takes it. It is biometric
    data."""

    person_id: str
    template: Template
    face_id: str = ""
    """By default it is made from the embedding."""
    display_name: str = ""
    """The name of the person. An import keeps an earlier name if this is empty."""
    create_time: Optional[datetime] = None
    """When the face was enrolled first. An import ignores it."""


def face_from_message(message: gallery_pb2.ExportGalleryResponse) -> GalleryFace:
    return GalleryFace(
        person_id=message.person_id,
        template=Template(tuple(message.embedding.values), message.embedding.model),
        face_id=message.face_id,
        display_name=message.display_name,
        create_time=message.create_time.ToDatetime(timezone.utc),
    )


def import_request_from(face: GalleryFace, gallery_id: str) -> gallery_pb2.ImportFacesRequest:
    return gallery_pb2.ImportFacesRequest(
        gallery_id=gallery_id,
        person_id=face.person_id,
        face_id=face.face_id,
        display_name=face.display_name,
        embedding=face_analysis_pb2.Embedding(values=face.template.vector, model=face.template.model),
    )
