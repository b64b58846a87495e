"""The loop of a run: it shows the status of the queries, and ends them when necessary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...contracts.notes.answer import Answer
from ...contracts.notes.status import LastBarrier, QueryProgress, Stall
from ...contracts.notes.stop_request import StopRequest
from ...contracts.plan import Plan
from ..barriers.coordinator import Coordinator
from ..barriers.gate import Gate
from ..barriers.stall import find_stall
from ..base.delays import pause
from ..base.errors import NOT_STOPPED, STALLED, STATE_DRAINED, RuntimeFault
from ..base.signals import Stop
from ..plan.settings import seconds
from ..spark.failures import spark_errors
from ..state.mailbox import ENDED, FAILED
from ..state.state import State
from .progress import QueryMonitor
from .status import RUNNING, Standing, StatusFile
from .views import View

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK = 0.1
_SHOW = 0.5
_DRAINING = "draining: emitting all windows"
_STOPPING = "finishing the epoch in flight"
_LAST = "taking the last barrier"


class Watch:
    """Watches the queries of one run until one has failed, all are done, or a stop is requested.

    `fault` says why a run can't continue although no query has failed.
    """

    def __init__(
        self,
        plan: Plan,
        state: State,
        gate: Gate,
        coordinator: Coordinator,
        view: View,
        cadence: float,
    ) -> None:
        """`cadence` is the pause between epochs with input, in seconds."""
        self.fault: RuntimeFault | None = None
        self._plan = plan
        self._cadence = cadence
        self._timeout = seconds(plan.checkpoint.timeout)
        self._stall: Stall | None = None
        self._state = state
        self._gate = gate
        self._coordinator = coordinator
        self._view = view
        self._phase = RUNNING
        self._epoch = 0
        self._drained = False
        self._finishes_drain = False
        self._requests: list[StopRequest] = []
        holder = state.lease.holder
        self._mailbox = state.mailbox
        self._file = StatusFile(state.files, state.path, holder)
        self._queries: Sequence[StreamingQuery] = ()
        self._monitors: Sequence[QueryMonitor] = ()
        self._shown = 0.0

    @property
    def asked(self) -> bool:
        """Whether another process has requested the end, or an earlier run's drain is pending."""
        return bool(self._requests) or self._finishes_drain

    def begin(self) -> None:
        """Checks whether the state can continue; raises RuntimeFault when it was drained.

        This run finishes an interrupted drain, and then ends.
        """
        status = self._gate.status()
        newest = self._coordinator.newest
        if not status.drained:
            return
        if newest is None or newest.epoch != status.epoch:
            self._view.note(
                "an earlier run was stopped while it drained; this one finishes the drain"
            )
            self._finishes_drain = True
            return
        raise RuntimeFault(
            STATE_DRAINED,
            f"the state {self._state.shown} was drained at barrier {newest.barrier}",
            "go back to the barrier before it with `streamc rollback`, or pass another `--state`",
        )

    def run(
        self, stop: Stop, queries: Sequence[StreamingQuery], monitors: Sequence[QueryMonitor]
    ) -> None:
        """Returns when the queries are to be stopped."""
        self._queries, self._monitors = queries, monitors
        if self._finishes_drain:
            self._gate.hold()
            self._finish(stop, drain=True)
            return
        while not stop.wait(_LOOK):
            self._look()
            if self._requests:
                self._end_as_asked(stop)
                return
            if not self._goes_on():
                return
            pause("watch.look")
            if self._gate.status().caught_up:
                self._coordinator.finish(lambda: self._is_over(stop))
                self._look_at_gate()
                return

    def ended(self, failures: Sequence[RuntimeFault], progress: Sequence[QueryProgress]) -> None:
        """Reports to other processes how the run has ended, before the state is released."""
        if self._state.lease.lost is not None:
            return
        standing = self._standing("failed" if failures else "ended")
        with suppress(*_untold()):
            self._file.write(self._plan, self._state.generation, standing, progress, now=True)
            self._requests += self._mailbox.requests()
            for request in self._requests:
                self._mailbox.answer(request, self._end(request, failures))

    def _end(self, request: StopRequest, failures: Sequence[RuntimeFault]) -> Answer:
        newest = self._coordinator.newest
        if failures:
            return Answer(FAILED, f"with: {failures[0].message}")
        if newest is None or newest.epoch != self._epoch:
            return Answer(FAILED, "before its last barrier was complete")
        if request.drain and not self._drained:
            return Answer(FAILED, "without a drain: it was ending already")
        return Answer(ENDED, barrier=newest.barrier, epoch=newest.epoch)

    def _end_as_asked(self, stop: Stop) -> None:
        drain = any(request.drain for request in self._requests)
        if drain:
            self._gate.drain()
        else:
            self._gate.hold()
        for request in self._requests:
            self._view.note(f"asked to stop by {request.by}")
        self._finish(stop, drain=drain)

    def _finish(self, stop: Stop, *, drain: bool) -> None:
        """Waits until the queries have finished their epoch, and a last barrier is complete."""
        self._enter(_DRAINING if drain else _STOPPING)
        while not self._is_over(stop):
            status = self._gate.status()
            if status.all_done and (status.drained or not drain):
                break
            time.sleep(_LOOK)
        self._enter(_LAST)
        self._coordinator.finish(lambda: self._is_over(stop))
        self._look_at_gate()
        newest = self._coordinator.newest
        if not self._is_over(stop) and (newest is None or newest.epoch != self._epoch):
            self.fault = RuntimeFault(
                NOT_STOPPED,
                f"the last barrier was not complete after {self._plan.checkpoint.timeout}",
                "start the job again: it continues from what is committed",
            )

    def _enter(self, phase: str) -> None:
        self._phase = phase
        with suppress(*_untold()):
            for request in self._requests:
                self._mailbox.answer(request, Answer(phase))

    def _is_over(self, stop: Stop) -> bool:
        """Whether waiting for the end must stop; shows the status meanwhile."""
        self._look()
        return stop.requested or not self._goes_on()

    def _goes_on(self) -> bool:
        lost = self._state.lease.lost
        if lost is not None:
            self.fault = lost
            self._gate.fence()
        if self._coordinator.error is not None:
            raise self._coordinator.error
        fault = self.fault or self._coordinator.fault
        return fault is None and all(query.isActive for query in self._queries)

    def _look(self) -> None:
        """Shows the status of the queries, and reads requests, if it is time."""
        if time.monotonic() - self._shown < _SHOW:
            return
        self._shown = time.monotonic()
        self._look_at_gate()
        progress = [monitor.look() for monitor in self._monitors]
        standing = self._standing(self._phase)
        self._view.standing(standing)
        self._view.update(progress)
        with suppress(*_untold()):
            self._file.write(self._plan, self._state.generation, standing, progress)
            self._requests += self._mailbox.requests()

    def _look_at_gate(self) -> None:
        status = self._gate.status()
        self._epoch, self._drained = status.epoch, status.drained
        self._look_for_stall(find_stall(status, time.time(), self._cadence, self._timeout))

    def _look_for_stall(self, stall: Stall | None) -> None:
        """Reports a stall, and ends the run when nothing can resolve it."""
        if stall is not None and (self._stall is None or self._stall.reason != stall.reason):
            self._view.note(f"stalled for {stall.seconds:.0f} s: {stall.reason}")
        elif stall is None and self._stall is not None:
            self._view.note("moving again")
        self._stall = stall
        if stall is not None and not stall.at_work and stall.seconds > self._timeout:
            self.fault = self.fault or RuntimeFault(
                STALLED,
                f"nothing has happened for {self._plan.checkpoint.timeout}: {stall.reason}",
                "start the job again: it continues from what is committed; check first whether "
                "its sources can be reached",
            )

    def _standing(self, phase: str) -> Standing:
        newest = self._coordinator.newest
        barrier = None if newest is None else LastBarrier.of(newest)
        return Standing(phase, self._epoch, barrier, self._coordinator.due_in, self._stall)


def _untold() -> tuple[type[BaseException], ...]:
    """Errors of writing a file for other processes, which end no run."""
    return (OSError, *spark_errors())
