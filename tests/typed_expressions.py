"""Expressions as text, checked against a relation that has a column of every kind of type."""

from __future__ import annotations

from dataclasses import dataclass

from streamc.compiler.model import types as t
from streamc.compiler.model.typed import Typed
from streamc.compiler.resolve.expressions.resolve import (
    Clause,
    FoundAggregate,
    check_with_aggregates,
)
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast import statements as st
from streamc.dsl.ast.node import Name
from streamc.dsl.parsing.parse import parse
from streamc.dsl.reports.diagnostics import Diagnostic, Diagnostics
from streamc.dsl.reports.source import SourceFile, Span

COLUMNS: dict[str, t.Type] = {
    "bool": t.BOOLEAN,
    "tiny": t.TINYINT,
    "small": t.SMALLINT,
    "i": t.INT,
    "big": t.BIGINT,
    "f": t.FLOAT,
    "d": t.DOUBLE,
    "m": t.Decimal(12, 2),
    "fine": t.Decimal(38, 18),
    "wide": t.Decimal(38, 0),
    "s": t.STRING,
    "raw": t.BINARY,
    "day": t.DATE,
    "ts": t.TIMESTAMP,
    "ntz": t.TIMESTAMP_NTZ,
    "span": t.IntervalType("HOUR", "MINUTE"),
    "days": t.IntervalType("DAY", "DAY"),
    "months": t.IntervalType("MONTH", "MONTH"),
    "tags": t.Array(t.STRING),
    "nums": t.Array(t.INT),
    "dict": t.Map(t.STRING, t.INT),
    "rec": t.Struct((t.Field("x", t.INT), t.Field("y", t.STRING))),
    "v": t.VARIANT,
}
"""The columns of the relation; all of them may be NULL."""


@dataclass(frozen=True)
class Checked:
    """What checking an expression gave."""

    value: Typed
    diagnostics: tuple[Diagnostic, ...]
    aggregates: tuple[FoundAggregate, ...]

    @property
    def type(self) -> str:
        return str(self.value.type)

    @property
    def codes(self) -> list[str]:
        return [diagnostic.code.slug for diagnostic in self.diagnostics]


class _Columns:
    """The scope of the relation: names without regard to case, fields of structs."""

    def column(self, ref: e.ColumnRef) -> Typed | None:
        type_ = COLUMNS[ref.parts[0].text.lower()]
        for part in ref.parts[1:]:
            assert isinstance(type_, t.Struct)
            field = type_.field(part.text)
            assert field is not None
            type_ = field.type
        return Typed(ref, type_)

    def knows(self, name: str) -> bool:
        return name.lower() in COLUMNS

    def event_times(self) -> tuple[Typed, ...]:
        ref = e.ColumnRef(Span(0, 0), (Name(Span(0, 0), "ts"),))
        return (Typed(ref, t.TIMESTAMP, nullable=False),)


def checked(text: str, clause: str = "SELECT", *, aggregates: bool = True) -> Checked:
    """Parse an expression and check it in a clause."""
    source = SourceFile("x.stream", f"CREATE STREAM s AS SELECT {text} AS x FROM t;")
    parsed = parse(source)
    assert parsed.spec is not None and not parsed.diagnostics, text
    statement = parsed.spec.statements[0]
    assert isinstance(statement, st.CreateStream)
    node = statement.query.branches[0].items[0].expression
    diagnostics = Diagnostics(source)
    value, found = check_with_aggregates(node, _Columns(), Clause(clause, aggregates), diagnostics)
    return Checked(value, tuple(diagnostics), found)
