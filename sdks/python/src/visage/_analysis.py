"""The operations on images, and how a client is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from visage import face_results
from visage._call_runner import CallRunner
from visage._connection import Pem, credentials_from_options, metadata_from_key, target_from_address
from visage._convert import analysis_from_message, result_from_message
from visage._image_stream import Images, ImageStream
from visage._operation import operation
from visage._requests import analysis_request, face_source, original_box
from visage._runtime import Metadata, Runtime
from visage.face.v1 import face_pb2
from visage.face.v1.face_pb2_grpc import FaceServiceStub
from visage.image import ImageInput, image_from_input
from visage.names import Feature
from visage.results import BoxInput, FaceComparison, FaceInput, ImageAnalysis, Key, Template
from visage.v1 import face_analysis_pb2 as typed
from visage.v1.face_analysis_pb2_grpc import FaceAnalysisServiceStub


class AnalysisOperations:
    """What both clients have in common."""

    raw: FaceServiceStub
    """The generated client of face.v1 for everything else. It does not retry, and needs `metadata=client.metadata`."""
    raw_analysis: FaceAnalysisServiceStub
    """The generated client of visage.v1, like `raw`."""
    metadata: Metadata
    """The metadata that authenticates a call of `raw` or `raw_analysis`."""
    _runtime_type: type[Any]

    def __init__(
        self,
        address: str,
        api_key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        max_in_flight: int = 32,
        ca: Optional[Pem] = None,
        client_certificate: Optional[Pem] = None,
        client_key: Optional[Pem] = None,
    ) -> None:
        """Args:
            address: URL of the service, such as `http://localhost:8080`. `https:` uses TLS.
            api_key: API key of the user; None if a client certificate identifies the user.
            timeout: Deadline of a call including its retries, in seconds. Each call may have another.
            retries: How often a call with a retryable error is retried. `INTERNAL` is retried once at most. Unless
                it is 0, calls that the service rejects because of load are retried until the deadline.
            max_in_flight: The most calls at the same time. Further calls wait, which does not count against `timeout`.
                The client lowers the limit while the service rejects calls because of load.
            ca: Certificates to trust instead of those that gRPC brings along: PEM bytes, or a path.
            client_certificate: Certificate chain of this client: PEM bytes, or a path.
            client_key: Private key of `client_certificate`.
        """
        target = target_from_address(address)
        credentials = credentials_from_options(address, ca, client_certificate, client_key)
        self.metadata = metadata_from_key(api_key)
        runtime: Runtime = self._runtime_type()
        self._calls = CallRunner(runtime, timeout, retries, self.metadata, max_in_flight)
        self._channel = runtime.open_channel(target, credentials)
        self.raw = FaceServiceStub(self._channel)
        self.raw_analysis = FaceAnalysisServiceStub(self._channel)

    @operation
    async def analyze_image(
        self,
        image: ImageInput,
        *,
        features: Iterable[Feature] = (),
        boxes: Iterable[BoxInput] = (),
        max_faces: int = 0,
        timeout: Optional[float] = None,
    ) -> ImageAnalysis:
        """Measures every face of an image, or the faces in the boxes.

        Args:
            features: What to return of each face besides box and scores. By default landmarks, attributes and
                quality.
            max_faces: How many of the detected faces to return, the most prominent first; 0 means 256.
            timeout: Deadline of this call including its retries, in seconds. By default that of the client.
        """
        response = await self._calls.run(
            self.raw_analysis.AnalyzeImage,
            lambda: analysis_request(image, features, boxes, max_faces),
            timeout,
        )
        return analysis_from_message(response)

    @operation
    async def compare_faces(
        self,
        source: FaceInput,
        target: FaceInput,
        *,
        source_box: Optional[BoxInput] = None,
        target_box: Optional[BoxInput] = None,
        max_false_match_rate: float = 0.0,
        assume_adults: bool = False,
        quality: bool = False,
        timeout: Optional[float] = None,
    ) -> FaceComparison:
        """Compares a face with every face of an image, or with a stored template. A box selects the face of its image.

        Args:
            max_false_match_rate: Chooses the thresholds so that at most this share of pairs of different people match.
                0 means the threshold 0.5.
            assume_adults: Skips the estimate of age and gender: thresholds and rates then hold for adults only.
            quality: Whether to measure quality and pose of the faces in images, too.
        """

        def create_request() -> typed.CompareFacesRequest:
            return typed.CompareFacesRequest(
                source=face_source(source, source_box),
                target=face_source(target, target_box),
                max_false_match_rate=max_false_match_rate,
                assume_adults=assume_adults,
                quality=quality,
            )

        response = await self._calls.run(self.raw_analysis.CompareFaces, create_request, timeout)
        return result_from_message(FaceComparison, response)

    @operation
    async def match_faces(
        self,
        one: ImageInput,
        other: ImageInput,
        *,
        box_1: Optional[BoxInput] = None,
        box_2: Optional[BoxInput] = None,
        detect: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> face_results.Match:
        """Compares the faces of two images. A box selects the face of its image. `detect=False` skips detection: the
        box is taken as a face, or the whole image if there is no box."""

        def create_request() -> face_pb2.MatchFacesRequest:
            return face_pb2.MatchFacesRequest(
                img_1=image_from_input(one),
                img_2=image_from_input(other),
                bboxes_1=None if box_1 is None else original_box(box_1),
                bboxes_2=None if box_2 is None else original_box(box_2),
                face_det=detect,
            )

        response = await self._calls.run(self.raw.MatchFaces, create_request, timeout)
        return face_results.match_from_message(response.data)

    @operation
    async def get_image_attr(
        self,
        image: ImageInput,
        *,
        boxes: Iterable[BoxInput] = (),
        detect: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> face_results.ImageAttributes:
        """Analyses all faces of an image, or those in the boxes. `detect=False` skips detection."""

        def create_request() -> face_pb2.GetImageAttrRequest:
            return face_pb2.GetImageAttrRequest(
                image_attr=image_from_input(image),
                bboxes=[original_box(box) for box in boxes],
                face_det=detect,
            )

        response = await self._calls.run(self.raw.GetImageAttr, create_request, timeout)
        return face_results.attributes_from_message(response.data.attributes)

    @operation
    async def get_face_vec(
        self,
        image: ImageInput,
        *,
        box: Optional[BoxInput] = None,
        quality: bool = False,
        detect: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> Template:
        """Computes the template of a face. `quality` rejects a face that is too small, too dark or turned away.
        `detect=False` skips detection."""

        def create_request() -> face_pb2.GetFaceVecRequest:
            return face_pb2.GetFaceVecRequest(
                img=image_from_input(image),
                bboxes=None if box is None else original_box(box),
                quality=quality,
                face_det=detect,
            )

        attempts = self._calls.attempts(timeout)
        response, trailer = await self._calls.run_attempts(self.raw.GetFaceVec, create_request, attempts)
        model = next((value for key, value in trailer if key == "x-visage-model"), "")
        return Template(tuple(response.data.vector), str(model))

    @operation
    async def close(self) -> None:
        """Closes the connection and cancels all calls. They raise VisageError with the reason `CANCELLED`."""
        self._calls.limit.close()
        await self._calls.runtime.close(self._channel)

    def _stream(
        self, images: Images[Key], features: Iterable[Feature], max_faces: int, timeout: Optional[float]
    ) -> ImageStream[Key]:
        chosen = tuple(features)
        return ImageStream(
            self.raw_analysis.AnalyzeImages,
            images,
            lambda image: analysis_request(image, chosen, (), max_faces),
            self._calls,
            timeout,
        )
