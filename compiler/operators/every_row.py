"""All rows, whatever is asked of the result."""

from __future__ import annotations

from ..model.steps import EveryRow
from ..pyspark.layout import Call, Chain
from .kind import RowKind


class EveryRowKind(RowKind[EveryRow]):
    """Rows that no filter above an aggregate may keep from moving the watermark."""

    step = EveryRow

    def lines(self, step: EveryRow) -> list[str]:
        return ["every row"]

    def words(self, step: EveryRow) -> str:
        return ""

    def script(self, step: EveryRow, rows: Chain) -> Chain:
        return rows.then(Call("transform", ("job.every_row",)))
