"""Damage to each file of a state: the job continues, falls back or is rejected, never wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from guarded import Told, restore, results, run
from streamc.runtime import RuntimeFault
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.state.checkpoints import shared_files
from streamc.runtime.state.recovery_check import Examination, Verdict
from streamc.runtime.storage.disk import LocalDisk, RemoteDisk
from streamc.runtime.storage.file_system import Storage
from streamc.runtime.storage.notes import unseal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
GENERATION = "state/generations/0001"
COMMITTED, PLANNED = 11, 12
EPOCHS = {1: 3, 2: 6, 3: 9}
"""The epoch of each barrier, which is the batch of each query."""

Rows = tuple[Counter[tuple[Any, ...]], Counter[str]]


@dataclass(frozen=True)
class Made:
    """The folder of a job, a copy of it as it was left, and the right results."""

    root: Path
    kept: Path
    right: Rows

    def restore(self) -> Path:
        restore(self.kept, self.root)
        return self.root / GENERATION


@pytest.fixture(scope="module")
def made(guarded_job: Path) -> Made:
    return Made(guarded_job / "job", guarded_job / "kept", results(guarded_job / "whole"))


def flipped(content: bytes, at: int) -> bytes:
    changed = bytearray(content)
    changed[at] ^= 0x04
    return bytes(changed)


def in_the_middle(content: bytes) -> bytes | None:
    return flipped(content, len(content) // 2)


def in_the_last_line(content: bytes) -> bytes | None:
    return flipped(content, max(len(content.rstrip(b"\n")) - 2, 0))


def half(content: bytes) -> bytes | None:
    return content[: len(content) // 2]


def gone(content: bytes) -> bytes | None:
    return None


DAMAGES: tuple[Callable[[bytes], bytes | None], ...] = (in_the_middle, in_the_last_line, half, gone)


def damage(path: Path, how: Callable[[bytes], bytes | None]) -> None:
    changed = how(path.read_bytes())
    if changed is None:
        path.unlink()
    else:
        path.write_bytes(changed)


# The result of the check before the start, for every file and every damage.


def expected(path: str, how: Callable[..., Any], shared: frozenset[str]) -> str:
    """The right reaction to one damaged file: continue, fall back to a barrier, reject."""
    name = path.rpartition("/")[2]
    if name.removeprefix(".").removesuffix(".crc") == "plan.json":
        # Each start rewrites it.
        return "go on"
    if name.endswith(".crc"):
        main = f"{path.rpartition('/')[0]}/{name[1:-4]}"
        return "go on" if how is gone or main in NOTED else expected(main, half, shared)
    if path.startswith(("meaning/", "sinks/")) or name in ("metadata", "schema"):
        return "refuse"
    if path.startswith("sources/"):
        return ("refuse", "1", "2", "3")[int(name) // 2]
    if path.startswith(("epochs/", "barriers/", "ledger/")):
        return "go on"
    if "/SSTs/" in path:
        return "3" if path in shared else "go on"
    number = int(name.partition(".")[0])
    if "/state/" in path:
        # The version of the last committed batch, by the snapshot that Spark takes.
        needed = name in ("10.zip", "11.changelog", "12.changelog")
        return "3" if needed and not (name == "10.zip" and how is gone) else "go on"
    if number == EPOCHS[3]:
        return "2"
    planned = number == PLANNED and how is gone
    return "3" if number > EPOCHS[3] and not planned else "go on"


NOTED: set[str] = set()
"""Files that the newest manifest lists: a wrong checksum file next to them does no harm."""


def decided(folder: Path) -> tuple[str, Verdict]:
    verdict = Examination(LocalDisk(), str(folder)).verdict()
    if not verdict.damage:
        return "go on", verdict
    return "refuse" if verdict.barrier is None else str(verdict.barrier.barrier), verdict


def told(verdict: Verdict) -> set[str]:
    paths = {one.path for one in (*verdict.damage, *verdict.mends, *verdict.notes)}
    return paths | {re.sub(r"\.([^/]+)\.crc$", r"\1", path) for path in paths}


def snapshot_files(folder: Path, version: int) -> Iterator[str]:
    for path in sorted(folder.rglob(f"{version}.zip")):
        with zipfile.ZipFile(path) as archive:
            held = json.loads(archive.read("metadata").decode().split("\n", 1)[1])
        for one in held["sstFiles"]:
            yield str((path.parent / "SSTs" / one["dfsSstFileName"]).relative_to(folder))


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.long)])
def test_every_damage_to_every_file(every: int, made: Made) -> None:
    """`make test` tries one kind of damage to a file, to the next file the next one."""
    folder = made.restore()
    newest = unseal((folder / "barriers/000000003.json").read_text(encoding="utf-8"))
    NOTED.update(newest["files"])
    shared = frozenset(snapshot_files(folder, 10))
    assert shared
    assert decided(folder) == ("go on", Verdict((), None, (), ()))
    kinds: set[str] = set()
    for number, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        name = str(path.relative_to(folder))
        if name == "generation.json":
            continue
        content = path.read_bytes()
        for how in DAMAGES[number % every :: every]:
            if not content or how(content) == content:
                continue
            damage(path, how)
            answer, verdict = decided(folder)
            case = f"{name} {how.__name__}: {verdict.damage}"
            assert answer == expected(name, how, shared), case
            if answer != "go on":
                assert name in told(verdict) or name.replace("/.", "/")[:-4] in told(verdict), case
            path.write_bytes(content)
        if "/" in name:
            kinds.add(name.split("/")[0])
    known = {"barriers", "epochs", "ledger", "meaning", "queries", "sinks", "sources"}
    assert kinds == known


def test_two_damages_fall_back_further(made: Made) -> None:
    folder = made.restore()
    damage(folder / "queries/per_minute/commits/11", half)
    damage(folder / "queries/payments/offsets/9", half)
    assert decided(folder)[0] == "2"
    damage(folder / "barriers/000000002.json", half)
    assert decided(folder)[0] == "1"


def test_an_older_snapshot_takes_the_place_of_a_damaged_one(made: Made) -> None:
    folder = made.restore()
    (snapshot,) = folder.glob("queries/per_minute/state/0/0/10.zip")
    snapshot.unlink()
    assert decided(folder)[0] == "go on"
    damage(folder / "queries/per_minute/state/0/0/8.changelog", half)
    assert decided(folder)[0] == "2"


@pytest.mark.long
def test_a_damaged_snapshot_is_damage_however_it_reads(made: Made) -> None:
    """Without a checksum file next to it, and with one that was never recorded."""
    folder = made.restore()
    path = folder / "queries/per_minute/state/0/0/10.zip"
    content = path.read_bytes()
    named = shared_files("0/10.zip", lambda _: content)
    for at in range(len(content)):
        broken = flipped(content, at)
        try:
            assert shared_files("0/10.zip", lambda _, held=broken: held) == named
        except ValueError:
            continue


def test_without_a_barrier_there_is_nothing_to_fall_back_to(made: Made) -> None:
    folder = made.restore()
    shutil.rmtree(folder / "barriers")
    assert decided(folder)[0] == "go on"
    damage(folder / "queries/per_minute/commits/11", in_the_middle)
    answer, verdict = decided(folder)
    assert answer == "refuse"
    assert {one.path for one in verdict.damage} == {"queries/per_minute/commits/11"}


def test_another_file_system_says_the_same(spark: SparkSession, made: Made, tmp_path: Path) -> None:
    """The kernel's access to a state, on a folder of this machine."""
    folder = made.restore()
    remote = RemoteDisk(Storage(load_kernel(spark, kernel_jar(print)), spark))
    local = LocalDisk()
    names = [name for name in local.tree(str(folder)) if not name.endswith(".crc")]
    assert [n for n in remote.tree(f"file:{folder}") if not n.endswith(".crc")] == names
    paths = [f"{folder}/{name}" for name in (*names, "missing")]
    sums = remote.sums(paths)
    assert {path: (held.bytes, held.crc32) for path, held in sums.items()} == {
        path: (held.bytes, held.crc32) for path, held in local.sums(paths).items()
    }
    assert remote.content(paths[0]) == local.content(paths[0])
    assert remote.content(f"{folder}/missing") is None
    remote.link(paths[0], f"{tmp_path}/a/copy")
    remote.rename(f"{tmp_path}/a", f"{tmp_path}/b")
    assert local.content(f"{tmp_path}/b/copy") == local.content(paths[0])


