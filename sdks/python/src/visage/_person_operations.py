"""The operations on the people of galleries, for both clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from typing import Any, Optional

from visage._call_runner import CallRunner
from visage._convert import result_from_message
from visage._operation import iteration, operation
from visage._requests import expiration_fields
from visage.gallery_results import DeletionReceipt, ExportedPerson, Person
from visage.v1 import gallery_pb2 as messages
from visage.v1.gallery_pb2_grpc import GalleryServiceStub

# The most that the service returns. Every page counts as one request.
PAGE_SIZE = 1000


class PersonOperations:
    """The base of GalleryOperations."""

    raw: GalleryServiceStub
    """The generated client, like `raw` of the client."""
    _calls: CallRunner

    @operation
    async def get_person(self, gallery_id: str, person_id: str, *, timeout: Optional[float] = None) -> Person:
        """Returns a person with the ids of its faces."""
        request = messages.GetPersonRequest(gallery_id=gallery_id, person_id=person_id)
        response = await self._calls.run(self.raw.GetPerson, request, timeout)
        return result_from_message(Person, response.person)

    @iteration
    async def list_people(
        self, gallery_id: str, *, timeout: Optional[float] = None
    ) -> AsyncGenerator[Person, None]:
        """Iterates over all people of a gallery by id, like `list`."""
        request = messages.ListPeopleRequest(gallery_id=gallery_id, page_size=PAGE_SIZE)
        while True:
            page = await self._calls.run(self.raw.ListPeople, request, timeout)
            for person in page.people:
                yield result_from_message(Person, person)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    @operation
    async def update_person(
        self,
        gallery_id: str,
        person_id: str,
        *,
        display_name: Optional[str] = None,
        expire_time: Optional[datetime] = None,
        ttl: Optional[timedelta] = None,
        timeout: Optional[float] = None,
    ) -> Person:
        """Changes the name of a person, or how long it is kept. None keeps it."""
        request = messages.UpdatePersonRequest(
            gallery_id=gallery_id,
            person_id=person_id,
            display_name=display_name,
            **expiration_fields(expire_time, ttl),
        )
        response = await self._calls.run(self.raw.UpdatePerson, request, timeout)
        return result_from_message(Person, response.person)

    @operation
    async def delete_person(
        self, gallery_id: str, person_id: str, *, timeout: Optional[float] = None
    ) -> Optional[DeletionReceipt]:
        """Deletes a person with all faces, from a gallery or, with the gallery id `-`, from all galleries of the user.

        The receipt says whether the templates are erased. It is None if the person was deleted by an attempt whose
        response was lost.
        """
        request = messages.DeletePersonRequest(gallery_id=gallery_id, person_id=person_id)
        receipt = await self._calls.delete(self.raw.DeletePerson, request, timeout)
        return receipt and result_from_message(DeletionReceipt, receipt)

    @operation
    async def export_person(
        self, gallery_id: str, person_id: str, *, timeout: Optional[float] = None
    ) -> Sequence[ExportedPerson]:
        """Returns everything that is stored about a person in a gallery or, with the gallery id `-`, in all galleries of
        the user."""
        request = messages.ExportPersonRequest(gallery_id=gallery_id, person_id=person_id)
        # The service returns a stream.
        send: Any = self.raw.ExportPerson
        exported = await self._calls.run(send, request, timeout)
        return tuple(result_from_message(ExportedPerson, person) for person in exported)

    @operation
    async def delete_face(
        self, gallery_id: str, person_id: str, face_id: str, *, timeout: Optional[float] = None
    ) -> None:
        """Deletes a face of a person. When it returns, its template is erased."""
        request = messages.DeleteFaceRequest(gallery_id=gallery_id, person_id=person_id, face_id=face_id)
        await self._calls.delete(self.raw.DeleteFace, request, timeout)
