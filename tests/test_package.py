"""`streamc package`: what it collects, what it prints, and what it refuses. Java is not needed."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli_run import Run, run
from streamc.cli.deployment.zips import rezipped, zipped
from streamc.runtime import RuntimeFault
from streamc.runtime.kernel import shipped
from streamc.runtime.kernel.build import kernel_path
from streamc.runtime.kernel.sources import kernel_sources, source_files
from streamc.runtime.plan.plan import load_plan, load_spec, plan_path

__all__ = ["run"]

SPEC = """\
---
pipeline: scores
state: hdfs:///states/scores
spark: {spark.executor.memory: 4g, spark.sql.shuffle.partitions: 8,
        spark.hadoop.fs.s3a.secret.key: '${env:KEY}'}
profiles:
  small: {spark: {spark.executor.memory: 1g}, state: small}
---
CREATE FUNCTION risk(amount DOUBLE) RETURNS DOUBLE AS 'risks.model:score';
CREATE SOURCE payments (amount DOUBLE)
WITH (connector = 'kafka', topic = 't', bootstrap_servers = 'broker:9092', format = 'json');
CREATE STREAM scored AS SELECT risk(amount) AS risk FROM payments;
CREATE SINK out FROM scored WITH (connector = 'console');
"""
PLAIN = """\
---
pipeline: plain
variables: {in: null}
---
CREATE SOURCE s (x STRING) WITH (connector = 'files', path = '${in}', format = 'json');
CREATE SINK out FROM s WITH (connector = 'console');
"""


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel in the cache, which has one class."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = kernel_path()
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Gate.class", b"a class")
    return path


@pytest.fixture
def spec(tmp_path: Path, jar: Path) -> Path:
    (tmp_path / "risks").mkdir()
    for name, text in {
        "__init__.py": "",
        "model.py": "import json\nimport yaml\nfrom limits import LIMIT\nfrom . import other\n",
        "other.py": "",
        "weights.csv": "1,2\n",
    }.items():
        (tmp_path / "risks" / name).write_text(text, encoding="utf-8")
    (tmp_path / "limits.py").write_text("LIMIT = 1\n", encoding="utf-8")
    (tmp_path / "unused.py").write_text("", encoding="utf-8")
    path = tmp_path / "scores.stream"
    path.write_text(SPEC, encoding="utf-8")
    return path


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def test_the_command(run: Run, spec: Path) -> None:
    name = shipped.shipped_name()
    ended = run("package", "scores.stream", "-o", "a b", "--master", "yarn")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [
        "spark-submit \\",
        "  --master yarn \\",
        "  --py-files 'a b/streamc-0.1.0.zip,a b/scores-modules.zip' \\",
        f"  --jars 'a b/{name}' \\",
        "  --files 'a b/scores.plan.json,a b/scores.spec' \\",
        "  --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 \\",
        "  --conf spark.executor.memory=4g \\",
        "  --conf spark.sql.codegen.cache.maxEntries=1000 \\",
        "  'a b/scores.py'",
    ]
    assert "note: " not in ended.err


def test_a_profile_is_in_the_command(run: Run, spec: Path) -> None:
    ended = run("package", "scores.stream", "--profile", "small")
    assert "--conf spark.executor.memory=1g" in ended.out
    assert ended.out.endswith("  dist/scores.py --profile small\n")
    assert "note: the state `small` is on the disk of one machine" in ended.err
    unknown = run("package", "scores.stream", "--profile", "smal")
    assert unknown.code == 2 and "SR0103" in unknown.err and "`small`" in unknown.err


def test_the_files(run: Run, spec: Path, tmp_path: Path) -> None:
    assert run("package", "scores.stream").code == 0
    dist = tmp_path / "dist"
    assert {path.name for path in dist.iterdir()} == {
        "scores.py",
        "scores.plan.json",
        "scores.spec",
        "scores-modules.zip",
        "streamc-0.1.0.zip",
        shipped.shipped_name(),
        "requirements.txt",
    }
    held = ["__init__.py", "model.py", "other.py", "weights.csv"]
    assert names_in(dist / "scores-modules.zip") == ["limits.py", *(f"risks/{n}" for n in held)]
    assert names_in(dist / shipped.shipped_name()) == ["Gate.class"]
    parts = {tuple(name.split("/")[1:2]) for name in names_in(dist / "streamc-0.1.0.zip")}
    assert parts == {("__init__.py",), ("contracts",), ("runtime",)}
    lines = (dist / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("<")[0].split(">")[0].split("=")[0] for line in lines] == [
        "pandas",
        "pyarrow",
        "pyspark",
        "pyyaml",
    ]


@pytest.mark.slow
def test_the_same_spec_makes_the_same_bytes(run: Run, spec: Path, tmp_path: Path) -> None:
    first, second = run("package", "scores.stream"), run("package", "scores.stream", "-o", "two")
    assert first.code == second.code == 0
    for path in (tmp_path / "dist").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    again = run("package", "scores.stream")
    assert "wrote" not in again.err and again.err.count("unchanged ") == 7


def test_the_order_and_age_of_files_do_not_matter(tmp_path: Path) -> None:
    assert zipped({"a": b"1", "b": b"2"}) == zipped({"b": b"2", "a": b"1"})
    path = tmp_path / "x.jar"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b", b"2")
        archive.writestr("d/", b"")
        archive.writestr("a", b"1")
    assert rezipped(path) == zipped({"a": b"1", "b": b"2"})


def test_a_plain_pipeline_needs_values(run: Run, tmp_path: Path, jar: Path) -> None:
    (tmp_path / "plain.stream").write_text(PLAIN, encoding="utf-8")
    ended = run("package", "plain.stream")
    assert ended.code == 0
    assert ended.err.splitlines()[-1].endswith("at its end: --var in=…")
    assert not (tmp_path / "dist" / "plain-modules.zip").exists()
    needed = (tmp_path / "dist" / "requirements.txt").read_text(encoding="utf-8")
    assert needed.startswith("pyspark==") and needed.count("\n") == 1


def test_mistakes_write_nothing(run: Run, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.stream").write_text("CREATE SINK out FROM nothing WITH ();\n", "utf-8")
    bad = run("package", "bad.stream")
    assert bad.code == 2 and "error[SC" in bad.err
    assert run("package", "none.stream").err == "error: there is no none.stream\n"
    assert "is not a spec" in run("package", "unused.py").err
    (tmp_path / "limits.py").write_text("LIMIT =\n", encoding="utf-8")
    broken = run("package", "scores.stream")
    assert broken.code == 2 and "limits.py is not Python" in broken.err
    (tmp_path / "risks" / "model.py").unlink()
    for path in (tmp_path / "risks").iterdir():
        path.unlink()
    missing = run("package", "scores.stream")
    assert missing.code == 2 and "function `risk`: there is no module `risks.model`" in missing.err
    assert "put risks/model.py into one of: " in missing.err
    assert not (tmp_path / "dist").exists()


def test_a_folder_that_cannot_be_written(run: Run, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("a file", encoding="utf-8")
    ended = run("package", "scores.stream")
    assert ended.code == 2 and ended.err.splitlines()[0].startswith("error: dist")


@pytest.mark.slow
def test_the_runtime_works_from_the_zip(run: Run, spec: Path, tmp_path: Path) -> None:
    """It is imported from there, and knows the same kernel."""
    assert run("package", "scores.stream").code == 0
    code = (
        "import sys; sys.path[:0] = ['dist/streamc-0.1.0.zip'];"
        "import streamc.runtime as r; from streamc.runtime.kernel.shipped import shipped_name;"
        "from streamc.runtime.kernel.sources import source_files\n"
        "with source_files() as found: held = [path.read_bytes() for path in found]\n"
        "print(r.__file__); print(shipped_name()); print(len(held), all(held))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    file, name, sources = done.stdout.splitlines()
    assert ".zip/streamc/runtime/" in file and name == shipped.shipped_name()
    assert sources == f"{len(kernel_sources())} True"


def test_sources_are_read_in_place() -> None:
    with source_files() as found:
        assert [path.read_bytes() for path in found] == list(kernel_sources().values())
        assert found == sorted(found)


# What a driver elsewhere finds.


def test_a_submitted_driver_finds_its_files_in_its_folder(
    run: Run, spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("package", "scores.stream").code == 0
    script = tmp_path / "apart" / "scores.py"
    monkeypatch.chdir(tmp_path / "dist")
    with pytest.raises(RuntimeFault) as caught:
        load_plan(plan_path(script))
    assert caught.value.code.number == "SR0105" and "`--files` of spark-submit" in (
        caught.value.help or ""
    )
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert load_plan(plan_path(script)).pipeline == "scores"
    assert load_spec(script) == SPEC


@pytest.mark.parametrize("whole", [True, False])
def test_the_kernel_that_spark_was_started_with(
    tmp_path: Path, jar: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("Gate.class", b"a class")
    path = tmp_path / "a b" / shipped.shipped_name()
    path.parent.mkdir()
    path.write_bytes(held.getvalue() if whole else b"PK")
    other = path.with_name("streamc-kernel-4.2.1-0000000000000000.jar")
    other.write_bytes(held.getvalue())
    jars = f"file:{other},file://{tmp_path}/a%20b/{path.name}"
    monkeypatch.setattr(shipped, "_jars", lambda given: jars)
    assert shipped.shipped_kernel(None) == (path if whole else None)