# What becomes of the results, on Spark.


Damage = tuple[str, Callable[[bytes], bytes | None]]
HARMLESS: list[Damage] = [
    ("epochs/000000012.json", gone),
    ("queries/per_minute/.metadata.crc", in_the_middle),
    ("ledger/per_minute/000000011.json", in_the_middle),
]
LOGS: list[Damage] = [
    ("queries/per_minute/offsets/11", in_the_middle),
    ("queries/payments/commits/10", gone),
]
STORES: list[Damage] = [
    ("queries/per_minute/state/0/0/11.changelog", in_the_middle),
    ("queries/per_minute/state/1/1/10.zip", in_the_middle),
    ("queries/per_minute/state/1/0/SSTs/*.sst", half),
]
TOGETHER: dict[str, tuple[list[Damage], int | None]] = {
    "harmless": (HARMLESS, None),
    "logs": (LOGS, 3),
    "stores": (STORES[:1], 3),
    "barrier 2": ([("queries/per_minute/commits/9", in_the_last_line)], 2),
    "barrier 1": ([("sources/payments/3", half)], 1),
}
ALONE: list[tuple[Damage, int | None]] = [
    *((one, None) for one in HARMLESS),
    (("epochs/000000011.json", in_the_middle), None),
    (("barriers/000000003.json", in_the_middle), None),
    *((one, 3) for one in (*LOGS, *STORES)),
    (("sources/payments/7", in_the_middle), 3),
]


