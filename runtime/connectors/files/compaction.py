"""Merges small files of a sink's older batches, while the job runs or not.

Only batches up to the oldest retained barrier are touched: a job never returns to a point before
it, so no merged file is ever truncated, and the running job no longer uses these files.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ....contracts.formats import LINES
from ....contracts.notes.barrier import Manifest
from ....contracts.notes.files_sink import FilesSinkNote, Merge
from ...base.errors import BAD_OPTION, NO_STATE_FOLDER, STATE_IN_USE, RuntimeFault
from ...base.options import KEPT_SPACES
from ...kernel.build import kernel_jar
from ...kernel.load import java_list, load_kernel
from ...plan.retention import NO_BARRIERS
from ...plan.settings import AS_FAST_AS_POSSIBLE, RunSettings
from ...spark.failures import spark_errors
from ...spark.packages import Package, check_packages
from ...spark.session import run_session
from ...state.home import Home, check_decided, read_home
from ...state.state import SINK_NOTE, current_generation
from ...storage.file_system import Files, Storage
from ...storage.local_files import LocalFiles, local_state, state_identity
from ...storage.notes import read_note, read_note_as, said
from ...storage.places import Place
from .claims import check_owner
from .commits import FileBatches, Outlet
from .formats import format_packages
from .merges import Merges

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

_TEXTS = LINES
_PLAIN = {"escape", "header", "sep", "compression", "codec", *map(str.lower, KEPT_SPACES)}
"""Options with which files of lines can be joined without being parsed."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result for a sink's files; `reason` is why there was nothing to do."""

    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Target:
    """A files sink as recorded in its state."""

    outlet: Outlet
    query: str
    format: str
    options: dict[str, str]
    roll: int


