"""Galleries: enrols people and asks who a face belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Callable, Optional, TypeVar

import grpc

from visage._call_runner import CallRunner, Metadata, Send
from visage._gallery_export import GalleryExport
from visage._requests import face_source
from visage._retry import is_rejection
from visage.error import VisageError, error_from_rpc
from visage.gallery_face import GalleryFace, import_request_from
from visage.results import BoxInput, FaceInput
from visage.v1 import gallery_pb2 as messages
from visage.v1.gallery_pb2_grpc import GalleryServiceStub

_Item = TypeVar("_Item")
_Request = TypeVar("_Request")

# The most that the service returns. Every page counts as one request.
_PAGE_SIZE = 1000
# How many faces an import sends in one call: about 3 MB, which is kept for a retry.
_IMPORT_BATCH = 5000


class Galleries:
    """The galleries of the user. Threads may call it at the same time, and all calls follow the rules of the client.

    Ids of galleries, people and faces are yours: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. What does not exist,
    or belongs to another user, raises VisageError with `GALLERY_NOT_FOUND`, `PERSON_NOT_FOUND` or `FACE_NOT_FOUND`.
    """

    raw: GalleryServiceStub
    """The generated client, like `VisageClient.raw`."""

    def __init__(self, stub: GalleryServiceStub, calls: CallRunner) -> None:
        """`VisageClient.galleries` is the instance to use."""
        self.raw = stub
        self._calls = calls

    def create(
        self, gallery_id: str, *, display_name: str = "", max_distance: Optional[float] = None
    ) -> messages.Gallery:
        """Creates a gallery. Raises `GALLERY_EXISTS` if the id is taken.

        It is only retried if the service has rejected it because of load. If the response is lost, `get` tells whether
        the gallery was created.

        Args:
            max_distance: The threshold of the gallery, above 0 to 0.9. By default the service chooses one that fits the
                number of faces.
        """
        request = messages.CreateGalleryRequest(
            gallery_id=gallery_id, display_name=display_name, max_distance=max_distance
        )
        return self._calls.run(self.raw.CreateGallery.with_call, lambda: request, is_idempotent=False).gallery

    def get(self, gallery_id: str) -> messages.Gallery:
        """Returns a gallery with the number of its people and faces."""
        request = messages.GetGalleryRequest(gallery_id=gallery_id)
        return self._calls.run(self.raw.GetGallery.with_call, lambda: request).gallery

    def list(self) -> Iterator[messages.Gallery]:
        """Iterates over all galleries of the user by id. It reads a page when the last one has been taken."""

        def read_page(token: str) -> tuple[Iterable[messages.Gallery], str]:
            request = messages.ListGalleriesRequest(page_size=_PAGE_SIZE, page_token=token)
            page = self._calls.run(self.raw.ListGalleries.with_call, lambda: request)
            return page.galleries, page.next_page_token

        return _items_of(read_page)

    def update(
        self, gallery_id: str, *, display_name: Optional[str] = None, max_distance: Optional[float] = None
    ) -> messages.Gallery:
        """Changes the name or the threshold of a gallery; None keeps it. The threshold 0 lets the service choose again."""
        request = messages.UpdateGalleryRequest(
            gallery_id=gallery_id, display_name=display_name, max_distance=max_distance
        )
        return self._calls.run(self.raw.UpdateGallery.with_call, lambda: request).gallery

    def delete(self, gallery_id: str) -> None:
        """Deletes a gallery with everybody in it. When it returns, the templates are erased."""
        self._delete(self.raw.DeleteGallery.with_call, messages.DeleteGalleryRequest(gallery_id=gallery_id))

    def enrol_face(
        self,
        gallery_id: str,
        person_id: str,
        face: FaceInput,
        *,
        box: Optional[BoxInput] = None,
        face_id: str = "",
        display_name: Optional[str] = None,
        skip_quality_check: bool = False,
    ) -> messages.EnrolFaceResponse:
        """Adds a face to a person, and the person to the gallery if it is new. A person has 20 faces at most.

        Args:
            face: An image, of which the most prominent face is used unless `box` selects another, or an embedding.
            face_id: A face with the same id is replaced. By default the id is made from the embedding, so the same photo
                is enrolled once.
            display_name: A name for the person; None keeps an earlier one.
            skip_quality_check: Whether to enrol a face that is too small, too dark or turned away.
        """

        def create_request() -> messages.EnrolFaceRequest:
            return messages.EnrolFaceRequest(
                gallery_id=gallery_id,
                person_id=person_id,
                source=face_source(face, box),
                face_id=face_id,
                display_name=display_name,
                skip_quality_check=skip_quality_check,
            )

        return self._calls.run(self.raw.EnrolFace.with_call, create_request)

    def get_person(self, gallery_id: str, person_id: str) -> messages.Person:
        """Returns a person with the ids of its faces."""
        request = messages.GetPersonRequest(gallery_id=gallery_id, person_id=person_id)
        return self._calls.run(self.raw.GetPerson.with_call, lambda: request).person

    def list_people(self, gallery_id: str) -> Iterator[messages.Person]:
        """Iterates over all people of a gallery by id, like `list`."""

        def read_page(token: str) -> tuple[Iterable[messages.Person], str]:
            request = messages.ListPeopleRequest(gallery_id=gallery_id, page_size=_PAGE_SIZE, page_token=token)
            page = self._calls.run(self.raw.ListPeople.with_call, lambda: request)
            return page.people, page.next_page_token

        return _items_of(read_page)

    def update_person(self, gallery_id: str, person_id: str, *, display_name: str) -> messages.Person:
        """Renames a person."""
        request = messages.UpdatePersonRequest(gallery_id=gallery_id, person_id=person_id, display_name=display_name)
        return self._calls.run(self.raw.UpdatePerson.with_call, lambda: request).person

    def delete_person(self, gallery_id: str, person_id: str) -> None:
        """Deletes a person with all faces. When it returns, the templates are erased."""
        request = messages.DeletePersonRequest(gallery_id=gallery_id, person_id=person_id)
        self._delete(self.raw.DeletePerson.with_call, request)

    def delete_face(self, gallery_id: str, person_id: str, face_id: str) -> None:
        """Deletes a face of a person. When it returns, its template is erased."""
        request = messages.DeleteFaceRequest(gallery_id=gallery_id, person_id=person_id, face_id=face_id)
        self._delete(self.raw.DeleteFace.with_call, request)

    def identify(
        self,
        gallery_id: str,
        face: FaceInput,
        *,
        box: Optional[BoxInput] = None,
        max_results: int = 1,
        max_distance: Optional[float] = None,
        assume_adults: bool = False,
    ) -> messages.IdentifyFacesResponse:
        """Finds the people to whom a face may belong: every face of an image, the one in `box`, or an embedding. A
        stranger has no matches, and an image without a face gives no faces.

        Args:
            max_results: How many people to return for each face, 1 to 100.
            max_distance: A threshold for this call. By default it is that of the gallery, or fits its size and the
                face.
            assume_adults: Skips the estimate of age and gender: thresholds and rates then hold for adults only.
        """

        def create_request() -> messages.IdentifyFacesRequest:
            return messages.IdentifyFacesRequest(
                gallery_id=gallery_id,
                source=face_source(face, box),
                max_results=max_results,
                max_distance=max_distance,
                assume_adults=assume_adults,
            )

        return self._calls.run(self.raw.IdentifyFaces.with_call, create_request)

    def export(self, gallery_id: str) -> GalleryExport:
        """Returns all faces of a gallery with their embeddings, by the ids of the people and faces. Close it if you do
        not take all: `with galleries.export(...) as faces`."""
        request = messages.ExportGalleryRequest(gallery_id=gallery_id)
        return GalleryExport(lambda: self.raw.ExportGallery(request, metadata=self._calls.metadata), self._calls)

    def import_faces(self, gallery_id: str, faces: Iterable[GalleryFace]) -> messages.ImportFacesResponse:
        """Enrols faces that were exported, or embeddings of your own. Returns how many, and the revision of the gallery.

        The faces are sent in calls of 5,000, and each call is retried. Faces with the same ids are replaced, so after an
        error the import can be repeated. An error of `faces` is raised after the calls before it.
        """

        def send(
            requests: Iterable[messages.ImportFacesRequest], /, *, timeout: float, metadata: Metadata
        ) -> tuple[messages.ImportFacesResponse, grpc.Call]:
            return self.raw.ImportFaces.with_call(iter(requests), timeout=timeout, metadata=metadata)

        total = messages.ImportFacesResponse()
        source = iter(faces)
        while batch := [import_request_from(face, gallery_id) for face in islice(source, _IMPORT_BATCH)]:
            response = self._calls.run(send, lambda: batch)
            total.face_count += response.face_count
            total.revision = response.revision
        if not total.face_count:
            # There was no call that would fail if the gallery does not exist.
            total.revision = self.get(gallery_id).revision
        return total

    def _delete(self, send: Send[_Request, object], request: _Request) -> None:
        """Lets a repeated deletion succeed: if the first response was lost, the second time there is nothing to delete."""
        failures: list[VisageError] = []

        def send_and_record(
            request: _Request, /, *, timeout: float, metadata: Metadata
        ) -> tuple[object, grpc.Call]:
            try:
                return send(request, timeout=timeout, metadata=metadata)
            except grpc.RpcError as cause:
                failures.append(error_from_rpc(cause))
                raise

        try:
            self._calls.run(send_and_record, lambda: request)
        except VisageError as error:
            may_be_done = any(not is_rejection(failure) for failure in failures[:-1])
            if not may_be_done or not error.reason.endswith("_NOT_FOUND"):
                raise


def _items_of(read_page: Callable[[str], tuple[Iterable[_Item], str]]) -> Iterator[_Item]:
    """Yields the items of all pages. `read_page` takes a token and returns a page and the token of the next one."""
    token = ""
    while True:
        items, token = read_page(token)
        yield from items
        if not token:
            return