@pytest.mark.parametrize(
    ("damages", "barrier"),
    [
        *(pytest.param(*found, id=name) for name, found in TOGETHER.items()),
        *(pytest.param([one], to, id=one[0], marks=pytest.mark.long) for one, to in ALONE),
    ],
)
def test_results_are_right_in_spite_of_it(
    spark: SparkSession, made: Made, damages: Sequence[Damage], barrier: int | None
) -> None:
    """Several damages to a state, by how far it falls back; in `test-long` each separately."""
    folder = made.restore()
    for path, how in damages:
        for found in folder.glob(path):
            damage(found, how)
    cuts = {name: (folder / "epochs" / name).read_bytes() for name in os.listdir(folder / "epochs")}
    view = Told()
    assert run(spark, made.root, view).exit_code == 0
    assert results(made.root) == made.right
    said = "\n".join(view.lines)
    generations = sorted(os.listdir(made.root / "state/generations"))
    if barrier is None:
        assert generations == ["0001"]
        assert "FALLBACK" not in said
        return
    assert f"FALLBACK to barrier {barrier} " in said
    assert [path for path, _ in damages if path.split("*")[0] not in said] == []
    # The previous generation is removed once the new one has a barrier.
    assert generations == ["0002"]
    held = made.root / "state/generations/0002/epochs"
    kept = {name: (held / name).read_bytes() for name in os.listdir(held) if name in cuts}
    if any(path.startswith("sources/") for path, _ in damages):
        return
    assert kept == {name: cuts[name] for name in kept}, "the same input in the same batches"


@pytest.mark.parametrize(
    ("path", "how", "code"),
    [
        (f"{GENERATION}/meaning/per_minute.json", in_the_middle, "SR0410"),
        (f"{GENERATION}/sinks/spend.json", gone, "SR0410"),
        (f"{GENERATION}/queries/per_minute/state/0/_metadata/metadata", half, "SR0410"),
        (f"{GENERATION}/generation.json", in_the_middle, "SR0403"),
        (f"{GENERATION}/generation.json", gone, "SR0403"),
        ("state/state.json", in_the_middle, "SR0403"),
        ("state/state.json", gone, "SR0403"),
    ],
)
def test_what_all_barriers_share_is_refused_by_name(
    spark: SparkSession, made: Made, path: str, how: Callable[..., Any], code: str
) -> None:
    made.restore()
    damage(made.root / path, how)
    before = results(made.root)
    with pytest.raises(RuntimeFault) as caught:
        run(spark, made.root)
    assert caught.value.code.number == code
    assert path in caught.value.message
    assert "from a backup" in (caught.value.help or "")
    assert results(made.root) == before


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("queries/per_minute/state/0/*/11.changelog", "11.changelog"),
        pytest.param("queries/per_minute/commits/11", "commits/11", marks=pytest.mark.long),
        pytest.param("epochs/000000012.json", "000000012.json", marks=pytest.mark.long),
    ],
)
def test_damage_that_comes_up_while_a_job_runs_ends_it(
    spark: SparkSession, made: Made, monkeypatch: pytest.MonkeyPatch, path: str, name: str
) -> None:
    """As if the file had been intact when the run checked it."""
    folder = made.restore()
    for found in folder.glob(path):
        damage(found, in_the_middle)
    with monkeypatch.context() as patch:
        patch.setattr(Examination, "verdict", lambda self: Verdict((), None, (), ()))
        try:
            faults = run(spark, made.root).failures
        except RuntimeFault as fault:
            faults = (fault,)
    told = "\n".join(fault.render() for fault in faults)
    assert name in told
    assert "start the job again" in told
    assert not results(made.root)[0] - made.right[0]
    assert run(spark, made.root).exit_code == 0
    assert results(made.root) == made.right
