"""A join with a table."""

from __future__ import annotations

from ...dsl.format import sql
from ..model.steps import Lookup
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import RowKind


class LookupKind(RowKind[Lookup]):
    """Each row with the rows of a table as it is then."""

    step = Lookup

    def lines(self, step: Lookup) -> list[str]:
        left = f"{step.left} " if step.left is not None else ""
        lines = [f"{step.join} lookup {left}in {step.table} as {step.alias}"]
        return [*lines, f"  on {sql(step.condition.expression)}"]

    def words(self, step: Lookup) -> str:
        return f"{step.join} lookup in {step.table}"

    def script(self, step: Lookup, rows: Chain) -> Chain:
        arguments = (
            f"{step.table}.alias({quoted(step.alias)})",
            columns.on(step.condition.expression),
            quoted(step.join),
        )
        if step.left is not None:
            rows = rows.then(Call("alias", (quoted(step.left),)))
        return rows.then(Call("join", arguments, open=True))
