"""One batch of photos: a task of Ray with its own stream, which writes one file of results."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from argparse import Namespace
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, Optional

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from visage import ImageAnalysis, VisageClient, VisageError

# A call and its retries in seconds, and attempts to open a lost stream again: a restart may take half a minute.
LONG_RUN: dict[str, Any] = {"timeout": 120.0, "retries": 30}
# The longest pause in seconds before photos that the service was too busy for are sent again.
MAX_PAUSE = 16.0
# Errors of the person. Codes of errors of the photo start with 2 and 3.
PERSON_ERRORS = ("TOO_MANY_FACES_OF_PERSON", "FACE_UNLIKE_PERSON", "FACE_OF_ANOTHER_PERSON")
# Errors that leave one photo for the next run; without a code, UNREADABLE_IMAGE is an error of the storage.
PASSING_ERRORS = ("INTERNAL", "DEADLINE_PASSED", "REQUEST_TOO_SLOW", "UNREADABLE_IMAGE")

NO_PERSON = "The photo is in no folder of a person."

NUMBER, TEXT = pa.float32(), pa.string()
FACE = {"box": pa.list_(NUMBER), "detection_score": NUMBER}
FACE |= {"min_years": pa.int32(), "max_years": pa.int32(), "age_confidence": NUMBER}
FACE |= {"gender": TEXT, "gender_confidence": NUMBER, "quality": pa.int32(), "quality_issues": pa.list_(TEXT)}
FACE |= {"embedding": pa.list_(NUMBER), "model": TEXT}
# A photo has its result, or the reason of its error.
PHOTO = {"path": TEXT, "error": TEXT, "message": TEXT}
SCHEMAS = {
    "analyse": pa.schema(PHOTO | {"width": pa.int32(), "height": pa.int32(), "faces": pa.list_(pa.struct(FACE))}),
    "enrol": pa.schema(PHOTO | {"person_id": TEXT, "face_id": TEXT, "quality": pa.int32()}),
}
REPORT = pa.schema({"photos": pa.int64(), "failures": pa.list_(TEXT), "left": pa.list_(TEXT), "stop": TEXT})


def run(job: Namespace, paths: list[str]) -> pa.Table:
    """Processes a batch, writes its results and reports what became of the photos, in one row."""
    work = Batch(job)
    stop = ""
    try:
        work.run(paths)
    except VisageError as error:
        stop = str(error)
    try:
        work.write(paths)
    except OSError as error:
        stop, work.rows = str(error), []
    failures = [row["error"] for row in work.rows if "error" in row]
    report = {"photos": len(work.rows), "failures": failures, "left": work.left, "stop": stop}
    return pa.Table.from_pylist([report], REPORT)


def open_folder(uri: str) -> tuple[fs.FileSystem, str]:
    """Opens a path or a URI: s3://, gs:// and whatever else pyarrow or fsspec knows."""
    if "://" not in uri:
        return fs.LocalFileSystem(), os.path.abspath(uri)
    try:
        filesystem, path = fs.FileSystem.from_uri(uri)
    except pa.ArrowInvalid:
        other, path = fsspec.core.url_to_fs(uri)
        filesystem = fs.PyFileSystem(fs.FSSpecHandler(other))
    return filesystem, path.rstrip("/")


def put_file(filesystem: fs.FileSystem, path: str, content: Any) -> None:
    """Writes a file that appears whole or not at all. Object stores do so by themselves."""
    folder, _, name = path.rpartition("/")
    target = f"{folder}/.{name}.{secrets.token_hex(8)}" if filesystem.type_name == "local" else path
    file = filesystem.open_output_stream(target)
    try:
        with file:
            file.write(content)
        if target != path:
            filesystem.move(target, path)
    except OSError:
        if target != path:
            filesystem.delete_file(target)
        raise


def digests_of(paths: Iterable[str]) -> Any:
    return np.array([hashlib.blake2b(path.encode(), digest_size=16).digest() for path in paths], "S16")


def person_of(path: str) -> str:
    """Returns the folder of a person, which is empty for a photo beside the folders."""
    return path.partition("/")[0] if "/" in path else ""


class Photo:
    """A photo that the client reads when it may send it."""

    def __init__(self, filesystem: fs.FileSystem, path: str, max_bytes: int) -> None:
        self._source = (filesystem, path, max_bytes)

    def read(self) -> bytes:
        """One byte more than the limit is enough for the service to reject the photo."""
        filesystem, path, max_bytes = self._source
        with filesystem.open_input_stream(path, compression=None) as file:
            return bytes(file.read(max_bytes + 1))


