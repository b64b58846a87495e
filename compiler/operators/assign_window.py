"""A window assigned row by row."""

from __future__ import annotations

from ...dsl.ast.expressions import Expression
from ..model.steps import AssignWindow, Window
from ..pyspark.layout import Chain
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand, references
from .rows.origins import Branches, Terms, reference
from .windows import STRUCT, assigned, window_words


class AssignWindowKind(RowKind[AssignWindow]):
    """Each row with its window, once for each of its windows."""

    step = AssignWindow

    def lines(self, step: AssignWindow) -> list[str]:
        return [f"assign {step.window}"]

    def words(self, step: AssignWindow) -> str:
        return f"{window_words(step.window)} of each row"

    def reads(self, step: AssignWindow, heads: frozenset[str]) -> tuple[Expression]:
        return (step.window.column.expression,)

    def windows(self, step: AssignWindow) -> tuple[Window, ...]:
        return (step.window,)

    def identity(self, step: AssignWindow, before: Identity | None) -> None:
        return None

    def script(self, step: AssignWindow, rows: Chain) -> Chain:
        return assigned(step.window, rows)

    def columns(self, step: AssignWindow, before: Columns) -> Columns:
        return {**before, step.window.struct: STRUCT}

    def needs(self, step: AssignWindow, demand: Demand) -> Demand:
        wanted = frozenset(parts for parts in demand.whole if parts[0] != step.window.struct)
        return Demand(wanted | references([step.window.column.expression]))

    def branches(self, step: AssignWindow, before: Branches) -> Branches:
        window = step.window
        shape = f"{window.kind} {window.size}{f' by {window.slide}' if window.slide else ''}"
        added: Terms = {(window.struct,): reference(window.struct)}
        return tuple(
            branch.filtered(f"{shape} on {branch.text(window.column.expression)}").called(
                {**branch.terms, **added}
            )
            for branch in before
        )
