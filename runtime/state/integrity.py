"""Which files a barrier needs, and whether they are unchanged.

A manifest lists the files with their lengths and checksums. Files newer than the newest barrier
have Hadoop's checksums next to them on a local disk; other stores verify what they return.

Spark's own checksums of state files belong to a format of the state store that is not used here,
and RocksDB's are checked only where a block is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...contracts.notes.barrier import Manifest
from ...contracts.notes.epoch import Cuts
from ..base.errors import STATE_DAMAGED, RuntimeFault
from ..storage.disk import Sum, Tree, side_file
from ..storage.notes import unseal
from ..storage.schema_paths import is_schema_note, schema_note_damage
from .checkpoints import Chain, Generation, Query, entry_of, shared_files, source_of, store_of

_TRIES = 3
_SEALED = ("sinks/", "meaning/", "ledger/")


@dataclass(frozen=True, slots=True)
class Cut:
    """The position of a whole pipeline: the last batch of each query, the epoch, the positions."""

    queries: Mapping[str, int]
    epoch: int
    sources: Cuts

    @classmethod
    def of(cls, manifest: Manifest) -> Cut:
        batches = {id: query.batch for id, query in manifest.queries.items()}
        return cls(batches, manifest.epoch, manifest.positions)


@dataclass(frozen=True, slots=True)
class Damage:
    """A missing or changed file; `path` is relative to the generation."""

    path: str
    reason: str


class Sums:
    """The files of a generation compared with the checksums of manifests and Hadoop."""

    def __init__(self, disk: Tree, folder: str, manifests: Iterable[Manifest]) -> None:
        self._disk = disk
        self._folder = folder
        self._noted = {
            path: (manifest.barrier, held)
            for manifest in sorted(manifests, key=lambda one: one.barrier)
            for path, held in manifest.files.items()
        }
        self._found: dict[str, Damage | None] = {}
        self._held: dict[str, tuple[int, str]] = {}
        self.asides: set[str] = set()
        """Wrong checksum files of Hadoop's for files that are right."""

    @property
    def held(self) -> Mapping[str, tuple[int, str]]:
        """The length and checksum of each verified file."""
        return self._held

    @property
    def damaged(self) -> set[str]:
        return {path for path, damage in self._found.items() if damage is not None}

    def damage(self, paths: Iterable[str]) -> list[Damage]:
        """What is wrong with these files; each is read once."""
        wanted = list(paths)
        unread = [path for path in wanted if path not in self._found]
        sums = self._disk.sums(f"{self._folder}/{path}" for path in unread)
        for path in unread:
            self._found[path] = self._judge(path, sums.get(f"{self._folder}/{path}"))
        return [damage for path in wanted if (damage := self._found[path]) is not None]

    def shared(self, snapshot: str) -> list[str]:
        """The files named by a snapshot, none for a damaged one."""
        try:
            return list(shared_files(snapshot, self._content))
        except ValueError as error:
            self._found[snapshot] = Damage(snapshot, str(error))
            return []

    def _judge(self, path: str, held: Sum | None) -> Damage | None:
        if held is None:
            return Damage(path, "it is missing")
        noted = self._noted.get(path)
        if path.startswith(_SEALED):
            reason = self._broken_seal(path)
            if reason is not None:
                return Damage(path, reason)
        elif is_schema_note(path):
            # It is rewritten in the new place of the generation.
            content = self._content(path)
            reason = schema_note_damage("" if content is None else content.decode(errors="replace"))
            if reason is not None or held.aside is False:
                return Damage(path, reason or "it and its checksum file disagree")
        elif noted is not None and noted[1] != (held.bytes, held.crc32):
            if not self._is_newer_snapshot(path, held):
                return Damage(path, f"it is not as barrier {noted[0]} noted it")
        elif noted is not None and held.aside is False:
            self.asides.add(side_file(path))
        elif held.aside is False:
            return Damage(path, f"it and its checksum file {side_file(path)} disagree")
        elif held.bytes == 0:
            return Damage(path, "it is empty")
        self._held[path] = (held.bytes, held.crc32)
        return None

    def _broken_seal(self, path: str) -> str | None:
        """A note may be replaced by another; each has its own checksum."""
        held = self._content(path)
        try:
            unseal("" if held is None else held.decode())
        except ValueError as error:
            return str(error)
        return None

    def _is_newer_snapshot(self, path: str, held: Sum) -> bool:
        """Two executors may upload a snapshot of one version: other bytes with the same meaning."""
        if not path.endswith(".zip") or held.aside is False:
            return False
        try:
            shared_files(path, self._content)
        except ValueError:
            return False
        return True

    def _content(self, path: str) -> bytes | None:
        return self._disk.content(f"{self._folder}/{path}")


