"""Requests to a running job from another process: by files below its state folder.

control/requests/<id>.json   what is requested, by whom, of which run
control/answers/<id>.json    the run's progress with it; the last one says how it ended
control/status.json          the status of the run, see `status`

A request names its run. So none outlives its run, and a run obeys no other.

A run is identified by its lease, which it takes before it reads any request and releases after the
last: a request in between is answered, by the run or by the end recorded in its status.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...contracts.notes.answer import Answer
from ...contracts.notes.status import StatusNote
from ...contracts.notes.stop_request import StopRequest
from ..base.errors import NOT_STOPPED, NOTHING_RUNS, RuntimeFault
from ..storage.notes import create_note, read_note_as, write_note
from ..storage.state_store import is_on_disk, opened_state
from .lease import RUN, Holder, running

if TYPE_CHECKING:
    from ..storage.file_system import Files

TIMEOUT = 600.0
_LOOK = 0.2
_LOOK_IN_A_STORE = 1.0
"""Each look there is several requests."""
_FORGOTTEN = 3600.0
"""Seconds after which a requester has its answer, or has ended."""
ENDED = "ended"
FAILED = "failed"


class Mailbox:
    """The requests to one run."""

    def __init__(self, files: Files, folder: str, owner: str) -> None:
        """Discards requests to earlier runs, and answers that nobody waits for."""
        self._files = files
        self._folder = folder
        self._owner = owner
        self._open: dict[str, StopRequest] = {}
        for name in self._names("requests"):
            request = self._read(name)
            if request is None or request.owner != owner:
                files.delete([self._path("requests", name)])
        for name in self._names("answers"):
            path = self._path("answers", name)
            written = files.modified(path)
            if written is not None and time.time() - written > _FORGOTTEN:
                files.delete([path])

    def requests(self) -> tuple[StopRequest, ...]:
        """Removes and returns the new requests to this run, oldest first."""
        found = []
        for name in self._names("requests"):
            request = self._read(name)
            self._files.delete([self._path("requests", name)])
            if request is not None and request.owner == self._owner:
                found.append(request)
                self._open[request.id] = request
        return tuple(sorted(found, key=lambda one: one.made_at))

    def refuse(self, reason: str) -> None:
        """Answers all requests to this run without a last answer: it ends in another way."""
        self.requests()
        for request in tuple(self._open.values()):
            self.answer(request, Answer(FAILED, reason))

    def _names(self, kind: str) -> list[str]:
        names = self._files.list(f"{self._folder}/control/{kind}")
        return [name for name in names if not name.startswith(".")]

    def _path(self, kind: str, name: str) -> str:
        return f"{self._folder}/control/{kind}/{name}"

    def _read(self, name: str) -> StopRequest | None:
        return _request(self._files, self._path("requests", name), name.removesuffix(".json"))

    def answer(self, request: StopRequest, answer: Answer) -> None:
        """Answers with the run's progress: a phase in plain words, `ended` or `failed`."""
        if answer.phase in (ENDED, FAILED):
            self._open.pop(request.id, None)
        write_note(self._files, _answer_file(self._folder, request.id), answer.to_json())


def stop_pipeline(
    state: str,
    *,
    drain: bool = False,
    timeout: float = TIMEOUT,
    show: Callable[[str], None] = lambda line: None,
    conf: Sequence[str] = (),
) -> None:
    """Asks the job on a state folder to stop, and returns when it has.

    It finishes the epoch in flight, takes a last barrier and ends. With `drain` all watermarks
    first pass every row, so that all windows are emitted; that state can then not be continued.
    `show` gets lines about the progress; `conf` are settings of Spark for the store, `KEY=VALUE`.
    Raises RuntimeFault when nothing runs there, after the timeout in seconds, and when the job has
    ended in another way.
    """
    files, folder, _ = opened_state(state, conf)
    local = is_on_disk(state)
    ahead = 0.0 if local else _ahead(files, folder)
    holder = running(files, folder, time.time() + ahead)
    if holder is None or holder.work != RUN:
        raise _nothing_runs(state, holder)
    request = StopRequest(
        id=str(uuid.uuid4()),
        owner=holder.owner,
        drain=drain,
        by=f"process {os.getpid()} on {socket.gethostname()}",
        made_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )
    path = f"{folder}/control/requests/{request.id}.json"
    create_note(files, path, request.to_json())
    show(f"asked {holder.shown} to {'drain and stop' if drain else 'stop'}")
    look = _LOOK if local else _LOOK_IN_A_STORE
    waiting = _Waiting(files, folder, holder, request, show, look, ahead)
    try:
        waiting.wait(state, timeout)
    finally:
        files.delete([_answer_file(folder, request.id), *([path] if waiting.is_over else [])])


