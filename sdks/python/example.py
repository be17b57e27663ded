"""Checks whether two photographs show the same person: python example.py HOST:PORT USER_ID ONE TWO"""

import sys
from pathlib import Path

import grpc
from face.v1 import face_pb2, face_pb2_grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

address, user_id, *photos = sys.argv[1:]
one, two = (face_pb2.Image(content=Path(photo).read_bytes()) for photo in photos)

with grpc.insecure_channel(address) as channel:
    faces = face_pb2_grpc.FaceServiceStub(channel)
    request = face_pb2.MatchFacesRequest(img_1=one, img_2=two)
    try:
        response = faces.MatchFaces(request, metadata=[("user_id", user_id)], timeout=30)
    except grpc.RpcError as error:
        info = error_details_pb2.ErrorInfo()
        status = rpc_status.from_call(error)
        for detail in status.details if status else []:
            detail.Unpack(info)
        sys.exit(f"{info.reason or error.code().name} {error.details()}")
    print(f"{response.data.status}: {response.data.score}")
