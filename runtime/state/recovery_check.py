"""Whether a state can be continued, and from which barrier if not.

The files that the newest barrier needs, and those after it, are checked before a query starts. What
Spark would continue from must be intact; other damage (to an older snapshot, to the manifest of
another barrier) is reported or repaired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...contracts.notes.barrier import Manifest
from ..storage.disk import Tree
from .checkpoints import (
    Generation,
    Query,
    check_commit,
    entry_of,
    read_offsets,
    source_of,
    store_of,
)
from .epoch_log import Epoch, EpochLog
from .integrity import Cut, Damage, Sums, barrier_damage, chain_damage, state_damage
from .manifests import load_manifest


@dataclass(frozen=True, slots=True)
class Mend:
    """A file that can be rewritten; None as its text removes an unneeded one."""

    path: str
    text: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`damage` keeps Spark from continuing; `barrier` is then a restorable one, if any."""

    damage: tuple[Damage, ...]
    barrier: Manifest | None
    mends: tuple[Mend, ...]
    notes: tuple[Damage, ...]


class Examination:
    """One look at the files of a generation; each is read at most once."""

    def __init__(self, disk: Tree, folder: str) -> None:
        """`folder` is that of the generation."""
        self.disk = disk
        self.folder = folder
        self.files = disk.tree(folder)
        self.generation = Generation.of(self.files)
        self.manifests: list[Manifest] = []
        self.unreadable: list[Damage] = []
        for _, path in sorted(self.generation.barriers.items()):
            self._read_manifest(path)
        self.sums = Sums(disk, folder, self.manifests)
        self.epochs = EpochLog(disk, folder, self.generation)

    @property
    def newest(self) -> Manifest | None:
        return self.manifests[-1] if self.manifests else None

    def verdict(self) -> Verdict:
        """What to do about the current state."""
        mends: list[Mend] = []
        damage = list(dict.fromkeys(self._end_damage(mends)))
        barrier = None
        if damage:
            whole = (one for one in reversed(self.manifests) if not self.barrier_damage(one))
            barrier = next(whole, None)
        mends += [
            Mend(path, None, "it is wrong about a file recorded by a barrier")
            for path in sorted(self.sums.asides)
        ]
        ledgers = list(self._ledger_mends())
        notes = [*self.unreadable, *(Damage(one.path, one.reason) for one in ledgers)]
        return Verdict(tuple(damage), barrier, (*mends, *ledgers), tuple(notes))

    def barrier_damage(self, manifest: Manifest) -> list[Damage]:
        """Why a barrier is not restorable."""
        damage = barrier_damage(self.generation, manifest, self.sums)
        epoch = self.epochs.look(manifest.epoch)
        if isinstance(epoch, str):
            damage.append(Damage(_epoch_file(manifest.epoch), epoch))
        return damage

    def _end_damage(self, mends: list[Mend]) -> Iterator[Damage]:
        """What is wrong with where Spark's own logs end."""
        for id, query in self.generation.queries.items():
            yield from self._query_damage(id, query)
        newest = self.newest
        if newest is not None:
            cut = Cut.of(newest)
            for path in newest.files:
                store = store_of(path)
                if store is not None:
                    yield from self._store_damage(store)
                elif not path.startswith("epochs/") and not _has_entries(path, cut):
                    yield from self.sums.damage([path])
        yield from self._source_damage()
        yield from self.sums.damage(self.generation.notes)
        yield from self._epoch_damage(mends)

    def _query_damage(self, id: str, query: Query) -> Iterator[Damage]:
        planned, committed = query.planned, query.committed
        if planned < 0 and committed < 0:
            return
        begun = self.newest.queries.get(id) if self.newest is not None else None
        since = min((*query.offsets, *query.commits)) if begun is None else begun.batch
        for kind, files, last in (
            ("offsets", query.offsets, max(planned, committed)),
            ("commits", query.commits, max(planned - 1, committed)),
        ):
            for batch in range(since, last + 1):
                path = files.get(batch, f"queries/{id}/{kind}/{batch}")
                yield from self._log_damage(path, kind)
        fixed = {f"queries/{id}/metadata", *query.fixed}
        yield from self.sums.damage(sorted(fixed))
        yield from state_damage(query, (), committed + 1, self.sums, choosy=True)

    def _log_damage(self, path: str, kind: str) -> Iterator[Damage]:
        """What is wrong with an entry of one of Spark's logs of a query."""
        wrong = self.sums.damage([path])
        yield from wrong
        held = None if wrong else self.disk.content(f"{self.folder}/{path}")
        if held is None:
            return
        try:
            (read_offsets if kind == "offsets" else check_commit)(held.decode())
        except ValueError as error:
            yield Damage(path, str(error))

    def _store_damage(self, store: str) -> Iterator[Damage]:
        """A store that a barrier had and that is missing entirely."""
        id = store.split("/")[1]
        query = self.generation.queries.get(id, Query())
        if store not in query.stores:
            yield Damage(store, "it is missing")

    def _source_damage(self) -> Iterator[Damage]:
        last = self.epochs.look(self.epochs.last)
        cuts = last.cuts if isinstance(last, Epoch) else {}
        for name in sorted({*cuts, *self.generation.sources}):
            log = self.generation.sources.get(name)
            entry = entry_of(cuts.get(name))
            if log is None:
                if entry is not None:
                    yield Damage(f"sources/{name}", "it is missing")
                continue
            yield from self.sums.damage(log.fixed)
            numbers = [*log.entries.snapshots, *log.entries.increments]
            end = max((*numbers, -1 if entry is None else entry), default=-1)
            if end >= 0:
                yield from chain_damage(log.entries, f"sources/{name}", end, self.sums, choosy=True)

    def _ledger_mends(self) -> Iterator[Mend]:
        """Unreadable ledgers: they count rows, and no result depends on them."""
        paths = [path for files in self.generation.ledgers.values() for path in files.values()]
        for damage in self.sums.damage(paths):
            yield Mend(damage.path, None, damage.reason)

    def _epoch_damage(self, mends: list[Mend]) -> Iterator[Damage]:
        """Damage to epochs that have to be served again, or that the next one follows."""
        newest = self.newest
        first = newest.epoch if newest is not None else self._unfinished()
        planned = self.epochs.planned
        for number in range(first, self.epochs.last + 1):
            path = _epoch_file(number)
            found = self.epochs.look(number)
            if isinstance(found, Epoch):
                if found.text is not None:
                    mends.append(Mend(path, found.text, "the logs of the queries have it"))
            elif number > planned:
                mends.extend(
                    Mend(self.generation.epochs[later], None, "no query has used it")
                    for later in range(number, self.epochs.last + 1)
                    if later in self.generation.epochs
                )
                return
            else:
                yield Damage(path, found)

    def _unfinished(self) -> int:
        """The first epoch that a query has not finished."""
        done = [
            base + query.committed
            for id, query in self.generation.queries.items()
            if query.planned >= 0 and (base := self.epochs.base(id)) is not None
        ]
        return max(min(done, default=0), 0)

    def _read_manifest(self, path: str) -> None:
        held = self.disk.content(f"{self.folder}/{path}")
        try:
            self.manifests.append(load_manifest("" if held is None else held.decode()))
        except ValueError as error:
            self.unreadable.append(Damage(path, str(error)))


def _epoch_file(number: int) -> str:
    return f"epochs/{number:09d}.json"


def _has_entries(path: str, cut: Cut) -> bool:
    """Whether a file is a log entry that later entries may have been compacted from."""
    source = source_of(path)
    return source is not None and entry_of(cut.sources.get(source)) is not None
