"""Calls every operation with files and with Base64, by the client that openapi-python-client makes. Prints what
openapi-generators.system.test.ts expects."""

import base64
import json
import os
import pathlib

from visage_client import AuthenticatedClient
from visage_client.api.face_analysis_service import v_1_analyze_image, v_1_compare_faces
from visage_client.api.face_service import compare_faces, get_face_vec, get_image_attr, match_faces
from visage_client.models import (
    CompareFacesFiles,
    CompareFacesRequest,
    Face,
    GetFaceVecFiles,
    GetFaceVecRequest,
    GetImageAttrFiles,
    GetImageAttrRequest,
    MatchFacesFiles,
    MatchFacesRequest,
    V1AnalyzeImageFiles,
    V1AnalyzeImageRequest,
    V1CompareFacesFiles,
    V1CompareFacesRequest,
    V1FaceSource,
    V1Feature,
    V1Image,
)
from visage_client.types import File

PHOTO_1 = pathlib.Path(os.environ["VISAGE_PHOTO_1"])
PHOTO_2 = pathlib.Path(os.environ["VISAGE_PHOTO_2"])
BOXES = os.environ["VISAGE_BOXES"].split(" ")


def open_file(path):
    return File(payload=path.open("rb"), file_name=path.name)


def encode(path):
    return base64.b64encode(path.read_bytes()).decode()


def summarize(match, compare, attr, vec):
    attributes = attr.data.attributes.additional_properties
    faces = {name: Face.from_dict(value) for name, value in attributes.items() if name.startswith("face_id_")}
    return {
        "match": [match.data.score, match.data.status],
        "compare": compare.data.confidence,
        "faces": {
            name: [face.age, face.face_rectangle, face.landmarks.face_land_mark["noseTip"].x]
            for name, face in faces.items()
        },
        "imageSize": attributes["image_size"],
        "vector": len(vec.data.vector),
        "facesFound": vec.data.detail.images[0].faces_found,
    }


def call_typed(client):
    image = V1Image(content=encode(PHOTO_1))
    measured = v_1_analyze_image.sync(
        client=client,
        body=V1AnalyzeImageFiles(open_file(PHOTO_1)),
        features=[V1Feature.FEATURE_ATTRIBUTES, V1Feature.FEATURE_QUALITY],
        max_faces=2,
    )
    request = V1AnalyzeImageRequest(image, features=[V1Feature.FEATURE_EMBEDDING], max_faces=1)
    embedded = v_1_analyze_image.sync(client=client, body=request)
    source = V1FaceSource(embedding=embedded.faces[0].embedding)
    request = V1CompareFacesRequest(source, V1FaceSource(image=image), max_false_match_rate=0.001)
    stored = v_1_compare_faces.sync(client=client, body=request)
    pair = v_1_compare_faces.sync(
        client=client, body=V1CompareFacesFiles(open_file(PHOTO_1), open_file(PHOTO_2))
    )
    failed = v_1_analyze_image.sync_detailed(
        client=client, body=V1AnalyzeImageFiles(open_file(PHOTO_1)), boxes=["1,2,3"]
    )
    return {
        "faces": [[face.age.range_, face.gender.value, face.quality.usable] for face in measured.faces],
        "facesFound": measured.faces_found,
        "matched": [match.matched for match in stored.matches],
        "pairs": len(pair.matches),
        "error": [failed.status_code, failed.parsed.reason],
    }


# The key as a Bearer token.
with AuthenticatedClient(os.environ["VISAGE_URL"], token=os.environ["VISAGE_USER_ID"], timeout=60) as client:
    files = summarize(
        match_faces.sync(client=client, body=MatchFacesFiles(open_file(PHOTO_1), open_file(PHOTO_2))),
        compare_faces.sync(client=client, body=CompareFacesFiles(open_file(PHOTO_1), open_file(PHOTO_2))),
        get_image_attr.sync(client=client, body=GetImageAttrFiles(open_file(PHOTO_1))),
        get_face_vec.sync(client=client, body=GetFaceVecFiles(open_file(PHOTO_1)), detail=True),
    )
    text_1, text_2 = encode(PHOTO_1), encode(PHOTO_2)
    text = summarize(
        match_faces.sync(client=client, body=MatchFacesRequest(text_1, text_2), bboxes_1=BOXES[0]),
        compare_faces.sync(client=client, body=CompareFacesRequest(text_1, text_2), bboxes_1=BOXES[0]),
        get_image_attr.sync(client=client, body=GetImageAttrRequest(text_1), bboxes=BOXES, face_det=True),
        get_face_vec.sync(
            client=client, body=GetFaceVecRequest(text_1), bboxes=BOXES[0], quality=True, detail=True
        ),
    )
    failed = get_face_vec.sync_detailed(
        client=client, body=GetFaceVecFiles(open_file(PHOTO_1)), bboxes="1,2,3"
    )
    error = [failed.status_code, failed.parsed.code, failed.parsed.data.reason]
    typed = call_typed(client)
print(json.dumps({"files": files, "text": text, "error": error, "typed": typed}))
