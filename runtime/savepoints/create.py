"""A savepoint from a barrier, beside the job that runs on.

The files of the barrier are linked to a hidden place first: what the job takes away meanwhile stays
there. From these Spark reads the state, and writes it as Parquet. The manifest comes last, then one
rename makes the savepoint: half of one is never seen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..checkpoints import read_offsets
from ..disk import Disk
from ..errors import NO_SUCH_BARRIER, SAVEPOINT_UNUSABLE, STATE_DAMAGED, RuntimeFault
from ..manifests import Manifest
from ..notes import create_note, read_note
from ..plan import Plan, Query, Use, read_plan
from ..recovery import damage_lines
from ..rollback import Kept as KeptFiles
from ..rollback import lineage_after
from ..schema_paths import mend_schema_paths
from ..state import current_generation
from ..verdicts import Examination
from .model import (
    FOLDER,
    MANIFEST,
    SavedOperator,
    SavedQuery,
    Savepoint,
    Table,
    check_name,
    new_name,
    now,
    savepoint_names,
)
from .tables import read_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TRIES = 3
_CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class _Cut:
    """What a savepoint is made of: a generation and one of its barriers."""

    note: dict[str, Any]
    examined: Examination
    manifest: Manifest
    plan: dict[str, Any]


def create_savepoint(
    spark: SparkSession,
    disk: Disk,
    state: str,
    *,
    name: str | None = None,
    barrier: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Savepoint:
    """Makes a savepoint from a completed barrier, the newest by default.

    `state` is the folder as `disk` takes it. Raises RuntimeFault when there is no such barrier, it
    is damaged, or a savepoint has that name already; nothing is left behind then.
    """
    taken = savepoint_names(disk, state)
    if name is not None and check_name(name) in taken:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"there is a savepoint `{name}` already",
            "give another name, or delete it: `streamc savepoint delete`",
        )
    cut = _cut(disk, state, barrier)
    name = name or new_name(cut.manifest.pipeline, cut.manifest.barrier, taken)
    draft, place = f"{state}/{FOLDER}/.{name}.tmp", f"{state}/{FOLDER}/{name}"
    disk.delete([draft])
    try:
        cut = _linked(disk, state, cut, draft, fixed=barrier is not None)
        tell(f"barrier {cut.manifest.barrier} of {cut.manifest.completed_at:%Y-%m-%d %H:%M:%S} UTC")
        plan = read_plan(cut.plan)
        queries = {query.id: _query(spark, disk, draft, cut, query, tell) for query in plan.queries}
        disk.delete([f"{draft}/{_CHECKPOINT}"])
        found = _savepoint(spark, disk, state, draft, name, cut, plan, queries)
        create_note(disk, f"{draft}/{MANIFEST}", found.to_document())
        disk.rename(draft, place)
    except BaseException:
        disk.delete([draft])
        raise
    return found


def _cut(disk: Disk, state: str, barrier: int | None) -> _Cut:
    shown = state.removeprefix("file:")
    note = current_generation(disk, state)
    if note is None:
        raise RuntimeFault(NO_SUCH_BARRIER, f"{shown} has no barrier: no job has run on it")
    folder = f"{state}/generations/{note['generation']}"
    examined = Examination(disk, folder)
    found = [one for one in examined.manifests if barrier in (None, one.barrier)]
    if not found:
        known = ", ".join(str(one.barrier) for one in examined.manifests) or "none"
        what = "no barrier yet" if barrier is None else f"no barrier {barrier}"
        raise RuntimeFault(NO_SUCH_BARRIER, f"{shown} has {what}", f"there are: {known}")
    damage = examined.barrier_damage(found[-1])
    if damage:
        lines = "\n     ".join(damage_lines(folder.removeprefix("file:"), damage))
        raise RuntimeFault(STATE_DAMAGED, lines, "name an older barrier with `--barrier`")
    plan = read_note(disk, f"{folder}/plan.json")
    if plan is None:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{shown} does not say which plan its job runs with",
            "start the job once with this version of streamc",
        )
    return _Cut(note, examined, found[-1], plan)


def _linked(disk: Disk, state: str, cut: _Cut, draft: str, *, fixed: bool) -> _Cut:
    """Links the files of a barrier to the draft; of the next one if the job has let go of it."""
    for attempt in range(_TRIES):
        kept = KeptFiles(cut.examined, cut.manifest, same_cuts=False)
        try:
            for path in kept.files():
                disk.link(f"{cut.examined.folder}/{path}", f"{draft}/{_CHECKPOINT}/{path}")
            mend_schema_paths(disk, f"{draft}/{_CHECKPOINT}", kept.files())
            return cut
        except FileNotFoundError:
            disk.delete([draft])
            if attempt == _TRIES - 1 or fixed:
                break
            cut = _cut(disk, state, None)
    raise RuntimeFault(
        NO_SUCH_BARRIER,
        f"barrier {cut.manifest.barrier} was given up by the job while it was copied",
        "take the savepoint again, of a newer barrier; RETAIN says how many are kept",
    )


def _query(
    spark: SparkSession,
    disk: Disk,
    draft: str,
    cut: _Cut,
    query: Query,
    tell: Callable[[str], None],
) -> SavedQuery:
    checkpoint = f"{draft}/{_CHECKPOINT}/queries/{query.id}"
    batch = cut.manifest.queries[query.id].batch
    offsets, commit = (disk.read(f"{checkpoint}/{k}/{batch}") for k in ("offsets", "commits"))
    if offsets is None or commit is None:
        raise FileNotFoundError(f"{checkpoint}: batch {batch}")
    operators = {}
    for number, use in enumerate(query.uses):
        begun = now()
        operators[use.operator.id] = saved = _operator(
            spark, disk, draft, checkpoint, query, number, use
        )
        took = (now() - begun).total_seconds()
        tell(f"{query.id}: {saved.id}: {saved.rows} rows, {saved.bytes} bytes, {took:.1f} s")
    return SavedQuery(
        batch=batch,
        watermark_ms=read_offsets(offsets).watermark_ms,
        next_watermark_ms=int(json.loads(commit.split("\n", 1)[1])["nextBatchWatermarkMs"]),
        sinks=query.sinks,
        operators=operators,
    )


def _operator(
    spark: SparkSession,
    disk: Disk,
    draft: str,
    checkpoint: str,
    query: Query,
    number: int,
    use: Use,
) -> SavedOperator:
    kept = read_tables(spark, checkpoint, number, use)
    tables = {
        name: _write(spark, disk, draft, f"state/{query.id}/{use.operator.id}/{name}", name, frame)
        for name, frame in kept.tables.items()
    }
    return SavedOperator(use.operator.id, use.operator.kind, kept.keys, kept.cells, tables)


def _write(
    spark: SparkSession, disk: Disk, draft: str, path: str, name: str, frame: DataFrame
) -> Table:
    frame.write.parquet(f"{draft}/{path}")
    files = [f"{path}/{one}" for one in disk.list(f"{draft}/{path}") if one.startswith("part-")]
    disk.delete([f"{draft}/{path}/_SUCCESS"])
    rows = spark.read.schema(frame.schema).parquet(f"{draft}/{path}").count()
    columns = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    return Table(name, columns, rows, dict(_sums(disk, draft, files)))


def _sums(disk: Disk, root: str, paths: list[str]) -> Iterator[tuple[str, tuple[int, str]]]:
    found = disk.sums(f"{root}/{path}" for path in paths)
    for path in paths:
        held = found[f"{root}/{path}"]
        yield path, (held.bytes, held.crc32)


def _savepoint(
    spark: SparkSession,
    disk: Disk,
    state: str,
    draft: str,
    name: str,
    cut: _Cut,
    plan: Plan,
    queries: dict[str, SavedQuery],
) -> Savepoint:
    manifest = cut.manifest
    known = read_note(disk, f"{state}/state.json") or {}
    return Savepoint(
        name=name,
        made_at=now(),
        pipeline=plan.pipeline,
        version=plan.version,
        barrier=manifest.barrier,
        epoch=manifest.epoch,
        generation=manifest.generation,
        state_id=str(known.get("id")),
        spark=spark.version,
        plan=cut.plan,
        sources=manifest.sources,
        logs=dict(_source_logs(disk, draft, cut)),
        lineage=tuple(lineage_after(cut.note, manifest)),
        queries=queries,
    )


def _source_logs(disk: Disk, draft: str, cut: _Cut) -> Iterator[tuple[str, tuple[int, str]]]:
    """Links what sources have seen, as far as the barrier goes."""
    paths = [
        path
        for path in KeptFiles(cut.examined, cut.manifest, same_cuts=False).files()
        if path.startswith("sources/")
    ]
    for path in paths:
        disk.link(f"{cut.examined.folder}/{path}", f"{draft}/{path}")
    yield from _sums(disk, draft, paths)
