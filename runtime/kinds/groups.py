"""Groups with buffers of aggregates: what aggregates and tops, which Spark keeps alike, share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

from ...contracts.migration import CellChange, OperatorChange
from ...contracts.plan import Aggregation, Column, Operator, TopN, key_column, keys_of, window_of
from ...contracts.savepoint import SavedOperator
from ..base.errors import unfit
from ..base.options import quoted
from ..kernel.load import kernel_class
from ..plan.plan import UseOf
from ..state_tables.stores import NewStores, StoreRows
from ..state_tables.tables import STATE, WINDOW, Kept, Stores, both, cell_names, fields, flat
from .conversion import Conversion, MadeColumn, column, key_columns, made_keys, made_parts
from .counts import Counted, Counts, Equation, Flow, FlowOf, PlanNode
from .filling import CELL, FOUND, Filled, numbered, same_keys
from .kind import OperatorKind
from .layout_lines import (
    NOTHING,
    Line,
    SparkOperator,
    keys_line,
    pairs,
    show,
    with_types,
    without_window,
)

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

G = TypeVar("G", bound=Aggregation | TopN)

_WORDS = frozenset(
    {"sum", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"},
)


class GroupKind(OperatorKind[G]):
    """One table: the keys, the window as a struct, and a column a cell.

    A key that is called as the window is `key.window`.
    """

    spark_name = Aggregation.KIND
    closes_with_window = True

    def layout(self, use: UseOf[G], found: SparkOperator) -> Iterator[Line]:
        planned_keys = without_window(use.operator.keys)
        yield keys_line(planned_keys, without_window(found.keys), exact=False)
        for planned, seen in zip_longest(use.aggregates, found.aggregates):
            buffers = pairs(seen.buffers) if seen else []
            kept = [Column(cell.buffer, cell.type) for cell in planned.cells] if planned else []
            left = show(planned.function, with_types(kept, buffers)) if planned else NOTHING
            right = show(seen.function, buffers) if seen else NOTHING
            yield Line(left, right, left == right)

    def read(self, stores: Stores, use: UseOf[G]) -> Kept:
        store, cells = stores.read(), cell_names(use)
        if is_session(use.operator):
            keys = [WINDOW, *_key_names(use.operator, fields(store, "key")[:-1])]
            frame = flat(store, "value", [*keys, *cells])
        else:
            keys = _key_names(use.operator, fields(store, "key"))
            frame = both(store, keys, cells)
        return Kept({STATE: frame}, tuple(keys), tuple(cells))

    def restore(self, stores: NewStores, use: UseOf[G], tables: Mapping[str, DataFrame]) -> int:
        from pyspark.sql import functions as F

        store, table, cells = stores.read(), tables[STATE], cell_names(use)
        if not is_session(use.operator):
            keys = _key_names(use.operator, fields(store, "key"))
            rows = stores.rows(store, table, keys, cells)
            return stores.replace(StoreRows(stores.spread(rows, keys)))
        keys = _key_names(use.operator, fields(store, "key")[:-1])
        begun = table.withColumn(".start", F.col(f"{WINDOW}.start"))
        rows = stores.rows(store, begun, [*keys, ".start"], [WINDOW, *keys, *cells])
        return stores.replace(StoreRows(stores.spread(rows, keys), prefix=len(keys)))

    def takes_its_state(self, operator: G) -> bool:
        return False

    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        counted = _sessions_counted if node.kind == "session" else _groups_counted
        return counted(node, place, flow)

    def depends_on_batches(self, operator: G) -> bool:
        return False

    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        return {name: table.where(condition) for name, table in tables.items()}

    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: G,
    ) -> Iterator[Conversion]:
        made = list(made_keys(change))
        if (window := change.window) is not None:
            several = window.several
            made.append(MadeColumn(WINDOW, WINDOW, window.expr, is_key=True, several=several))
        made += made_parts(change, but=change.backfill or ())
        yield Conversion(STATE, tables[STATE], saved.keys, saved.cells, tuple(made))

    def converted(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: G,
        new: Operator,
    ) -> dict[str, DataFrame]:
        sessions = change.kind == "session" and change.group
        made = _merged_sessions if sessions else _converted
        return {STATE: made(tables[STATE], change)}

    def reads(self, change: OperatorChange) -> Iterator[tuple[str, Sequence[str]]]:
        for cell in change.cells:
            yield STATE, cell.reads
        yield STATE, change.where_reads

    def alive(self, change: OperatorChange, use: UseOf[G]) -> OperatorChange:
        ids = set(cell_names(use))
        return replace(change, cells=tuple(one for one in change.cells if one.id in ids))

    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: G,
    ) -> Filled:
        """The groups of the tables; those that are in the other state only are none of them."""
        from pyspark.sql import functions as F

        table = tables[STATE]
        wanted = [cell for cell in there.cells if cell in cells]
        other = numbered(there.tables[STATE], there.keys, wanted)
        joined = table.join(other, same_keys(there.keys), "left")
        columns = [
            _either(CELL.format(wanted.index(name)), name)
            if name in wanted
            else F.col(quoted(name))
            for name in table.columns
        ]
        made = Filled.of({STATE: joined.select(*columns)}, joined, other)
        binary = [n for n in wanted if table.schema[n].dataType.simpleString() == "binary"]
        if made.lacking and binary:
            why = (
                f"{made.lacking} groups have no rows, and `{binary[0]}` is a buffer of Spark's own"
            )
            help = "accept that it starts empty, or leave it out of the spec"
            raise unfit(operator.id, why, help)
        return made


def is_session(operator: Operator) -> bool:
    """Whether an operator's windows are sessions, whose state has a form of its own."""
    window = window_of(operator)
    return window is not None and window.kind == "session"