def compact(
    sink: str,
    state: str,
    *,
    dry_run: bool = False,
    spark: SparkSession | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Compacted:
    """Merges the small files of a sink; with `dry_run` it returns the result at most.

    Raises RuntimeFault when the state or the sink does not exist, or another process compacts it.
    """
    local = urlsplit(state).scheme in ("", "file")
    if local:
        files, folder, _ = local_state(state)
        # So that a mistake is reported before Spark is started.
        note = _sink_note(files, _generation(files, folder, state), sink)
        packages = format_packages(note.file_format)
    with _spark(state, spark, packages if local else ()) as session:
        storage = Storage(load_kernel(session, kernel_jar(tell)), session)
        return _Compaction(storage, session, state, sink).run(dry_run=dry_run)


class _Compaction:
    def __init__(self, storage: Storage, spark: SparkSession, state: str, sink: str) -> None:
        self._storage = storage
        self._spark = spark
        folder = storage.qualified(state)
        local = storage.local_path(folder)
        self._generation = _generation(storage, folder, state)
        self._target = self._find(sink)
        self._check_owner(folder if local is None else str(local), state, local=local is not None)

    def _check_owner(self, folder: str, shown: str, *, local: bool) -> None:
        """Raises RuntimeFault when the output no longer belongs to this state but to a copy."""
        files: Files = LocalFiles() if local else self._storage
        check_decided(files, folder, shown, local=local, decision=None)
        id = state_identity(files, folder, shown).id
        home = read_home(files, folder) or Home(Place.of(folder, local=local))
        check_owner(self._storage, self._target.outlet, str(id), home)

    def run(self, *, dry_run: bool) -> Compacted:
        outlet = self._target.outlet
        with _locked(self._storage, outlet):
            merges = Merges(outlet)
            if not dry_run:
                merges.finish_all()
                self._storage.delete([merges.staging])
            before = outlet.files()
            bound = self._bound()
            groups = [] if bound is None else list(self._groups(before, bound))
            if not groups:
                reason = "there is no barrier yet" if bound is None else "there is nothing to merge"
                size = sum(before.values())
                return Compacted(len(before), len(before), size, size, reason)
            if dry_run:
                after = len(before) - sum(len(group) - 1 for group in groups)
                size = sum(before.values())
                return Compacted(len(before), after, size, size)
            for group in groups:
                merges.publish(self._merge(merges.staging, group))
            self._storage.delete([merges.staging])
            now = outlet.files()
            return Compacted(len(before), len(now), sum(before.values()), sum(now.values()))

    def _find(self, sink: str) -> _Target:
        note = _sink_note(self._storage, self._generation, sink)
        outlet = Outlet(self._storage, note.path, sink)
        options, format = dict(note.options), note.file_format
        foreign = sorted({name.lower() for name in options} - _PLAIN)
        if format in _TEXTS and foreign:
            raise RuntimeFault(
                BAD_OPTION,
                f"sink `{sink}` writes {format} with the option `{foreign[0]}`, and its files "
                "can't be joined as they are",
                "compact sinks without such options",
            )
        return _Target(outlet, note.query, format, options, note.roll_size)

    def _bound(self) -> int | None:
        """The last batch that no rollback can undo; None without a barrier."""
        folder = f"{self._generation}/barriers"
        for name in self._storage.list(folder):
            if not name[0].isdigit():
                continue
            manifest = read_note_as(self._storage, f"{folder}/{name}", Manifest.from_json)
            if manifest is not None:
                cut = manifest.queries.get(self._target.query)
                return -1 if cut is None else cut.batch
        return None

    def _groups(self, files: dict[str, int], bound: int) -> Iterator[list[str]]:
        """Adjacent files that together have about the size at which the sink rolls its files."""
        small = sorted(
            (span.generation, span.first, span.last, name)
            for name, length in files.items()
            if (span := self._target.outlet.batches_of(name))
            and span.last <= bound
            and length < self._target.roll // 2
        )
        group: list[str] = []
        kind: object = None
        for generation, _, _, name in small:
            this = (generation, name.partition(".")[2], self._form(name))
            full = sum(files[one] for one in group) + files[name] > self._target.roll
            if group and (this != kind or full):
                if len(group) > 1:
                    yield group
                group = []
            group.append(name)
            kind = this
        if len(group) > 1:
            yield group

    def _form(self, name: str) -> str:
        """What files must share to be merged: a header, or the columns."""
        path, format = f"{self._target.outlet.path}/{name}", self._target.format
        if format in ("json", "text"):
            return ""
        if format == "csv":
            headed = self._target.options.get("header") == "true"
            return str(self._texts().header(path)) if headed else ""
        return str(self._spark.read.format(format).load(path).schema.json())

    def _merge(self, staging: str, group: Sequence[str]) -> Merge:
        outlet, format = self._target.outlet, self._target.format
        spans = [span for name in group if (span := outlet.batches_of(name))]
        span = FileBatches(spans[0].generation, spans[0].first, max(s.last for s in spans))
        name = outlet.merged_name(span, group[0].partition(".")[2])
        paths = [f"{outlet.path}/{one}" for one in group]
        if format in _TEXTS:
            headed = self._target.options.get("header") == "true" and format == "csv"
            self._texts().join(java_list(self._jvm(), paths), f"{staging}/{name}", headed)
            length = self._storage.lengths(staging)[name]
            return Merge(name, length, name, tuple(group))
        rows = self._spark.read.format(format).load(paths)
        written = self._storage.write(
            rows.coalesce(1), format, self._target.options, f"{staging}/{name}"
        )
        (file,) = written.files
        if written.rows != rows.count():
            raise AssertionError(f"{written.rows} rows of {rows.count()} were merged")
        return Merge(name, file.bytes, f"{name}/{file.name}", tuple(group))

    def _texts(self) -> Any:
        return self._storage.kernel.TextFiles(self._spark._jsparkSession)

    def _jvm(self) -> Any:
        return self._spark._jvm


def _generation(files: Files, folder: str, shown: str) -> str:
    """The folder of the current generation of a state."""
    note = current_generation(files, folder)
    if note is None:
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"{shown} is not a state folder, or nothing has run on it yet",
            "pass the folder that the job was given as `state`",
        )
    return f"{folder}/generations/{note.number}"


def _sink_note(files: Files, generation: str, sink: str) -> FilesSinkNote:
    """The state's note of a files sink."""
    path = f"{generation}/sinks/{sink}.json"
    note = read_note(files, path, SINK_NOTE)
    if note is None or "file_format" not in note:
        names = [name.removesuffix(".json") for name in files.list(f"{generation}/sinks")]
        raise RuntimeFault(
            BAD_OPTION,
            f"the state has no files sink `{sink}`",
            f"sinks that have written: {', '.join(names) or 'none'}",
        )
    return said(note, path, FilesSinkNote.from_json, SINK_NOTE)


@contextmanager
def _locked(storage: Storage, outlet: Outlet) -> Iterator[None]:
    """Only one process may compact a sink; on a local path this is enforced."""
    folder = storage.local_path(outlet.own)
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "compact.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeFault(
                STATE_IN_USE,
                f"another process compacts sink `{outlet.sink}`",
                "wait until it has ended",
            ) from None
        yield


@contextmanager
def _spark(
    state: str, given: SparkSession | None, packages: Sequence[Package]
) -> Iterator[SparkSession]:
    settings = RunSettings(state, AS_FAST_AS_POSSIBLE, "memory", {}, {})
    plain = NO_BARRIERS
    session, started, _ = run_session(settings, plain, "streamc compact", given, packages)
    try:
        check_packages(session, packages)
        yield session
    finally:
        if started:
            with suppress(*spark_errors()):
                session.stop()
