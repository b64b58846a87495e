"""Measure what a barrier, a start's check and a listing cost by the files of a state.

    python benchmarks/barriers_at_scale.py                    10,000 and 100,000 files: two minutes
    python benchmarks/barriers_at_scale.py --files 1000000    ten minutes, and 5 GB of memory

The generation is made here, without Spark: one query whose stores have a snapshot each and share
files with it, as RocksDB's have. From one barrier to the next each store of a few gets a changelog:
that is all that changes. Measured are the barrier after it, in a process that has taken one (the
inventory and the manifest on the disk), the examination of a start (its files are read), and
`barriers list` with five manifests. For each: seconds of CPU, the files opened, the folders listed,
and the memory that it holds on to at its end, in MB. Nothing that has not changed should count.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streamc.contracts.notes.barrier import Manifest, QueryCut, SourceCut
from streamc.contracts.notes.epoch import EpochNote
from streamc.contracts.notes.generation import Generation
from streamc.runtime.state.history import read_barriers
from streamc.runtime.state.integrity import Cut, Inventory
from streamc.runtime.state.manifests import manifest_name, manifest_text
from streamc.runtime.state.recovery_check import Examination
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.notes import create_note, seal

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHARED, CHANGED, BARRIERS = 100, 4, 5
"""Shared files of a store, stores that change between two barriers, manifests that are kept."""
CALLS: Counter[str] = Counter()


def main() -> None:
    """Make a generation of each size, and print a line for each figure."""
    parser = argparse.ArgumentParser(description="What a barrier costs by the files of a state.")
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000])
    args = parser.parse_args()
    sys.addaudithook(_count)
    print(f"{'files':>9}  {'':<8}{'CPU s':>8}{'opened':>9}{'listed':>9}{'MB held':>9}")
    for files in args.files:
        with tempfile.TemporaryDirectory() as folder:
            measure(Made(Path(folder), max(files // SHARED, 1)), files)


def _count(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.scandir", "os.listdir"):
        CALLS[event] += 1


class Made:
    """A state with one generation; batches and versions have the numbers of epochs."""

    def __init__(self, root: Path, stores: int) -> None:
        self.state = root
        self.folder = root / "generations" / "0001"
        self.query = self.folder / "queries" / "q"
        self.stores = stores
        self.disk = LocalDisk()
        origin = Generation("0001", None, (), made_at=NOW)
        create_note(self.disk, f"{self.folder}/generation.json", origin.to_json())
        create_note(self.disk, f"{root}/state.json", {"format": 2, "id": "1", "pipeline": "p"})
        self._write("metadata", "v1\n{}")
        for store in range(stores):
            self._store(store)
        self.epoch(1, range(stores))

    def epoch(self, number: int, changed: range) -> Cut:
        """Writes an epoch, the batch of it and a changelog of each store; returns the cut."""
        cut = {"s": number}
        note = EpochNote(number, cut, opened_at="2026-01-01T00:00:00.000Z").to_json()
        path = self.folder / f"epochs/{number:09d}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(seal(note), encoding="utf-8")
        metadata = json.dumps({"batchWatermarkMs": 0, "conf": {}})
        offset = json.dumps({"epoch": number, "at": number})
        self._write(f"offsets/{number}", f"v2\n{metadata}\ns:{offset}")
        self._write(f"commits/{number}", 'v1\n{"nextBatchWatermarkMs":0}')
        for store in range(self.stores):
            path = self.query / f"state/0/{store}/{number + 1}.changelog"
            if store in changed:
                path.write_bytes(b"%d" % number)
            else:
                # Spark writes one without rows, which costs a barrier as much.
                os.link(self._empty(number), path)
        return Cut({"q": number}, number, cut)

    def manifest(self, cut: Cut, files: dict[str, tuple[int, str]]) -> Manifest:
        """The manifest of a barrier at a cut."""
        query = QueryCut(cut.epoch, None, 0, (), 0, 0)
        return Manifest(
            *(cut.epoch, cut.epoch, "0001", "p", 1, NOW, NOW, 0),
            *({"q": query}, {"s": SourceCut(cut.epoch)}, {}, {}, files),
        )

    def write(self, manifest: Manifest) -> None:
        """Writes a manifest as the coordinator does."""
        path = f"{self.folder}/barriers/{manifest_name(manifest.barrier)}"
        self.disk.replace(path, manifest_text(manifest))

    def _store(self, store: int) -> None:
        """A snapshot of version 1 and the files that it shares: names of one file's content."""
        folder = self.query / f"state/0/{store}"
        (folder / "SSTs").mkdir(parents=True)
        first = folder / "SSTs/0.sst"
        first.write_bytes(b"rows")
        for number in range(1, SHARED - 4):
            os.link(first, folder / f"SSTs/{number}.sst")
        tables = [{"dfsSstFileName": f"{number}.sst"} for number in range(SHARED - 4)]
        with zipfile.ZipFile(folder / "1.zip", "w") as archive:
            archive.writestr("metadata", "v1\n" + json.dumps({"sstFiles": tables}))

    def _empty(self, number: int) -> Path:
        path = self.state / f"empty-{number}"
        if not path.exists() or path.stat().st_nlink > 10_000:
            path.unlink(missing_ok=True)
            path.write_bytes(b"none")
        return path

    def _write(self, name: str, text: str) -> None:
        path = self.query / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def measure(made: Made, files: int) -> None:
    """Print what each of the three costs."""
    inventory = Inventory(made.disk, str(made.folder), {}, ())
    kept: list[Manifest] = []

    def barrier(number: int) -> None:
        cut = Cut({"q": number}, number, {"s": number})
        kept.append(made.manifest(cut, inventory.take(cut)))
        made.write(kept[-1])

    barrier(1)
    for number in range(2, BARRIERS):
        made.epoch(number, range(CHANGED))
        barrier(number)
    made.epoch(BARRIERS, range(CHANGED))
    said(files, "barrier", lambda: barrier(BARRIERS))
    newest = replace(kept[-1])
    kept.clear()
    start: list[Examination] = []

    def examined() -> None:
        start.append(Examination(made.disk, str(made.folder)))
        verdict = start[0].verdict()
        assert not verdict.damage, verdict.damage[:3]

    said(files, "start", examined)
    assert start.pop().newest == newest
    listed: list[Any] = []
    said(files, "list", lambda: listed.extend(read_barriers(str(made.state))))
    assert [one.problem for one in listed] == [None] * BARRIERS, listed[0].problem


def said(files: int, what: str, does: Callable[[], None]) -> None:
    """Print what a call costs; memory is traced in a copy of the process, since that is slow."""
    held = _held(does)
    CALLS.clear()
    begun = time.process_time()
    does()
    took = time.process_time() - begun
    listed = CALLS["os.scandir"] + CALLS["os.listdir"]
    print(
        f"{files:>9,}  {what:<8}{took:>8.2f}{CALLS['open']:>9,}{listed:>9,}{held:>9.1f}",
        flush=True,
    )


def _held(does: Callable[[], None]) -> float:
    """The memory that a call holds on to, in MB."""
    theirs, ours = os.pipe()
    if os.fork() == 0:
        tracemalloc.start()
        does()
        os.write(ours, f"{tracemalloc.get_traced_memory()[0] / 1e6}".encode())
        os._exit(0)
    os.close(ours)
    with os.fdopen(theirs) as answer:
        os.wait()
        return float(answer.read())


if __name__ == "__main__":
    main()