def _key_names(operator: Operator, held: Sequence[str]) -> list[str]:
    """What the keys of a group are called; `held` are their names in a store.

    There all computed ones have the same name.
    """
    windowed = window_of(operator) is not None and not is_session(operator)
    own = (key_column(operator, key.name) for key in keys_of(operator))
    names = [*([WINDOW] if windowed else []), *own]
    return names if len(names) == len(held) else list(held)


def _converted(table: DataFrame, change: OperatorChange) -> DataFrame:
    keys, names = key_columns(change)
    if (window := change.window) is not None:
        sql = f"explode({window.expr})" if window.several else window.expr
        keys.append(column(sql, WINDOW))
        names.append(WINDOW)
    found = table.select(*keys, *(column(one.expr, one.id) for one in change.cells))
    if not change.group:
        return found
    return found.groupBy(*map(quoted, names)).agg(*_merged(change, table.sparkSession))


def _merged_sessions(table: DataFrame, change: OperatorChange) -> DataFrame:
    """Sessions that now touch are one: there are as many as starts after all previous ends."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    keys, names = key_columns(change)
    assert change.window is not None
    window = column(change.window.expr, WINDOW)
    found = table.select(*keys, window, *(column(one.expr, one.id) for one in change.cells))
    own = Window.partitionBy(*map(quoted, names)).orderBy(f"{WINDOW}.start", f"{WINDOW}.end")
    before = F.max(f"{WINDOW}.end").over(own.rowsBetween(Window.unboundedPreceding, -1))
    begins = F.when(before >= F.col(f"{WINDOW}.start"), 0).otherwise(1)
    counted = found.withColumn(".begins", begins).withColumn(
        ".session", F.sum("`.begins`").over(own.rowsBetween(Window.unboundedPreceding, 0))
    )
    whole = F.struct(F.min(f"{WINDOW}.start").alias("start"), F.max(f"{WINDOW}.end").alias("end"))
    merged = counted.groupBy(*map(quoted, names), "`.session`").agg(
        whole.alias(WINDOW), *_merged(change, table.sparkSession)
    )
    return merged.drop(".session")


def _merged(change: OperatorChange, spark: SparkSession) -> list[SparkColumn]:
    return [_merge(one, spark).alias(one.id) for one in change.cells]


def _merge(cell: CellChange, spark: SparkSession) -> SparkColumn:
    """The merge of several cells, over the converted rows."""
    from pyspark.sql import Column
    from pyspark.sql import functions as F

    name = quoted(cell.id)
    match cell.merge:
        case None:
            raise AssertionError(f"{cell.id} can't be made of several")
        case "any":
            return F.expr(f"any_value({name})")
        case "buffers":
            buffers = kernel_class(spark._jvm, "Buffers")
            return Column(buffers.merged(spark._jsparkSession, cell.of, cell.id))
        case "registers":
            return Column(kernel_class(spark._jvm, "Buffers").registers(cell.id))
    return F.expr(f"{cell.merge}({name})" if cell.merge in _WORDS else cell.merge)


def _either(cell: str, name: str) -> SparkColumn:
    from pyspark.sql import functions as F

    taken = F.when(F.col(quoted(FOUND)), F.col(quoted(cell)))
    return taken.otherwise(F.col(quoted(name))).alias(name)


def _groups_counted(node: PlanNode, place: str, flow: FlowOf) -> Counted:
    merged, restored, came = _below_state(node, flow)
    late, updated, removed = node.count("late"), node.count("updated"), node.count("removed")
    groups, found = came.rows, restored - came.rows
    counts: Counts = {"in": came.ungrouped or 0, "out": node.out, "groups": groups, "late": late}
    counts |= {"created": updated - found, "expired": removed}
    if not node.keyed:
        # The one group of all rows is there even without rows.
        counts["created"] = 0
        return Counted(counts)
    out = {"expired": removed} if node.mode == "Append" else {"updated": updated}
    equations = [
        Equation(place, {"groups": groups}, {"merged": merged}),
        Equation(place, {"groups": groups}, {"late": late, "updated": updated}),
        Equation(place, {"out": node.out}, out),
    ]
    changes = {"updated": updated, "found": -found, "expired": -removed}
    return Counted(counts, changes, equations)


def _sessions_counted(node: PlanNode, place: str, flow: FlowOf) -> Counted:
    merged, restored, came = _below_state(node, flow)
    late, out = node.count("late"), node.out
    found = restored - (came.rows - late)
    counts: Counts = {"in": came.ungrouped or 0, "out": out, "groups": came.rows, "late": late}
    counts |= {"created": merged - found, "expired": out}
    equation = Equation(place, {"merged": merged}, {"read": restored}, at_most=True)
    return Counted(counts, {"merged": merged, "found": -found, "out": -out}, [equation])


def _below_state(node: PlanNode, flow: FlowOf) -> tuple[int, int, Flow]:
    """Groups after the merge with state, groups and state before it, what came in."""
    ((merge,),) = node.inputs
    ((restore,),) = merge.inputs
    return merge.out, restore.out, flow(restore.below)
