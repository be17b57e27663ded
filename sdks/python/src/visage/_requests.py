"""The requests of the operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from visage.face.v1 import face_pb2
from visage.image import ImageInput, image_from_input
from visage.results import Box


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


def compare_request(
    one: ImageInput, other: ImageInput, box_1: Optional[Box], box_2: Optional[Box], detect: Optional[bool]
) -> face_pb2.CompareFacesRequest:
    return face_pb2.CompareFacesRequest(
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
