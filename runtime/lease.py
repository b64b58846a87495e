"""The lease of a state folder: one process at a time runs on it, wherever it runs.

`lease.json` names who holds the folder, and is written again before its time is over. A holder
that ends takes it away; one that was killed is known by its process, on the same machine, and by
the age of the file anywhere else. No two clocks are compared: the file system that the file lies on
tells how old it is. On a local disk a lock decides besides, which the system frees with its
process.
"""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

from .errors import LEASE_LOST, STATE_IN_USE, STATE_UNREADABLE, RuntimeFault, first_line
from .notes import read_note, unreadable, write_note
from .processes import is_running, place, started

if TYPE_CHECKING:
    from .storage import Files

SECONDS = 30.0
"""How long a lease is valid without being renewed."""
_TICK = 0.5
_DAMAGED = f"the next run writes it anew, once it is older than {SECONDS:.0f} s"
_PATIENCE = 20.0
"""How long a JVM is waited for whose Python is gone."""
_SETTLE = 1.0
"""Two that take one lease at the same moment: the later is seen by both after this time."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a folder: a run of its own (`owner`), and its process (`pid`).

    `processes` has the start of each process that may write: Python's, and that of Spark's JVM,
    which outlives it for a moment.
    """

    owner: str
    pid: int
    host: str
    place: str | None
    processes: Mapping[str, str | None]
    started_at: str
    renewed_at: str
    seconds: float

    @classmethod
    def here(cls, seconds: float, others: Sequence[int] = ()) -> Holder:
        """A holder from now on: the process that asks, and others that work for it."""
        now, pid = _now(), os.getpid()
        processes = {str(number): started(number) for number in (pid, *others)}
        return cls(
            str(uuid.uuid4()), pid, socket.gethostname(), place(), processes, now, now, seconds
        )

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Holder:
        """The holder that a lease names; raises ValueError when the document is none."""
        try:
            known = {name: document[name] for name in _NAMES}
            typed = {"pid": int(known["pid"]), "seconds": float(known["seconds"])}
            return cls(**{**known, **typed, "processes": dict(known["processes"])})
        except (KeyError, TypeError) as error:
            raise ValueError(f"it is no lease: {error}") from None

    @property
    def shown(self) -> str:
        return f"process {self.pid} on {self.host}"

    @property
    def gone(self) -> bool:
        """Whether its processes are known to have ended; only those of this machine can be."""
        return self._is_known(self.processes) and not self._alive(self.processes)

    @property
    def ending(self) -> bool:
        """Whether its own process is known to have ended; others of it may end a little later."""
        own = {str(self.pid): self.processes.get(str(self.pid))}
        return self._is_known(own) and not self._alive(own)

    @property
    def orphans(self) -> tuple[int, ...]:
        """What is left of a holder whose own process is known to have ended."""
        others = self.processes.items() if self.ending else ()
        return tuple(int(pid) for pid, since in others if is_running(int(pid), since))

    def _is_known(self, processes: Mapping[str, str | None]) -> bool:
        here = self.place is not None and self.place == place()
        return here and bool(processes) and None not in processes.values()

    def _alive(self, processes: Mapping[str, str | None]) -> bool:
        return any(is_running(int(pid), since) for pid, since in processes.items())


_NAMES = tuple(field.name for field in fields(Holder))


def lease_file(folder: str) -> str:
    """The file of a folder's lease."""
    return f"{folder}/lease.json"


def read_holder(files: Files, folder: str) -> Holder | None:
    """Who holds a folder by its lease, whether or not that is still valid.

    Raises RuntimeFault when the lease is damaged.
    """
    path = lease_file(folder)
    document = read_note(files, path, _DAMAGED)
    if document is None:
        return None
    try:
        return Holder.from_document(document)
    except ValueError as error:
        raise unreadable(path, str(error), _DAMAGED) from None


def running(files: Files, folder: str, now: float) -> Holder | None:
    """Who runs on a folder; `now` is an instant of the file system's clock."""
    holder = read_holder(files, folder)
    written = files.modified(lease_file(folder))
    if holder is None or written is None or holder.gone:
        return None
    return holder if now - written <= holder.seconds else None


