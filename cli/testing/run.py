"""Tests on one Spark, one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...compiler.cases.compare import Comparison, compare
from ...compiler.cases.model import (
    Advance,
    Case,
    Drain,
    Expect,
    Fill,
    Restart,
    Rollback,
    Rows,
)
from ...compiler.cases.ways import BATCHES, arranged, with_crashes
from ...compiler.driver import output_files
from ...runtime.errors import RuntimeFault
from ...runtime.steps import StepRun, step_run, step_spark
from ..output import write_if_changed
from .load import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Checked:
    """What a sink got at one expectation; ``number`` is that of the step."""

    number: int
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test ended: every expectation that it came to, and the fault that stopped it."""

    test: Test
    checked: tuple[Checked, ...]
    fault: RuntimeFault | None
    seconds: float

    @property
    def failures(self) -> tuple[Checked, ...]:
        """The expectations that do not hold."""
        return tuple(one for one in self.checked if not one.comparison.holds)

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return self.fault is None and not self.failures


def run_tests(
    tests: Sequence[Test],
    *,
    spark: SparkSession | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Outcome]:
    """Run tests on ``spark``, or on a Spark that is started for them; yield each as it ends.

    Nothing of the user's is written: each test has a folder of its own, which is removed. ``tell``
    gets a line when there is something to wait for. Raises ``RuntimeFault`` if Spark can't be had.
    """
    with TemporaryDirectory(prefix="streamc-test-") as folder:
        root = Path(folder).resolve()
        with step_spark(root / "spark", spark) as base:
            for number, test in enumerate(tests):
                yield _run(test, root / str(number), base, tell)


def _run(test: Test, root: Path, spark: SparkSession, tell: Callable[[str], None]) -> Outcome:
    begun = time.monotonic()
    checked: list[Checked] = []
    fault = None
    try:
        with _started(test, root, spark, tell) as run:
            for one in _checks(test.case, test.way, run):
                checked.append(one)
    except RuntimeFault as error:
        fault = error
    return Outcome(test, tuple(checked), fault, time.monotonic() - begun)


@contextmanager
def _started(
    test: Test, root: Path, spark: SparkSession, tell: Callable[[str], None]
) -> Iterator[StepRun]:
    files = output_files(test.compiled, root / "build")
    write_if_changed(files)
    with step_run(
        next(iter(files)),
        root / "run",
        spark,
        variables=test.case.variables,
        profile=test.case.profile,
        folders=(str(test.spec.resolve().parent),),
        tell=tell,
    ) as run:
        yield run


def _checks(case: Case, way: str, run: StepRun) -> Iterator[Checked]:
    batches: list[int] = []
    for placed, crash in with_crashes(arranged(case.steps, way)):
        if isinstance(placed.step, BATCHES):
            batches.append(placed.number)
        match placed.step:
            case Fill(lines):
                run.fill({name: _text(case, name, rows) for name, rows in lines.items()})
            case Rows(lines):
                run.feed(
                    {name: _text(case, name, rows) for name, rows in lines.items()}, crash=crash
                )
            case Advance(instants):
                run.advance(instants, crash=crash)
            case Drain():
                run.drain(crash=crash)
            case Restart():
                run.restart()
            case Rollback(first):
                # Put together with steps before, its batch has the number of the first of them.
                run.rollback(max(sum(number >= first for number in batches), 1))
            case Expect() as expect:
                rows = run.state(expect.sink) if expect.state else run.take(expect.sink)
                yield Checked(placed.number, compare(expect, rows))


def _text(case: Case, name: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    return "".join(f"{line}\n" for line in (*case.first_lines.get(name, ()), *rows))
