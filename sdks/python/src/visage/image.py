"""What the client accepts as an image."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Union

from visage.error import VisageError
from visage.face.v1 import face_pb2
from visage.v1 import face_analysis_pb2


class Readable(Protocol):
    """A binary file object."""

    def read(self) -> bytes: ...


@dataclass(frozen=True)
class Url:
    """An HTTP(S) URL from which the service fetches the image."""

    value: str


ImageInput = Union[bytes, bytearray, memoryview, "os.PathLike[str]", Readable, Url]
"""A JPEG or PNG: its bytes, the path of a local file, a binary file object, or a URL. A plain string is not accepted,
because it could be a path or a URL."""


def image_from_input(image: ImageInput) -> face_pb2.Image:
    """Converts an input to the message of face.v1. Reads files completely; raises VisageError if that fails."""
    if isinstance(image, Url):
        return face_pb2.Image(url=image.value)
    return face_pb2.Image(content=_read(image))


def typed_image_from_input(image: ImageInput) -> face_analysis_pb2.Image:
    """Converts an input to the message of visage.v1, like `image_from_input`."""
    if isinstance(image, Url):
        return face_analysis_pb2.Image(url=image.value)
    return face_analysis_pb2.Image(content=_read(image))


def _read(image: ImageInput) -> bytes:
    if isinstance(image, (bytes, bytearray, memoryview)):
        return bytes(image)
    if isinstance(image, str):
        raise TypeError("An image cannot be a str: use pathlib.Path for a path or visage.Url for a URL.")
    read = Path(image).read_bytes if isinstance(image, os.PathLike) else getattr(image, "read", None)
    try:
        content = read() if read else None
    except Exception as cause:
        raise VisageError(str(cause), reason="UNREADABLE_IMAGE") from cause
    if not isinstance(content, bytes):
        raise TypeError("An image must be bytes, a path, a binary file object or a visage.Url.")
    return content
