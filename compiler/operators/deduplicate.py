"""DISTINCT ON."""

from __future__ import annotations

from ..model.steps import Deduplicate
from ..pyspark.layout import Call, Chain
from ..pyspark.literals import quoted
from .kind import OperatorKind, RowKind


class DeduplicateKind(RowKind[Deduplicate], OperatorKind[Deduplicate]):
    """The first row of each key, which is remembered for a while."""

    step = Deduplicate

    def lines(self, step: Deduplicate) -> list[str]:
        keys = ", ".join(key.name for key in step.keys)
        return [f"deduplicate {step.id} by {keys} within {step.within}"]

    def words(self, step: Deduplicate) -> str:
        return f"first row of each {', '.join(k.name for k in step.keys)} within {step.within}"

    def says(self, step: Deduplicate) -> tuple[()]:
        return ()

    def script(self, step: Deduplicate, rows: Chain) -> Chain:
        keys = ", ".join(quoted(key.name) for key in step.keys)
        return rows.then(Call("dropDuplicatesWithinWatermark", (f"[{keys}]",)))
