"""Joins of two streams: the rows of each side that wait for those of the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...contracts.migration import OperatorChange, SideChange
from ...contracts.plan import Join, Operator, sides_of
from ...contracts.savepoint import SavedOperator
from ..plan.plan import UseOf
from ..state_tables.program_state import POSITION
from ..state_tables.stores import NewStores, StoreRows
from ..state_tables.tables import (
    COUNTED,
    JOINED,
    MATCHED,
    SIDES,
    Kept,
    Stores,
    both,
    fields,
    join_key,
)
from .conversion import Conversion, MadeColumn, column
from .counts import Counted, Equation, FlowOf, PlanNode
from .filling import Filled
from .kind import OperatorKind
from .layout_lines import Line, SparkOperator, keys_line, side_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Use = UseOf[Join]


class JoinKind(OperatorKind[Join]):
    """A table a side: keys by their places, the columns of a row, whether it has had a partner."""

    operator = Join
    spark_name = Join.KIND
    closes_with_window = False

    def layout(self, use: Use, found: SparkOperator) -> Iterator[Line]:
        kept = use.sides or ((), ())
        for planned, columns, seen in zip(use.operator.sides, kept, found.sides, strict=True):
            yield keys_line(planned.keys, seen.keys, exact=True)
            yield side_line(columns, seen.columns)

    def read(self, stores: Stores, use: Use) -> Kept:
        tables: dict[str, DataFrame] = {}
        for side, planned in zip(SIDES, use.operator.sides, strict=True):
            store = stores.read(JOINED.format(side=side))
            names = [*_keys(len(planned.keys)), POSITION]
            tables[side] = both(store, names, fields(store, "value"))
        first = _keys(len(use.operator.sides[0].keys))
        return Kept(tables, first, tuple(tables[SIDES[0]].columns[len(first) :]))

    def restore(self, stores: NewStores, use: Use, tables: Mapping[str, DataFrame]) -> int:
        made = (one for side in SIDES for one in _side_rows(stores, side, tables[side]))
        return sum(map(stores.replace, made))

    def takes_its_state(self, operator: Join) -> bool:
        return False

    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        left, right = (flow(side).rows for side in node.inputs)
        late, added = node.count("late"), node.count("updated")
        removed = node.count("removed")
        given, taken = {"late": late, "added": added}, {"left": left, "right": right}
        counts = {"in": left + right, "in_left": left, "in_right": right, "out": node.out}
        counts |= {"late": late, "added": added, "unkept": left + right - late - added}
        return Counted(
            {**counts, "expired": removed},
            {"added": added, "expired": -removed},
            [Equation(place, given, taken, at_most=True)],
            # Spark does not count the rows that leave on an outer side.
            at_most=node.mode != "INNER",
        )

    def depends_on_batches(self, operator: Join) -> bool:
        return False

    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        return dict(tables)

    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Join,
    ) -> Iterator[Conversion]:
        for side, was, new in _changed_sides(change):
            names = _old_keys(old, was)
            key = f"{side} key"
            made = [
                *(MadeColumn(key, names[n], sql, is_key=True) for n, sql in enumerate(new.keys)),
                *(MadeColumn(f"{side}.{one.name}", one.name, one.expr) for one in new.columns),
            ]
            kept = {*_keys(len(names)), POSITION, MATCHED}
            columns = tuple(name for name in tables[was].columns if name not in kept)
            rows = _seen(tables[was], names)
            yield Conversion(side, rows, tuple(names), columns, tuple(made))

    def converted(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Join,
        new: Operator,
    ) -> dict[str, DataFrame]:
        return {
            side: _converted_side(tables[was], said, _old_keys(old, was))
            for side, was, said in _changed_sides(change)
        }

    def reads(self, change: OperatorChange) -> Iterator[tuple[str, Sequence[str]]]:
        for _, was, said in _changed_sides(change):
            for one in said.columns:
                yield was, one.reads

    def alive(self, change: OperatorChange, use: Use) -> OperatorChange:
        kept = [{column.name for column in side} for side in use.sides]
        sides = (
            replace(side, columns=tuple(one for one in side.columns if one.name in names))
            for side, names in zip(change.sides, kept, strict=True)
        )
        return replace(change, sides=tuple(sides))

    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: Join,
    ) -> Filled:
        raise AssertionError(f"{operator.id} has no cells: it is computed again as a whole")


def _side_rows(stores: NewStores, side: str, table: DataFrame) -> Iterator[StoreRows]:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    name = JOINED.format(side=side)
    store = stores.read(name)
    keys = _keys(len(fields(store, "key")) - 1)
    order = Window.partitionBy(*keys).orderBy(POSITION)
    # The rows of a key are numbered from zero, and their count is stored separately.
    numbered = table.withColumn(POSITION, F.row_number().over(order).cast("bigint") - 1)
    rows = stores.rows(store, numbered, [*keys, POSITION], fields(store, "value"))
    yield StoreRows(stores.spread(rows, keys), name)
    counts = table.groupBy(*keys).agg(F.count(F.lit(1)).alias("value"))
    counted = COUNTED.format(side=side)
    rows = stores.rows(stores.read(counted), counts, keys, ["value"])
    yield StoreRows(stores.spread(rows, keys), counted)


def _converted_side(table: DataFrame, new: SideChange, names: Sequence[str]) -> DataFrame:
    keys = [column(expr, join_key(place)) for place, expr in enumerate(new.keys)]
    columns = [column(one.expr, one.name) for one in new.columns]
    return _seen(table, names).select(*keys, POSITION, *columns, MATCHED)


def _changed_sides(change: OperatorChange) -> Iterator[tuple[str, str, SideChange]]:
    """Yields each side of a join with the old side of its rows, and its change."""
    for side, said in zip(SIDES, change.sides, strict=True):
        yield side, said.old or side, said


def _seen(table: DataFrame, names: Sequence[str]) -> DataFrame:
    """Rows that wait in a join, with their keys by their names in the plan: `payments.id`."""
    from pyspark.sql import functions as F

    for place, name in enumerate(names):
        table = table.withColumn(name, F.col(join_key(place)))
    return table


def _old_keys(old: Join, side: str) -> list[str]:
    """The names of a side's keys in the old plan."""
    return [key.name for key in sides_of(old)[SIDES.index(side)].keys]


def _keys(count: int) -> tuple[str, ...]:
    return tuple(map(join_key, range(count)))
