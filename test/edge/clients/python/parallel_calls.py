"""Makes many parallel GetFaceVec calls on one connection and prints how they ended, as JSON:
parallel_calls.py HOST:PORT USER_ID PHOTO CALLS DEADLINE_SECONDS"""

import json
import sys
from collections import Counter
from pathlib import Path

import grpc
from visage.error import error_from_rpc
from visage.face.v1 import face_pb2, face_pb2_grpc


def outcome_of(call):
    error = call.exception()
    if error is None:
        return "OK"
    return f"{error.code().name} {error_from_rpc(error).code or error.details()}"


def main(address, user, photo, calls, seconds):
    image = face_pb2.Image(content=Path(photo).read_bytes())
    request = face_pb2.GetFaceVecRequest(img=image)
    with grpc.insecure_channel(address) as channel:
        faces = face_pb2_grpc.FaceServiceStub(channel)
        started = [
            faces.GetFaceVec.future(request, metadata=[("user_id", user)], timeout=float(seconds))
            for _ in range(int(calls))
        ]
        print(json.dumps(Counter(outcome_of(call) for call in started)))


main(*sys.argv[1:])
