"""The clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Optional

from typing_extensions import Self

from visage._analysis import AnalysisOperations
from visage._async_runtime import AsyncRuntime
from visage._image_stream import Images
from visage._operation import Awaiting, Blocking, iterate_blocking
from visage._thread_runtime import ThreadRuntime
from visage.accounts import Account, Admin, AsyncAccount, AsyncAdmin
from visage.galleries import AsyncGalleries, Galleries
from visage.image import ImageInput
from visage.names import Feature
from visage.results import Key, StreamResult

if TYPE_CHECKING:
    from visage.face.v1.face_pb2_grpc import FaceServiceAsyncStub
    from visage.v1.face_analysis_pb2_grpc import FaceAnalysisServiceAsyncStub


class VisageClient(AnalysisOperations, Blocking):
    """Calls the service over gRPC. Create one and share it: threads may call it at the same time.

    Calls raise VisageError. They connect on first use and reconnect when the connection is lost. Create the client after
    a fork.
    """

    _runtime_type = ThreadRuntime

    @cached_property
    def galleries(self) -> Galleries:
        """Enrols people and identifies faces."""
        return Galleries(self._channel, self._calls)

    @cached_property
    def account(self) -> Account:
        """Plan, usage and keys of the user."""
        return Account(self._channel, self._calls)

    @cached_property
    def admin(self) -> Admin:
        """Users and plans, for the operator."""
        return Admin(self._channel, self._calls)

    def analyze_images(
        self,
        images: Iterable[tuple[Key, ImageInput]],
        *,
        features: Iterable[Feature] = (),
        max_faces: int = 0,
        timeout: Optional[float] = None,
    ) -> Generator[StreamResult[Key], None, None]:
        """Measures the faces of many images on one stream. `images` has pairs of a key, which comes back with the
        result, and an image. Results come as they are ready, not in the order of the images. An image that fails has an
        error in its result, and the others go on.

        Images are read in another thread. At most `max_in_flight` images have no result or one that was not taken. When
        the stream breaks, or no result comes within the timeout and the 30 seconds that an image may wait, a new one is
        opened and the images without a result are sent again, up to `retries` times without a new result.

        The iteration raises VisageError if that does not help, and the error of `images` after the results of the images
        before it.
        """
        return iterate_blocking(self._stream(images, features, max_faces, timeout).results())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncVisageClient(AnalysisOperations, Awaiting):
    """Calls the service over gRPC with asyncio. Create one in a coroutine and share it with all tasks of the event loop.

    It has the methods of VisageClient as coroutines, and asynchronous iterators. The cancellation of a task cancels its
    call, also in the service.
    """

    raw: FaceServiceAsyncStub
    raw_analysis: FaceAnalysisServiceAsyncStub
    _runtime_type = AsyncRuntime

    @cached_property
    def galleries(self) -> AsyncGalleries:
        """Enrols people and identifies faces."""
        return AsyncGalleries(self._channel, self._calls)

    @cached_property
    def account(self) -> AsyncAccount:
        """Plan, usage and keys of the user."""
        return AsyncAccount(self._channel, self._calls)

    @cached_property
    def admin(self) -> AsyncAdmin:
        """Users and plans, for the operator."""
        return AsyncAdmin(self._channel, self._calls)

    def analyze_images(
        self,
        images: Images[Key],
        *,
        features: Iterable[Feature] = (),
        max_faces: int = 0,
        timeout: Optional[float] = None,
    ) -> AsyncGenerator[StreamResult[Key], None]:
        """Measures the faces of many images on one stream, like `VisageClient.analyze_images`. `images` may be
        asynchronous. Files are read in the threads of the event loop."""
        return self._stream(images, features, max_faces, timeout).results()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()
