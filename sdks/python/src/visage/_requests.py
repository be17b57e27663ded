"""The requests of the operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from visage.face.v1 import face_pb2
from visage.image import ImageInput, image_from_input, typed_image_from_input
from visage.results import Box, BoxInput, FaceInput, Feature, Template
from visage.v1 import face_analysis_pb2 as typed


def match_request(
    one: ImageInput, other: ImageInput, box_1: Optional[Box], box_2: Optional[Box], detect: Optional[bool]
) -> face_pb2.MatchFacesRequest:
    return face_pb2.MatchFacesRequest(
        img_1=image_from_input(one),
        img_2=image_from_input(other),
        bboxes_1=_box(box_1),
        bboxes_2=_box(box_2),
        face_det=detect,
    )


def attributes_request(
    image: ImageInput, boxes: Iterable[Box], detect: Optional[bool]
) -> face_pb2.GetImageAttrRequest:
    return face_pb2.GetImageAttrRequest(
        image_attr=image_from_input(image),
        bboxes=[face_pb2.BoundingBox(x1=x1, y1=y1, x2=x2, y2=y2) for x1, y1, x2, y2 in boxes],
        face_det=detect,
    )


def vector_request(
    image: ImageInput, box: Optional[Box], quality: bool, detect: Optional[bool]
) -> face_pb2.GetFaceVecRequest:
    return face_pb2.GetFaceVecRequest(
        img=image_from_input(image), bboxes=_box(box), quality=quality, face_det=detect
    )


def _box(box: Optional[Box]) -> Optional[face_pb2.BoundingBox]:
    return None if box is None else face_pb2.BoundingBox(x1=box[0], y1=box[1], x2=box[2], y2=box[3])


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


def comparison_request(
    source: FaceInput,
    target: FaceInput,
    source_box: Optional[BoxInput],
    target_box: Optional[BoxInput],
    max_false_match_rate: float,
    assume_adults: bool,
) -> typed.CompareFacesRequest:
    return typed.CompareFacesRequest(
        source=face_source(source, source_box),
        target=face_source(target, target_box),
        max_false_match_rate=max_false_match_rate,
        assume_adults=assume_adults,
    )


def face_source(face: FaceInput, box: Optional[BoxInput]) -> typed.FaceSource:
    typed_box = None if box is None else _typed_box(box)
    if isinstance(face, Template):
        face = typed.Embedding(values=face.vector, model=face.model)
    if isinstance(face, typed.Embedding):
        return typed.FaceSource(embedding=face, box=typed_box)
    return typed.FaceSource(image=typed_image_from_input(face), box=typed_box)


def _typed_box(box: BoxInput) -> typed.BoundingBox:
    if isinstance(box, typed.BoundingBox):
        return box
    x1, y1, x2, y2 = box
    return typed.BoundingBox(x1=x1, y1=y1, x2=x2, y2=y2)
