"""Spark's view of a generation's files: batches, versions of state stores, logs of sources.

    queries/per_minute/offsets/11               the cut of batch 11, before it runs
    queries/per_minute/commits/11               batch 11 is done
    queries/per_minute/state/0/1/10.zip         a store at version 10; it names files in SSTs/
    queries/per_minute/state/0/1/12.changelog   from version 11 to 12, which batch 11 leaves
    sources/payments/9.compact, 10, 11          what a files source has seen, entry by entry

A version of a store, and a source's log, is a chain: a snapshot and the increments after it. Spark
uses the newest snapshot; an older one, or none, gives the same as long as the increments exist.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from ...contracts.notes.epoch import Cuts

_BATCH = re.compile(r"queries/([^/]+)/(offsets|commits)/(\d+)")
_STATE = re.compile(r"(queries/([^/]+)/state/.+)/(\d+)\.(zip|snapshot|changelog|delta)")
_VERSIONS = (".zip", ".snapshot", ".changelog", ".delta")
_SHARED = re.compile(r"(queries/([^/]+)/state/.+)/(SSTs|logs)/[^/]+")
_SCHEMA = re.compile(r"queries/([^/]+)/(?:metadata|state/.*_(?:metadata|stateSchema)/.+)")
_SOURCE = re.compile(r"sources/([^/]+)/(.+)")
_ENTRY = re.compile(r"(\d+)(\.compact)?")
_EPOCH = re.compile(r"epochs/(\d+)\.json")
_BARRIER = re.compile(r"barriers/(\d+)\.json")
_LEDGER = re.compile(r"ledger/([^/]+)/(\d+)\.json")


@dataclass(slots=True)
class Chain:
    """Files by version: whole ones, and the steps from the previous version."""

    snapshots: dict[int, str] = field(default_factory=dict)
    increments: dict[int, str] = field(default_factory=dict)
    first: int = 1

    def add(self, version: int, path: str, *, whole: bool) -> None:
        (self.snapshots if whole else self.increments)[version] = path

    def ways(self, version: int) -> Iterator[tuple[str, ...]]:
        """The files of each path to a version, Spark's choice first; missing steps end a path."""
        for start in (*sorted((v for v in self.snapshots if v <= version), reverse=True), None):
            steps = range(self.first if start is None else start + 1, version + 1)
            if all(step in self.increments for step in steps):
                head = () if start is None else (self.snapshots[start],)
                yield (*head, *(self.increments[step] for step in steps))

    def gap(self, version: int) -> str:
        """The name of the newest file that every path to a version lacks."""
        number = next(v for v in range(version, -1, -1) if v not in self.increments)
        known = next(iter(self.increments.values()), "")
        return f"{number}{PurePosixPath(known).suffix}"


@dataclass(slots=True)
class Query:
    """The files of one query's checkpoint."""

    offsets: dict[int, str] = field(default_factory=dict)
    commits: dict[int, str] = field(default_factory=dict)
    stores: dict[str, Chain] = field(default_factory=dict)
    fixed: list[str] = field(default_factory=list)

    @property
    def planned(self) -> int:
        """The last batch that Spark has planned, -1 before the first."""
        return max(self.offsets, default=-1)

    @property
    def committed(self) -> int:
        return max(self.commits, default=-1)