class Lease:
    """The lease of this run, renewed by a thread until it is released or lost."""

    def __init__(
        self,
        files: Files,
        folder: str,
        shown: str,
        *,
        local: bool,
        processes: Sequence[int] = (),
        seconds: float = SECONDS,
    ) -> None:
        """Takes the lease for this process and others that work for it.

        Raises RuntimeFault when another run has it.
        """
        self._files = files
        self._folder = folder
        self._shown = shown
        self._local = local
        self._seconds = seconds
        self._holder = Holder.here(seconds, processes)
        self._ended = threading.Event()
        self._renewing = threading.Lock()
        self._lost: RuntimeFault | None = None
        self._lock = self._locked() if local else None
        try:
            self._renewed = _clock()
            self._take()
        except BaseException:
            self._unlock()
            raise
        self._thread = threading.Thread(target=self._renew_on, name="streamc-lease", daemon=True)
        self._thread.start()

    @property
    def holder(self) -> Holder:
        return self._holder

    @property
    def lost(self) -> RuntimeFault | None:
        """Why this run may not write any more; None while it holds the lease."""
        return self._lost

    def check(self) -> None:
        """Raises RuntimeFault when the lease is lost: call it before what must not be done then.

        It costs a look at the clock, unless a renewal is overdue: a process that was suspended asks
        before it goes on.
        """
        if not self._ended.is_set() and _clock() - self._renewed > self._seconds / 2:
            self._renew()
        if self._lost is not None:
            raise self._lost

    def release(self) -> None:
        """Gives the folder free, if it is still ours; more than once is no error."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        with suppress(Exception):
            holder = read_holder(self._files, self._folder)
            if holder is not None and holder.owner == self._holder.owner:
                self._files.delete([lease_file(self._folder)])
        self._unlock()

    def _locked(self) -> IO[str]:
        """The folder's lock. A process that was killed has it until all of its threads are gone."""
        until = time.monotonic() + _PATIENCE
        while True:
            lock = _lock(self._folder, self._shown)
            if lock is not None:
                return lock
            holder, left = self._standing()
            if holder is None or not holder.ending or time.monotonic() > until:
                raise self._in_use(holder, left)
            time.sleep(0.05)

    def _take(self) -> None:
        holder, _ = self._standing()
        until = time.monotonic() + _PATIENCE
        while holder is not None and (orphans := holder.orphans):
            if time.monotonic() > until:
                # Its lease may be over: it was stopped, and would go on to write when it is woken.
                raise self._orphaned(holder, orphans)
            time.sleep(0.1)
        holder, left = self._standing()
        if left > 0:
            raise self._in_use(holder, left)
        self._write(self._holder)
        if self._local and (holder is None or holder.ending):
            return
        time.sleep(_SETTLE)
        other = read_holder(self._files, self._folder)
        if other is None or other.owner != self._holder.owner:
            raise self._in_use(other)

    def _standing(self) -> tuple[Holder | None, float]:
        """Who has the lease, and for how many seconds it still holds without a renewal."""
        written = self._files.modified(lease_file(self._folder))
        if written is None:
            return None, 0.0
        holder = None
        with suppress(RuntimeFault):
            holder = read_holder(self._files, self._folder)
        if holder is not None and holder.gone:
            return holder, 0.0
        seconds = SECONDS if holder is None else holder.seconds
        return holder, written + seconds - self._file_clock()

    def _file_clock(self) -> float:
        """Now, by the clock of the file system."""
        probe = f"{self._folder}/control/clock-{self._holder.owner}"
        self._files.replace(probe, "")
        try:
            return self._files.modified(probe) or time.time()
        finally:
            self._files.delete([probe])

    def _renew_on(self) -> None:
        while not self._ended.wait(_TICK) and self._lost is None:
            if _clock() - self._renewed >= self._seconds / 3:
                self._renew()

    def _renew(self) -> None:
        """Writes the lease again, unless another has it; a failure counts once it lasts."""
        with self._renewing:
            begun = _clock()
            try:
                holder = read_holder(self._files, self._folder)
                if holder is None or holder.owner != self._holder.owner:
                    self._lose(f"{'nobody' if holder is None else holder.shown} has it now")
                    return
                self._write(replace(self._holder, renewed_at=_now()))
                self._renewed = begun
            except Exception as error:
                if _clock() - self._renewed > self._seconds:
                    reason = error.message if isinstance(error, RuntimeFault) else first_line(error)
                    self._lose(f"it could not be renewed for {self._seconds:.0f} s: {reason}")

    def _lose(self, reason: str) -> None:
        self._lost = RuntimeFault(
            LEASE_LOST,
            f"this run has lost its lease on the state {self._shown}: {reason}",
            "start it again when no other process runs on the state",
        )

    def _write(self, holder: Holder) -> None:
        write_note(self._files, lease_file(self._folder), asdict(holder))

    def _in_use(self, holder: Holder | None = None, left: float | None = None) -> RuntimeFault:
        if left is None:
            with suppress(RuntimeFault):
                holder, left = self._standing()
        who = "another process" if holder is None else holder.shown
        message = f"{who} runs on the state {self._shown}"
        if left is not None and left > 0:
            message += f"; its lease holds for another {left:.0f} s unless it is renewed"
        help = f"stop it with `streamc stop --state {self._shown}`, or pass another `--state`"
        return RuntimeFault(STATE_IN_USE, message, help)

    def _orphaned(self, holder: Holder, orphans: Sequence[int]) -> RuntimeFault:
        left = ", ".join(map(str, orphans))
        return RuntimeFault(
            STATE_IN_USE,
            f"{holder.shown} has ended, but not process {left}, the Spark that it had started on "
            f"the state {self._shown}",
            f"end it: kill -9 {left.replace(',', '')}",
        )

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _lock(folder: str, shown: str) -> IO[str] | None:
    """The folder's lock, held until it is closed or the process ends; None when it is taken."""
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(f"{folder}/lock", "a", encoding="utf-8")  # noqa: SIM115  (held while it runs)
    except OSError as error:
        raise RuntimeFault(
            STATE_UNREADABLE,
            f"cannot write to the state folder {shown}: {error.strerror}",
            "pass another folder with `--state`",
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    except OSError:
        pass  # A file system without locks: the lease alone decides.
    return lock


def _clock() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts them."""
    boot: Callable[[], float] | None = _BOOT_CLOCK
    return time.monotonic() if boot is None else boot()


def _boot_clock() -> Callable[[], float] | None:
    number = getattr(time, "CLOCK_BOOTTIME", None)
    return None if number is None else lambda: time.clock_gettime(number)


_BOOT_CLOCK = _boot_clock()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
