"""Converts messages to results."""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence
from dataclasses import fields
from datetime import timezone
from functools import partial
from typing import Any, Callable, TypeVar

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from visage import gallery_results, results
from visage.v1 import face_analysis_pb2 as typed

_Result = TypeVar("_Result")

# The embedding of a face with its model is a template.
_FIELDS = {"template": "embedding"}
_DATACLASSES: Mapping[str, type[object]] = {
    "Face": results.AnalyzedFace,
    "Pose": results.Pose,
    "Quality": results.FaceQuality,
    "ComponentQuality": results.ComponentQuality,
    "Age": results.ApparentAge,
    "GenderEstimate": results.ApparentGender,
    "FaceMatch": results.FaceMatch,
    "EnrolledFace": gallery_results.EnrolledFace,
    "ExportedFace": gallery_results.ExportedFace,
    "IdentifiedFace": gallery_results.IdentifiedFace,
    "PersonDeletion": gallery_results.PersonDeletion,
    "PersonMatch": gallery_results.PersonMatch,
}


def analysis_from_message(message: typed.AnalyzeImageResponse) -> results.ImageAnalysis:
    return results.ImageAnalysis(
        width=message.image_size.width,
        height=message.image_size.height,
        faces=tuple(result_from_message(results.AnalyzedFace, face) for face in message.faces),
        faces_found=message.faces_found,
    )


def result_from_message(result: Callable[..., _Result], message: Message) -> _Result:
    """Converts a message to a dataclass that has fields of the same names, and maybe others with defaults. Enums become
    their names in lower case, and what is missing becomes None. A message without a dataclass stays as it is."""
    names = {field.name: _FIELDS.get(field.name, field.name) for field in fields(result)}  # type: ignore[arg-type]
    known = message.DESCRIPTOR.fields_by_name
    return result(**{name: _value(message, source) for name, source in names.items() if source in known})


def _value(message: Message, name: str) -> Any:
    field = message.DESCRIPTOR.fields_by_name[name]
    value = getattr(message, name)
    if isinstance(value, MutableSequence):
        return tuple(_single_value(field, item) for item in value)
    if field.has_presence and not message.HasField(name):
        return None
    return _single_value(field, value)


def _single_value(field: Any, value: Any) -> Any:
    if field.message_type:
        convert = _CONVERTERS.get(field.message_type.name)
        return convert(value) if convert else value
    return _name_of(field.enum_type, value) if field.enum_type else value


def _name_of(enum: EnumDescriptor, number: int) -> str:
    """Returns the name of a value without the prefix that it shares with the first one, `..._UNSPECIFIED`."""
    prefix = enum.values_by_number[0].name[: -len("UNSPECIFIED")]
    # A newer service may have more values.
    value = enum.values_by_number.get(number)
    return value.name[len(prefix) :].lower() if value else "unknown"


_CONVERTERS: Mapping[str, Callable[[Any], object]] = {
    **{name: partial(result_from_message, result) for name, result in _DATACLASSES.items()},
    "BoundingBox": lambda box: results.Box(box.x1, box.y1, box.x2, box.y2),
    "Point": lambda point: results.Point(point.x, point.y),
    "Embedding": lambda embedding: results.Template(tuple(embedding.values), embedding.model),
    "Timestamp": lambda timestamp: timestamp.ToDatetime(timezone.utc),
}
