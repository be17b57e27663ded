"""Calls every operation with files and with Base64, by the client that openapi-generator makes for Python. Prints what
openapi-generators.system.test.ts expects."""

import base64
import json
import os
import pathlib

import openapi_client
from openapi_client import (
    CompareFacesRequest,
    Face,
    FaceAnalysisServiceApi,
    FaceServiceApi,
    GalleryServiceApi,
    GetFaceVecRequest,
    GetImageAttrRequest,
    MatchFacesRequest,
    V1AnalyzeImageRequest,
    V1CompareFacesRequest,
    V1CreateGalleryRequest,
    V1FaceSource,
    V1Feature,
    V1Image,
)

PHOTO_1 = os.environ["VISAGE_PHOTO_1"]
PHOTO_2 = os.environ["VISAGE_PHOTO_2"]
BOXES = os.environ["VISAGE_BOXES"].split(" ")


def encode(path):
    return base64.b64encode(pathlib.Path(path).read_bytes()).decode()


def summarize(match, compare, attr, vec):
    values = attr.data.attributes
    faces = {name: Face.from_dict(value) for name, value in values.items() if name.startswith("face_id_")}
    return {
        "match": [match.data.score, match.data.status],
        "compare": compare.data.confidence,
        "faces": {
            name: [face.age, face.face_rectangle, face.landmarks.face_land_mark["noseTip"].x]
            for name, face in faces.items()
        },
        "imageSize": values["image_size"],
        "vector": len(vec.data.vector),
        "facesFound": vec.data.detail.images[0].faces_found,
    }


def call_typed(api):
    image = V1Image(content=encode(PHOTO_1))
    features = [V1Feature.FEATURE_ATTRIBUTES, V1Feature.FEATURE_QUALITY]
    measured = api.v1_analyze_image_with_form_data(PHOTO_1, features=features, max_faces=2)
    embedded = api.v1_analyze_image_with_json(
        V1AnalyzeImageRequest(image=image, features=[V1Feature.FEATURE_EMBEDDING], max_faces=1)
    )
    embedding = embedded.faces[0].embedding
    call_lines(GalleryServiceApi(api.api_client), embedding)
    source = V1FaceSource(embedding=embedding)
    request = V1CompareFacesRequest(source=source, target=V1FaceSource(image=image), max_false_match_rate=0.001)
    stored = api.v1_compare_faces_with_json(request)
    pair = api.v1_compare_faces_with_form_data(PHOTO_1, PHOTO_2)
    try:
        api.v1_analyze_image_with_form_data(PHOTO_1, boxes=["1,2,3"])
    except openapi_client.ApiException as fault:
        error = [fault.status, fault.data.reason]
    return {
        "faces": [[face.age.range, face.gender.value, face.quality.usable] for face in measured.faces],
        "facesFound": measured.faces_found,
        "matched": [match.matched for match in stored.matches],
        "pairs": len(pair.matches),
        "error": error,
    }


def call_lines(api, embedding):
    """Imports a face as a line of JSON, exports it, and imports what was exported."""
    api.v1_create_gallery(V1CreateGalleryRequest(gallery_id="lines"))
    line = {"personId": "ann", "embedding": embedding.to_dict()}
    assert api.v1_import_faces("lines", json.dumps(line).encode()).face_count == 1
    exported = bytes(api.v1_export_gallery("lines"))
    assert json.loads(exported)["personId"] == "ann"
    assert api.v1_import_faces("lines", exported).face_count == 1
    api.v1_delete_gallery("lines")


configuration = openapi_client.Configuration(
    host=os.environ["VISAGE_URL"], api_key={"user_id": os.environ["VISAGE_USER_ID"]}
)
with openapi_client.ApiClient(configuration) as client:
    api = FaceServiceApi(client)
    files = summarize(
        api.match_faces_with_form_data(PHOTO_1, PHOTO_2),
        api.compare_faces_with_form_data(PHOTO_1, PHOTO_2),
        api.get_image_attr_with_form_data(PHOTO_1),
        api.get_face_vec_with_form_data(pathlib.Path(PHOTO_1).read_bytes(), detail=True),
    )
    text_1, text_2 = encode(PHOTO_1), encode(PHOTO_2)
    text = summarize(
        api.match_faces_with_json(MatchFacesRequest(img_1=text_1, img_2=text_2), bboxes_1=BOXES[0]),
        api.compare_faces_with_json(CompareFacesRequest(img_1=text_1, img_2=text_2), bboxes_1=BOXES[0]),
        api.get_image_attr_with_json(GetImageAttrRequest(image_attr=text_1), bboxes=BOXES, face_det=True),
        api.get_face_vec_with_json(GetFaceVecRequest(img=text_1), bboxes=BOXES[0], quality=True, detail=True),
    )
    try:
        api.get_face_vec_with_form_data(PHOTO_1, bboxes="1,2,3")
    except openapi_client.ApiException as fault:
        error = [fault.status, fault.data.code, fault.data.data.reason]
    typed = call_typed(FaceAnalysisServiceApi(client))
print(json.dumps({"files": files, "text": text, "error": error, "typed": typed}))
