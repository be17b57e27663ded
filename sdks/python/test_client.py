"""Tests the client against a running service, given by VISAGE_ADDRESS, VISAGE_USER_ID and VISAGE_PHOTOS."""

import os
import unittest
from pathlib import Path

import grpc
from face.v1 import face_pb2, face_pb2_grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

PHOTOS = Path(os.environ["VISAGE_PHOTOS"])
METADATA = [("user_id", os.environ["VISAGE_USER_ID"])]


def photo(number):
    return face_pb2.Image(content=(PHOTOS / f"sample{number}.jpg").read_bytes())


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.channel = grpc.insecure_channel(os.environ["VISAGE_ADDRESS"])
        cls.faces = face_pb2_grpc.FaceServiceStub(cls.channel)
        cls.addClassCleanup(cls.channel.close)

    def test_matches_two_photographs(self):
        request = face_pb2.MatchFacesRequest(img_1=photo(3), img_2=photo(3))
        response = self.faces.MatchFaces(request, metadata=METADATA)
        self.assertTrue(response.success)
        self.assertEqual(response.data.status, "match")
        self.assertRegex(response.data.score, r"^0\.\d{4}$")

    def test_converts_a_face_to_a_vector(self):
        response = self.faces.GetFaceVec(face_pb2.GetFaceVecRequest(img=photo(1)), metadata=METADATA)
        self.assertEqual(len(response.data.vector), 128)

    def test_returns_every_face(self):
        request = face_pb2.GetImageAttrRequest(image_attr=photo(1))
        attributes = self.faces.GetImageAttr(request, metadata=METADATA).data.attributes
        self.assertEqual(list(attributes.image_size), [1280, 1920])
        self.assertEqual(len(attributes.faces), 3)
        self.assertEqual(len(attributes.faces["face_id_0"].landmarks.face_land_mark), 68)

    def test_reads_the_reason_of_an_error(self):
        request = face_pb2.GetFaceVecRequest(img=face_pb2.Image(content=b"no image"))
        with self.assertRaises(grpc.RpcError) as raised:
            self.faces.GetFaceVec(request, metadata=METADATA)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        info = error_details_pb2.ErrorInfo()
        self.assertTrue(rpc_status.from_call(raised.exception).details[0].Unpack(info))
        self.assertEqual(info.reason, "UNSUPPORTED_FORMAT")
        self.assertEqual(info.metadata["code"], "2004")

    def test_ends_at_the_deadline(self):
        with self.assertRaises(grpc.RpcError) as raised:
            self.faces.GetFaceVec(face_pb2.GetFaceVecRequest(img=photo(1)), metadata=METADATA, timeout=0.001)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


if __name__ == "__main__":
    unittest.main()
