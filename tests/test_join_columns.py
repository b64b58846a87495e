"""Which columns a join buffers: conditions on one side are evaluated before buffering."""

from __future__ import annotations

import pytest
from compiled import compiled_text, plan_in

SPEC = """\
CREATE SOURCE e (id STRING NOT NULL, w BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'in/e', format = 'json');
CREATE SOURCE f (id STRING NOT NULL, x BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'in/f', format = 'json');
CREATE STREAM pairs AS
  SELECT {items} FROM e AS a {kind} JOIN f AS b
  ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 2 MINUTES AND {condition};
CREATE SINK out FROM pairs WITH (connector = 'memory');
"""
ONE, BOTH = "a.w > 1 AND b.x > 2", "a.w > b.x"


@pytest.mark.parametrize(
    ("items", "kind", "condition", "waiting"),
    [
        ("a.id", "", ONE, "id ts, id ts"),
        ("a.id", "LEFT", ONE, "id w ts, id ts"),
        ("a.id", "RIGHT", ONE, "id ts, id x ts"),
        ("a.id", "FULL", ONE, "id w ts, id x ts"),
        ("a.id", "", BOTH, "id w ts, id x ts"),
        ("a.w, b.x", "", ONE, "id w ts, id x ts"),
    ],
)
def test_columns_of_one_sides_conditions_wait_where_its_rows_are_kept_anyhow(
    items: str, kind: str, condition: str, waiting: str
) -> None:
    text = SPEC.format(items=items, kind=kind, condition=condition)
    plan = plan_in(compiled_text(text, "pairs.stream"))
    (use,) = plan.queries["pairs"].operators
    sides = [" ".join(column.name for column in side) for side in use.columns or ()]
    assert ", ".join(sides) == waiting


@pytest.mark.parametrize(
    ("kind", "waiting"),
    [
        ("", "id ts, id ts"),
        ("LEFT", "id ts, id x ts"),
        ("RIGHT", "id w ts, id ts"),
        ("FULL", "id w ts, id x ts"),
    ],
)
def test_columns_of_conditions_after_a_join_wait_where_a_side_may_be_missing(
    kind: str, waiting: str
) -> None:
    condition = "TRUE WHERE a.w > 1 AND b.x > 2"
    text = SPEC.format(items="a.id", kind=kind, condition=condition)
    plan = plan_in(compiled_text(text, "pairs.stream"))
    (use,) = plan.queries["pairs"].operators
    sides = [" ".join(column.name for column in side) for side in use.columns or ()]
    assert ", ".join(sides) == waiting
