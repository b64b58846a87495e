"""The files sink by itself: cut back to its state, stopped anywhere, damaged anywhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copytree, rmtree
from typing import TYPE_CHECKING, Any

import pytest
from guarded import restore as put_back
from streamc.contracts.formats import COMPRESSIONS
from streamc.contracts.notes.generation import CountedGeneration, Origin
from streamc.runtime import RuntimeFault
from streamc.runtime.connectors.files.sink import FileSink
from streamc.runtime.connectors.interface import SinkRequest
from streamc.runtime.connectors.sinks import open_sinks
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.spark.failures import java_exception, reason_of
from streamc.runtime.state.state import State, generation_note
from streamc.runtime.storage import file_system as storage_module
from streamc.runtime.storage.file_system import Storage
from streamc.runtime.storage.notes import create_note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Crash(Exception):
    """Stands in for the end of the process."""


@pytest.fixture(scope="module")
def storage(spark: SparkSession) -> Storage:
    return Storage(load_kernel(spark, kernel_jar(lambda line: None)), spark)


class Job:
    """The sink of a job that is started and stopped, with Spark's commits made by hand."""

    def __init__(self, spark: SparkSession, storage: Storage, root: Path, **options: str) -> None:
        self.spark, self.storage, self.root = spark, storage, root
        self.options = {"format": "json", "path": str(root / "out"), **options}
        self.start()

    def start(self) -> None:
        state = State(self.storage, str(self.root / "state"), "p")
        try:
            self.commits = Path(state.checkpoint("q").removeprefix("file:")) / "commits"
            self.commits.mkdir(parents=True, exist_ok=True)
            options = dict(self.options)
            asked = SinkRequest("spend", "q", options, (), None, state, 100, print, ())
            self.sink = FileSink(asked)
            open_sinks([self.sink], state)
        finally:
            state.close()

    def write(self, batch: int, rows: int = 4) -> int | None:
        values = self.spark.range(batch * 100, batch * 100 + rows, 1, 2)
        return self.sink.write(values, batch)

    def commit(self, batch: int) -> None:
        (self.commits / str(batch)).touch()

    def run(self, *batches: int) -> None:
        for batch in batches:
            self.write(batch)
            self.commit(batch)

    def finish(self) -> None:
        """Restarts and runs everything that Spark has not committed, up to the third batch."""
        self.start()
        done = max((int(p.name) for p in self.commits.iterdir()), default=-1)
        self.run(*range(done + 1, 3))

    def roll_back(self, last: int) -> None:
        """Creates a generation that continues after a batch."""
        origin = Origin("0001", barrier=1, epoch=last)
        note = generation_note("0002", origin, [CountedGeneration("0001", {"q": last})])
        folder = f"{self.root}/state/generations/0002"
        create_note(self.storage, f"{folder}/generation.json", note.to_json())
        copytree(self.root / "state/generations/0001/sinks", Path(folder) / "sinks")
        commits = Path(folder) / "queries/q/commits"
        commits.mkdir(parents=True)
        for batch in range(last + 1):
            (commits / str(batch)).touch()

    def rows(self) -> Counter[int]:
        """What a plain reader sees."""
        return Counter(
            json.loads(line)["id"]
            for file in (self.root / "out").glob("*.json")
            for line in file.read_text(encoding="utf-8").splitlines()
        )

    def names(self) -> list[str]:
        return sorted(file.name for file in (self.root / "out").glob("*.json"))


@pytest.fixture
def job(spark: SparkSession, storage: Storage, tmp_path: Path) -> Job:
    return Job(spark, storage, tmp_path)


def expected(*batches: int) -> Counter[int]:
    return Counter(batch * 100 + row for batch in batches for row in range(4))


def test_a_new_generation_cuts_the_output_back(job: Job) -> None:
    job.run(0, 1, 2, 3)
    job.write(4)
    job.roll_back(1)
    job.start()
    assert job.rows() == expected(0, 1)
    job.run(2, 3)
    assert job.rows() == expected(0, 1, 2, 3)
    assert "spend-0002-000000002-00000.json" in job.names()
    job.start()
    assert job.rows() == expected(0, 1, 2, 3)


