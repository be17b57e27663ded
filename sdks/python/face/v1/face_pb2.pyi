from google.api import annotations_pb2 as _annotations_pb2
from rest.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Image(_message.Message):
    __slots__ = ("content", "url")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    url: str
    def __init__(self, content: _Optional[bytes] = ..., url: _Optional[str] = ...) -> None: ...

class BoundingBox(_message.Message):
    __slots__ = ("x1", "y1", "x2", "y2")
    X1_FIELD_NUMBER: _ClassVar[int]
    Y1_FIELD_NUMBER: _ClassVar[int]
    X2_FIELD_NUMBER: _ClassVar[int]
    Y2_FIELD_NUMBER: _ClassVar[int]
    x1: int
    y1: int
    x2: int
    y2: int
    def __init__(self, x1: _Optional[int] = ..., y1: _Optional[int] = ..., x2: _Optional[int] = ..., y2: _Optional[int] = ...) -> None: ...

class MatchFacesRequest(_message.Message):
    __slots__ = ("img_1", "img_2", "bboxes_1", "bboxes_2", "face_det", "detail")
    IMG_1_FIELD_NUMBER: _ClassVar[int]
    IMG_2_FIELD_NUMBER: _ClassVar[int]
    BBOXES_1_FIELD_NUMBER: _ClassVar[int]
    BBOXES_2_FIELD_NUMBER: _ClassVar[int]
    FACE_DET_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    img_1: Image
    img_2: Image
    bboxes_1: BoundingBox
    bboxes_2: BoundingBox
    face_det: bool
    detail: bool
    def __init__(self, img_1: _Optional[_Union[Image, _Mapping]] = ..., img_2: _Optional[_Union[Image, _Mapping]] = ..., bboxes_1: _Optional[_Union[BoundingBox, _Mapping]] = ..., bboxes_2: _Optional[_Union[BoundingBox, _Mapping]] = ..., face_det: _Optional[bool] = ..., detail: _Optional[bool] = ...) -> None: ...

class MatchFacesResponse(_message.Message):
    __slots__ = ("status", "code", "success", "message", "data")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    status: str
    code: str
    success: bool
    message: str
    data: MatchFacesData
    def __init__(self, status: _Optional[str] = ..., code: _Optional[str] = ..., success: _Optional[bool] = ..., message: _Optional[str] = ..., data: _Optional[_Union[MatchFacesData, _Mapping]] = ...) -> None: ...

class MatchFacesData(_message.Message):
    __slots__ = ("score", "status", "detail")
    SCORE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    score: str
    status: str
    detail: Detail
    def __init__(self, score: _Optional[str] = ..., status: _Optional[str] = ..., detail: _Optional[_Union[Detail, _Mapping]] = ...) -> None: ...

class CompareFacesRequest(_message.Message):
    __slots__ = ("img_1", "img_2", "bboxes_1", "bboxes_2", "face_det", "detail")
    IMG_1_FIELD_NUMBER: _ClassVar[int]
    IMG_2_FIELD_NUMBER: _ClassVar[int]
    BBOXES_1_FIELD_NUMBER: _ClassVar[int]
    BBOXES_2_FIELD_NUMBER: _ClassVar[int]
    FACE_DET_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    img_1: Image
    img_2: Image
    bboxes_1: BoundingBox
    bboxes_2: BoundingBox
    face_det: bool
    detail: bool
    def __init__(self, img_1: _Optional[_Union[Image, _Mapping]] = ..., img_2: _Optional[_Union[Image, _Mapping]] = ..., bboxes_1: _Optional[_Union[BoundingBox, _Mapping]] = ..., bboxes_2: _Optional[_Union[BoundingBox, _Mapping]] = ..., face_det: _Optional[bool] = ..., detail: _Optional[bool] = ...) -> None: ...

class CompareFacesResponse(_message.Message):
    __slots__ = ("status", "code", "success", "message", "data")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    status: str
    code: str
    success: bool
    message: str
    data: CompareFacesData
    def __init__(self, status: _Optional[str] = ..., code: _Optional[str] = ..., success: _Optional[bool] = ..., message: _Optional[str] = ..., data: _Optional[_Union[CompareFacesData, _Mapping]] = ...) -> None: ...

class CompareFacesData(_message.Message):
    __slots__ = ("confidence", "detail")
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    confidence: str
    detail: Detail
    def __init__(self, confidence: _Optional[str] = ..., detail: _Optional[_Union[Detail, _Mapping]] = ...) -> None: ...

class GetImageAttrRequest(_message.Message):
    __slots__ = ("image_attr", "bboxes", "face_det", "detail")
    IMAGE_ATTR_FIELD_NUMBER: _ClassVar[int]
    BBOXES_FIELD_NUMBER: _ClassVar[int]
    FACE_DET_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    image_attr: Image
    bboxes: _containers.RepeatedCompositeFieldContainer[BoundingBox]
    face_det: bool
    detail: bool
    def __init__(self, image_attr: _Optional[_Union[Image, _Mapping]] = ..., bboxes: _Optional[_Iterable[_Union[BoundingBox, _Mapping]]] = ..., face_det: _Optional[bool] = ..., detail: _Optional[bool] = ...) -> None: ...

class GetImageAttrResponse(_message.Message):
    __slots__ = ("status", "code", "success", "message", "data")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    status: str
    code: str
    success: bool
    message: str
    data: GetImageAttrData
    def __init__(self, status: _Optional[str] = ..., code: _Optional[str] = ..., success: _Optional[bool] = ..., message: _Optional[str] = ..., data: _Optional[_Union[GetImageAttrData, _Mapping]] = ...) -> None: ...

