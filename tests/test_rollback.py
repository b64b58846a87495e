"""Generations that continue from a barrier, created atomically, and `streamc rollback`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from guarded import Crash, Told, restore, results, run
from streamc.cli.app import app
from streamc.contracts.notes.barrier import SinkCut
from streamc.runtime.state.lease import Lease
from streamc.runtime.state.manifests import load_manifest
from streamc.runtime.state.recovery_check import Examination
from streamc.runtime.state.rollback import clone, retire
from streamc.runtime.state.state import current_generation, sweep
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import seal, unseal
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
QUERIES = ("payments", "per_minute")


@pytest.fixture
def root(guarded_job: Path) -> Path:
    restore(guarded_job / "kept", guarded_job / "job")
    return guarded_job / "job"


def generation(root: Path, number: str = "0001") -> Path:
    return root / "state/generations" / number


def go_back(
    root: Path, barrier: int, disk: LocalDisk | None = None, *, same_cuts: bool = False
) -> str:
    """Makes a generation from a barrier of the current one."""
    state = str(root / "state")
    note = current_generation(LocalDisk(), state)
    assert note is not None
    examined = Examination(LocalDisk(), f"{state}/generations/{note.number}")
    (manifest,) = (one for one in examined.manifests if one.barrier == barrier)
    assert examined.barrier_damage(manifest) == []
    return clone(disk or LocalDisk(), state, note, examined, manifest, same_cuts=same_cuts)


def numbers(folder: Path) -> list[int]:
    return sorted(int(path.name.split(".")[0]) for path in folder.glob("[0-9]*"))


def note_of(folder: Path) -> dict[str, Any]:
    return unseal((folder / "generation.json").read_text(encoding="utf-8"))


# What a new generation holds.


def test_nothing_is_left_of_what_came_after(root: Path) -> None:
    spool(root, 6, 7)
    assert go_back(root, 2) == "0002"
    folder = generation(root, "0002")
    assert not (folder / "spool").exists()
    for query in QUERIES:
        assert numbers(folder / "queries" / query / "offsets") == list(range(7))
        assert numbers(folder / "queries" / query / "commits") == list(range(7))
    assert numbers(folder / "epochs") == [3, 4, 5, 6]
    assert numbers(folder / "barriers") == [1, 2]
    assert numbers(folder / "sources/payments") == [0, 1, 2, 3]
    for store in folder.glob("queries/per_minute/state/*/[0-9]"):
        assert max(numbers(store)) == 7
        held = {path.name for path in (store / "SSTs").iterdir() if path.suffix == ".sst"}
        before = generation(root) / store.relative_to(folder) / "SSTs"
        assert held < {path.name for path in before.iterdir() if path.suffix == ".sst"}
    verdict = Examination(LocalDisk(), str(folder)).verdict()
    assert (verdict.damage, verdict.mends, verdict.notes) == ((), (), ())


def spool(root: Path, *batches: int) -> None:
    """Batches of random numbers, as a query would have kept them."""
    for batch in batches:
        rows = generation(root) / f"spool/payments/{batch:09d}"
        rows.mkdir(parents=True)
        (rows / "part-00000.parquet").write_bytes(b"rows")
        rows.with_suffix(".json").write_text("{}\n", encoding="utf-8")


def test_the_same_cuts_are_kept(root: Path) -> None:
    spool(root, 5, 6, 7, 12, 13)
    go_back(root, 2, same_cuts=True)
    folder = generation(root, "0002")
    # What followed the barrier is repeated, with the numbers that it had.
    assert sorted(path.name for path in (folder / "spool/payments").iterdir()) == [
        "000000007",
        "000000007.json",
        "000000012",
        "000000012.json",
    ]
    assert (folder / "spool/payments/000000012/part-00000.parquet").read_bytes() == b"rows"
    assert numbers(folder / "queries/per_minute/offsets") == list(range(7))
    assert numbers(folder / "epochs") == list(range(3, 13))
    assert numbers(folder / "sources/payments") == list(range(8))
    assert note_of(folder)["from"]["same_to"] == 12


def test_files_are_links_and_the_old_generation_is_untouched(root: Path) -> None:
    before = {path: path.read_bytes() for path in generation(root).rglob("*") if path.is_file()}
    go_back(root, 3)
    name = "queries/per_minute/state/0/0/1.changelog"
    old, new = generation(root) / name, generation(root, "0002") / name
    assert old.stat().st_ino == new.stat().st_ino
    assert {path: path.read_bytes() for path in before} == before


def test_where_there_are_no_links_files_are_copied(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def no_links(source: Any, target: Any) -> None:
        if "queries" in str(source):
            raise OSError(18, "Invalid cross-device link")
        real(source, target)

    monkeypatch.setattr(os, "link", no_links)
    go_back(root, 3)
    name = "queries/per_minute/state/0/0/1.changelog"
    old, new = generation(root) / name, generation(root, "0002") / name
    assert old.read_bytes() == new.read_bytes()
    assert old.stat().st_ino != new.stat().st_ino


def test_lineage(root: Path) -> None:
    go_back(root, 3)
    go_back(root, 1)
    note = note_of(generation(root, "0003"))
    ends = {"payments": 3, "per_minute": 3}
    assert note["from"] == {"generation": "0002", "barrier": 1, "epoch": 3, "same_to": 3}
    assert note["lineage"] == [
        {"generation": "0001", "batches": ends},
        {"generation": "0002", "batches": ends},
    ]


def test_old_generations_are_removed_on_request(root: Path) -> None:
    go_back(root, 3)
    retire(LocalDisk(), str(root / "state"), "0001")
    assert generation(root).exists()
    retire(LocalDisk(), str(root / "state"), "0002")
    assert os.listdir(root / "state/generations") == ["0002"]


# A stop at any point.


class Failing(LocalDisk):
    """A disk of a process that ends before its nth change."""

    def __init__(self, before: int) -> None:
        self.left = before

    def _step(self) -> None:
        if self.left == 0:
            raise Crash
        self.left -= 1

    def link(self, source: str, target: str) -> None:
        self._step()
        super().link(source, target)

    def create(self, path: str, text: str) -> None:
        self._step()
        super().create(path, text)

    def rename(self, source: str, target: str) -> None:
        self._step()
        super().rename(source, target)

    def delete(self, paths: Sequence[str]) -> None:
        self._step()
        super().delete(paths)


def test_a_stop_at_any_point_leaves_the_old_generation(root: Path) -> None:
    state = str(root / "state")
    before = LocalDisk().tree(state)
    for step in range(10_000):
        try:
            go_back(root, 2, Failing(step))
            break
        except Crash:
            note = current_generation(LocalFiles(), state)
            assert note is not None
            assert note.number == "0001"
            sweep(LocalFiles(), state, local=True)
            assert LocalDisk().tree(state) == before, step
    assert step > 100
    assert note_of(generation(root, "0002"))["from"]["barrier"] == 2


def test_a_half_copied_rename_is_swept(root: Path) -> None:
    """Where a rename is a copy, the name appears before the files."""
    state = root / "state"
    go_back(root, 2)
    shutil.copytree(generation(root, "0002"), state / "generations/.0002.tmp")
    sweep(LocalFiles(), str(state), local=False)
    assert os.listdir(state / "generations") == ["0001"]


def test_what_stands_beside_a_generation_on_a_disk_takes_nothing_along(root: Path) -> None:
    """A rename is one step there: the generation is complete, whatever is next to it."""
    state = root / "state"
    go_back(root, 2)
    (state / "generations/.0002.tmp/queries").mkdir(parents=True)
    sweep(LocalFiles(), str(state), local=True)
    assert sorted(os.listdir(state / "generations")) == ["0001", "0002"]


# The results after it, on Spark.


@pytest.mark.parametrize("same_cuts", [False, True])
def test_results_after_a_rollback(spark: SparkSession, root: Path, same_cuts: bool) -> None:
    cut = (generation(root) / "epochs/000000009.json").read_bytes()
    go_back(root, 1, same_cuts=same_cuts)
    told = Told()
    assert run(spark, root, told).exit_code == 0
    assert results(root) == results(root.parent / "whole")
    assert told.lines == []
    folder = generation(root, "0002")
    assert os.listdir(root / "state/generations") == ["0002"]
    # Barriers are numbered on, over all generations.
    assert max(numbers(folder / "barriers")) == 4
    if same_cuts:
        assert (folder / "epochs/000000009.json").read_bytes() == cut


@pytest.mark.long
def test_back_in_a_generation_that_went_back(spark: SparkSession, root: Path) -> None:
    go_back(root, 2)
    assert run(spark, root).exit_code == 0
    go_back(root, 1)
    assert run(spark, root).exit_code == 0
    assert results(root) == results(root.parent / "whole")
    assert os.listdir(root / "state/generations") == ["0003"]


# The command.


def command(root: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["rollback", "--state", str(root / "state"), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_a_dry_run_says_what_would_be_undone(root: Path) -> None:
    before = LocalDisk().tree(str(root / "state"))
    code, output = command(root, "--to", "2", "--dry-run")
    assert code == 0
    lines = output.splitlines()
    assert lines[0].startswith(f"{root}/state: back to barrier 2 of 20")
    assert lines[1] == "undone: 6 epochs, barrier 3"
    assert lines[2].startswith("  every  40 rows and those after barrier 3: the files of later")
    assert lines[3].startswith("  spend  ")
    assert lines[4:] == ["nothing was changed"]
    assert LocalDisk().tree(str(root / "state")) == before


def test_it_goes_back_when_confirmed(spark: SparkSession, root: Path) -> None:
    code, output = command(root, "--to", "2")
    assert (code, "SR0413" in output) == (2, True)
    code, output = command(root, "--to", "2", "--yes")
    assert code == 0, output
    assert "continues from barrier 2, as generation 0002" in output
    assert "truncated when the job next starts" in output
    assert run(spark, root).exit_code == 0
    assert results(root) == results(root.parent / "whole")


def test_a_barrier_that_cannot_be_had(root: Path) -> None:
    code, output = command(root, "--to", "7", "--yes")
    assert code == 2
    assert "SR0411" in output
    assert "these are restorable: 1, 2, 3" in output
    (generation(root) / "queries/per_minute/commits/6").unlink()
    code, output = command(root, "--to", "2", "--yes")
    assert "barrier 2 needs" in output
    assert "queries/per_minute/commits/6: it is missing" in output
    assert "these are restorable: 1, 3" in output
    path = generation(root) / "barriers/000000003.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"epoch": 9', '"epoch": 8'))
    code, output = command(root, "--to", "3", "--yes")
    assert "the manifest of barrier 3 is damaged" in output
    assert os.listdir(root / "state/generations") == ["0001"]


def test_not_while_a_job_runs(root: Path) -> None:
    lease = Lease(LocalFiles(), str(root / "state"), "it", local=True)
    try:
        code, output = command(root, "--to", "2", "--yes")
    finally:
        lease.release()
    assert code == 2
    assert "SR0401" in output


def test_no_state(tmp_path: Path) -> None:
    code, output = command(tmp_path, "--to", "2", "--yes")
    assert (code, "SR0407" in output) == (2, True)


def rewrite(root: Path, change: Callable[[dict[str, SinkCut]], dict[str, SinkCut]]) -> None:
    """Other sinks in all manifests."""
    for path in (generation(root) / "barriers").iterdir():
        found = load_manifest(path.read_text(encoding="utf-8"))
        changed = replace(found, sinks=change(dict(found.sinks)))
        path.write_text(seal(changed.to_json()), encoding="utf-8")


def test_a_sink_that_keeps_what_it_has_must_be_accepted(root: Path) -> None:
    rewrite(root, lambda sinks: {**sinks, "alerts": replace(sinks["every"], connector="kafka")})
    code, output = command(root, "--to", "2", "--yes")
    assert code == 2
    assert "error[SR0412] sink-stays: sink `alerts` cannot be truncated" in output
    assert "--accept-repeats alerts" in output
    code, output = command(root, "--to", "2", "--yes", "--accept-repeats", "alert")
    assert (code, "is not a sink of this state" in output) == (2, True)
    assert os.listdir(root / "state/generations") == ["0001"]
    code, _ = command(root, "--to", "2", "--yes", "--accept-repeats", "alerts", "--same-cuts")
    assert code == 0
    assert note_of(generation(root, "0002"))["from"]["same_to"] == 12
