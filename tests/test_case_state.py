"""What a test expects of an operator's state: the cells that are compared, and mistakes in it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from streamc.cli.testing.load import load_tests
from streamc.compiler.spec_tests.compare import compare
from streamc.compiler.spec_tests.model import Expect
from streamc.dsl.reports.render import render
from test_spec_tests import beside

__all__ = ["beside"]

OPERATOR = """
CREATE OPERATOR watched ON payments PARTITION BY card_id ORDER BY paid_at
  STATE (total DECIMAL(12, 2), seen SET<INT>)
  TIMERS (due EVENT TIME)
  RETURNS (card_id STRING, at TIMESTAMP)
AS
ON EVENT
  SET total = amount;
  ADD 1 TO seen;
  START TIMER due AT paid_at;
ON TIMER due
  EMIT card_id, due;
  CLEAR STATE;
END;
CREATE SINK ends FROM watched WITH (connector = 'console');
"""


def test_state_is_looked_at_in_the_cells_that_rows_name(beside: Callable[[str], Path]) -> None:
    file = beside(
        "steps:\n"
        "  - state:\n"
        "      watched: [{card_id: a, total: 5, seen: [1]}, {card_id: b, total: 1, seen: []}]\n"
        "  - state: {watched: [{card_id: a, due: null, waiting: 2}]}\n"
        "  - state: {watched: []}\n"
    )
    with Path("spend.stream").open("a", encoding="utf-8") as spec:
        spec.write(OPERATOR)
    suite = load_tests([file])
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    found = [p.step for p in suite.tests[0].case.steps if isinstance(p.step, Expect)]
    assert [[c.name for c in one.columns] for one in found] == [
        ["card_id", "total", "seen"],
        ["card_id", "due", "waiting"],
        ["card_id"],
    ]
    first = compare(found[0], [{"card_id": "a", "total": Decimal("5.00"), "seen": [1]}])
    assert (first.matched, first.missing, first.unexpected) == (((0, 0),), (1,), ())
    assert not compare(found[2], [{"card_id": "c"}]).holds


def test_cells_that_are_not_known_are_reported(beside: Callable[[str], Path]) -> None:
    file = beside(
        "steps:\n"
        "  - state: {watched: [{card_id: a, totals: 5}]}\n"
        "  - state: {watched: [{card_id: a, total: 5}, {card_id: b, seen: [1]}]}\n"
        "  - state: [watched]\n"
        "  - state: {watch: []}\n"
    )
    with Path("spend.stream").open("a", encoding="utf-8") as spec:
        spec.write(OPERATOR)
    suite = load_tests([file])
    told = [d.message for found in suite.found for d in found]
    assert told == [
        "`totals` is not a column of `watched`",
        "the row has no `seen`, which `watched` has",
        "the row has no `total`, which `watched` has",
        "`state` is a list, not a mapping of operators to rows",
        "`watch` is not an operator",
    ]
