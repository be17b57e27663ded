"""The requests of the operations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from visage.face.v1 import face_pb2
from visage.gallery_results import GalleryFace
from visage.image import ImageInput, typed_image_from_input
from visage.names import Feature
from visage.results import BoxInput, FaceInput, Template
from visage.v1 import face_analysis_pb2 as typed
from visage.v1 import gallery_pb2


def analysis_request(
    image: ImageInput, features: Iterable[Feature], boxes: Iterable[BoxInput], max_faces: int
) -> typed.AnalyzeImageRequest:
    return typed.AnalyzeImageRequest(
        image=typed_image_from_input(image),
        # Raises ValueError for an unknown feature.
        features=[typed.Feature.Value(f"FEATURE_{feature.upper()}") for feature in features],
        boxes=[_typed_box(box) for box in boxes],
        max_faces=max_faces,
    )


def face_source(face: FaceInput, box: Optional[BoxInput]) -> typed.FaceSource:
    typed_box = None if box is None else _typed_box(box)
    if isinstance(face, Template):
        return typed.FaceSource(embedding=_embedding(face), box=typed_box)
    return typed.FaceSource(image=typed_image_from_input(face), box=typed_box)


def import_request(gallery_id: str, face: GalleryFace) -> gallery_pb2.ImportFacesRequest:
    return gallery_pb2.ImportFacesRequest(
        gallery_id=gallery_id,
        person_id=face.person_id,
        face_id=face.face_id,
        display_name=face.display_name,
        embedding=_embedding(face.template),
        **expiration_fields(face.expire_time, face.ttl),
    )


def expiration_fields(expire_time: Optional[datetime], ttl: Optional[timedelta]) -> dict[str, Any]:
    """Returns the field of a request that says how long something is kept, if there is one."""
    if expire_time is not None and ttl is not None:
        raise ValueError("Pass expire_time or ttl, not both.")
    if expire_time is not None:
        end = Timestamp()
        # A datetime without a time zone is local time, as everywhere in Python. Protobuf would take it for UTC.
        end.FromDatetime(expire_time.astimezone(timezone.utc))
        return {"expire_time": end}
    if ttl is not None:
        rest = Duration()
        rest.FromTimedelta(ttl)
        return {"ttl": rest}
    return {}


def original_box(box: BoxInput) -> face_pb2.BoundingBox:
    """The box of face.v1 has whole pixels."""
    x1, y1, x2, y2 = (round(number) for number in box)
    return face_pb2.BoundingBox(x1=x1, y1=y1, x2=x2, y2=y2)


def _embedding(template: Template) -> typed.Embedding:
    return typed.Embedding(values=template.embedding, model=template.model)


def _typed_box(box: BoxInput) -> typed.BoundingBox:
    x1, y1, x2, y2 = box
    return typed.BoundingBox(x1=x1, y1=y1, x2=x2, y2=y2)
