"""Outcomes of tests as text, as one line each, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...compiler.spec_tests.differences import difference_lines, headline
from ...compiler.spec_tests.values import json_text as spark_json
from ..shared.output import json_text
from .run import Checked, Outcome

if TYPE_CHECKING:
    from ...contracts.outputs import specs as outputs

_INDENT = "        "


def outcome_text(outcome: Outcome) -> str:
    """Return a test's line, and under it what is not as expected."""
    lines = [f"  {_word(outcome):<4}  {outcome.test.name}"]
    lines.extend(f"{_INDENT}{line}".rstrip() for line in failure_lines(outcome))
    return "\n".join(lines) + "\n"


def outcome_line(outcome: Outcome) -> str:
    """Return one line: file, line, what happened, name, and the first failure."""
    line, column = outcome.test.source.position(outcome.test.case.span.start)
    where = f"{outcome.test.source.name}:{line}:{column}"
    told = f"{where}: {_word(outcome)} {outcome.test.name}"
    if outcome.failures:
        first = outcome.failures[0]
        told += f": step {first.number}, {_short(first)}: "
        told += headline(first.comparison)
    elif outcome.fault is not None:
        told += f": {outcome.fault.render().splitlines()[0]}"
    return f"{told}\n"


def failure_lines(outcome: Outcome) -> list[str]:
    """Return what is not as expected, with a table of the rows that differ for each sink."""
    lines: list[str] = []
    for one in outcome.failures:
        found = one.comparison
        lines.append(f"step {one.number}, {found.expect.place}: {headline(found)}")
        lines.extend(difference_lines(found))
    if outcome.fault is not None:
        lines.extend(outcome.fault.render().splitlines())
    return lines


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """Return ``4 tests: 3 passed, 1 failed, in 41 s``."""
    failed = sum(not outcome.passed for outcome in outcomes)
    counts = [f"{len(outcomes) - failed} passed", *([f"{failed} failed"] if failed else [])]
    plural = "test" if len(outcomes) == 1 else "tests"
    return f"{len(outcomes)} {plural}: {', '.join(counts)}, in {seconds:.0f} s\n"


def as_json(outcomes: Iterable[Outcome]) -> str:
    """Return all outcomes as ``outputs.Tests``, each with its failed expectations."""
    document: outputs.Tests = {
        "format": 1,
        "kind": "tests",
        "tests": [_object(one) for one in outcomes],
    }
    return json_text(document)


def _word(outcome: Outcome) -> str:
    return "ok" if outcome.passed else "FAIL"


def _object(outcome: Outcome) -> outputs.EndedTest:
    test = outcome.test
    return {
        "file": test.source.name,
        "line": test.source.position(test.case.span.start).line,
        "name": test.name,
        "way": test.way,
        "passed": outcome.passed,
        "seconds": round(outcome.seconds, 3),
        "failures": [_failure(one) for one in outcome.failures],
        "fault": None if outcome.fault is None else outcome.fault.render(),
    }


def _failure(one: Checked) -> outputs.Failure:
    found = one.comparison
    expected = [_plain(row.values) for row in found.expect.rows]
    got = [_plain(row) for row in found.got]
    failure: outputs.Failure = {
        "step": one.number,
        "missing": [expected[place] for place in found.missing],
        "unexpected": [got[place] for place in found.unexpected],
        "changed": [{"expected": expected[a], "got": got[b]} for a, b in found.changed],
        "disordered": found.disordered,
    }
    if found.expect.state:
        failure["operator"] = found.expect.sink
    else:
        failure["sink"] = found.expect.sink
    return failure


def _short(one: Checked) -> str:
    expect = one.comparison.expect
    return expect.place if expect.state else expect.sink


def _plain(row: Any) -> Any:
    return json.loads(spark_json(dict(row)))