def barrier_damage(generation: Generation, manifest: Manifest, sums: Sums) -> list[Damage]:
    """Why a barrier is not restorable, its epoch's file aside."""
    cut = Cut.of(manifest)
    damage: list[Damage] = []
    for id, batch in cut.queries.items():
        stores = {s for path in manifest.files if (s := store_of(path)) and _is_of(s, id)}
        query = generation.queries.get(id, Query())
        damage += state_damage(query, stores, batch + 1, sums, choosy=False)
    damage += [d for name in cut.sources for d in source_damage(generation, name, cut, sums)]
    return damage + sums.damage(path for path in manifest.files if _stands_alone(path, cut))


def state_damage(
    query: Query, stores: Iterable[str], version: int, sums: Sums, *, choosy: bool
) -> list[Damage]:
    """Why a query's stores can't be loaded at a version; `choosy` allows only Spark's own path."""
    damage: list[Damage] = []
    for store in sorted({*stores, *query.stores}):
        chain = query.stores.get(store, Chain())
        damage += chain_damage(chain, store, version, sums, choosy=choosy)
    return damage


def chain_damage(
    chain: Chain, folder: str, version: int, sums: Sums, *, choosy: bool
) -> list[Damage]:
    """Why a chain can't reach a version: nothing if there is a path, else what the first lacks."""
    first: list[Damage] | None = None
    for way in chain.ways(version):
        damage = sums.damage(way)
        damage = damage or sums.damage(p for path in way[:1] for p in sums.shared(path))
        damage = damage or sums.damage(way[:1])
        if not damage:
            return []
        first = first or damage
        if choosy:
            break
    if first is not None:
        return first
    return [Damage(f"{folder}/{chain.gap(version)}", "it is missing")]


def source_damage(generation: Generation, name: str, cut: Cut, sums: Sums) -> list[Damage]:
    """Why a source can't resume at its position in a cut."""
    log = generation.sources.get(name)
    entry = entry_of(cut.sources.get(name))
    if entry is None:
        # Its position is sufficient: its other files are listed in the manifest one by one.
        return [] if log is None else sums.damage(log.fixed)
    if log is None:
        return [Damage(f"sources/{name}", "it is missing")]
    return sums.damage(log.fixed) + chain_damage(
        log.entries, f"sources/{name}", entry, sums, choosy=False
    )


def _is_of(store: str, query: str) -> bool:
    return store.startswith(f"queries/{query}/")


def _stands_alone(path: str, cut: Cut) -> bool:
    """Whether nothing else can replace a file that a manifest lists."""
    if store_of(path) is not None or path.startswith("epochs/"):
        return False
    source = source_of(path)
    return source is None or entry_of(cut.sources.get(source)) is None


