"""Galleries: enrols people and asks who a face belongs to."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Optional, Union

from visage._gallery_export import AsyncGalleryExport, GalleryExport
from visage._gallery_operations import GalleryOperations
from visage._operation import Awaiting, Blocking, run_blocking
from visage.gallery_results import GalleryFace, ImportResult

if TYPE_CHECKING:
    from visage.v1.gallery_pb2_grpc import GalleryServiceAsyncStub


class Galleries(GalleryOperations, Blocking):
    __doc__ = GalleryOperations.__doc__

    def export(self, gallery_id: str, *, timeout: Optional[float] = None) -> GalleryExport:
        """Returns all faces of a gallery with their embeddings, by the ids of the people and faces. Close it if you do
        not take all: `with galleries.export(...) as faces`. The timeout holds for each face."""
        return GalleryExport(self.raw.ExportGallery, gallery_id, self._calls, timeout)

    def import_faces(
        self, gallery_id: str, faces: Iterable[GalleryFace], *, timeout: Optional[float] = None
    ) -> ImportResult:
        """Enrols faces that were exported, or embeddings of your own. Returns how many, and the revision of the gallery.

        The faces are sent in calls of 5,000, each of which is retried within the timeout. Faces with the same ids are
        replaced, so after an error the import can be repeated. An error of `faces` is raised after the calls before it.
        """
        return run_blocking(self._import(gallery_id, faces, timeout))


class AsyncGalleries(GalleryOperations, Awaiting):
    __doc__ = GalleryOperations.__doc__

    raw: GalleryServiceAsyncStub

    def export(self, gallery_id: str, *, timeout: Optional[float] = None) -> AsyncGalleryExport:
        """Returns all faces of a gallery with their embeddings, like `Galleries.export`. Close it if you do not take all:
        `async with galleries.export(...) as faces`."""
        return AsyncGalleryExport(self.raw.ExportGallery, gallery_id, self._calls, timeout)

    async def import_faces(
        self,
        gallery_id: str,
        faces: Union[Iterable[GalleryFace], AsyncIterable[GalleryFace]],
        *,
        timeout: Optional[float] = None,
    ) -> ImportResult:
        """Enrols faces that were exported, or embeddings of your own, like `Galleries.import_faces`."""
        return await self._import(gallery_id, faces, timeout)
