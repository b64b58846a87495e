"""Rows that a source does not let pass."""

from __future__ import annotations

from ...dsl.format import sql
from ..model.steps import SideRows
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from ..pyspark.variables import unfiltered
from .kind import RootKind


class SideRowsKind(RootKind[SideRows]):
    """A side stream: the rows of a source that are malformed, or ahead of the clock."""

    step = SideRows

    def lines(self, step: SideRows) -> list[str]:
        condition = "" if step.condition is None else f": {sql(step.condition.expression)}"
        return [f"{step.policy} rows of {step.source}{condition}"]

    def words(self, step: SideRows) -> str:
        if step.policy == "malformed":
            return f"malformed rows of {step.source}"
        return f"rows of {step.source} that are ahead of the clock"

    def frame(self, step: SideRows) -> Chain:
        if step.condition is None:
            return Chain(Call("job.malformed_rows", (quoted(step.source),)))
        condition = columns.condition(step.condition.expression)
        return Chain(unfiltered(step.source), (Call("where", (condition,)),))
