"""Analyses or enrols the photos of a folder or bucket with Ray Data: python bulk.py --help"""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Ray reads it when it is imported: nothing is reported to its makers.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import batch
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import ray
from batch import digests_of, open_folder, person_of, put_file
from pyarrow import fs
from ray import cloudpickle
from visage import VisageClient, VisageError

EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp")
FEATURES = ("attributes", "quality", "embedding")
# A batch waits for the service most of the time.
CPUS_OF_BATCH = 0.25
# Seconds between two lines of progress.
PROGRESS_INTERVAL = 5.0
# The name of a hidden file in RESULTS, and what must be the same in every run.
JOB_FILE = ".job.json"
JOB = ("command", "photos", "features", "gallery", "ids")


def parse_options() -> Namespace:
    parser = ArgumentParser(prog="bulk.py", description="The same command again continues where it stopped.")
    commands = parser.add_subparsers(dest="command", required=True)
    analyse = commands.add_parser("analyse", help="write the faces of each photo to RESULTS")
    analyse.add_argument("--features", default="attributes,quality", help=f"any of {','.join(FEATURES)}")
    enrol = commands.add_parser("enrol", help="enrol PHOTOS, a folder with a folder for each person, in a gallery")
    enrol.add_argument("--gallery", required=True, help="id of a gallery that exists")
    enrol.add_argument("--ids", action="store_true", help="the names of the folders are the ids of the people")
    enrol.add_argument("--skip-quality-check", action="store_true", help="enrol also unsuited faces")
    enrol.add_argument("--skip-person-check", action="store_true", help="do not compare faces with the gallery first")
    for command in (analyse, enrol):
        command.add_argument("photos", metavar="PHOTOS", help="folder or bucket, such as s3://photos/2026")
        command.add_argument("results", metavar="RESULTS", help="folder or bucket for Parquet files")
        command.add_argument("--server", default=os.environ.get("VISAGE_URL", "http://localhost:8080"), metavar="URL")
        command.add_argument("--ca", type=Path, metavar="FILE", help="PEM file of the authorities to trust")
        command.add_argument("--address", help="Ray cluster; default: RAY_ADDRESS, else this machine")
        command.add_argument("--streams", type=int, default=4, help="batches at the same time in the whole cluster")
        command.add_argument("--in-flight", type=int, default=16, help="photos at the same time in a batch")
        command.add_argument("--batch", type=int, default=500, help="photos in a batch, which is one file of results")
    job = parser.parse_args(namespace=Namespace(features=None, gallery=None, ids=None))
    job.key = os.environ.get("VISAGE_KEY") or parser.error("VISAGE_KEY, the API key, is required")
    job.max_bytes = int(os.environ.get("VISAGE_MAX_IMAGE_BYTES", 10 * 1024 * 1024))
    job.features = job.features and job.features.split(",")
    if not set(job.features or ()) <= set(FEATURES) or min(job.streams, job.in_flight, job.batch) < 1:
        parser.error("an option has a wrong value")
    job.ca = job.ca and job.ca.read_bytes()
    job.photos, job.results = (uri if "://" in uri else os.path.abspath(uri) for uri in (job.photos, job.results))
    return job


def check_access(job: Namespace) -> None:
    """Raises VisageError before any work if the service cannot be reached, or does not know the key or the gallery."""
    with VisageClient(job.server, job.key, ca=job.ca) as client:
        try:
            client.galleries.get(job.gallery) if job.gallery else client.account.get_account()
        except VisageError as error:
            # The key may be for analysis only.
            if job.gallery or error.reason not in ("SCOPE_MISSING", "PURPOSE_DISABLED"):
                raise


def open_job(job: Namespace, filesystem: fs.FileSystem, folder: str) -> None:
    """Creates RESULTS, or checks that it belongs to this job."""
    filesystem.create_dir(folder)
    path = f"{folder}/{JOB_FILE}"
    settings = {name: getattr(job, name) for name in JOB}
    if filesystem.get_file_info(path).type == fs.FileType.NotFound:
        content = json.dumps({**settings, "salt": secrets.token_hex(16)})
        put_file(filesystem, path, content.encode())
    with filesystem.open_input_stream(path) as file:
        stored = json.loads(file.read())
    job.salt = stored.pop("salt")
    if stored != settings:
        raise ValueError(f"{job.results} has the results of another job: {json.dumps(stored)}")


