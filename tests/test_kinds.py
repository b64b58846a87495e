"""Kinds of steps: each step has one, and none is incomplete."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import get_args

import pytest
from compiled import compiled_text
from streamc.compiler.migrate.inputs.upstream import NO_ROWS
from streamc.compiler.migrate.plan import PLANNERS
from streamc.compiler.model.steps import Stateful, Step
from streamc.compiler.operators.kind import OperatorKind, RootKind, RowKind
from streamc.compiler.operators.registry import KINDS
from streamc.contracts.plan import Operator
from streamc.dsl.reports.render import render


def concrete(step: type[Step]) -> Iterator[type[Step]]:
    """Yield the steps that derive from one and that nothing derives from."""
    # A class with slots is created twice, and the first one may still exist.
    below = [
        one
        for one in step.__subclasses__()
        if vars(sys.modules[one.__module__]).get(one.__name__) is one
    ]
    if not below:
        yield step
    for one in below:
        yield from concrete(one)


def test_each_step_has_a_kind() -> None:
    assert set(KINDS) == set(concrete(Step))


def test_each_step_with_state_has_a_class_in_the_plan() -> None:
    stateful = {step.kind for step in concrete(Step) if issubclass(step, Stateful)}
    assert {operator.KIND for operator in get_args(Operator)} == stateful


def test_a_migration_knows_each_operator_of_a_plan() -> None:
    assert set(PLANNERS) == set(get_args(Operator))
    assert set(NO_ROWS) == {operator.KIND for operator in get_args(Operator)}


@pytest.mark.parametrize("interface", [RowKind, RootKind, OperatorKind])
def test_a_kind_that_leaves_a_part_out_cannot_be_made(interface: type) -> None:
    for part in interface.__abstractmethods__:
        (kind,) = [one for one in KINDS.values() if isinstance(one, interface)][:1]
        partial = type("Partial", (type(kind),), {part: getattr(interface, part)})
        with pytest.raises(TypeError, match=part):
            partial()


LATE = """
CREATE SOURCE payments ({columns}, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
  WITH (connector = 'files', path = 'p', format = 'json');
CREATE SOURCE refunds ({columns}, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
  WITH (connector = 'files', path = 'r', format = 'json');
CREATE STREAM paid AS SELECT * FROM payments WHERE card <> '';
CREATE STREAM refunded AS SELECT * FROM refunds WHERE card <> '';
CREATE OPERATOR balance ON {left} AS p PARTITION BY card ORDER BY ts,
  {right} AS r PARTITION BY card ORDER BY ts
  ON LATE ROWS SEND TO late
  STATE (total DOUBLE DEFAULT 0)
  TTL (total INTERVAL 30 DAYS)
  RETURNS (card STRING, total DOUBLE, ts TIMESTAMP)
AS
ON EVENT p SET total = total + p.amount; EMIT card, total, ts;
ON EVENT r SET total = total - r.amount; EMIT card, total, ts;
END;
CREATE SINK balances FROM balance WITH (connector = 'memory');
CREATE SINK lates FROM late WITH (connector = 'memory');
CREATE SINK paid_rows FROM paid WITH (connector = 'memory');
CREATE SINK refunded_rows FROM refunded WITH (connector = 'memory');
"""


def test_late_rows_of_streams_have_their_watermark() -> None:
    columns = "card STRING, amount DOUBLE, ts TIMESTAMP"
    found = compiled_text(LATE.format(columns=columns, left="paid", right="refunded"), "s")
    assert found.graph is not None, render([found.diagnostics])


def test_what_late_rows_need_of_sources_is_known() -> None:
    columns = "card STRING, amount AS RAND(), ts TIMESTAMP"
    found = compiled_text(LATE.format(columns=columns, left="payments", right="refunds"), "s")
    told = [d for d in found.diagnostics if "balance" in d.message and "late" in d.message]
    assert len(told) == 2, render([found.diagnostics])
