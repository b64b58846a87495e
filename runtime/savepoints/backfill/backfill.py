"""A savepoint of a new plan, with cells computed from the rows before it.

What the migration carries over comes from the original savepoint, and so do positions and
watermarks. The rest comes from a replay, which ends at the original savepoint's positions. The new
one appears whole or not at all, and a run starts from it like from any other: without a migration.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ....contracts.plan import Plan, Query
from ....contracts.savepoint import SavedOperator, SavedQuery, Savepoint
from ...base.errors import NOT_MIGRATED, RuntimeFault
from ...connectors.registry import packages_of
from ...dataflow.script import load_build
from ...kinds.registry import kind_of
from ...plan.arguments import Arguments
from ...plan.plan import OperatorUse, load_plan, load_spec, plan_path, uses_of
from ...plan.settings import AS_FAST_AS_POSSIBLE, resolve_settings
from ...spark.failures import spark_errors, spark_refuses
from ...spark.session import spark_of
from ...state_tables.tables import Kept, Stores
from ...storage.disk import LocalDisk
from ...storage.file_system import Storage
from ...storage.local_files import local_state
from ...storage.notes import create_note
from ..format.model import MANIFEST, check_free, find_savepoint, now, savepoint_names
from ..format.staging import draft, publish
from ..migrate.incompleteness import marks_after, partly
from ..migrate.state_mapping import Fit, check_pipeline
from ..restore.generation_draft import Draft
from ..restore.restore import check_files, link_sources
from ..take.written import file_sums, write_table
from .conformed import conformed
from .replay import Replay
from .retained import check_replayed, check_whole, is_there, on_this_disk, rows_gone, steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Tell = Callable[[str], None]
_REPLAY = "replay"


def backfill_savepoint(
    script: Path,
    arguments: Arguments,
    *,
    name: str | None = None,
    partial: bool = False,
    folders: Sequence[str] = (),
    tell: Tell = lambda line: None,
    spark: SparkSession | None = None,
) -> Savepoint:
    """Creates a savepoint of a script's plan from the one that the arguments name.

    Their migration says which parts are computed from retained rows. With `partial` that continues
    though some rows are missing. A job may run on the state, which is on this machine's disk.
    Raises RuntimeFault when it is not possible as requested; nothing is then left over.
    """
    plan, spec = load_plan(plan_path(script)), load_spec(script)
    settings = resolve_settings(plan, arguments, os.environ)
    settings = replace(settings, trigger=AS_FAST_AS_POSSIBLE, savepoint=None, migration=None)
    disk = LocalDisk()
    _, state, _ = local_state(settings.state)
    fit = _fit(disk, state, plan, arguments)
    name = check_free(name or f"{fit.savepoint.name}-backfilled", savepoint_names(disk, state))
    queries = [
        query
        for query in plan.queries.values()
        if any(use.id in fit.backfilled for use in query.operators)
    ]
    check_replayed(plan, queries, fit.cuts)
    check_whole(rows_gone(disk, fit, queries, on_this_disk), partial=partial)
    build = load_build(script)
    modules = (*folders, str(script.resolve().parent), os.getcwd())
    with draft(disk, state, name) as place:
        try:
            logs = link_sources(disk, fit, place)
            link_sources(disk, fit, f"{place}/{_REPLAY}")
            with spark_of(plan, packages_of(plan), settings, tell, spark) as (session, kernel):
                storage = Storage(kernel, session)
                storage.keep_private(state)
                folder = storage.qualified(f"{place}/{_REPLAY}")
                made = Draft(storage, folder, settings.state)
                replay = Replay(
                    *(session, kernel, disk, made, f"{place}/{_REPLAY}"),
                    *(plan, build, settings, modules, fit),
                )
                lacks = _replayed(replay, queries, partial, tell)
                found = _Made(storage, disk, place, replay, spec, lacks, tell).savepoint(name, logs)
        except spark_errors() as error:
            raise spark_refuses("the backfill", error, settings.state) from None
        disk.delete([f"{place}/{_REPLAY}"])
        create_note(disk, f"{place}/{MANIFEST}", found.to_json())
        publish(disk, place, state, name)
    return found


def _replayed(replay: Replay, queries: Sequence[Query], partial: bool, tell: Tell) -> Sequence[str]:
    """Runs a replay, and returns which rows it lacked; raises RuntimeFault unless it may."""

    def missing() -> tuple[str, ...]:
        storage = replay.draft.storage
        found = rows_gone(replay.disk, replay.fit, queries, lambda path: is_there(storage, path))
        return check_whole(found, partial=partial)

    missing()
    if replay.plan.tables:
        tell(f"as they are now: {', '.join(replay.plan.tables)}")
    cuts = steps(replay.plan, queries, replay.fit.cuts)
    tell(f"replay of {', '.join(query.id for query in queries)}, {len(cuts)} batches")
    replay.run(queries, cuts)
    # Spark silently skips a file that is missing when its batch runs.
    found = missing()
    for line in found:
        tell(line)
    return found


def _fit(disk: LocalDisk, state: str, plan: Plan, arguments: Arguments) -> Fit:
    savepoint, folder = find_savepoint(disk, state, str(arguments.savepoint))
    check_pipeline(savepoint, plan)
    check_files(disk, savepoint, folder)
    fit = Fit(savepoint, folder, plan, arguments.migration)
    if not fit.backfilled:
        raise RuntimeFault(
            NOT_MIGRATED,
            f"nothing of `{plan.pipeline}` is to be computed from retained rows",
            "say `backfill` of a cell or an operator in the migration file, or begin with "
            f"`streamc run --from-savepoint {savepoint.name}`",
        )
    return fit


@dataclass(frozen=True, slots=True)
class _Made:
    """A savepoint under construction in a folder, after the replay.

    `spec` is the text that its plan was compiled from, `lacks` are the reasons for which the replay
    did not have all rows.
    """

    storage: Storage
    disk: LocalDisk
    folder: str
    replay: Replay
    spec: str | None
    lacks: Sequence[str]
    tell: Tell

    def savepoint(self, name: str, logs: Sequence[str]) -> Savepoint:
        """Writes the tables; returns the content of the manifest."""
        fit, plan = self.replay.fit, self.replay.plan
        return replace(
            fit.savepoint,
            name=name,
            made_at=now(),
            version=plan.version,
            spark=self.storage.session.version,
            plan=plan,
            spec=self.spec,
            sources=fit.cuts,
            logs=file_sums(self.disk, self.folder, logs),
            queries={id: self._query(query) for id, query in plan.queries.items()},
            marks=(*marks_after(fit), *(m for why in self.lacks for m in partly(fit, why))),
        )

    def _query(self, query: Query) -> SavedQuery:
        fit = self.replay.fit
        origin, feeding = fit.origin(query), fit.feeding(query)
        return SavedQuery(
            batch=0 if feeding is None else fit.savepoint.queries[feeding].batch,
            watermark_ms=origin.watermark_ms if origin else 0,
            next_watermark_ms=origin.next_watermark_ms if origin else 0,
            sinks=query.sinks,
            operators={
                use.operator.id: self._operator(query, number, use)
                for number, use in enumerate(uses_of(self.replay.plan, query))
            },
            counted_as=fit.counted_as(query),
        )

    def _operator(self, query: Query, number: int, use: OperatorUse) -> SavedOperator:
        id = use.operator.id
        checkpoint = self.replay.draft.checkpoint(query.id)
        stores = Stores(self.storage.session, checkpoint, number)
        kept = kind_of(use.operator).read(stores, use)
        tables = {
            name: write_table(
                *(self.storage, self.disk, self.folder),
                *(f"state/{query.id}/{id}/{name}", name, frame),
            )
            for name, frame in self._tables(query, use, kept).items()
        }
        return SavedOperator(id, use.operator.KIND, kept.keys, kept.cells, tables)

    def _tables(self, query: Query, use: OperatorUse, kept: Kept) -> dict[str, DataFrame]:
        """The tables of an operator: carried over, recomputed, or some cells of each."""
        fit, id = self.replay.fit, use.operator.id
        carried = fit.tables(self.storage.session, id, query)
        if carried is None and id in fit.backfilled:
            self.tell(f"{query.id}: {id}: computed from retained rows")
            return kept.tables
        tables = conformed(kept.tables, carried or {}, use.operator)
        if id not in fit.backfilled:
            return tables
        found = kind_of(use.operator).filled(tables, kept, fit.backfilled[id], use.operator)
        self.tell(
            f"{query.id}: {id}: {', '.join(fit.backfilled[id])}: of {found.keys:,} keys "
            f"{found.lacking:,} have no retained rows, and {found.other:,} are no longer kept"
        )
        return found.tables
