"""Which tables of a savepoint the operators of a plan start from, and their conversion.

Without a migration a plan must keep what the savepoint's plan kept; with one, its document says for
each operator where its state comes from and by which expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....contracts.migration import Migration, OperatorChange
from ....contracts.notes.epoch import Cuts
from ....contracts.notes.meaning import meaning_of
from ....contracts.plan import Plan, Query
from ....contracts.savepoint import SavedOperator, SavedQuery, SavedTable, Savepoint
from ...base.errors import NOT_MIGRATED, RuntimeFault, unfit
from ...base.options import quoted
from ...kinds.conversion import Conversion
from ...kinds.registry import kind_of
from ...plan.plan import uses_of
from ...state_tables.meaning import meaning_differences
from .holder import holder
from .transform import conversions, transformed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Fit:
    """A savepoint in a folder, and the plan that starts from it."""

    savepoint: Savepoint
    folder: str
    plan: Plan
    migration: Migration | None

    @property
    def sources(self) -> Mapping[str, str]:
        """The sources that continue from one of the savepoint's positions, by name."""
        if self.migration is None:
            return {name: name for name in self.plan.sources}
        changes = self.migration.sources
        return {new: one.old for new, one in changes.items() if one.old is not None}

    @property
    def converted(self) -> tuple[str, ...]:
        """The operators whose state a migration converts from that of another version."""
        changes = {} if self.migration is None else self.migration.operators
        return tuple(id for id, change in changes.items() if change.old is not None)

    def change(self, operator: str) -> OperatorChange:
        """The migration of an operator; there must be one."""
        assert self.migration is not None
        return self.migration.operators[operator]

    def conversions(self, spark: SparkSession, operator: str) -> list[Conversion]:
        """The conversion of a `converted` operator's tables, before rows are merged."""
        change = self.change(operator)
        old = change.old
        assert old is not None
        saved = self._saved(old, None)
        tables = {name: self._read(spark, table) for name, table in saved.tables.items()}
        plan = self.savepoint.plan.operators[old]
        return conversions(tables, saved, change, plan)

    @property
    def cuts(self) -> Cuts:
        """The position of each source of the plan, None for one that starts at its beginning."""
        return {
            source: self.savepoint.sources.get(self.sources[source])
            if source in self.sources
            else None
            for source in sorted(self.plan.sources)
        }

    @property
    def backfilled(self) -> Mapping[str, tuple[str, ...]]:
        """The parts of operators to recompute, all of one that starts that way."""
        return backfilled_parts(self.migration)

    def tables(
        self, spark: SparkSession, operator: str, query: Query | None
    ) -> dict[str, DataFrame] | None:
        """The tables that an operator starts from; None if it begins empty."""
        old = self._old(operator)
        if old is None:
            return None
        saved = self._saved(old, query)
        before, after = self.savepoint.plan.operators, self.plan.operators
        change = None if self.migration is None else self.change(operator)
        if change is not None and query is not None:
            (use,) = (u for u in uses_of(self.plan, query) if u.operator.id == operator)
            change = kind_of(use.operator).alive(change, use)
            saved = holder(change, [saved, *self.savepoint.kept(old)], before[old])
        tables = {name: self._read(spark, table) for name, table in saved.tables.items()}
        if change is None:
            return tables
        return transformed(tables, saved, change, before[old], after[operator])

    def rows(self, operator: str) -> int:
        """How many rows of the savepoint an operator starts from."""
        old = self._old(operator)
        return 0 if old is None else self._saved(old, None).rows

    def origin(self, query: Query) -> SavedQuery | None:
        """The query of the savepoint whose watermark a query continues."""
        saved = self.savepoint.queries
        if query.id in saved:
            return saved[query.id]
        wanted = {old for use in query.operators if (old := self._old(use.id)) is not None}
        ranked = sorted(saved, key=lambda id: (-len(wanted & set(saved[id].operators)), id))
        sources = {self.sources.get(source) for source in query.sources}
        reading = [id for id in ranked if sources & set(self.savepoint.plan.queries[id].sources)]
        return saved[reading[0]] if reading else None

    def sooner_ms(self, query: Query) -> int:
        """How far the watermark of a query moves ahead because all delays are shorter."""
        if self.migration is None:
            return 0
        changes = (self.migration.sources[source] for source in query.sources)
        return min((one.shift_watermark_micros // 1000 for one in changes), default=0)

    def feeding(self, query: Query) -> str | None:
        """The query of the savepoint that fed the sinks of a query; None if they are new.

        Raises RuntimeFault when several did, and stood at batches of other numbers.
        """
        changes = {} if self.migration is None else self.migration.sinks
        olds = {changes[sink].old if sink in changes else sink for sink in query.sinks}
        feeding = [id for id, saved in self.savepoint.queries.items() if olds & set(saved.sinks)]
        if len({self.savepoint.queries[id].batch for id in feeding}) > 1:
            raise RuntimeFault(
                NOT_MIGRATED,
                f"the sinks of `{query.id}` were fed by {', '.join(feeding)}, at different batches",
                "give the sinks other names and outputs",
            )
        return feeding[0] if feeding else None

    def counted_as(self, query: Query) -> str | None:
        """The query under which the savepoint's lineage counts what fed the sinks of a query."""
        feeding = self.feeding(query)
        return None if feeding is None else self.savepoint.queries[feeding].counted_as

    def _old(self, operator: str) -> str | None:
        if self.migration is None:
            return operator
        return self.migration.operators[operator].old

    def _saved(self, operator: str, query: Query | None) -> SavedOperator:
        found = self.savepoint.operator(operator, None if query is None else query.id)
        if found is None:
            raise unfit(operator, f"savepoint {self.savepoint.name} has no such operator")
        return found

    def _read(self, spark: SparkSession, table: SavedTable) -> DataFrame:
        schema = ", ".join(f"{quoted(name)} {type_}" for name, type_ in table.columns.items())
        if not table.files:
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).parquet(*(f"{self.folder}/{one}" for one in table.files))


def backfilled_parts(migration: Migration | None) -> Mapping[str, tuple[str, ...]]:
    """The parts that a migration recomputes from retained rows, by operator."""
    changes = {} if migration is None else migration.operators
    return {id: one.backfill for id, one in changes.items() if one.backfill is not None}


def check_backfilled(migration: Migration | None) -> None:
    """Raises RuntimeFault when a migration needs parts that only a backfill computes."""
    found = backfilled_parts(migration)
    if found:
        parts = "\n".join(
            f"     {id}: {', '.join(f'`{part}`' for part in parts) or 'its state'}"
            for id, parts in found.items()
        )
        raise RuntimeFault(
            NOT_MIGRATED,
            f"the migration has parts computed from retained rows\n{parts}",
            "`streamc backfill` makes a savepoint that has them; begin with that one",
        )


def fitted(savepoint: Savepoint, folder: str, plan: Plan, migration: Migration | None) -> Fit:
    """The fit of a savepoint and a plan that starts from it.

    Raises RuntimeFault when a migration is needed, or a backfill before.
    """
    check_backfilled(migration)
    check_pipeline(savepoint, plan)
    if migration is None:
        lines = list(differences(savepoint, plan))
        if lines:
            raise RuntimeFault(
                NOT_MIGRATED,
                f"savepoint {savepoint.name} is of another version of the spec\n"
                + "\n".join(f"     {line}" for line in lines),
                "run the spec with `streamc run`, which works out the migration; "
                "`streamc savepoint plan` shows it",
            )
    return Fit(savepoint, folder, plan, migration)


def check_pipeline(savepoint: Savepoint, plan: Plan) -> None:
    """Raises RuntimeFault when a savepoint and a plan are of different pipelines."""
    if savepoint.pipeline != plan.pipeline:
        raise RuntimeFault(
            NOT_MIGRATED,
            f"savepoint {savepoint.name} is of pipeline `{savepoint.pipeline}`, not of "
            f"`{plan.pipeline}`",
            "give both the same pipeline name in the front matter if they are one pipeline",
        )


def differences(savepoint: Savepoint, plan: Plan) -> Iterator[str]:
    """Yields how the state of a plan differs from that of a savepoint's plan, a line each."""
    return plan_differences(savepoint.plan, plan)


def plan_differences(before: Plan, after: Plan) -> Iterator[str]:
    """Yields how the states of two plans differ, a line each."""
    old, new = (
        {query.id: meaning_of(one, query) for query in one.queries.values()}
        for one in (before, after)
    )
    for id in dict.fromkeys([*old, *new]):
        if id not in new:
            yield f"query `{id}`: removed"
        elif id not in old:
            yield f"query `{id}`: added"
        else:
            yield from meaning_differences(old[id], new[id])
    sources = set(before.sources)
    yield from (f"source `{name}`: added" for name in after.sources if name not in sources)
    yield from (f"source `{name}`: removed" for name in sorted(sources - set(after.sources)))