class Batch:
    """Photos with their results. Errors that every photo would have are raised."""

    def __init__(self, job: Namespace) -> None:
        self._job = job
        self._photos = open_folder(job.photos)
        self._client = VisageClient(job.server, job.key, ca=job.ca, max_in_flight=job.in_flight, **LONG_RUN)
        self.rows: list[dict[str, Any]] = []
        self.left: list[str] = []

    def run(self, paths: list[str]) -> None:
        with self._client:
            self._analyse(paths) if self._job.command == "analyse" else self._enrol(paths)

    def write(self, paths: list[str]) -> None:
        """The name of the file is made from the paths, so that a repeated batch replaces its file."""
        if not self.rows:
            return
        name = hashlib.sha256(digests_of(paths).tobytes()).hexdigest()[:32]
        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(self.rows, SCHEMAS[self._job.command]), content)
        filesystem, folder = open_folder(self._job.results)
        put_file(filesystem, f"{folder}/{name}.parquet", content.getvalue())

    def _analyse(self, paths: list[str]) -> None:
        waiting, pause = paths, 1.0
        while waiting:
            rejected: dict[str, VisageError] = {}
            photos = ((path, self._photo(path)) for path in waiting)
            for result in self._client.analyze_images(photos, features=self._job.features):
                if result.response:
                    self.rows.append({"path": result.key, **columns_of(result.response)})
                elif result.error and result.error.retryable:
                    rejected[result.key] = result.error
                elif result.error:
                    self._fail(result.key, result.error)
            pause = 2 * pause if len(rejected) == len(waiting) else 1.0
            if pause > MAX_PAUSE:
                for path, error in rejected.items():
                    self._fail(path, error)
                return
            if rejected:
                time.sleep(max(pause, *(error.retry_after for error in rejected.values())))
            waiting = list(rejected)

    def _enrol(self, paths: list[str]) -> None:
        """Enrols people in parallel."""
        people = [(folder, list(photos)) for folder, photos in groupby(paths, person_of)]
        with ThreadPoolExecutor(self._job.in_flight) as pool:
            list(pool.map(lambda person: self._enrol_person(*person), people))

    def _enrol_person(self, folder: str, paths: list[str]) -> None:
        """Enrols photos one after the other, so that the first ones are enrolled if there are too many."""
        if not folder:
            self.rows += [{"path": path, "error": "NO_PERSON", "message": NO_PERSON} for path in paths]
            return
        # Ids stay in logs, so nobody must be able to guess a name from them.
        digest = hmac.new(self._job.salt.encode(), folder.encode(), "sha256").hexdigest()
        person_id = folder if self._job.ids else digest[:32]
        face_ids, name = self._find_person(person_id, folder)
        full: Optional[VisageError] = None
        for path in paths:
            try:
                content = self._photo(path).read()
                face_id = hashlib.sha256(content).hexdigest()[:32]
                row = {"path": path, "person_id": person_id, "face_id": face_id}
                if face_id not in face_ids:
                    if full:
                        raise full
                    row["quality"] = self._enrol_face(person_id, content, face_id, name)
                    face_ids.add(face_id)
                self.rows.append(row)
            except OSError as cause:
                self._fail(path, VisageError(str(cause), "UNREADABLE_IMAGE"))
            except VisageError as error:
                full = error if error.reason == "TOO_MANY_FACES_OF_PERSON" else full
                self._fail(path, error)

    def _find_person(self, person_id: str, folder: str) -> tuple[set[str], Optional[str]]:
        """Returns the faces that an earlier attempt has enrolled, and the name for a new person."""
        try:
            person = self._client.galleries.get_person(self._job.gallery, person_id)
            return {face.face_id for face in person.faces}, None
        except VisageError as error:
            if error.reason != "PERSON_NOT_FOUND":
                raise
            return set(), None if self._job.ids else folder

    def _enrol_face(self, person_id: str, content: bytes, face_id: str, name: Optional[str]) -> Any:
        job = self._job
        checks = {"skip_quality_check": job.skip_quality_check, "check_person": not job.skip_person_check}
        enrolment = self._client.galleries.enrol_face(
            job.gallery, person_id, content, face_id=face_id, display_name=name, **checks
        )
        return enrolment.quality.value if enrolment.quality else None

    def _photo(self, path: str) -> Photo:
        filesystem, folder = self._photos
        return Photo(filesystem, f"{folder}/{path}", self._job.max_bytes)

    def _fail(self, path: str, error: VisageError) -> None:
        """Records the error of a photo. Raises an error that every photo would have."""
        is_of_photo = (error.code or "")[:1] in ("2", "3") and error.reason != "MODEL_MISMATCH"
        if is_of_photo or error.reason in PERSON_ERRORS:
            self.rows.append({"path": path, "error": error.reason, "message": error.message})
        elif error.reason in PASSING_ERRORS:
            self.left.append(f"{path}: {error}")
        else:
            raise error


def columns_of(analysis: ImageAnalysis) -> dict[str, Any]:
    faces = []
    for face in analysis.faces:
        columns: dict[str, Any] = {"box": list(face.box), "detection_score": face.detection_score}
        if face.age and face.gender:
            columns |= {"min_years": face.age.min_years, "max_years": face.age.max_years}
            columns |= {"age_confidence": face.age.confidence}
            columns |= {"gender": face.gender.value, "gender_confidence": face.gender.confidence}
        if face.quality:
            columns |= {"quality": face.quality.value, "quality_issues": list(face.quality.issues)}
        if face.template:
            columns |= {"embedding": list(face.template.embedding), "model": face.template.model}
        faces.append(columns)
    return {"width": analysis.width, "height": analysis.height, "faces": faces}
