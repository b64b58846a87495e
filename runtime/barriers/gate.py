"""The gate of a run: the same input for all queries, an epoch at a time.

It stands in `kernel/gate/Gate.scala`; what may happen when, in `kernel/gate/Protocol.scala`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Plan, timers_of
from ..base.delays import DELAYS
from ..kernel.load import java_map
from ..plan.retention import epochs_between, epochs_beyond
from ..plan.settings import RunSettings
from ..storage.notes import unseal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..state.state import GenerationFolder

_TICK = 1000
"""How often a timer of processing time is looked after when no input comes, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A query at the gate: the last epoch that it has committed, since when (seconds).

    An epoch's number less `base` is the number of its batch.
    """

    done: int
    base: int
    done_at: float

    def batch(self, epoch: int) -> int:
        """The batch that an epoch is to the query."""
        return epoch - self.base


@dataclass(frozen=True, slots=True)
class GateStatus:
    """How things stand at the gate.

    `epoch` is the last that was opened, `barrier` an epoch that can be made one, `awaited` whether
    one is waited for. `caught_up` is of a run that takes only what was there, `over` of one that
    has come to its end with a last barrier, `broken` of one in which more barriers in a row have
    failed than are tolerated.

    `waits` says who is waited for before another epoch can open, see `stall`; `moved_at` when
    anything last happened, `asked_at` since when the sources are being asked (seconds).
    """

    epoch: int
    drained: bool
    all_done: bool
    caught_up: bool
    over: bool
    broken: bool
    failures: int
    awaited: bool
    barrier: int | None
    waits: str
    moved_at: float
    asked_at: float | None
    queries: Mapping[str, Turn]


@dataclass(frozen=True, slots=True)
class MovedInput:
    """A source of files that has read `known` files in the folder `before`, and reads `now`.

    `same` files in that one have the name of one that was read, such as `example`.
    """

    source: str
    before: str
    known: int
    now: str
    same: int
    example: str | None


class Gate:
    """The gate of one run over one generation of a state."""

    def __init__(
        self,
        kernel: Any,
        spark: SparkSession,
        state: GenerationFolder,
        plan: Plan,
        settings: RunSettings,
    ) -> None:
        cadence = round(settings.cadence * 1000)
        options = {
            "cadence": str(cadence),
            "epochs_in_flight": str(settings.max_epochs_in_flight),
            "settles": str(any(query.operators for query in plan.queries.values())).lower(),
            "epochs_between_barriers": str(between := epochs_between(settings, plan.checkpoint)),
            "epochs_beyond": str(epochs_beyond(between)),
            "failures_tolerated": str(plan.checkpoint.tolerate),
            "delays": os.environ.get(DELAYS, ""),
            "ticks": str(_TICK if _has_timers_by_clock(plan) else 0),
        }
        # A batch without input is an epoch of all queries, or there is none.
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        folder = state.generation_folder
        jvm: Any = spark._jvm
        self._gate = kernel.Gate(spark._jsparkSession, folder, java_map(jvm, options))

    def wrap(self, frame: DataFrame, query: str) -> DataFrame:
        """The frame of a query with every read of a source behind the gate; before `open`."""
        from pyspark.sql import DataFrame

        return DataFrame(self._gate.wrap(frame._jdf, query), frame.sparkSession)

    def open(self, barrier: int | None) -> None:
        """Goes to where the log of epochs ends; queries may start then.

        `barrier` is the epoch of the newest barrier.
        """
        self._gate.open(-1 if barrier is None else barrier)

    def moved(self) -> list[MovedInput]:
        """The sources of files that are read in another folder than before."""
        return [MovedInput(**one) for one in json.loads(self._gate.moved())]

    def until_caught_up(self) -> None:
        """Takes what is there now and nothing that comes later."""
        self._gate.untilCaughtUp()

    def coordinate(self, *, due: bool, late: bool) -> str:
        """What the coordinator does now: `rest`, or the number of an epoch that it records.

        `due` is whether it is time for a barrier, `late` whether one has been waited for too long:
        that attempt has `failed`.
        """
        return str(self._gate.coordinate(due, late))

    def taken(self, epoch: int, *, recorded: bool) -> None:
        """A barrier that was reached has been dealt with: it is on record, or given up."""
        self._gate.taken(epoch, recorded)

    def release(self, epoch: int) -> str | None:
        """Input before this epoch will never be read again; sources forget it when they next can.

        Returns why they could not do so the last time.
        """
        reason = self._gate.release(epoch)
        return None if reason is None else str(reason)

    def hold(self) -> None:
        """Opens no more epochs with input."""
        self._gate.hold()

    def fence(self) -> None:
        """Opens no more epochs at all: the state is another's."""
        self._gate.fence()

    def drain(self) -> None:
        """Lets one more epoch follow, in which all watermarks pass every row."""
        self._gate.drain()

    def positions(self, epoch: int) -> Mapping[str, Any]:
        """Where each source stands at the end of an epoch that queries have not left behind."""
        cuts: Mapping[str, Any] = unseal(str(self._gate.epoch(epoch)))["cuts"]
        return cuts

    def status(self) -> GateStatus:
        """How things stand; never waits for a source."""
        found = json.loads(self._gate.status())
        turns = {
            id: Turn(int(q["done"]), int(q["base"]), int(q["done_at"]) / 1000)
            for id, q in found["queries"].items()
        }
        asked = found["asked_at"]
        times = {
            "moved_at": found["moved_at"] / 1000,
            "asked_at": None if asked is None else asked / 1000,
        }
        return GateStatus(**{**found, **times, "queries": turns})

    def close(self) -> None:
        """Ends the inner sources; the queries must have stopped."""
        self._gate.close()


def _has_timers_by_clock(plan: Plan) -> bool:
    timers = (timer for operator in plan.operators.values() for timer in timers_of(operator))
    return any(timer.time == "processing" for timer in timers)