class GetImageAttrData(_message.Message):
    __slots__ = ("attributes", "detail")
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    attributes: Attributes
    detail: Detail
    def __init__(self, attributes: _Optional[_Union[Attributes, _Mapping]] = ..., detail: _Optional[_Union[Detail, _Mapping]] = ...) -> None: ...

class Attributes(_message.Message):
    __slots__ = ("faces", "image_size")
    class FacesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Face
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Face, _Mapping]] = ...) -> None: ...
    FACES_FIELD_NUMBER: _ClassVar[int]
    IMAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    faces: _containers.MessageMap[str, Face]
    image_size: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, faces: _Optional[_Mapping[str, Face]] = ..., image_size: _Optional[_Iterable[int]] = ...) -> None: ...

class Face(_message.Message):
    __slots__ = ("age", "face_rectangle", "gender", "gender_confidence", "landmarks")
    AGE_FIELD_NUMBER: _ClassVar[int]
    FACE_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    GENDER_FIELD_NUMBER: _ClassVar[int]
    GENDER_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    LANDMARKS_FIELD_NUMBER: _ClassVar[int]
    age: str
    face_rectangle: _containers.RepeatedScalarFieldContainer[int]
    gender: str
    gender_confidence: float
    landmarks: Landmarks
    def __init__(self, age: _Optional[str] = ..., face_rectangle: _Optional[_Iterable[int]] = ..., gender: _Optional[str] = ..., gender_confidence: _Optional[float] = ..., landmarks: _Optional[_Union[Landmarks, _Mapping]] = ...) -> None: ...

class Landmarks(_message.Message):
    __slots__ = ("face_land_mark",)
    class FaceLandMarkEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Point
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Point, _Mapping]] = ...) -> None: ...
    FACE_LAND_MARK_FIELD_NUMBER: _ClassVar[int]
    face_land_mark: _containers.MessageMap[str, Point]
    def __init__(self, face_land_mark: _Optional[_Mapping[str, Point]] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ("x", "y")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ...) -> None: ...

class GetFaceVecRequest(_message.Message):
    __slots__ = ("img", "bboxes", "quality", "face_det", "detail")
    IMG_FIELD_NUMBER: _ClassVar[int]
    BBOXES_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    FACE_DET_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    img: Image
    bboxes: BoundingBox
    quality: bool
    face_det: bool
    detail: bool
    def __init__(self, img: _Optional[_Union[Image, _Mapping]] = ..., bboxes: _Optional[_Union[BoundingBox, _Mapping]] = ..., quality: _Optional[bool] = ..., face_det: _Optional[bool] = ..., detail: _Optional[bool] = ...) -> None: ...

class GetFaceVecResponse(_message.Message):
    __slots__ = ("status", "code", "success", "message", "data")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    status: str
    code: str
    success: bool
    message: str
    data: GetFaceVecData
    def __init__(self, status: _Optional[str] = ..., code: _Optional[str] = ..., success: _Optional[bool] = ..., message: _Optional[str] = ..., data: _Optional[_Union[GetFaceVecData, _Mapping]] = ...) -> None: ...

class GetFaceVecData(_message.Message):
    __slots__ = ("vector", "detail", "model")
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    vector: _containers.RepeatedScalarFieldContainer[float]
    detail: Detail
    model: str
    def __init__(self, vector: _Optional[_Iterable[float]] = ..., detail: _Optional[_Union[Detail, _Mapping]] = ..., model: _Optional[str] = ...) -> None: ...

class Detail(_message.Message):
    __slots__ = ("images", "model", "milliseconds")
    class MillisecondsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    images: _containers.RepeatedCompositeFieldContainer[ImageDetail]
    model: str
    milliseconds: _containers.ScalarMap[str, float]
    def __init__(self, images: _Optional[_Iterable[_Union[ImageDetail, _Mapping]]] = ..., model: _Optional[str] = ..., milliseconds: _Optional[_Mapping[str, float]] = ...) -> None: ...

class ImageDetail(_message.Message):
    __slots__ = ("faces_found", "faces")
    FACES_FOUND_FIELD_NUMBER: _ClassVar[int]
    FACES_FIELD_NUMBER: _ClassVar[int]
    faces_found: int
    faces: _containers.RepeatedCompositeFieldContainer[FaceDetail]
    def __init__(self, faces_found: _Optional[int] = ..., faces: _Optional[_Iterable[_Union[FaceDetail, _Mapping]]] = ...) -> None: ...

class FaceDetail(_message.Message):
    __slots__ = ("face_rectangle", "score", "face_size", "light", "yaw", "presence", "prominence")
    FACE_RECTANGLE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    FACE_SIZE_FIELD_NUMBER: _ClassVar[int]
    LIGHT_FIELD_NUMBER: _ClassVar[int]
    YAW_FIELD_NUMBER: _ClassVar[int]
    PRESENCE_FIELD_NUMBER: _ClassVar[int]
    PROMINENCE_FIELD_NUMBER: _ClassVar[int]
    face_rectangle: _containers.RepeatedScalarFieldContainer[int]
    score: float
    face_size: _containers.RepeatedScalarFieldContainer[int]
    light: float
    yaw: float
    presence: float
    prominence: float
    def __init__(self, face_rectangle: _Optional[_Iterable[int]] = ..., score: _Optional[float] = ..., face_size: _Optional[_Iterable[int]] = ..., light: _Optional[float] = ..., yaw: _Optional[float] = ..., presence: _Optional[float] = ..., prominence: _Optional[float] = ...) -> None: ...
