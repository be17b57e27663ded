"""The operations on galleries, for both clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from datetime import datetime, timedelta
from typing import Any, Optional, Union

from visage._call_runner import CallRunner
from visage._convert import result_from_message
from visage._operation import iteration, operation
from visage._person_operations import PAGE_SIZE, PersonOperations
from visage._requests import expiration_fields, face_source, import_request
from visage._runtime import each
from visage.gallery_results import Enrolment, Gallery, GalleryFace, Identification, ImportResult
from visage.results import BoxInput, FaceInput
from visage.v1 import gallery_pb2 as messages
from visage.v1.gallery_pb2_grpc import GalleryServiceStub

# How many faces an import sends in one call: about 3 MB, which is kept for a retry.
_IMPORT_BATCH = 5000


class GalleryOperations(PersonOperations):
    """The galleries of the user. All calls follow the rules of the client.

    Ids of galleries, people and faces are yours: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. What does not exist,
    or belongs to another user, raises VisageError with `GALLERY_NOT_FOUND`, `PERSON_NOT_FOUND` or `FACE_NOT_FOUND`.

    Galleries and people are deleted at their `expire_time`, or when their `ttl` from now has passed; the ttl `NEVER` keeps
    them. Pass one of the two, or neither. A datetime without a time zone is local time.
    """

    raw: GalleryServiceStub
    """The generated client, like `raw` of the client."""

    def __init__(self, channel: Any, calls: CallRunner) -> None:
        """`galleries` of the client is the instance to use."""
        self.raw = GalleryServiceStub(channel)
        self._calls = calls

    @operation
    async def create(
        self,
        gallery_id: str,
        *,
        display_name: str = "",
        max_distance: Optional[float] = None,
        expire_time: Optional[datetime] = None,
        ttl: Optional[timedelta] = None,
        timeout: Optional[float] = None,
    ) -> Gallery:
        """Creates a gallery. Raises `GALLERY_EXISTS` if the id is taken.

        It is only retried if the service has rejected it because of load. If the response is lost, `get` tells whether
        the gallery was created.

        Args:
            max_distance: The threshold of the gallery, above 0 to 0.9. By default the service chooses one that fits the
                number of faces.
        """
        request = messages.CreateGalleryRequest(
            gallery_id=gallery_id,
            display_name=display_name,
            max_distance=max_distance,
            **expiration_fields(expire_time, ttl),
        )
        response = await self._calls.run(self.raw.CreateGallery, request, timeout, is_idempotent=False)
        return result_from_message(Gallery, response.gallery)

    @operation
    async def get(self, gallery_id: str, *, timeout: Optional[float] = None) -> Gallery:
        """Returns a gallery with the number of its people and faces."""
        return await self._get(gallery_id, timeout)

    @iteration
    async def list(self, *, timeout: Optional[float] = None) -> AsyncGenerator[Gallery, None]:
        """Iterates over all galleries of the user by id. It reads a page, within the timeout, when the last one has
        been taken."""
        request = messages.ListGalleriesRequest(page_size=PAGE_SIZE)
        while True:
            page = await self._calls.run(self.raw.ListGalleries, request, timeout)
            for gallery in page.galleries:
                yield result_from_message(Gallery, gallery)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    @operation
    async def update(
        self,
        gallery_id: str,
        *,
        display_name: Optional[str] = None,
        max_distance: Optional[float] = None,
        alias: Optional[str] = None,
        expire_time: Optional[datetime] = None,
        ttl: Optional[timedelta] = None,
        timeout: Optional[float] = None,
    ) -> Gallery:
        """Changes the name, the threshold, the alias or the end of a gallery; None keeps it. The threshold 0 lets the
        service choose again. An alias moves at once from the gallery that has it."""
        request = messages.UpdateGalleryRequest(
            gallery_id=gallery_id,
            display_name=display_name,
            max_distance=max_distance,
            alias=alias,
            **expiration_fields(expire_time, ttl),
        )
        response = await self._calls.run(self.raw.UpdateGallery, request, timeout)
        return result_from_message(Gallery, response.gallery)

    @operation
    async def replace(
        self,
        gallery_id: str,
        successor_id: str,
        *,
        revision: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Gallery:
        """Lets the successor take over the id, alias, name, threshold and end of a gallery at once, and deletes the
        gallery. With a revision, it fails with `GALLERY_CHANGED` if the gallery has another one now."""
        request = messages.ReplaceGalleryRequest(
            gallery_id=gallery_id, successor_id=successor_id, revision=revision
        )
        response = await self._calls.run(self.raw.ReplaceGallery, request, timeout, is_idempotent=False)
        return result_from_message(Gallery, response.gallery)

    @operation
    async def delete(self, gallery_id: str, *, timeout: Optional[float] = None) -> None:
        """Deletes a gallery with everybody in it. When it returns, the templates are erased."""
        request = messages.DeleteGalleryRequest(gallery_id=gallery_id)
        await self._calls.delete(self.raw.DeleteGallery, request, timeout)

    @operation
    async def enrol_face(
        self,
        gallery_id: str,
        person_id: str,
        face: FaceInput,
        *,
        box: Optional[BoxInput] = None,
        face_id: str = "",
        display_name: Optional[str] = None,
        skip_quality_check: bool = False,
        check_person: bool = False,
        expire_time: Optional[datetime] = None,
        ttl: Optional[timedelta] = None,
        timeout: Optional[float] = None,
    ) -> Enrolment:
        """Adds a face to a person, and the person to the gallery if it is new. A person has 20 faces at most.

        Args:
            face: An image, of which the most prominent face is used unless `box` selects another, or a template.
            face_id: A face with the same id is replaced. By default the id is made from the embedding, so the same photo
                is enrolled once.
            display_name: A name for the person; None keeps an earlier one.
            skip_quality_check: Whether to enrol a face that is too small, too dark or turned away.
            check_person: Whether to search the gallery first. A face that is far from the other faces of the person fails
                with FACE_UNLIKE_PERSON, and one that is nearer to another person with FACE_OF_ANOTHER_PERSON. Needs the
                permissions of `identify`.
            expire_time: When the person is deleted. Without it and `ttl`, an earlier time stays, and a new person gets
                the default of the plan.
        """

        def create_request() -> messages.EnrolFaceRequest:
            return messages.EnrolFaceRequest(
                gallery_id=gallery_id,
                person_id=person_id,
                source=face_source(face, box),
                face_id=face_id,
                display_name=display_name,
                skip_quality_check=skip_quality_check,
                check_person=check_person,
                **expiration_fields(expire_time, ttl),
            )

        response = await self._calls.run(self.raw.EnrolFace, create_request, timeout)
        return result_from_message(Enrolment, response)

    @operation
    async def identify(
        self,
        gallery_id: str,
        face: FaceInput,
        *,
        box: Optional[BoxInput] = None,
        max_results: int = 1,
        max_distance: Optional[float] = None,
        assume_adults: bool = False,
        quality: bool = False,
        timeout: Optional[float] = None,
    ) -> Identification:
        """Finds the people to whom a face may belong: every face of an image, the one in `box`, or a template. A
        stranger has no matches, and an image without a face gives no faces.

        Args:
            max_results: How many people to return for each face, 1 to 100.
            max_distance: A threshold for this call. By default it is that of the gallery, or fits its size and the
                face.
            assume_adults: Skips the estimate of age and gender: thresholds and rates then hold for adults only.
            quality: Whether to measure quality and pose of the faces in an image, too.
        """

        def create_request() -> messages.IdentifyFacesRequest:
            return messages.IdentifyFacesRequest(
                gallery_id=gallery_id,
                source=face_source(face, box),
                max_results=max_results,
                max_distance=max_distance,
                assume_adults=assume_adults,
                quality=quality,
            )

        response = await self._calls.run(self.raw.IdentifyFaces, create_request, timeout)
        return result_from_message(Identification, response)

    async def _get(self, gallery_id: str, timeout: Optional[float]) -> Gallery:
        request = messages.GetGalleryRequest(gallery_id=gallery_id)
        return result_from_message(Gallery, (await self._calls.run(self.raw.GetGallery, request, timeout)).gallery)

    async def _import(
        self,
        gallery_id: str,
        faces: Union[Iterable[GalleryFace], AsyncIterable[GalleryFace]],
        timeout: Optional[float],
    ) -> ImportResult:
        total = ImportResult(0, 0)
        # The service takes a stream; the messages are kept for a retry.
        send: Any = self.raw.ImportFaces
        batch = []
        async for face in each(faces):
            batch.append(import_request(gallery_id, face))
            if len(batch) == _IMPORT_BATCH:
                total = _sum(total, await self._calls.run(send, batch, timeout))
                batch = []
        if batch:
            return _sum(total, await self._calls.run(send, batch, timeout))
        # Without a call, nothing would fail if the gallery does not exist.
        return total if total.face_count else ImportResult(0, (await self._get(gallery_id, timeout)).revision)


def _sum(total: ImportResult, response: messages.ImportFacesResponse) -> ImportResult:
    return ImportResult(total.face_count + response.face_count, response.revision)
