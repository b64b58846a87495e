"""Deduplications: ids that Spark remembers until they are forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...contracts.migration import OperatorChange
from ...contracts.plan import Deduplication, Operator, Program
from ...contracts.savepoint import SavedOperator
from ..base.options import quoted
from ..plan.plan import UseOf
from ..state_tables.program_state import ARMED, INNER, RECORD
from ..state_tables.stores import NewStores, StoreRows
from ..state_tables.tables import EXPIRES, STATE, Kept, Stores, fields
from .conversion import (
    Conversion,
    as_the_first,
    column,
    key_columns,
    made_expiry,
    made_keys,
    made_parts,
    parts_of,
    with_expiry,
)
from .counts import Counted, Equation, FlowOf, PlanNode
from .filling import Filled
from .kind import OperatorKind
from .layout_lines import Line, SparkOperator, keys_line, without_window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Use = UseOf[Deduplication]


class DeduplicationKind(OperatorKind[Deduplication]):
    """One table: the keys, and until when an id is remembered."""

    operator = Deduplication
    spark_name = Deduplication.KIND
    closes_with_window = True

    def layout(self, use: Use, found: SparkOperator) -> Iterator[Line]:
        planned_keys = without_window(use.operator.keys)
        yield keys_line(planned_keys, without_window(found.keys), exact=True)

    def read(self, stores: Stores, use: Use) -> Kept:
        from pyspark.sql import functions as F

        store = stores.read()
        keys = fields(store, "key")
        expires = F.expr("timestamp_micros(value.expiresAtMicros)").alias(EXPIRES)
        columns = [F.col(f"key.{quoted(key)}") for key in keys]
        return Kept({STATE: store.select(*columns, expires)}, tuple(keys), (EXPIRES,))

    def restore(self, stores: NewStores, use: Use, tables: Mapping[str, DataFrame]) -> int:
        from pyspark.sql import functions as F

        store = stores.read()
        keys = fields(store, "key")
        counted = tables[STATE].withColumn(EXPIRES, F.expr(f"unix_micros({EXPIRES})"))
        rows = stores.spread(stores.rows(store, counted, keys, [EXPIRES]), keys)
        return stores.replace(StoreRows(rows))

    def takes_its_state(self, operator: Deduplication) -> bool:
        return False

    def counts(self, node: PlanNode, place: str, flow: FlowOf) -> Counted:
        rows, out, removed = flow(node.below).rows, node.out, node.count("removed")
        late, duplicates = node.count("late"), node.count("duplicates")
        terms = {"late": late, "duplicates": duplicates, "out": out}
        counts = {"in": rows, "out": out, "late": late, "duplicates": duplicates}
        return Counted(
            {**counts, "expired": removed},
            {"out": out, "expired": -removed},
            [Equation(place, {"in": rows}, terms)],
        )

    def depends_on_batches(self, operator: Deduplication) -> bool:
        return True

    def kept_rows(
        self, tables: Mapping[str, DataFrame], keys: Sequence[str], condition: str
    ) -> dict[str, DataFrame]:
        return {name: table.where(condition) for name, table in tables.items()}

    def conversions(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Deduplication,
    ) -> Iterator[Conversion]:
        made = list(made_keys(change))
        if change.kind == Deduplication.KIND:
            made.append(made_expiry(change))
        made += made_parts(change, but=change.backfill or ())
        yield Conversion(STATE, tables[STATE], saved.keys, saved.cells, tuple(made))

    def converted(
        self,
        tables: Mapping[str, DataFrame],
        saved: SavedOperator,
        change: OperatorChange,
        old: Deduplication,
        new: Operator,
    ) -> dict[str, DataFrame]:
        if change.kind == Program.KIND:
            return {RECORD: _records(tables[STATE], change)}
        return {STATE: with_expiry(tables[STATE], change)}

    def reads(self, change: OperatorChange) -> tuple[()]:
        return ()

    def alive(self, change: OperatorChange, use: Use) -> OperatorChange:
        return change

    def filled(
        self,
        tables: Mapping[str, DataFrame],
        there: Kept,
        cells: Collection[str],
        operator: Deduplication,
    ) -> Filled:
        raise AssertionError(f"{operator.id} has no cells: it is computed again as a whole")


def _records(table: DataFrame, change: OperatorChange) -> DataFrame:
    """Ids that Spark remembered as the records of a program."""
    from pyspark.sql import functions as F

    keys, names = key_columns(change)
    found = table.select(*keys, *(column(one.expr, name) for name, one in parts_of(change)))
    if change.group:
        found = as_the_first(found, names)
    # A key that is woken too early has no effect.
    wakes = [F.unix_millis(quoted(one.name)) for one in change.timers]
    inner = {name: F.lit(None).cast("bigint") for name in INNER}
    return found.withColumns({**inner, ARMED: F.least(F.lit(None), *wakes)})
