"""The gate of a run: the same input for all queries, an epoch at a time.

It is implemented in `kernel/gate/Gate.scala`; its protocol in `kernel/gate/Protocol.scala`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...contracts.notes.epoch import Cuts, EpochNote
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
"""How often processing-time timers are checked without input, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A query at the gate: the last epoch that it has committed, and since when (seconds).

    An epoch's number minus `base` is the number of its batch.
    """

    done: int
    base: int
    done_at: float

    def batch(self, epoch: int) -> int:
        """The query's batch of an epoch."""
        return epoch - self.base


@dataclass(frozen=True, slots=True)
class GateStatus:
    """The status of the gate.

    `epoch` is the last opened one, `barrier` an epoch that can become one, `awaited` whether one is
    waited for. `caught_up` applies to a run that takes only what was there, `over` to one that has
    ended with a last barrier, `broken` to one in which more consecutive barriers have failed than
    are tolerated.

    `waits` says who is waited for before another epoch can open, see `stall`; `moved_at` when
    anything last happened, `asked_at` since when the sources are being queried (seconds).
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
        # A batch without input is an epoch of all queries, or does not run.
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        folder = state.generation_folder
        jvm: Any = spark._jvm
        self._gate = kernel.Gate(spark._jsparkSession, folder, java_map(jvm, options))

    def wrap(self, frame: DataFrame, query: str) -> DataFrame:
        """The frame of a query with every read of a source behind the gate; before `open`."""
        from pyspark.sql import DataFrame

        return DataFrame(self._gate.wrap(frame._jdf, query), frame.sparkSession)

    def open(self, barrier: int | None) -> None:
        """Positions the gate at the end of the log of epochs; queries may then start.

        `barrier` is the epoch of the newest barrier.
        """
        self._gate.open(-1 if barrier is None else barrier)

    def moved(self) -> list[MovedInput]:
        """The sources of files that are read in another folder than before."""
        return [MovedInput(**one) for one in json.loads(self._gate.moved())]

    def until_caught_up(self) -> None:
        """Takes only the input that is there now."""
        self._gate.untilCaughtUp()

    def coordinate(self, *, due: bool, late: bool) -> str:
        """The coordinator's next action: `rest`, or the number of an epoch to record.

        `due` is whether it is time for a barrier, `late` whether one has been waited for too long:
        then that attempt has `failed`.
        """
        return str(self._gate.coordinate(due, late))

    def taken(self, epoch: int, *, recorded: bool) -> None:
        """A reached barrier has been handled: it is on record, or given up."""
        self._gate.taken(epoch, recorded)

    def release(self, epoch: int) -> str | None:
        """Input before this epoch will never be read again; sources forget it at their next chance.

        Returns why they could not do so the last time.
        """
        reason = self._gate.release(epoch)
        return None if reason is None else str(reason)

    def hold(self) -> None:
        """Opens no more epochs with input."""
        self._gate.hold()

    def fence(self) -> None:
        """Opens no more epochs at all: another process has taken the state."""
        self._gate.fence()

    def drain(self) -> None:
        """Lets one more epoch follow, in which all watermarks pass every row."""
        self._gate.drain()

    def positions(self, epoch: int) -> Cuts:
        """The position of each source at the end of an epoch that queries have not yet passed."""
        return EpochNote.from_json(unseal(str(self._gate.epoch(epoch)))).cuts

    def status(self) -> GateStatus:
        """The status; never waits for a source."""
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
