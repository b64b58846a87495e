"""Keyed programs: the record of each key, the entries of its cells, and rows that wait."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ....contracts.migration import OperatorChange
from ....contracts.plan import Deduplication, Operator, Program, inputs_of
from ....contracts.savepoint import SavedOperator
from ...base.options import quoted
from ...kernel.load import java_list
from ...plan.plan import UseOf
from ...state_tables.program_state import RECORD, program_schema, program_tables
from ...state_tables.stores import NewStores
from ...state_tables.tables import STATE, Kept, Stores
from ..conversion import Conversion, key_columns, made_expiry, made_keys, with_expiry
from ..counts import Counted, Equation, FlowOf, PlanNode
from ..filling import Filled
from ..kind import OperatorKind
from ..layout_lines import (
    NOTHING,
    Line,
    SparkOperator,
    keys_line,
    normal_type,
    without_window,
)
from .conversions import program_conversions
from .converted import converted_program
from .filling import filled_program
from .rows import placed_rows
from .ttl import gets_lifetimes, woken

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Use = UseOf[Program]


class ProgramKind(OperatorKind[Program]):
    """A table of records, one for each cell with entries, and one of rows that wait."""

    operator = Program
    spark_name = Program.KIND
    closes_with_window = False

    def layout(self, use: Use, found: SparkOperator) -> Iterator[Line]:
        """Cells by their names, whatever their order, and timers."""
        program = use.operator
        planned_keys = without_window(program.keys)
        yield keys_line(planned_keys, without_window(found.keys), exact=True)
        planned = {cell.id: cell.type or "?" for cell in program.cells}
        seen = {cell.name: str(cell.type) for cell in found.cells}
        for name in dict.fromkeys([*planned, *seen]):
            left, right = (
                f"cell {name} {normal_type(side[name])}" if name in side else NOTHING
                for side in (planned, seen)
            )
            yield Line(left, right, left == right)
        timers = [timer.id for timer in program.timers]
        left, right = (f"timers ({', '.join(names)})" for names in (timers, found.timers))
        yield Line(left, right, left == right)

    def read(self, stores: Stores, use: Use) -> Kept:
        return program_tables(stores, use.operator)

    def restore(self, stores: NewStores, use: Use, tables: Mapping[str, DataFrame]) -> int:
        frame = stores.frame(use.operator.id)
        assert frame is not None
        schema = program_schema(stores.kernel, frame)
        rows = placed_rows(schema, tables, use.operator, stores.partitions)
        found = java_list(stores.spark._jvm, [one._jdf for one in rows])
        session, place = stores.spark._jsparkSession, (stores.checkpoint, stores.number)
        begun: int = stores.kernel.StateWriter.begin(session, *place, frame._jdf, found)
        return begun

    def takes_its_state(self, operator: Program) -> bool:
        return operator.handlers == "python"

    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        rows, late, arrived = flow(node.below).rows, node.count("late"), node.count("arrived")
        counts = {"in": rows, "out": node.out, "late": late, "handled": node.count("handled")}
        equation = Equation(place, {"in": rows}, {"late": late, "arrived": arrived})
        return Counted(counts, None, [equation])

    def depends_on_batches(self, operator: Program) -> bool:
        return not operator.ordered

    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        """All that a key has whose record fulfils it."""
        record = tables[RECORD].where(condition)
        return {
            name: record if name == RECORD else _of_keys(table, record, keys)
            for name, table in tables.items()
        }

    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Program,
    ) -> Iterator[Conversion]:
        if change.kind == Deduplication.KIND:
            made = (*made_keys(change), made_expiry(change))
            yield Conversion(RECORD, tables[RECORD], saved.keys, ("kept_at", "forget"), made)
            return
        yield from program_conversions(tables, saved, change)

    def converted(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Program,
        new: Operator,
    ) -> dict[str, DataFrame]:
        if change.kind == Deduplication.KIND:
            return {STATE: with_expiry(tables[RECORD], change)}
        made = converted_program(tables, saved, change, (inputs_of(old), inputs_of(new)))
        if gets_lifetimes(change, old, new):
            made[RECORD] = woken(made, key_columns(change)[1], new)
        return made

    def reads(self, change: OperatorChange) -> tuple[()]:
        return ()

    def alive(self, change: OperatorChange, use: Use) -> OperatorChange:
        return change

    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: Program,
    ) -> Filled:
        return filled_program(tables, there, cells, operator)


def _of_keys(table: DataFrame, record: DataFrame, keys: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as F

    named = {key: f".kept {number}" for number, key in enumerate(keys)}
    kept = record.select(*(F.col(quoted(key)).alias(name) for key, name in named.items()))
    same = " AND ".join(f"{quoted(key)} <=> {quoted(name)}" for key, name in named.items())
    return table.join(kept, F.expr(same), "left_semi")
