"""Schemathesis hooks that make generated requests more useful."""

import base64
import itertools
import os
import pathlib

import schemathesis

PHOTO = base64.b64encode(pathlib.Path(os.environ["VISAGE_FUZZ_PHOTO"]).read_bytes()).decode()
IMAGES = ("img", "img_1", "img_2", "image_attr")
use_photo = itertools.cycle((True, False, False, False))


@schemathesis.hook
def before_call(context, case, kwargs):
    if not isinstance(case.body, dict):
        return
    # Every fourth request has a real photo, so that successful responses are checked, too. Not in multipart bodies:
    # Schemathesis generates small images for them, and takes other bytes for invalid.
    if case.media_type != "multipart/form-data" and next(use_photo):
        case.body = {name: PHOTO if name in IMAGES else value for name, value in case.body.items()}