def test_a_cut_that_is_stopped_continues(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between any two deletions, even of one call."""
    job.run(0, 1, 2, 3)
    job.roll_back(1)
    root, kept = job.root, tmp_path.with_name(f"{tmp_path.name}-kept")
    copytree(root, kept)
    real = storage_module.Storage.delete
    for number in range(1, 9):
        put_back(kept, root)
        calls = 0

        def delete(self: Storage, paths: Any, *, stop: int = number) -> None:
            nonlocal calls
            for path in paths:
                calls += 1
                if calls == stop:
                    raise Crash
                real(self, [path])

        with monkeypatch.context() as patch:
            patch.setattr(storage_module.Storage, "delete", delete)
            try:
                job.start()
            except Crash:
                assert job.rows() >= expected(0, 1)
        job.start()
        assert job.rows() == expected(0, 1), number
        assert calls >= min(number, 6)
        job.run(2)
        assert job.rows() == expected(0, 1, 2), number


def test_an_older_copy_of_the_state_is_refused(job: Job) -> None:
    job.run(0, 1, 2, 3)
    for batch in (1, 2, 3):
        (job.commits / str(batch)).unlink()
    with pytest.raises(RuntimeFault) as caught:
        job.start()
    assert caught.value.code.number == "SR0331"
    assert job.rows() == expected(0, 1, 2, 3)


def test_a_generation_that_is_gone_does_not_cut_the_newer_one(job: Job, tmp_path: Path) -> None:
    job.run(0, 1, 2)
    job.roll_back(1)
    job.start()
    job.run(2)
    rmtree(tmp_path / "state/generations/0002")
    with pytest.raises(RuntimeFault) as caught:
        job.start()
    assert caught.value.code.number == "SR0331"
    assert job.rows() == expected(0, 1, 2)


def test_a_file_that_is_gone_or_cut_short_is_named(job: Job, tmp_path: Path) -> None:
    job.run(0, 1)
    file = tmp_path / "out/spend-0001-000000001-00000.json"
    content = file.read_bytes()
    file.write_bytes(content[:-3])
    with pytest.raises(RuntimeFault, match=r"00000\.json.* has \d+ bytes instead of") as caught:
        job.start()
    assert caught.value.code.number == "SR0330"
    file.unlink()
    with pytest.raises(RuntimeFault, match=r"000000001-00000\.json.* is missing") as caught:
        job.start()
    assert "commits/0001-000000001.json" in (caught.value.help or "")
    file.write_bytes(content)
    job.start()


def test_a_path_that_was_left_is_cut_back_too(job: Job, tmp_path: Path) -> None:
    job.run(0, 1, 2)
    job.options["path"] = str(tmp_path / "next")
    job.start()
    job.run(3)
    assert job.rows() == expected(0, 1, 2)
    job.roll_back(1)
    job.start()
    assert job.rows() == expected(0, 1)
    assert not list((tmp_path / "next").glob("*.json"))


STEPS = ("staged", "recorded", "moved", "committed")


def stopped_at(job: Job, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job whose third batch was stopped after a step."""
    job.run(0, 1)

    def crash(self: Storage, *args: Any) -> Any:
        raise Crash

    method = {"staged": "create", "recorded": "move", "moved": "delete"}.get(step)
    with monkeypatch.context() as patch:
        if method is not None:
            patch.setattr(storage_module.Storage, method, crash)
            with pytest.raises(Crash):
                job.write(2)
        else:
            job.run(2)


def own_files(root: Path) -> Iterator[Path]:
    """All that the sink keeps for itself."""
    yield root / "state/generations/0001/sinks/spend.json"
    own = root / "out/_streamc"
    yield from sorted(path for path in own.rglob("*") if path.is_file() and path.suffix != ".crc")


def damage(path: Path, how: str) -> None:
    if how == "removed":
        path.unlink()
        return
    content = bytearray(path.read_bytes() or b" ")
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["flipped", "removed"])
@pytest.mark.parametrize("step", STEPS)
def test_damage_to_what_the_sink_keeps(
    spark: SparkSession,
    storage: Storage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    how: str,
) -> None:
    """Each file of the sink's own, one at a time: the rows are right, or the start is rejected."""
    kinds: set[str] = set()
    root = tmp_path / "job"
    root.mkdir()
    job = Job(spark, storage, root)
    stopped_at(job, step, monkeypatch)
    copytree(root, tmp_path / "kept")
    for victim in list(own_files(root)):
        kinds.add(victim.parent.name)
        original = victim.read_bytes()
        damage(victim, how)
        refused: RuntimeFault | None = None
        try:
            job.finish()
        except RuntimeFault as fault:
            refused = fault
        if refused is not None:
            assert str(victim) in refused.render()
            assert refused.code.number in ("SR0304", "SR0403")
            victim.write_bytes(original)
            job.finish()
        assert job.rows() == expected(0, 1, 2), (victim, how, step)
        put_back(tmp_path / "kept", root)
    assert {"sinks", "spend"} <= kinds
    assert ("0001-000000002" in kinds) == (
        step in ("staged", "recorded", "moved")
    ) or step == "moved"


