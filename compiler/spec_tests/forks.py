"""The rows of two versions' sinks for the same input, compared by key and window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...contracts.plan import Plan, keys_of
from ...contracts.records import dataclass
from ...dsl.reports.source import Span
from ...dsl.yaml.nodes import Sequence as Items
from ..model import types as t
from ..model.pipeline import Pipeline
from .compare import Comparison, compare
from .model import Column, Expect, Row
from .values import Value, spark_value

_NOWHERE = Span(0, 0)
_WINDOW = ("window_start", "window_end", "window_time")

Rows = Sequence[Mapping[str, Value]]
"""Rows in Spark's JSON."""


@dataclass(frozen=True, slots=True)
class SinkFork:
    """A sink of both versions; ``only_a`` and ``only_b`` are columns that one of them lacks."""

    name: str
    comparison: Comparison
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether rows or columns differ."""
        return not self.comparison.holds or bool(self.only_a or self.only_b)


def compare_sinks(
    name: str,
    columns: tuple[Sequence[Column], Sequence[Column]],
    keys: Sequence[str],
    rows: tuple[Rows, Rows],
) -> SinkFork:
    """Compare a sink's rows of two versions, in their common columns."""
    ours, theirs = ({c.name: c.type for c in side} for side in columns)
    both = tuple(
        Column(name, _common(type_, theirs[name])) for name, type_ in ours.items() if name in theirs
    )
    expected = tuple(
        Row({c.name: spark_value(row.get(c.name), c.type) for c in both}, _NOWHERE)
        for row in rows[0]
    )
    expect = Expect(name, both, expected, Items((), True, _NOWHERE))
    return SinkFork(
        name,
        compare(expect, rows[1], keys),
        tuple(name for name in ours if name not in theirs),
        tuple(name for name in theirs if name not in ours),
    )


def _common(ours: t.Type, theirs: t.Type) -> t.Type:
    """Return a type in which values of both can be compared."""
    if isinstance(ours, t.Decimal) and isinstance(theirs, t.Decimal):
        return t.Decimal(38, max(ours.scale, theirs.scale))
    return ours if ours == theirs else t.UNKNOWN


def key_columns(plan: Plan, sink: str) -> tuple[str, ...]:
    """Return the columns that identify a sink's rows: keys of its query's operators, windows."""
    found: dict[str, None] = dict.fromkeys(_WINDOW)
    for query in plan.queries.values():
        if sink in query.sinks:
            for use in query.operators:
                found |= dict.fromkeys(key.name for key in keys_of(plan.operators[use.id]))
    return tuple(found)


def sink_columns(pipeline: Pipeline, sink: str) -> tuple[Column, ...]:
    """Return the columns of a sink with their types."""
    relation = next(one.relation for one in pipeline.sinks if one.name == sink)
    schemas = {source.name: source.schema for source in pipeline.sources}
    schemas |= {one.name: one.schema for one in pipeline.relations}
    return tuple(Column(field.name, field.type) for field in schemas[relation])
