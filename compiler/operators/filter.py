"""WHERE and HAVING."""

from __future__ import annotations

from ...dsl.format import sql
from ..model.steps import Filter
from ..pyspark import columns
from ..pyspark.layout import Call, Chain
from .kind import RowKind


class FilterKind(RowKind[Filter]):
    """The rows for which a condition is true."""

    step = Filter

    def lines(self, step: Filter) -> list[str]:
        return [f"filter {sql(step.condition.expression)}"]

    def words(self, step: Filter) -> str:
        return "filter"

    def script(self, step: Filter, rows: Chain) -> Chain:
        return rows.then(Call("where", (columns.condition(step.condition.expression),)))
