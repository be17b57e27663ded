"""Schemathesis hooks that make generated requests more useful."""

import base64
import itertools
import json
import os
import pathlib

import schemathesis

PHOTO = base64.b64encode(pathlib.Path(os.environ["VISAGE_FUZZ_PHOTO"]).read_bytes()).decode()
IMAGE = {"content": PHOTO}
PHOTOS = {
    **dict.fromkeys(("img", "img_1", "img_2", "image_attr"), PHOTO),
    "image": IMAGE,
    **dict.fromkeys(("source", "target"), {"image": IMAGE}),
}
use_photo = itertools.cycle((True, False, False, False))


@schemathesis.hook
def before_call(context, case, kwargs):
    if not isinstance(case.body, dict):
        return
    # Every fourth request has a real photo, so that successful responses are checked, too. Not in multipart bodies:
    # Schemathesis generates small images for them, and takes other bytes for invalid.
    if case.media_type != "multipart/form-data" and next(use_photo):
        case.body = with_photos(case.body)


def with_photos(message):
    replaced = {name: PHOTOS.get(name, value) for name, value in message.items()}
    # An image of a stream.
    if isinstance(request := replaced.get("request"), dict):
        replaced["request"] = with_photos(request)
    return replaced


@schemathesis.serializer("application/x-ndjson")
def json_line(context, value):
    return json.dumps(value).encode()
