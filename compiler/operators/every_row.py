"""All rows, whatever filters the result."""

from __future__ import annotations

from ..model.steps import EveryRow
from ..pyspark.layout import Call, Chain
from .kind import RowKind
from .rows.columns import Columns
from .rows.identity import Identity
from .rows.needed import Demand
from .rows.origins import Branches


class EveryRowKind(RowKind[EveryRow]):
    """Rows that move the watermark whatever a filter above the aggregate drops."""

    step = EveryRow

    def lines(self, step: EveryRow) -> list[str]:
        return ["every row"]

    def words(self, step: EveryRow) -> str:
        return ""

    def reads(self, step: EveryRow, heads: frozenset[str]) -> tuple[()]:
        return ()

    def windows(self, step: EveryRow) -> tuple[()]:
        return ()

    def identity(self, step: EveryRow, before: Identity | None) -> Identity | None:
        return before

    def script(self, step: EveryRow, rows: Chain) -> Chain:
        return rows.then(Call("transform", ("job.every_row",)))

    def columns(self, step: EveryRow, before: Columns) -> Columns:
        return before

    def needs(self, step: EveryRow, demand: Demand) -> Demand:
        return Demand(demand.whole)

    def branches(self, step: EveryRow, before: Branches) -> Branches:
        return before