def test_files_are_rolled(spark: SparkSession, storage: Storage, tmp_path: Path) -> None:
    for number, format in enumerate(("json", "parquet")):
        root = tmp_path / str(number)
        root.mkdir()
        job = Job(spark, storage, root, format=format, roll_size="64 KB")
        rows = spark.range(0, 40_000, 1, 2).selectExpr("id", "uuid() AS text")
        assert job.sink.write(rows, 0) == 40_000
        sizes = [p.stat().st_size for p in (root / "out").iterdir() if p.is_file()]
        assert len(sizes) >= sum(sizes) // (128 << 10)
        assert max(sizes) < 128 << 10
        job.start()
        assert job.sink.write(rows, 0) is None
        read = getattr(spark.read, format)(str(root / "out"))
        assert read.count() == read.distinct().count() == 40_000
        told = {"rows": 40_000, "files": len(sizes), "bytes": sum(sizes)}
        assert job.sink.acknowledged() == told


DEFAULTS = {"json": "none", "csv": "none", "text": "none", "parquet": "snappy", "orc": "zstd"}
COMPRESSED = [
    (format, compression)
    for format, known in COMPRESSIONS.items()
    if format in DEFAULTS
    for compression in known
]


@pytest.mark.long
@pytest.mark.parametrize(("format", "compression"), COMPRESSED)
def test_files_are_compressed(
    spark: SparkSession, storage: Storage, tmp_path: Path, format: str, compression: str
) -> None:
    rows = spark.range(0, 2_000, 1, 1).selectExpr("concat(id, ' ', repeat('x', 100)) AS value")
    sizes, names = [], []
    for number, given in enumerate(({}, {"compression": compression})):
        root = tmp_path / str(number)
        job = Job(spark, storage, root, format=format, **given)
        assert job.sink.write(rows, 0) == 2_000
        (file,) = (p for p in (root / "out").iterdir() if p.is_file())
        sizes.append(file.stat().st_size)
        names.append(file.name)
        read = spark.read.schema("value STRING").format(format).option("header", "true")
        assert read.load(str(root / "out")).exceptAll(rows).isEmpty()
    if compression == DEFAULTS[format]:
        assert names[0] == names[1]
    elif format in ("json", "csv", "text"):
        assert sizes[1] < sizes[0] / 4
    else:
        assert names[0] != names[1]


def test_a_compression_of_another_format_is_refused(
    spark: SparkSession, storage: Storage, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeFault, match="sink `spend` has compression `gzip`"):
        Job(spark, storage, tmp_path, format="orc", compression="gzip")


def fill(folder: Path) -> None:
    """Leaves no room on a disk."""
    file = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        with suppress(OSError):
            while True:
                os.write(file, bytes(4096))
    finally:
        os.close(file)


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("step", ["write", "create", "move"])
def test_a_full_disk(
    spark: SparkSession,
    storage: Storage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """At any of the three steps: no partial file is visible, and the next start is exact."""
    out = tmp_path / "out"
    out.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(out)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed")
    try:
        job = Job(spark, storage, tmp_path)
        job.run(0)
        real = getattr(storage_module.Storage, step)

        def full(self: Storage, *args: Any) -> Any:
            fill(out)
            return real(self, *args)

        failure: str | None = None
        with monkeypatch.context() as patch:
            patch.setattr(storage_module.Storage, step, full)
            try:
                job.write(1)
            except Exception as error:
                failure = reason_of(java_exception(error))
        # A rename needs no room.
        assert failure is None if step == "move" else "No space left on device" in (failure or "")
        assert job.rows() == expected(0, *([1] if step == "move" else []))
        (out / "filler").unlink()
        job.start()
        job.run(1)
        assert job.rows() == expected(0, 1)
    finally:
        subprocess.run(["umount", "-l", str(out)], check=True)