@dataclass(slots=True)
class SourceLog:
    """The files below a source's own folder: numbered entries, and unnumbered files."""

    entries: Chain = field(default_factory=lambda: Chain(first=0))
    fixed: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Generation:
    """All files of a generation that record its progress, by kind."""

    queries: dict[str, Query] = field(default_factory=dict)
    sources: dict[str, SourceLog] = field(default_factory=dict)
    epochs: dict[int, str] = field(default_factory=dict)
    barriers: dict[int, str] = field(default_factory=dict)
    ledgers: dict[str, dict[int, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, paths: Iterable[str]) -> Generation:
        """Classifies a generation's files, without unfinished ones and Hadoop's checksums."""
        found = cls()
        for path in paths:
            if not path.rpartition("/")[2].startswith("."):
                found._add(path)
        return found

    def _add(self, path: str) -> None:
        # Most files are tables beside a snapshot, which are no kind: each pattern would be tried.
        kind = path.partition("/")[0]
        if kind == "queries":
            self._add_of_query(path)
        elif kind == "sources" and (match := _SOURCE.fullmatch(path)):
            self._add_entry(match[1], match[2], path)
        elif kind == "epochs" and (match := _EPOCH.fullmatch(path)):
            self.epochs[int(match[1])] = path
        elif kind == "barriers" and (match := _BARRIER.fullmatch(path)):
            self.barriers[int(match[1])] = path
        elif kind == "ledger" and (match := _LEDGER.fullmatch(path)):
            self.ledgers.setdefault(match[1], {})[int(match[2])] = path
        elif path.startswith(("sinks/", "meaning/")):
            self.notes.append(path)

    def _add_of_query(self, path: str) -> None:
        if path.endswith(_VERSIONS) and (match := _STATE.fullmatch(path)):
            store, query, version, kind = match.groups()
            chain = self.query(query).stores.setdefault(store, Chain())
            chain.add(int(version), path, whole=kind in ("zip", "snapshot"))
        elif match := _SCHEMA.fullmatch(path):
            self.query(match[1]).fixed.append(path)
        elif match := _BATCH.fullmatch(path):
            query = self.query(match[1])
            (query.offsets if match[2] == "offsets" else query.commits)[int(match[3])] = path

    def query(self, id: str) -> Query:
        return self.queries.setdefault(id, Query())

    def _add_entry(self, source: str, name: str, path: str) -> None:
        log = self.sources.setdefault(source, SourceLog())
        if match := _ENTRY.fullmatch(name):
            log.entries.add(int(match[1]), path, whole=match[2] is not None)
        else:
            log.fixed.append(path)


def store_of(path: str) -> str | None:
    """The folder of the store of a state file, including shared files."""
    match = _STATE.fullmatch(path) or _SHARED.fullmatch(path)
    return None if match is None else match[1]


def source_of(path: str) -> str | None:
    """The source in whose own folder a file is."""
    match = _SOURCE.fullmatch(path)
    return None if match is None else match[1]


def entry_of(position: Any) -> int | None:
    """The last log entry included in a source's position, None if the position does not say."""
    if isinstance(position, dict) and set(position) == {"logOffset"}:
        return int(position["logOffset"])
    return None


def shared_files(snapshot: str, content: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The files next to it that a snapshot names; raises ValueError for a damaged one."""
    if not snapshot.endswith(".zip"):
        return ()
    folder = snapshot.rpartition("/")[0]
    held = content(snapshot)
    if held is None:
        raise ValueError("it is missing")
    try:
        with zipfile.ZipFile(io.BytesIO(held)) as archive:
            broken = archive.testzip()
            if broken is not None:
                raise ValueError(f"{broken} in it is damaged")
            named = json.loads(archive.read("metadata").decode().split("\n", 1)[1])
        tables = [f"{folder}/SSTs/{one['dfsSstFileName']}" for one in named.get("sstFiles") or ()]
        logs = [f"{folder}/logs/{one['dfsLogFileName']}" for one in named.get("logFiles") or ()]
    except Exception as error:
        # A damaged archive makes Python's reader fail in a dozen ways.
        raise ValueError(f"it is not a complete archive: {error}") from None
    return (*tables, *logs)


@dataclass(frozen=True, slots=True)
class Logged:
    """A planned batch in Spark's log: its epoch, each source's cut, the watermark."""

    epoch: int
    cuts: Cuts
    watermark_ms: int


def read_offsets(text: str) -> Logged:
    """The content of a file in `offsets`; raises ValueError when it is not from a gated query."""
    version, _, rest = text.partition("\n")
    lines = rest.splitlines()
    if not version.startswith("v") or not lines:
        raise ValueError("it is not an entry of Spark's log")
    try:
        watermark = int(json.loads(lines[0])["batchWatermarkMs"])
        read = [line.partition(":") for line in lines[1:]]
        offsets = {name: json.loads(at) for name, _, at in read}
        epochs = {int(at["epoch"]) for at in offsets.values()}
        # `x__2` is the second read of `x` in a query.
        cuts = {name.split("__", 2)[0]: at["at"] for name, at in offsets.items()}
    except (KeyError, TypeError) as error:
        raise ValueError(f"it lacks {error}") from None
    if len(epochs) != 1:
        raise ValueError("its sources are not in one epoch")
    return Logged(epochs.pop(), cuts, watermark)


def check_commit(text: str) -> None:
    """Raises ValueError when a text is not from a file in `commits`."""
    version, _, rest = text.partition("\n")
    if not version.startswith("v") or "nextBatchWatermarkMs" not in json.loads(rest):
        raise ValueError("it is not an entry of Spark's log")
