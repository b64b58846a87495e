"""The gate of a run: the same input for all queries, an epoch at a time.

It stands in `kernel/Gate.scala`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .kernel.load import java_map
from .notes import unseal
from .plan import Checkpoint, Plan
from .settings import AS_FAST_AS_POSSIBLE, AVAILABLE_NOW, RunSettings, seconds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .state import GenerationFolder

_TICK = 1000
"""How often a timer of processing time is looked after when no input comes, in milliseconds."""

_LEAST_PAUSE = 0.5
_LEAST_EPOCHS = 20
_LEAST_BATCHES = 100


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

    `epoch` is the last that was opened, `settled` whether all that its input gives is out,
    `barrier` an epoch that can be made one. `caught_up` is of a run that takes only what was there.
    """

    epoch: int
    settled: bool
    drained: bool
    all_done: bool
    caught_up: bool
    barrier: int | None
    queries: Mapping[str, Turn]


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
        untimed = settings.trigger in (AS_FAST_AS_POSSIBLE, AVAILABLE_NOW)
        cadence = 0 if untimed else round(seconds(settings.trigger) * 1000)
        options = {
            "cadence": str(cadence),
            "epochs_in_flight": str(settings.max_epochs_in_flight),
            "settles": str(any(query.uses for query in plan.queries)).lower(),
            "epochs_between_barriers": str(epochs_between(settings, plan.checkpoint)),
            "ticks": str(_TICK if any(o.by_clock for o in plan.operators.values()) else 0),
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

    def until_caught_up(self) -> None:
        """Takes what is there now and nothing that comes later."""
        self._gate.untilCaughtUp()

    def request_barrier(self) -> None:
        """Asks for a barrier, which `status` tells of when all queries have reached it."""
        self._gate.request()

    def taken(self, epoch: int, *, recorded: bool) -> None:
        """A barrier that was reached has been dealt with: it is on record, or given up."""
        self._gate.taken(epoch, recorded)

    def release(self, epoch: int) -> None:
        """Input before this epoch will never be read again; a source may forget it."""
        self._gate.release(epoch)

    def hold(self) -> None:
        """Opens no more epochs with input."""
        self._gate.hold()

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
        names = ("epoch", "settled", "drained", "all_done", "caught_up")
        known = {name: found[name] for name in names}
        return GateStatus(**known, barrier=found["barrier"], queries=turns)

    def close(self) -> None:
        """Ends the inner sources; the queries must have stopped."""
        self._gate.close()


def epochs_between(settings: RunSettings, checkpoint: Checkpoint) -> int:
    """After how many epochs a barrier is taken before its time.

    Spark keeps so many batches, and not those of so much time. So that it has those of the barriers
    that are to be kept, epochs that come faster than two a second bring their barriers with them.
    """
    untimed = settings.trigger in (AS_FAST_AS_POSSIBLE, AVAILABLE_NOW)
    pause = _LEAST_PAUSE if untimed else max(seconds(settings.trigger), _LEAST_PAUSE)
    return max(_LEAST_EPOCHS, round(seconds(checkpoint.every) / pause))


def batches_to_retain(settings: RunSettings, checkpoint: Checkpoint) -> int:
    """How many batches Spark must keep for the barriers that are kept.

    Two intervals more than there are barriers: the gate closes when the newest is older than that.
    """
    return max(_LEAST_BATCHES, (checkpoint.retain + 2) * epochs_between(settings, checkpoint))
