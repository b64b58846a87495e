"""Tests on one Spark, one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...compiler.driver import output_files
from ...compiler.spec_tests.compare import Comparison, compare
from ...compiler.spec_tests.model import (
    Advance,
    Case,
    Drain,
    Expect,
    Fill,
    Restart,
    Restore,
    Rollback,
    Rows,
    Save,
    Upgrade,
)
from ...compiler.spec_tests.ways import BATCHES, arranged, with_crashes
from ...runtime.accounting.remarks import Remarks
from ...runtime.base.errors import RuntimeFault
from ...runtime.stepping.runs import step_run, step_spark
from ...runtime.stepping.steps import StepRun
from ..shared.output import write_if_changed
from .load import Test

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from ...contracts.migration import Migration


@dataclass(frozen=True, slots=True)
class Checked:
    """The rows of a sink at one expectation; ``number`` is that of the step."""

    number: int
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a test: every expectation that it reached, and the fault that stopped it."""

    test: Test
    checked: tuple[Checked, ...]
    fault: RuntimeFault | None
    seconds: float

    @property
    def failures(self) -> tuple[Checked, ...]:
        """The failed expectations."""
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
    gets a line when there is something to wait for, and one for each source or table of a spec
    whose numbers are unlikely to be the instants they are read as. Raises ``RuntimeFault`` if Spark
    can't be started.
    """
    # A Spark that keeps running may still be writing a store of a query that has ended.
    with TemporaryDirectory(prefix="streamc-test-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        with step_spark(root / "spark", spark) as base:
            # Every way of arrival finds the same.
            remarks = {test.spec: Remarks(_of(test, tell)) for test in tests}
            for number, test in enumerate(tests):
                yield _run(test, root / str(number), base, tell, remarks[test.spec])


def _of(test: Test, tell: Callable[[str], None]) -> Callable[[str], None]:
    return lambda line: tell(f"{test.spec.name}: {line}")


def _run(
    test: Test,
    root: Path,
    spark: SparkSession,
    tell: Callable[[str], None],
    remarks: Remarks,
) -> Outcome:
    begun = time.monotonic()
    checked: list[Checked] = []
    fault = None
    try:
        with _Runs(test, root, spark, tell, remarks) as runs:
            for one in _checks(test.case, test.way, runs):
                checked.append(one)
    except RuntimeFault as error:
        fault = error
    return Outcome(test, tuple(checked), fault, time.monotonic() - begun)


@dataclass(frozen=True, slots=True)
class _Version:
    files: Mapping[str, str]
    variables: Mapping[str, str]
    profile: str | None
    folder: str


class _Runs(ExitStack):
    """The run of a test, and after a savepoint the run that continues from it."""

    def __init__(
        self,
        test: Test,
        root: Path,
        spark: SparkSession,
        tell: Callable[[str], None],
        remarks: Remarks,
    ) -> None:
        super().__init__()
        self._root = root
        self._spark = spark
        self._tell = tell
        self._remarks = remarks
        self._number = 0
        case, spec = test.case, test.spec.resolve()
        files = {path.name: text for path, text in output_files(test.compiled, Path()).items()}
        self.first_lines = case.first_lines
        self._version = _Version(files, case.variables, case.profile, str(spec.parent))
        self.now = self._started()

    def upgrade(self, upgrade: Upgrade) -> None:
        """Continue with another version from the state of the running one."""
        one = _Version(upgrade.files, upgrade.variables, upgrade.profile, upgrade.folder)
        self._version = one
        self.first_lines = upgrade.first_lines
        self._go_on(upgrade.migration)

    def restore(self) -> None:
        """Continue with the same version on another number of partitions."""
        self._go_on(None)

    def _go_on(self, migration: Migration | None) -> None:
        handed_on = self.now.hand_on(self._root / f"savepoint-{self._number}")
        self._number += 1
        self.now = self._started()
        self.now.begin(handed_on, migration)

    def _started(self) -> StepRun:
        build, version = self._root / f"build-{self._number}", self._version
        write_if_changed({build / name: text for name, text in version.files.items()})
        return self.enter_context(
            step_run(
                build / next(iter(version.files)),
                self._root / f"run-{self._number}",
                self._spark,
                variables=version.variables,
                profile=version.profile,
                folders=(version.folder,),
                partitions=2 + self._number % 2,
                tell=self._tell,
                remarks=self._remarks,
            )
        )


def _checks(case: Case, way: str, runs: _Runs) -> Iterator[Checked]:
    batches: list[int] = []

    def texts(lines: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return {name: _text(runs.first_lines, name, rows) for name, rows in lines.items()}

    for placed, crash in with_crashes(arranged(case.steps, way)):
        if isinstance(placed.step, BATCHES):
            batches.append(placed.number)
        match placed.step:
            case Fill(lines):
                runs.now.fill(texts(lines))
            case Rows(lines):
                runs.now.feed(texts(lines), crash=crash)
            case Advance(instants):
                runs.now.advance(instants, crash=crash)
            case Drain():
                runs.now.drain(crash=crash)
            case Restart():
                runs.now.restart()
            case Restore():
                runs.restore()
                batches.clear()
            case Rollback(first):
                # Merged with earlier steps, its batch has the number of the first of them.
                runs.now.rollback(max(sum(number >= first for number in batches), 1))
            case Upgrade() as upgrade:
                runs.upgrade(upgrade)
            case Expect() as expect:
                kept = runs.now.state if expect.state else runs.now.take
                yield Checked(placed.number, compare(expect, kept(expect.sink)))
            case Save():
                # The state does not change before the upgrade, which follows.
                pass


def _text(first_lines: Mapping[str, Sequence[str]], name: str, rows: Sequence[str]) -> str:
    if not rows:
        return ""
    return "".join(f"{line}\n" for line in (*first_lines.get(name, ()), *rows))
