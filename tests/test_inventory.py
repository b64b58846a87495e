"""What a run remembers of files that its barriers rely on: enough to read each once, no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from streamc.runtime.state.integrity import Cut, Inventory
from streamc.runtime.storage.disk import LocalDisk, Sum

BARRIERS = 120
KEPT = 25
"""That many batches stay on the disk, as Spark keeps some."""


class Counting(LocalDisk):
    """Counts how often each file is read."""

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()

    def sums(self, paths: Iterable[str]) -> Mapping[str, Sum]:
        wanted = list(paths)
        self.read.update(wanted)
        return super().sums(wanted)


def batch(folder: Path, number: int) -> None:
    """The files that a batch leaves: Spark's logs, a step of a store, an entry of a source."""
    state, source = "queries/q/state/0/0", "sources/s"
    entry = f"{number}.compact" if number % 10 == 9 else f"{number}"
    made = [
        f"queries/q/offsets/{number}",
        f"queries/q/commits/{number}",
        f"{state}/{number + 1}.delta",
        f"{source}/{entry}",
        f"epochs/{number:09d}.json",
    ]
    if number % 10 == 5:
        made.append(f"{state}/{number + 1}.snapshot")
    for path in made:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path, encoding="utf-8")


def forget(folder: Path, before: int) -> None:
    """Removes what is older than a batch, as Spark and the runtime do."""
    for file in folder.rglob("*"):
        if file.is_file() and int(file.stem.partition(".")[0]) < before:
            file.unlink()


def test_a_run_remembers_no_more_with_each_barrier(tmp_path: Path) -> None:
    disk = Counting()
    inventory = Inventory(disk, str(tmp_path), {"queries/q/offsets/0": (1, "of a start")}, ())
    sizes = []
    for number in range(BARRIERS):
        batch(tmp_path, number)
        forget(tmp_path, number - KEPT)
        found = inventory.take(Cut({"q": number}, number, {"s": {"logOffset": number}}))
        assert f"queries/q/commits/{number}" in found
        assert all((tmp_path / path).exists() for path in found)
        held = [one for one in vars(inventory).values() if isinstance(one, dict | list | set)]
        sizes.append(sum(map(len, held)))
    assert max(sizes[-10:]) == max(sizes[30:40]) < 60
    # What does not change is read once, although it belongs to many barriers.
    often = {path: n for path, n in disk.read.items() if n > 1 and not path.endswith(".snapshot")}
    assert often == {}
