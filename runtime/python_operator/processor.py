"""Called by Spark in its workers: the turns of keys, in Spark's own interface."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import Row

from .counts import count
from .plan import OperatorPlan
from .turn import Turns


class Processor(StatefulProcessor):
    """A Python class as a processor of Spark's, created for each task."""

    def __init__(self, plan: OperatorPlan) -> None:
        self._plan = plan
        # In the batch that restores a state no timer fires: it only stores the state.
        self._begins = False

    def init(self, handle: Any) -> None:
        """Declares the state; also called on the driver, where no key has a turn."""
        # PySpark represents instants of state and keys in the local time of its process.
        os.environ["TZ"] = "UTC"
        time.tzset()
        self._turns = Turns(self._plan, handle)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        """The turn of a key with rows; its due timers fire in it as well."""
        return self._turn(key, rows, timerValues, None)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        """The turn of a key that is woken."""
        return self._turn(key, (), timerValues, expiredTimerInfo.getExpiryTimeInMs())

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        """Restores a piece of an operator's initial state (`kernel/keyed`)."""
        self._begins = True
        for piece in initialState.__fields__[len(self._plan.keys) :]:
            if initialState[piece] is not None:
                self._turns.restore(piece, initialState[piece])

    def close(self) -> None:
        """Counts the task's rows."""
        count(self._plan.counts, self._turns.arrived, self._turns.handled)

    def _turn(self, key: Any, rows: Any, time: Any, woken: int | None) -> Iterator[Row]:
        now, watermark = time.getCurrentProcessingTimeInMs(), time.getCurrentWatermarkInMs()
        rests = self._begins and woken is not None
        return self._turns.of(key, rows, now, watermark, woken, rests=rests)
