"""The client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Optional

import grpc

from visage import _requests, results
from visage._call_runner import CallRunner
from visage._connection import (
    CHANNEL_OPTIONS,
    Pem,
    credentials_from_options,
    metadata_from_key,
    target_from_address,
)
from visage._image_stream import ImageStream, StreamLimits
from visage._limit import InFlightLimit
from visage.face.v1.face_pb2_grpc import FaceServiceStub
from visage.galleries import Galleries
from visage.image import ImageInput
from visage.results import (
    Box,
    BoxInput,
    FaceInput,
    Feature,
    ImageAttributes,
    Key,
    Match,
    StreamResult,
    Template,
)
from visage.v1 import face_analysis_pb2
from visage.v1.face_analysis_pb2_grpc import FaceAnalysisServiceStub
from visage.v1.gallery_pb2_grpc import GalleryServiceStub


class VisageClient:
    """Calls the service over gRPC. Create one and share it: threads may call it at the same time.

    Calls raise VisageError, or the error of reading an image. They connect on first use and reconnect when the
    connection is lost. Create the client after a fork.
    """

    raw: FaceServiceStub
    """The generated client of face.v1 for everything else. It does not retry, and needs `metadata=client.metadata`."""
    raw_analysis: FaceAnalysisServiceStub
    """The generated client of visage.v1, like `raw`."""
    metadata: tuple[tuple[str, str], ...]
    """The metadata that authenticates a call of `raw` or `raw_analysis`."""
    galleries: Galleries
    """Galleries: enrols people and identifies faces."""

    def __init__(
        self,
        address: str,
        api_key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        max_in_flight: int = 32,
        ca: Optional[Pem] = None,
        client_certificate: Optional[Pem] = None,
        client_key: Optional[Pem] = None,
    ) -> None:
        """Args:
            address: URL of the service, such as `http://localhost:8080`. `https:` uses TLS.
            api_key: Key of the user; None if a client certificate identifies the user.
            timeout: Deadline of a call including its retries, in seconds.
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
        if timeout <= 0 or retries < 0 or max_in_flight < 1:
            raise ValueError("timeout and max_in_flight must be positive, and retries must not be negative.")
        self._max_in_flight = max_in_flight
        self._limit = InFlightLimit(max_in_flight)
        self._calls = CallRunner(timeout, retries, self.metadata, self._limit)
        self._channel = (
            grpc.secure_channel(target, credentials, CHANNEL_OPTIONS)
            if credentials
            else grpc.insecure_channel(target, CHANNEL_OPTIONS)
        )
        self.raw = FaceServiceStub(self._channel)
        self.raw_analysis = FaceAnalysisServiceStub(self._channel)
        self.galleries = Galleries(GalleryServiceStub(self._channel), self._calls)

    def analyze_image(
        self,
        image: ImageInput,
        *,
        features: Iterable[Feature] = (),
        boxes: Iterable[BoxInput] = (),
        max_faces: int = 0,
    ) -> face_analysis_pb2.AnalyzeImageResponse:
        """Measures every face of an image, or the faces in the boxes.

        Args:
            features: What to return of each face besides box and scores. By default landmarks, attributes and
                quality.
            max_faces: How many of the detected faces to return, the most prominent first; 0 means 256.
        """
        return self._calls.run(
            self.raw_analysis.AnalyzeImage.with_call,
            lambda: _requests.analysis_request(image, features, boxes, max_faces),
        )

    def analyze_images(
        self,
        images: Iterable[tuple[Key, ImageInput]],
        *,
        features: Iterable[Feature] = (),
        max_faces: int = 0,
    ) -> Iterator[StreamResult[Key]]:
        """Measures the faces of many images on one stream. `images` has pairs of a key, which comes back with the
        result, and an image. Results come as they are ready, not in the order of the images. An image that fails has an
        error in its result, and the others go on.

        An image is read when the service takes it, in another thread. At most `max_in_flight` images have no result or
        one that was not taken. When the stream breaks, a new one is opened and the images without a result are sent
        again, up to `retries` times without a new result.

        The iteration raises VisageError if that does not help, and the error of `images` after the results of the images
        before it.
        """
        chosen = tuple(features)
        stream = ImageStream(
            images,
            lambda image: _requests.analysis_request(image, chosen, (), max_faces),
            lambda requests: self.raw_analysis.AnalyzeImages(requests, metadata=self.metadata),
            StreamLimits(self._calls.timeout, self._calls.retries, self._max_in_flight, self._limit),
        )
        return stream.results()

    def compare_faces(
        self,
        source: FaceInput,
        target: FaceInput,
        *,
        source_box: Optional[BoxInput] = None,
        target_box: Optional[BoxInput] = None,
        max_false_match_rate: float = 0.0,
        assume_adults: bool = False,
    ) -> face_analysis_pb2.CompareFacesResponse:
        """Compares a face with every face of an image, or with a stored embedding. A box selects the face of its image.

        Args:
            max_false_match_rate: Chooses the thresholds so that at most this share of pairs of different people match.
                0 means the threshold 0.5.
            assume_adults: Skips the estimate of age and gender: thresholds and rates then hold for adults only.
        """
        return self._calls.run(
            self.raw_analysis.CompareFaces.with_call,
            lambda: _requests.comparison_request(
                source, target, source_box, target_box, max_false_match_rate, assume_adults
            ),
        )

    def match_faces(
        self,
        one: ImageInput,
        other: ImageInput,
        *,
        box_1: Optional[Box] = None,
        box_2: Optional[Box] = None,
        detect: Optional[bool] = None,
    ) -> Match:
        """Compares the faces of two images. A box selects the face of its image. `detect=False` skips detection: the
        box is taken as a face, or the whole image if there is no box."""
        response = self._calls.run(
            self.raw.MatchFaces.with_call, lambda: _requests.match_request(one, other, box_1, box_2, detect)
        )
        return results.match_from_message(response.data)

    def get_image_attr(
        self, image: ImageInput, *, boxes: Iterable[Box] = (), detect: Optional[bool] = None
    ) -> ImageAttributes:
        """Analyses all faces of an image, or those in the boxes. `detect=False` skips detection."""
        response = self._calls.run(
            self.raw.GetImageAttr.with_call, lambda: _requests.attributes_request(image, boxes, detect)
        )
        return results.attributes_from_message(response.data.attributes)

    def get_face_vec(
        self,
        image: ImageInput,
        *,
        box: Optional[Box] = None,
        quality: bool = False,
        detect: Optional[bool] = None,
    ) -> Template:
        """Computes the template of a face. `quality` rejects a face that is too small, too dark or turned away.
        `detect=False` skips detection."""
        response, call = self._calls.run_with_call(
            self.raw.GetFaceVec.with_call, lambda: _requests.vector_request(image, box, quality, detect)
        )
        return results.template_from_message(response.data, call.trailing_metadata())

    def close(self) -> None:
        """Closes the connection and cancels all calls. They raise VisageError with the reason `CANCELLED`."""
        self._limit.close()
        self._channel.close()

    def __enter__(self) -> VisageClient:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
