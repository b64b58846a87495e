"""What earlier versions left still works: states, savepoints, plans of ``tests/old_states``.

Each folder there is of one version, which its README names. A state is unpacked into a folder that
it was not made in; the right rows are those of the ``oracle.py`` beside it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled, plan_in, written
from streamc.cli.app import app
from streamc.cli.jobs.changed_state import changes_between
from streamc.cli.savepoints.from_savepoint import migration_of
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.plan.compare import compare_plans
from streamc.compiler.plan.compare_text import changes_text
from streamc.contracts.plan import Plan
from streamc.runtime import Arguments, run_script
from streamc.runtime.state.home import ADOPT
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSIONS = sorted(p for p in (Path(__file__).parent / "old_states").iterdir() if p.is_dir())
CUT, PARTS = 2, 4
ARRIVAL = 1_900_000_000
"""Later than what has arrived in any of the states."""

Rows = list[dict[str, Any]]


class Shop:
    """The pipeline of one version in a folder, with what that version has left there."""

    def __init__(self, kept: Path, root: Path) -> None:
        self.kept, self.root = kept, root
        self.state = root / "state" / "shop"
        self.script = root / "build" / "shop.py"
        (root / "build").mkdir(parents=True)
        for path in (kept / "compiled").iterdir():
            shutil.copyfile(path, root / "build" / path.name)

    def unpack(self) -> None:
        """Copies the state and its outputs here."""
        with tarfile.open(self.kept / "shop.tar.gz") as tar:
            tar.extractall(self.root, filter="data")

    def compile(self, spec: str) -> Path:
        """Compiles a spec of the folder with this version; returns its script."""
        folder = self.root / Path(spec).stem
        folder.mkdir()
        return written(compiled(self.kept / spec, "shop.stream"), folder)

    def arrive(self, *parts: int) -> None:
        """Copies the files of some parts to the sources' folders."""
        for source in ("orders", "shipments"):
            (self.root / "in" / source).mkdir(parents=True, exist_ok=True)
            for part in parts:
                name = f"{source}/{part}.json"
                shutil.copyfile(self.kept / "rows" / name, self.root / "in" / name)
                # Spark ignores files that are much older than the newest it has seen.
                os.utime(self.root / "in" / name, (ARRIVAL + part,) * 2)

    @property
    def variables(self) -> dict[str, str]:
        return {"input": str(self.root / "in"), "output": str(self.root / "out")}

    def run(self, spark: SparkSession, script: Path, **more: Any) -> Rows:
        """Processes what has arrived; returns the rows of the memory sink."""
        arguments = Arguments(True, self.variables, state=str(self.state), **more)
        result = run_script(script, arguments, spark=spark, compare=changes_between)
        assert result.exit_code == 0, result.failures
        return [row.asDict() for row in result.rows["totals_out"]]

    def restore(
        self, spark: SparkSession, spec: str, savepoint: str, decisions: str | None = None
    ) -> Rows:
        """Starts from a savepoint under a spec, and processes the parts after the cut."""
        script = self.compile(spec)
        file = None if decisions is None else self.kept / decisions
        migration = migration_of(script, str(self.state), None, savepoint, file)
        self.arrive(*range(CUT + 1, PARTS + 1))
        return self.run(spark, script, savepoint=savepoint, migration=migration, copied=ADOPT)

    def out(self) -> dict[str, list[str]]:
        """The rows of each files sink."""
        found: dict[str, list[str]] = {}
        for folder in (self.root / "out").iterdir():
            lines = [
                line
                for path in folder.glob("*.json")
                for line in path.read_text(encoding="utf-8").splitlines()
            ]
            found[folder.name] = comparable(json.loads(x, parse_float=Decimal) for x in lines)
        return found


def comparable(rows: Iterator[Mapping[str, Any]] | Rows) -> list[str]:
    """Rows as sorted lines; JSON has no columns that are NULL, so these have none either."""
    return sorted(
        ", ".join(f"{name}={_text(row[name])}" for name in sorted(row) if row[name] is not None)
        for row in rows
    )


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def right(rows: Mapping[str, Rows]) -> dict[str, list[str]]:
    """What an oracle says, in the form of ``Shop.out``."""
    return {sink: comparable(found) for sink, found in rows.items()}


