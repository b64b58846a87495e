"""``streamc test``: do the pipelines give the rows that their tests expect?"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...contracts.terminal import print_raw
from ..shared.output import write_if_changed
from ..shared.report import Format, FormatOption, faults, print_diagnostics

if TYPE_CHECKING:
    from ..testing.load import Test
    from ..testing.run import Outcome


def run_spec_tests(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATHS]...", help="Test files, specs, or folders; default: the current folder."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("-k", metavar="NAME", help="Only tests whose name contains this.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write what sinks received into the expectations.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")
    ] = None,
    format: FormatOption = Format.FULL,
) -> None:
    """Run the YAML tests of specs on Spark, each step a micro-batch.

    Exit codes: 0 all as expected, 1 rows differ or a query failed, 2 a test or spec is invalid.
    """
    from ..testing.find import find_tests
    from ..testing.load import load_tests, named

    suite = load_tests(find_tests(paths or [Path()]))
    if any(found.has_errors for found in suite.found):
        print_diagnostics(suite.found, format)
        raise typer.Exit(2)
    tests = named(suite.tests, name) if name else suite.tests
    if update:
        # The rows expected by the test as written; other ways of arrival must give the same.
        tests = [test for test in tests if test.way == test.case.ways[0]]
    if junit is not None:
        from ..testing.junit import junit_xml

        # Before Spark starts: an unwritable path is reported at once, and results of an earlier run
        # can't be mistaken for those of an interrupted one.
        write_if_changed({junit: junit_xml(())})
    outcomes = _run(tests, format)
    if junit is not None:
        write_if_changed({junit: junit_xml(outcomes)})
    if update:
        _update(outcomes)
    raise typer.Exit(_exit_code(outcomes, updated=update))


def _run(tests: Sequence[Test], format: Format) -> list[Outcome]:
    """Run tests and print the outcome of each."""
    from ..testing import report
    from ..testing.run import run_tests

    begun = time.monotonic()
    outcomes: list[Outcome] = []
    file = None
    with faults("stopped before all tests had run"):
        for outcome in run_tests(tests, tell=_tell):
            outcomes.append(outcome)
            if format is Format.CONCISE:
                print(report.outcome_line(outcome), end="", flush=True)
            elif format is Format.FULL:
                if outcome.test.file != file:
                    file = outcome.test.file
                    print(outcome.test.source.name)
                print(report.outcome_text(outcome), end="", flush=True)
    if format is Format.JSON:
        print_raw(report.as_json(outcomes))
    else:
        print(report.summary(outcomes, time.monotonic() - begun), end="")
    return outcomes


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _update(outcomes: Iterable[Outcome]) -> None:
    """Write the actual rows of sinks into the test files, for review."""
    from ...compiler.spec_tests.update import updated

    texts: dict[Path, str] = {}
    for file, group in groupby(outcomes, key=lambda outcome: outcome.test.file):
        of_file = list(group)
        old = of_file[0].test.source.text
        new = updated(old, [c.comparison for outcome in of_file for c in outcome.checked])
        if new != old:
            # Line ends are kept, whatever they are.
            dos = b"\r\n" in file.read_bytes()
            texts[file] = new.replace("\n", "\r\n") if dos else new
    for path in write_if_changed(texts):
        print(f"{path} is updated: review the diff")


def _exit_code(outcomes: Sequence[Outcome], *, updated: bool) -> int:
    faults = [outcome.fault.exit_code for outcome in outcomes if outcome.fault is not None]
    differs = any(
        not updated or one.comparison.expect.contains
        for outcome in outcomes
        for one in outcome.failures
    )
    return max([*faults, int(differs)])