@dataclass(slots=True)
class _Waiting:
    """Waits for the end of a run that was asked to stop."""

    files: Files
    folder: str
    holder: Holder
    request: StopRequest
    show: Callable[[str], None]
    look: float
    ahead: float
    phase: str = ""
    is_over: bool = False

    def wait(self, state: str, timeout: float) -> None:
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            gone = self._gone()
            answer = self._answer()
            if gone:
                self.is_over = True
                self._check(answer or self._by_status(), state)
                return
            time.sleep(self.look)
        doing = f"it is {self.phase}" if self.phase else "it has not answered"
        raise RuntimeFault(
            NOT_STOPPED,
            f"{self.holder.shown} has not ended within {timeout:g} s; {doing}",
            "the request remains: the job ends when it gets there; see `streamc status`",
        )

    def _gone(self) -> bool:
        """Whether the run has released its lease, or is known to have ended."""
        with suppress(RuntimeFault):
            holder = running(self.files, self.folder, time.time() + self.ahead)
            return holder is None or holder.owner != self.holder.owner
        return False

    def _answer(self) -> Answer | None:
        with suppress(RuntimeFault):
            path = _answer_file(self.folder, self.request.id)
            answer = read_note_as(self.files, path, Answer.from_json)
            if answer is not None and answer.phase not in (self.phase, ENDED, FAILED):
                self.phase = answer.phase
                self.show(self.phase)
            return answer
        return None

    def _by_status(self) -> Answer | None:
        """How the run has ended, where the request came too late to be answered."""
        with suppress(RuntimeFault):
            path = f"{self.folder}/control/status.json"
            found = read_note_as(self.files, path, StatusNote.from_json)
            if found is None or found.owner != self.holder.owner or found.phase != ENDED:
                return None
            last = found.barrier
            if last is None:
                return None
            if self.request.drain:
                return Answer(FAILED, "without a drain: it was ending already")
            if last.epoch == found.epoch:
                return Answer(ENDED, barrier=last.barrier, epoch=found.epoch)
        return None

    def _check(self, answer: Answer | None, state: str) -> None:
        if answer is not None and answer.phase == ENDED:
            self.show(f"stopped with barrier {answer.barrier}, epoch {answer.epoch}")
            return
        reason = "without an answer: it was killed, or ended on its own before it was asked"
        if answer is not None:
            reason = answer.reason or f"while it was {answer.phase}"
        help = f"its output is in {state}/logs, if anywhere; its state is as after any crash"
        raise RuntimeFault(NOT_STOPPED, f"{self.holder.shown} has ended {reason}", help)


def _ahead(files: Files, folder: str) -> float:
    """By how many seconds the clock of a store is ahead of this machine's."""
    probe = f"{folder}/control/clock-{uuid.uuid4()}"
    files.replace(probe, "")
    try:
        return (files.modified(probe) or time.time()) - time.time()
    finally:
        files.delete([probe])


def _request(files: Files, path: str, id: str) -> StopRequest | None:
    """The request in a file; None for an invalid one, or one for something else."""
    with suppress(RuntimeFault):
        found = read_note_as(files, path, StopRequest.from_json)
        if found is not None and found.id == id:
            return found
    return None


def _nothing_runs(state: str, holder: Holder | None) -> RuntimeFault:
    if holder is not None:
        return RuntimeFault(
            NOTHING_RUNS,
            f"no job runs on the state {state}: {holder.shown} holds it for a {holder.work}",
            None,
        )
    return RuntimeFault(
        NOTHING_RUNS,
        f"no job runs on the state {state}",
        "a job that was started a moment ago may not have taken it yet; `streamc status` says so",
    )


def _answer_file(folder: str, request: str) -> str:
    return f"{folder}/control/answers/{request}.json"
