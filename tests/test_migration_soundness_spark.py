"""Random pipelines, random edits anywhere in them: a plan without questions is exact.

The right rows are those of the new version run from the beginning: after the cut, a run that
continues from a savepoint must give exactly the same rows.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from compiled import plan_in, written
from pipelines_at_random import CARDS, batches, edited, module_folder, pipeline
from streamc.compiler.driver import CompileResult, compile_source
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.compiler.migrate.results.text import plan_text
from streamc.contracts.migration import Migration
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.stepping.runs import step_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Versions = tuple[CompileResult, CompileResult]


def version(text: str) -> CompileResult:
    """What a text compiles to next to the module that it calls."""
    folder = Path(__file__).parent / "scoring" / module_folder(text)
    return compile_source(SourceFile("chained.stream", text, folder))


def versions(draw: random.Random) -> Versions:
    """A pipeline that compiles, and an edit of it that does."""
    while True:
        text = pipeline(draw)
        old = version(text.replace("{version}", "1"))
        if old.plan_json is None:
            continue
        for _ in range(20):
            new = version(edited(text, draw))
            if new.plan_json is not None:
                return old, new


def silent(pair: Versions) -> Migration | None:
    """The document of a plan that asks and reports nothing; None for all others.

    Edits of a handler are reported, not asked about: other statements are intended.
    """
    plan = plan_migration(*map(plan_in, pair))
    told_of = any(f.marked or f.part == "handlers" for f in plan.findings())
    if plan.exit_code != 0 or told_of:
        return None
    return document(plan)


def code(version: CompileResult) -> list[str]:
    """The lines of a script, but for comments."""
    lines = (version.script or "").splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


def check(spark: SparkSession, pair: Versions, migration: Migration, draw: random.Random) -> None:
    """Compare what comes out after a cut with and without a savepoint there."""
    read = plan_in(pair[0]).sources
    steps = [
        {name: rows for name, rows in step.items() if name in read}
        for step in batches(draw, *(one.source.text for one in pair))
    ]
    cut = draw.randint(1, len(steps) - 1)
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        paths = []
        for number, one in enumerate(pair):
            folder = root / f"script-{number}"
            folder.mkdir()
            paths.append(written(one, folder))
        with ran(pair[1], paths[1], root / "run-right", spark) as run:
            for step in steps[:cut]:
                run.feed(step)
            run.take("out")
            right = behind(run, steps[cut:])
        with ran(pair[0], paths[0], root / "run-old", spark) as run:
            for step in steps[:cut]:
                run.feed(step)
            run.take("out")
            handed_on = run.hand_on(root / "savepoint")
        with ran(pair[1], paths[1], root / "run-new", spark, partitions=3) as run:
            run.begin(handed_on, migration)
            found = behind(run, steps[cut:])
    assert found == right, told(pair)


@contextmanager
def ran(
    version: CompileResult, script: Path, root: Path, spark: SparkSession, partitions: int = 2
) -> Iterator[Any]:
    """A run of a version by steps, with its tables filled and its own module."""
    sys.modules.pop("scoring", None)
    folders = (str(version.source.folder),)
    with step_run(script, root, spark, folders=folders, partitions=partitions) as run:
        if "cards" in plan_in(version).tables:
            run.fill({"cards": CARDS})
        yield run


def behind(run: Any, steps: Sequence[Mapping[str, str]]) -> Counter[str]:
    for step in steps:
        run.feed(step)
    run.drain()
    return Counter(json.dumps([*row.values()], default=str) for row in run.take("out"))


def told(pair: Versions) -> str:
    texts = [one.source.text for one in pair]
    plan = plan_migration(*map(plan_in, pair))
    return "\n".join(["other rows come out", *texts, plan_text(plan)])


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000))
def test_what_is_kept_without_a_word_is_exact(seed: int, spark: SparkSession) -> None:
    draw = random.Random(seed)
    pair = versions(draw)
    migration = silent(pair)
    # The same script does the same, whatever its comments say.
    if migration is not None and code(pair[0]) != code(pair[1]):
        check(spark, pair, migration, draw)
