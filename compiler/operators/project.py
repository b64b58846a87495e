"""A select list."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.ast import expressions as e
from ..model.steps import WINDOW_STRUCTS, Project
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand, references
from .rows.origins import Branches, substitute

_LITERALS = (e.BooleanLiteral, e.NumberLiteral, e.StringLiteral, e.TypedLiteral)


class ProjectKind(RowKind[Project]):
    """New columns; the script shows them, so there are no words."""

    step = Project

    def lines(self, step: Project) -> list[str]:
        return ["project", *(f"  {column}" for column in step.columns)]

    def words(self, step: Project) -> str:
        return ""

    def reads(self, step: Project, heads: frozenset[str]) -> Iterator[e.Expression]:
        return (c.value.expression for c in step.columns if c.name in heads)

    def windows(self, step: Project) -> tuple[()]:
        return ()

    def identity(self, step: Project, before: Identity | None) -> Identity | None:
        if before is None:
            return None
        heads = {c.name: _column_of(c.value.expression) for c in step.columns}
        constants = {c.name for c in step.columns if isinstance(c.value.expression, _LITERALS)}
        constants |= {name for name, head in heads.items() if head in before.constants}
        parts = tuple(
            frozenset(name for name, head in heads.items() if head in part) for part in before.parts
        )
        return Identity(parts, before.words, frozenset(constants))

    def script(self, step: Project, rows: Chain) -> Chain:
        return rows.then(Call("select", tuple(map(columns.output, step.columns)), open=True))

    def columns(self, step: Project, before: Columns) -> Columns:
        return {column.name: column.value.type for column in step.columns}

    def needs(self, step: Project, demand: Demand) -> Demand:
        return Demand(references(self.reads(step, demand.heads)))

    def branches(self, step: Project, before: Branches) -> Branches:
        return tuple(
            branch.called(
                {(c.name,): substitute(c.value.expression, branch.terms) for c in step.columns}
            )
            for branch in before
        )


def _column_of(expression: e.Expression) -> str | None:
    """Return the column that an expression passes on; start, end and time represent a window."""
    match expression:
        case e.ColumnRef(_, (only,)):
            return only.text
        case e.ColumnRef(_, (head, _)) if head.text in WINDOW_STRUCTS:
            return head.text
        case e.Call() if expression.name.text == "window_time":
            argument = expression.arguments[0]
            return _column_of(argument) if isinstance(argument, e.Expression) else None
    return None