class Results:
    """The results of all runs: what is done, in 16 bytes for a photo, and how many photos failed for which reason."""

    def __init__(self, filesystem: fs.FileSystem, folder: str) -> None:
        files = [entry.path for entry in filesystem.get_file_info(fs.FileSelector(folder))]
        files = [path for path in files if path.endswith(".parquet")]
        self.failures: Counter[str] = Counter()
        digests = [digests_of([])]
        columns = pa.schema({"path": pa.string(), "error": pa.string()})
        rows = ds.dataset(files, columns, "parquet", filesystem).to_batches() if files else ()
        for part in rows:
            digests.append(digests_of(part["path"].to_pylist()))
            self.failures.update(filter(None, part["error"].to_pylist()))
        self._digests = np.sort(np.concatenate(digests))

    def missing(self, paths: list[str]) -> list[str]:
        if len(self._digests) == 0:
            return paths
        digests = digests_of(paths)
        nearest = np.minimum(np.searchsorted(self._digests, digests), len(self._digests) - 1)
        return [path for path, is_missing in zip(paths, self._digests[nearest] != digests) if is_missing]


def list_photos(job: Namespace) -> Iterator[str]:
    """Lists the paths of the photos below PHOTOS."""
    filesystem, folder = open_folder(job.photos)
    return (path[len(folder) + 1 :] for path in find_photos(filesystem, folder))


def find_photos(filesystem: fs.FileSystem, folder: str) -> Iterator[str]:
    """Finds photos in a folder and in those inside it, sorted. Skips what is hidden, and links to folders."""
    try:
        entries = sorted((entry.path, entry.type) for entry in filesystem.get_file_info(fs.FileSelector(folder)))
    except UnicodeDecodeError as cause:
        raise ValueError(f"{folder}: has a name that is not UTF-8") from cause
    for path, kind in entries:
        name = path.rpartition("/")[2].lower()
        if kind == fs.FileType.Directory and not name.startswith(".") and not os.path.islink(path):
            yield from find_photos(filesystem, path)
        elif kind == fs.FileType.File and not name.startswith(".") and name.endswith(EXTENSIONS):
            yield path


def in_batches(job: Namespace, paths: Iterable[str]) -> Iterator[list[str]]:
    """Splits paths. The photos of a person who is enrolled stay together."""
    photos: list[str] = []
    for path in paths:
        is_split = job.command == "analyse" or not photos or person_of(path) != person_of(photos[-1])
        if len(photos) >= job.batch and is_split:
            yield photos
            photos = []
        photos.append(path)
    if photos:
        yield photos


class Progress:
    """Counts photos, and prints the counts every few seconds."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self.total = self.missing = self._done = 0
        self._start = self._shown = time.monotonic()

    def show(self) -> None:
        if time.monotonic() - self._shown > PROGRESS_INTERVAL:
            self._shown = time.monotonic()
            print(self, file=sys.stderr, flush=True)

    def add(self, report: dict[str, Any]) -> None:
        self._done += report["photos"]
        self._results.failures.update(report["failures"])
        if left := report["left"]:
            print(f"{left[0]} ({len(left)} such photos are left)", file=sys.stderr)
        self.show()

    def __str__(self) -> str:
        failures = ", ".join(f"{count:,} {reason}" for reason, count in self._results.failures.most_common())
        rate = self._done / (time.monotonic() - self._start)
        return (
            f"{self.total:,} photos: {self.total - self.missing:,} done before, {self._done:,} now ({rate:.1f}/s), "
            f"{self.missing - self._done:,} left; failed: {failures or 'none'}"
        )

    @property
    def is_complete(self) -> bool:
        return self._done == self.missing and not self._results.failures


def run(job: Namespace) -> bool:
    """Returns whether every photo has a result without an error."""
    check_access(job)
    filesystem, folder = open_folder(job.results)
    open_job(job, filesystem, folder)
    results = Results(filesystem, folder)
    ray.init(address=job.address, include_dashboard=False, logging_level=logging.WARNING)
    progress = Progress(results)
    tables = []
    for paths in in_batches(job, list_photos(job)):
        missing = results.missing(paths)
        if missing:
            tables.append(ray.put(pa.table({"path": missing})))
        progress.total += len(paths)
        progress.missing += len(missing)
        progress.show()
    for report in run_batches(job, tables) if tables else ():
        progress.add(report)
        if report["stop"]:
            print(f"bulk.py: {report['stop']} The same command continues.", file=sys.stderr)
            break
    print(progress)
    return progress.is_complete


def run_batches(job: Namespace, tables: list[Any]) -> Iterator[dict[str, Any]]:
    """Runs a task for each batch. Ray repeats a task whose process or machine is lost."""
    # Other machines get the module with the task.
    cloudpickle.register_pickle_by_value(batch)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    tasks = ray.data.from_arrow_refs(tables).map_batches(
        lambda table: batch.run(job, table["path"].to_pylist()),
        batch_size=None,
        batch_format="pyarrow",
        compute=ray.data.TaskPoolStrategy(size=min(job.streams, len(tables))),
        num_cpus=CPUS_OF_BATCH,
    )
    yield from tasks.iter_rows()


def main() -> int:
    job = parse_options()
    try:
        return 0 if run(job) else 1
    except KeyboardInterrupt:
        print("bulk.py: interrupted; the same command continues", file=sys.stderr)
        return 130
    except (VisageError, OSError, ValueError, ConnectionError) as error:
        print(f"bulk.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
