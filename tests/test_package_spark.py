"""A packaged pipeline on a cluster: two executors, no checkout, no cache, PySpark alone."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyspark
import pytest
from cli_run import Run, run

__all__ = ["run"]

pytestmark = [pytest.mark.spark, pytest.mark.long]

HEAD = """\
---
pipeline: totals
variables: {in: null, out: null}
---
"""
SOURCE = """\
CREATE SOURCE payments (
  card_id STRING, amount DOUBLE, paid_at TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${in}', format = 'json');
"""
TOTALS = """\
CREATE STREAM per_hour AS
  SELECT card_id, window_start, SUM(AMOUNT) AS total
  FROM TUMBLE(payments, paid_at, INTERVAL 1 HOUR) GROUP BY card_id, window_start;
CREATE SINK totals_out FROM per_hour WITH (connector = 'files', path = '${out}', format = 'json');
"""
FUNCTION = "CREATE FUNCTION doubled(x DOUBLE) RETURNS DOUBLE AS 'doubling.rules:doubled';\n"
ONLY_THE_KERNEL = HEAD + SOURCE + TOTALS.replace("AMOUNT", "amount")
IN_PYTHON = HEAD + FUNCTION + SOURCE + TOTALS.replace("AMOUNT", "doubled(amount)")
RULES = """\
import pandas as pd
from factors import FACTOR

def doubled(x: pd.Series) -> pd.Series:
    return x * FACTOR
"""
NEEDED = "pyspark pandas pyarrow numpy numpy.libs pandas.libs dateutil pytz tzdata six.py py4j"
ROWS = [
    ("a", 1.0, "2026-03-01T10:05:00Z"),
    ("a", 2.0, "2026-03-01T10:55:00Z"),
    ("b", 4.0, "2026-03-01T10:30:00Z"),
    ("b", 8.0, "2026-03-01T13:00:00Z"),
]


class Ended(NamedTuple):
    """How `spark-submit` ended, and the totals by card that its sink has."""

    code: int
    err: str
    totals: dict[str, float]


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python that has PySpark and what it needs for functions, and no streamc."""
    folder = tmp_path / "bare"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    installed = Path(pyspark.__file__).parent.parent
    for name in NEEDED.split():
        if (installed / name).exists():
            (site / name).symlink_to(installed / name)
    python = folder / "bin" / "python"
    found = subprocess.run([python, "-c", "import streamc"], capture_output=True, check=False)
    assert found.returncode == 1, "the checkout must not be importable"
    return python


@pytest.fixture(autouse=True)
def no_remains() -> Iterator[None]:
    """Remove what the workers of `local-cluster` leave in the folder of PySpark."""
    work = Path(pyspark.__file__).parent / "work"
    before = set(work.glob("*"))
    yield
    for path in set(work.glob("*")) - before:
        shutil.rmtree(path, ignore_errors=True)


def packaged(run: Run, root: Path, spec: str) -> list[str]:
    """Package a spec, remove all that it was made from, and return the printed command."""
    (root / "totals.stream").write_text(spec, encoding="utf-8")
    (root / "doubling").mkdir()
    (root / "doubling" / "__init__.py").touch()
    (root / "doubling" / "rules.py").write_text(RULES, encoding="utf-8")
    (root / "factors.py").write_text("FACTOR = 2\n", encoding="utf-8")
    ended = run("package", "totals.stream", "--master", "local-cluster[2,1,1024]")
    assert ended.code == 0, ended.err
    (root / "totals.stream").unlink()
    (root / "factors.py").unlink()
    shutil.rmtree(root / "doubling")
    return shlex.split(ended.out.replace("\\\n", " "))


def submitted(command: list[str], root: Path, folder: Path, environment: dict[str, str]) -> Ended:
    """Run the command in a folder, on rows of four payments."""
    (root / "in").mkdir()
    names = ("card_id", "amount", "paid_at")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in ROWS]
    (root / "in" / "1.json").write_text("\n".join(lines), encoding="utf-8")
    bin_folder = Path(pyspark.__file__).parent / "bin"
    given = [f"--var=in={root}/in", f"--var=out={root}/out", f"--state={root}/state"]
    done = subprocess.run(
        [str(bin_folder / command[0]), *command[1:], "--until-caught-up", *given],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SPARK_HOME"))},
            "SPARK_LOCAL_IP": "127.0.0.1",
            # A kernel that is built would be seen: there is no place for it.
            "XDG_CACHE_HOME": "/dev/null",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    texts = [path.read_text(encoding="utf-8") for path in (root / "out").glob("*.json")]
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    return Ended(done.returncode, done.stderr, {row["card_id"]: row["total"] for row in rows})


def test_what_needs_only_the_kernel(run: Run, tmp_path: Path, bare_python: Path) -> None:
    """Executors have no Python at all, and the driver finds the files next to the script."""
    command = packaged(run, tmp_path, ONLY_THE_KERNEL)
    python = {"PYSPARK_DRIVER_PYTHON": str(bare_python), "PYSPARK_PYTHON": "/nowhere/python"}
    ended = submitted(command, tmp_path, tmp_path, python)
    assert ended.code == 0, ended.err
    assert ended.totals == {"a": 3.0, "b": 4.0}
    assert "building the Spark kernel" not in ended.err


def test_functions_in_python(run: Run, tmp_path: Path, bare_python: Path) -> None:
    """The script lies apart, as on a driver in the cluster: files are in the working directory."""
    command = packaged(run, tmp_path, IN_PYTHON)
    apart = tmp_path / "apart"
    apart.mkdir()
    script = shutil.move(tmp_path / "dist" / "totals.py", apart)
    line = [word.replace("dist/", "") for word in command[:-1]]
    python = {"PYSPARK_PYTHON": str(bare_python)}
    ended = submitted([*line, str(script)], tmp_path, tmp_path / "dist", python)
    assert ended.code == 0, ended.err
    assert ended.totals == {"a": 6.0, "b": 8.0}
    assert "building the Spark kernel" not in ended.err
