"""Queries whose first batch, without input, is given the state of a savepoint.

Programs whose handlers are a Python class take their state in that batch. The state of all other
operators is written into the stores that it has created, and its logs then get the positions of
sources and watermarks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....contracts.notes.epoch import EpochNote
from ....contracts.plan import Program, Query
from ....contracts.reserved import SHUFFLE_PARTITIONS
from ...dataflow.job import Job
from ...kinds.program.rows import state_rows
from ...kinds.registry import kind_of
from ...plan.plan import OperatorUse, uses_of
from ...state_tables.stores import NewStores
from ...storage.disk import Disk, side_file
from ..migrate.state_mapping import Fit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def initial_state(
    spark: SparkSession, fit: Fit, operator: str, schema: StructType
) -> DataFrame | None:
    """The initial state of a program, in these columns; None if it begins empty."""
    tables = fit.tables(spark, operator, None)
    if tables is None:
        return None
    program = fit.plan.operators[operator]
    assert isinstance(program, Program)
    return state_rows(schema, tables, program, spark)


def begin_query(
    spark: SparkSession,
    kernel: Any,
    disk: Disk,
    checkpoint: str,
    query: Query,
    job: Job,
    fit: Fit,
    epoch: EpochNote,
    tell: Callable[[str], None],
) -> None:
    """Adds the initial state of operators to a checkpoint with the first batch of a query.

    `job` is the one whose frame the query has run; `epoch` is that batch's, from its file. The
    query must not be running. Raises RuntimeFault when the state does not fit.
    """
    for number, use in enumerate(uses_of(fit.plan, query)):
        rows = _fill(spark, kernel, checkpoint, query, job, number, use, fit)
        tell(f"{query.id}: {use.operator.id}: {rows} rows of state")
    _graft(disk, checkpoint, query, fit, epoch)


def _fill(
    spark: SparkSession,
    kernel: Any,
    checkpoint: str,
    query: Query,
    job: Job,
    number: int,
    use: OperatorUse,
    fit: Fit,
) -> int:
    """Writes the rows of an operator into its stores; returns how many."""
    kind, id = kind_of(use.operator), use.operator.id
    if kind.takes_its_state(use.operator):
        # It took them in the first batch.
        return fit.rows(id)
    tables = fit.tables(spark, id, query)
    if tables is None:
        return 0
    stores = NewStores(
        spark,
        checkpoint,
        number,
        kernel=kernel,
        operator=id,
        partitions=int(spark.conf.get(SHUFFLE_PARTITIONS) or 1),
        frame=job.program,
    )
    return kind.restore(stores, use, tables)


def _graft(disk: Disk, folder: str, query: Query, fit: Fit, epoch: EpochNote) -> None:
    """Makes Spark's logs say that the first batch ended at the savepoint."""
    saved, sooner = fit.origin(query), fit.sooner_ms(query)
    text = disk.read(f"{folder}/offsets/0") or ""
    head, metadata, *rest = text.split("\n")
    known = json.loads(metadata)
    known["batchWatermarkMs"] = _sooner(saved.watermark_ms, sooner) if saved else 0

    offsets = [_placed(line, epoch) for line in rest]
    _rewrite(disk, f"{folder}/offsets/0", "\n".join([head, json.dumps(known), *offsets]))
    behind = _sooner(saved.next_watermark_ms, sooner) if saved else 0
    commit = {"nextBatchWatermarkMs": behind}
    first = (disk.read(f"{folder}/commits/0") or "v1").split("\n")[0]
    _rewrite(disk, f"{folder}/commits/0", f"{first}\n{json.dumps(commit)}")


def _placed(line: str, epoch: EpochNote) -> str:
    """A line of Spark's log, `<source>:<offset>`, whose offset is the gate's, at another epoch.

    Other lines stay as they are. `x__2` is the second read of `x`.
    """
    name, _, text = line.partition(":")
    known = json.loads(text) if text.startswith("{") else {}
    if known.keys() != {"epoch", "at"}:
        return line
    at = epoch.cuts.get(name.split("__", 2)[0])
    offset = {"epoch": epoch.number, "at": at}
    return f"{name}:{json.dumps(offset, separators=(',', ':'))}"


def _sooner(watermark: int, shift: int) -> int:
    """A watermark moved by `shift`; 0 is none at all, and has no other meaning."""
    return (watermark + shift or -1) if watermark else 0


def _rewrite(disk: Disk, path: str, text: str) -> None:
    disk.delete([side_file(path)])
    disk.replace(path, text)