class Inventory:
    """The files that the barriers of a run need; those known to the last one are not reread.

    Files that it did not need are forgotten: over a long run their names would fill the memory.
    """

    def __init__(
        self,
        disk: Tree,
        folder: str,
        known: Mapping[str, tuple[int, str]],
        kept: Sequence[Manifest],
        last: int = 0,
    ) -> None:
        """`known` are files of this generation that were read at the start of the run.

        `kept` are its barriers at that time, oldest first; a damaged one cannot be used. `last` is
        the last epoch.
        """
        self.kept = tuple(kept)
        self.last = last
        self._disk = disk
        self._folder = folder
        self._known = {path: held for path, held in known.items() if not _may_change(path)}
        self._shared: dict[tuple[str, str], tuple[str, ...]] = {}

    def take(self, cut: Cut) -> dict[str, tuple[int, str]]:
        """The files needed by a complete cut: length and checksum by path.

        Raises RuntimeFault when one is missing.
        """
        for left in reversed(range(_TRIES)):
            generation = Generation.of(self._disk.tree(self._folder))
            try:
                needed = sorted(self._needed(generation, cut))
            except _Gone as gone:
                # Spark removes what a newer snapshot has made obsolete: look again.
                if not left:
                    raise self._fault(gone.damage) from None
            else:
                self._known = {path: self._known[path] for path in needed}
                self._shared = {key: s for key, s in self._shared.items() if key[0] in self._known}
                return dict(self._known)
        raise AssertionError("a loop that returns or raises")

    def _fault(self, damage: Damage) -> RuntimeFault:
        return RuntimeFault(
            STATE_DAMAGED,
            f"{self._folder}/{damage.path}: {damage.reason}, and a barrier needs it",
            "start the job again: it checks its files, and returns to an earlier barrier",
        )

    def _needed(self, generation: Generation, cut: Cut) -> Iterator[str]:
        """The files of a cut, with known checksums."""
        single = [*generation.notes, _present(generation.epochs, cut.epoch, "epochs")]
        snapshots: list[str] = []
        for id, batch in cut.queries.items():
            query = generation.queries.get(id, Query())
            single += query.fixed
            single += [
                _present(query.offsets, batch, f"queries/{id}/offsets"),
                _present(query.commits, batch, f"queries/{id}/commits"),
            ]
            for store, chain in query.stores.items():
                way = _first(chain, batch + 1, store)
                single += way
                snapshots += way[:1]
        for name, log in generation.sources.items():
            single += log.fixed
            entry = entry_of(cut.sources.get(name))
            single += _all(log.entries) if entry is None else _first(log.entries, entry, name)
        yield from self._read(single)
        yield from self._read(path for snapshot in snapshots for path in self._beside(snapshot))

    def _read(self, paths: Iterable[str]) -> list[str]:
        wanted = list(paths)
        unread = [path for path in wanted if path not in self._known or _may_change(path)]
        sums = self._disk.sums(f"{self._folder}/{path}" for path in unread)
        for path in unread:
            held = sums.get(f"{self._folder}/{path}")
            if held is None:
                raise _Gone(Damage(path, "it is missing"))
            self._known[path] = (held.bytes, held.crc32)
        return wanted

    def _beside(self, snapshot: str) -> tuple[str, ...]:
        key = snapshot, self._known[snapshot][1]
        if key not in self._shared:
            try:
                self._shared[key] = shared_files(
                    snapshot, lambda path: self._disk.content(f"{self._folder}/{path}")
                )
            except ValueError as error:
                raise _Gone(Damage(snapshot, str(error))) from None
        return self._shared[key]


class _Gone(Exception):
    """A file that was just listed cannot be used."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.path)
        self.damage = damage


def _may_change(path: str) -> bool:
    """A snapshot may be uploaded again, a note replaced; other files never change."""
    return path.endswith((".zip", ".snapshot")) or path.startswith(_SEALED)


def _present(files: Mapping[int, str], number: int, folder: str) -> str:
    if number not in files:
        raise _Gone(Damage(f"{folder}/{number}", "it is missing"))
    return files[number]


def _first(chain: Chain, version: int, folder: str) -> tuple[str, ...]:
    way = next(chain.ways(version), None)
    if way is None:
        raise _Gone(Damage(f"{folder}/{chain.gap(version)}", "it is missing"))
    return way


def _all(chain: Chain) -> list[str]:
    return [*chain.snapshots.values(), *chain.increments.values()]
