"""A run of a plan over the rows that a savepoint's job had read, into a checkpoint of its own.

Its epochs exist before it begins: one without input, which creates all stores; those with the
input, up to the savepoint's positions; one without input whose watermark, that of the savepoint,
closes everything that was closed there. Queries that are not needed have only the first one. No
sink gets anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....contracts.notes.epoch import Cuts
from ....contracts.plan import Plan, Query
from ...dataflow.job import Job
from ...plan.settings import RunSettings
from ...storage.disk import Disk, side_file
from ...storage.notes import seal
from ..migrate.state_mapping import Fit
from ..restore.generation_draft import Draft, gated, run_to

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run needs; `folder` is that of the draft as `disk` takes it."""

    spark: SparkSession
    kernel: Any
    disk: Disk
    draft: Draft
    folder: str
    plan: Plan
    build: Callable[[Job], None]
    settings: RunSettings
    modules: Sequence[str]
    fit: Fit

    def run(self, queries: Sequence[Query], cuts: Sequence[Cuts]) -> None:
        """Brings these queries to the last of the cuts; raises RuntimeFault when one fails."""
        self._epoch(0, dict.fromkeys(cuts[-1]), rows=False)
        self._go(tuple(self.plan.queries.values()), 0)
        last = 2 * len(cuts) - 1
        for number in range(1, last + 1):
            # Between batches everything is closed that a watermark closes, as in a job waiting for
            # input.
            self._epoch(number, cuts[(number - 1) // 2], rows=number % 2 == 1)
        self._go(queries, last)
        for query in queries:
            self._move_watermark(query, last)
        self._epoch(last + 1, cuts[-1], rows=False)
        self._go(queries, last + 1)

    def _epoch(self, number: int, cuts: Cuts, *, rows: bool) -> None:
        made = self.fit.savepoint.made_at.isoformat(timespec="milliseconds")
        note = {"epoch": number, "cuts": dict(cuts), "rows": rows, "drain": False}
        text = seal({**note, "opened_at": made})
        self.disk.create(f"{self.folder}/epochs/{number:09d}.json", text)

    def _go(self, queries: Sequence[Query], epoch: int) -> None:
        """Runs queries to the end of an epoch, which has the number of its batch."""
        spark, kernel, draft = self.spark, self.kernel, self.draft
        job = Job(self.plan, spark, draft.storage, self.settings.variables, self.modules)
        self.build(job)
        with gated(spark, kernel, draft, self.plan, self.settings, job, queries) as frames:
            for query, frame in frames:
                run_to(draft, query, frame, epoch, _compute)

    def _move_watermark(self, query: Query, batch: int) -> None:
        """Makes the batch after this one use the watermark of the savepoint's last batch."""
        saved = self.fit.origin(query)
        path = f"{self.folder}/queries/{query.id}/commits/{batch}"
        version, _, rest = (self.disk.read(path) or "").partition("\n")
        commit = json.loads(rest)
        commit["nextBatchWatermarkMs"] = saved.watermark_ms if saved else 0
        self.disk.delete([side_file(path)])
        self.disk.replace(path, f"{version}\n{json.dumps(commit)}")


def _compute(batch: DataFrame, batch_id: int) -> None:
    """Only what is read is computed, including the state."""
    batch.count()
