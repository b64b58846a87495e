"""A new generation that continues from a barrier of the current one.

It is built under a hidden name, from links to immutable files: Spark and the runtime write a file
once, under another name, and rename it. What came after the barrier is left out. Its
`generation.json` is written last, then one rename makes it the current generation. Until then the
previous one is current, and it stays until the new one has completed a barrier. So an interruption
at any point leaves a state that starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...contracts.notes.barrier import Manifest
from ...contracts.notes.generation import CountedGeneration, Generation, Origin
from ..storage.disk import Disk, Tree, side_file
from ..storage.notes import create_note
from .checkpoints import Chain, entry_of
from .epoch_log import Epoch
from .integrity import Cut, chain_damage
from .recovery_check import Examination
from .state import generation_note


def clone(
    disk: Disk,
    state: str,
    note: Generation,
    examined: Examination,
    manifest: Manifest,
    *,
    same_cuts: bool,
) -> str:
    """Creates the generation that continues from an intact barrier; returns its number.

    `note` is that of the current generation. With `same_cuts` the epochs after the barrier are kept
    as far as they are intact: the same input is read again in the same batches, with the same
    numbers.
    """
    folder = f"{state}/generations"
    number = next_generation(disk, state)
    made = f"{folder}/.{number}.tmp"
    disk.delete([made])
    kept = Kept(examined, manifest, same_cuts=same_cuts)
    files = set(examined.files)
    for path in kept.files():
        disk.link(f"{examined.folder}/{path}", f"{made}/{path}")
        aside = side_file(path)
        if aside in files and aside not in examined.sums.asides:
            disk.link(f"{examined.folder}/{aside}", f"{made}/{aside}")
    for path, text in kept.written():
        disk.create(f"{made}/{path}", text)
    origin = Origin(note.number, manifest.barrier, manifest.epoch, kept.last_epoch)
    begun = generation_note(number, origin, lineage_after(note, manifest), note.marks)
    create_note(disk, f"{made}/generation.json", begun.to_json())
    disk.rename(made, f"{folder}/{number}")
    return number


def counts_up_to(note: Generation, earlier: str, manifest: Manifest) -> bool:
    """Whether the output up to a barrier of an earlier generation belongs to a generation, too.

    So it is until the new one has a barrier of its own, if it begins with a savepoint of that
    barrier or a later one. What came after the savepoint may have been taken out of the outputs.
    """
    if note.origin is None or note.origin.savepoint is None:
        return False
    held = {one.generation: one.batches for one in note.lineage}.get(earlier)
    if held is None:
        return False
    return all(held.get(id, -1) >= query.batch for id, query in manifest.queries.items())


def same_meaning(disk: Tree, one: str, other: str) -> bool:
    """Whether the states in two folders of generations mean the same: they are of one plan."""
    found, names = f"{one}/meaning", disk.list(f"{one}/meaning")
    if not names or names != disk.list(f"{other}/meaning"):
        return False
    return all(
        disk.read(f"{found}/{name}") == disk.read(f"{other}/meaning/{name}") for name in names
    )


def retire(disk: Disk, state: str, current: str) -> None:
    """Removes the generations before the current one, which has completed a barrier."""
    folder = f"{state}/generations"
    disk.delete([f"{folder}/{n}" for n in disk.list(folder) if n.isdigit() and n < current])


def next_generation(disk: Disk, state: str) -> str:
    """The number of the generation after the newest one of a state folder."""
    numbers = [int(name) for name in disk.list(f"{state}/generations") if name.isdigit()]
    return f"{max(numbers, default=0) + 1:04d}"


def lineage_after(note: Generation, manifest: Manifest) -> tuple[CountedGeneration, ...]:
    """The ancestors of the new generation: none counts beyond the barrier.

    Those before a savepoint are `apart`: their batches are numbered separately.
    """
    ends = {id: query.batch for id, query in manifest.queries.items()}
    before = (one if one.apart else _cut_back(one, ends) for one in note.lineage)
    return (*before, CountedGeneration(note.number, ends))


def _cut_back(ancestor: CountedGeneration, ends: Mapping[str, int]) -> CountedGeneration:
    held = {id: min(last, ends[id]) for id, last in ancestor.batches.items() if id in ends}
    return replace(ancestor, batches=held)


class Kept:
    """Which files of the current generation belong to the new one."""

    def __init__(self, examined: Examination, manifest: Manifest, *, same_cuts: bool) -> None:
        self._examined = examined
        self._held = examined.generation
        self._cut = Cut.of(manifest)
        self._barrier = manifest.barrier
        self._again = same_cuts
        self._usable = set(examined.files) - examined.sums.damaged
        self._ends = {
            name: self._end(name) for name in self._held.sources if same_cuts or self._has(name)
        }
        self._epochs = list(self._kept_epochs())

    def files(self) -> Iterator[str]:
        """The files to link, relative to the generation."""
        yield from sorted(self._usable.intersection(self._paths()))

    @property
    def last_epoch(self) -> int:
        """The last epoch whose batches will be the same."""
        return self._epochs[-1].number if self._epochs else self._cut.epoch

    def written(self) -> Iterator[tuple[str, str]]:
        """The files of epochs to rewrite."""
        for epoch in self._epochs:
            if epoch.text is not None:
                yield f"epochs/{epoch.number:09d}.json", epoch.text

    def _paths(self) -> Iterator[str]:
        for id, batch in self._cut.queries.items():
            yield from self._query_files(id, batch)
            yield from _up_to(self._held.ledgers.get(id, {}), batch)
            yield f"meaning/{id}.json"
        for name, end in self._ends.items():
            log = self._held.sources[name]
            yield from log.fixed
            yield from _up_to(log.entries.snapshots, end)
            yield from _up_to(log.entries.increments, end)
        again = {epoch.number for epoch in self._epochs if epoch.text is not None}
        whole = {epoch.number for epoch in self._epochs} - again
        before = {number for number in self._held.epochs if number < self._cut.epoch}
        yield from (self._held.epochs[number] for number in whole | before)
        readable = (m.barrier for m in self._examined.manifests if m.barrier <= self._barrier)
        yield from (self._held.barriers[number] for number in readable)
        yield from (path for path in self._held.notes if path.startswith("sinks/"))
        yield from filter(self._comes_again, self._examined.files)

    def _comes_again(self, path: str) -> bool:
        """Whether a file is of a batch after the barrier whose rows can't be computed twice."""
        kind, _, rest = path.partition("/")
        query, _, name = rest.partition("/")
        if not self._again or kind != "spool" or query not in self._cut.queries:
            return False
        ends = self._cut.queries[query], self.last_epoch - self._cut.epoch
        return name[:9].isdigit() and ends[0] < int(name[:9]) <= sum(ends)

    def _query_files(self, id: str, batch: int) -> Iterator[str]:
        query = self._held.queries[id]
        yield from query.fixed
        yield from _up_to(query.offsets, batch)
        yield from _up_to(query.commits, batch)
        for chain in query.stores.values():
            yield from _up_to(chain.increments, batch + 1)
            for snapshot in _up_to(chain.snapshots, batch + 1):
                beside = self._examined.sums.shared(snapshot)
                # Spark would choose it, so an unusable one must not be there.
                whole = snapshot not in self._examined.sums.damaged
                if whole and self._usable.issuperset((snapshot, *beside)):
                    yield from (snapshot, *beside)

    def _has(self, source: str) -> bool:
        return source in self._cut.sources

    def _end(self, source: str) -> int | None:
        """The last entry of a source's log to keep, None to keep all."""
        entry = entry_of(self._cut.sources.get(source))
        if entry is None or not self._again:
            return entry
        # As far as the log can be read: files after a damaged entry are found again.
        chain = self._held.sources[source].entries
        return next(
            (n for n in range(_newest(chain), entry, -1) if not self._broken(source, n)), entry
        )

    def _broken(self, source: str, entry: int) -> bool:
        chain = self._held.sources[source].entries
        folder = f"sources/{source}"
        return bool(chain_damage(chain, folder, entry, self._examined.sums, choosy=False))

    def _kept_epochs(self) -> Iterator[Epoch]:
        """The barrier's epoch and, if the cuts are to stay, those after it that can be served."""
        last = self._examined.epochs.last if self._again else self._cut.epoch
        for number in range(self._cut.epoch, last + 1):
            epoch = self._examined.epochs.look(number)
            if not isinstance(epoch, Epoch) or not self._can_be_read(epoch):
                return
            yield epoch

    def _can_be_read(self, epoch: Epoch) -> bool:
        for source, position in epoch.cuts.items():
            entry, end = entry_of(position), self._ends.get(source)
            if entry is not None and end is not None and entry > end:
                return False
        return True


def _newest(chain: Chain) -> int:
    return max((*chain.snapshots, *chain.increments), default=-1)


def _up_to(files: Mapping[int, str], last: int | None) -> Iterator[str]:
    return (path for number, path in files.items() if last is None or number <= last)