def oracle_of(kept: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"oracle_{kept.name}", kept / "oracle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def kept(request: pytest.FixtureRequest) -> Path:
    """A folder of one version."""
    path = request.param
    assert isinstance(path, Path)
    return path


@pytest.fixture
def shop(kept: Path, tmp_path: Path) -> Shop:
    return Shop(kept, tmp_path / "elsewhere")


def test_the_oracle_says_what_the_old_version_gave(kept: Path, shop: Shop) -> None:
    shop.unpack()
    assert shop.out() == right(oracle_of(kept).rows(CUT))


@pytest.mark.spark
def test_a_state_continues_with_its_script_and_with_its_spec_recompiled(
    spark: SparkSession, kept: Path, shop: Shop
) -> None:
    shop.unpack()
    shop.arrive(CUT + 1)
    variables = [f"--var={name}={value}" for name, value in shop.variables.items()]
    options = ["--until-caught-up", f"--state={shop.state}", "--adopt", *variables]
    command = [sys.executable, "-m", "streamc", "run", str(shop.script), *options]
    done = subprocess.run(command, cwd=shop.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    oracle = oracle_of(kept)
    assert shop.out() == right(oracle.rows(CUT + 1))

    shop.arrive(PARTS)
    assert shop.run(spark, shop.compile("shop.stream"))
    assert shop.out() == right(oracle.rows(PARTS))


@pytest.mark.spark
@pytest.mark.long
def test_a_savepoint_is_restored_under_its_spec(
    spark: SparkSession, kept: Path, shop: Shop
) -> None:
    """In the state that it was taken from, which takes the outputs back to it."""
    shop.unpack()
    _import(shop)
    totals = shop.restore(spark, "shop.stream", "before")
    oracle = oracle_of(kept)
    assert shop.out() == right(oracle.rows(PARTS))
    assert comparable(totals) == comparable(oracle.totals(PARTS))


@pytest.mark.long
@pytest.mark.spark
def test_a_savepoint_is_migrated(spark: SparkSession, kept: Path, shop: Shop) -> None:
    """Into a state that it begins; wider windows and gaps, a new aggregate, cell, column."""
    _import(shop)
    totals = shop.restore(spark, "shop_v2.stream", "before", "1-to-2.yaml")
    oracle = oracle_of(kept)
    assert shop.out() == right(oracle.rows_of_new())
    assert comparable(totals) == comparable(oracle.totals(PARTS))


def test_a_plan_is_compared_and_migrated(kept: Path) -> None:
    """To its own spec nothing differs, and all is kept; to the next one, what the file says."""
    written = (kept / "compiled" / "shop.plan.json").read_text(encoding="utf-8")
    old = Plan.from_json(json.loads(written))
    same = plan_in(compiled(kept / "shop.stream", "shop.stream"))
    assert all(f.verdict.value == "kept" for f in plan_migration(old, same).findings())
    assert _changes(old, same) == _changes(same, same)
    new = plan_in(compiled(kept / "shop_v2.stream", "shop.stream"))
    assert _changes(old, new) == _changes(same, new) != _changes(same, same)
    asked = {f.open.path for f in plan_migration(old, new).findings() if f.open is not None}
    assert asked == {
        ("operators", "spend", "rewindow"),
        ("operators", "spend", "accept", "max(amount)"),
        ("operators", "visits", "rewindow"),
        ("operators", "shipped", "set", "left.coupon"),
        ("operators", "reminders", "rename", "parcels"),
    }


def _changes(old: Plan, new: Plan) -> str:
    """What the comparison of two plans says."""
    return changes_text(compare_plans(old, new))


def _import(shop: Shop) -> None:
    archive = str(shop.kept / "before.savepoint")
    done = CliRunner().invoke(app, ["savepoint", "import", archive, "--state", str(shop.state)])
    assert done.exit_code == 0, done.output
