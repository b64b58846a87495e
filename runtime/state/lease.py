"""The lease of a state folder: only one process runs on it at a time, on any machine.

`lease.json` names who holds the folder, and is rewritten before it expires. A holder that ends
removes it; one that was killed is recognised by its process, on the same machine, and by the age of
the file anywhere else. No two clocks are compared: the file's own file system tells its age.

On a store it is exchanged in one step: see `exchanged_lease`. On a disk of this machine there is
also a lock, which the system frees with its process. Without locks, or where other machines do not
see them (NFS), reading a lease and writing it are two steps, and another process may intervene. So
every writer then waits, and reads again: a process that had read before it either saw this lease or
overwrites it in this time, since those who need longer give up.
"""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, TYPE_CHECKING, cast

from ...contracts.notes.lease import RUN
from ..base.errors import LEASE_LOST, STATE_IN_USE, STATE_UNREADABLE, RuntimeFault, reason
from ..base.private_files import open_to_append, secure
from ..storage.file_system import unsafe_store
from ..storage.notes import write_note
from ..storage.places import Place, is_own_disk
from .exchanged_lease import ExchangedLease, Held
from .holders import (
    ROLLBACK,
    SECONDS,
    Holder,
    instant_now,
    is_copied,
    lease_file,
    read_holder,
    running,
)

if TYPE_CHECKING:
    from ..storage.file_system import Files, VersionedFiles

__all__ = ["ROLLBACK", "RUN", "Holder", "Lease", "lease_file", "read_holder", "running"]

_TICK = 0.5
_PATIENCE = 20.0
"""How long to wait for a JVM whose Python has ended."""
_SLOW = 2.0
"""A process that needs longer to write a free lease gives it up again."""
_SETTLE = _SLOW + 1.0
"""A write is visible everywhere a second later. If two take one lease at the same moment, both see
the later one after this time."""
_TRIES = 3


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
        work: str = RUN,
    ) -> None:
        """Takes the lease for this process and others that work for it, and records the purpose.

        A folder that is not `local` is one of VersionedFiles. Raises RuntimeFault when another run
        holds it, and for a store where two could.
        """
        self._files = files
        self._folder = folder
        self._shown = shown
        self._seconds = seconds
        self._ended = threading.Event()
        self._renewing = threading.Lock()
        self._lost: RuntimeFault | None = None
        self._holder = Holder.here(seconds, processes, work)
        self._guarded = False
        self._store: ExchangedLease | None = None
        self._lock = self._locked() if local else None
        try:
            if local:
                inode = Place.of(folder, local=True).inode
                self._holder = replace(self._holder, inode=inode)
            self._renewed = _clock()
            if local:
                self._take()
            else:
                self._store = self._exchanged(cast("VersionedFiles", files))
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
        """Why this run may no longer write; None while it holds the lease."""
        return self._lost

    @property
    def age(self) -> float:
        """The seconds since it was renewed last."""
        return _clock() - self._renewed

    def check(self) -> None:
        """Raises RuntimeFault when the lease is lost: call it before anything that needs the lease.

        It costs a look at the clock, unless a renewal is overdue: a process that was suspended
        checks before it continues.
        """
        if not self._ended.is_set() and _clock() - self._renewed > self._seconds / 2:
            self._renew()
        if self._lost is not None:
            raise self._lost

    def release(self) -> None:
        """Releases the folder, if it is still ours; may be called more than once."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        with suppress(Exception):
            self._give_back()
        self._unlock()

    def _locked(self) -> IO[str]:
        """The folder's lock. A killed process holds it until all of its threads have ended."""
        until = time.monotonic() + _PATIENCE
        while True:
            lock, taken = _lock(self._folder, self._shown)
            if lock is not None:
                # Without a lock, or with one that others do not see, the lease alone decides.
                self._guarded = taken and is_own_disk(self._folder)
                return lock
            holder, left = self._standing()
            if holder is None or not holder.ending or time.monotonic() > until:
                raise self._in_use(holder, left)
            time.sleep(0.05)

    def _exchanged(self, files: VersionedFiles) -> ExchangedLease:
        """The lease in a store, taken."""
        if (reason := files.refusal(self._folder)) is not None:
            raise unsafe_store(self._shown, reason)
        before = None
        with suppress(RuntimeFault):
            before = read_holder(files, self._folder)
        self._await_orphans(before)
        store = ExchangedLease(files, self._folder, self._file_clock)
        self._renewed = _clock()
        taken = store.take(self._holder)
        if isinstance(taken, Held):
            raise self._in_use(taken.holder, taken.left)
        self._holder = taken
        return store

    def _await_orphans(self, holder: Holder | None) -> None:
        """Waits for the JVM of an ended holder; raises RuntimeFault when it does not end."""
        until = time.monotonic() + _PATIENCE
        while holder is not None and (orphans := holder.orphans):
            if time.monotonic() > until:
                # Its lease may have expired: it was suspended, and would continue writing once
                # resumed.
                raise self._orphaned(holder, orphans)
            time.sleep(0.1)

    def _take(self) -> None:
        self._await_orphans(self._standing()[0])
        for _ in range(_TRIES):
            begun = _clock()
            holder, left = self._standing()
            if left > 0:
                raise self._in_use(holder, left)
            self._write(self._holder)
            if self._guarded and (holder is None or holder.ending):
                return
            if _clock() - begun <= _SLOW:
                self._settle()
                return
            self._give_back()
        raise RuntimeFault(
            STATE_UNREADABLE,
            f"the state folder {self._shown} takes more than {_SLOW:g} s to write a small file: "
            "that no other job holds it can't be known",
            "start the job again when the file system is less busy",
        )

    def _settle(self) -> None:
        """Waits until any other writer has finished; raises RuntimeFault if there was one."""
        time.sleep(_SETTLE)
        other = read_holder(self._files, self._folder)
        if other is None or other.owner != self._holder.owner:
            raise self._in_use(other)

    def _give_back(self) -> None:
        if self._store is not None:
            self._store.release(self._holder)
            return
        holder = read_holder(self._files, self._folder)
        if holder is not None and holder.owner == self._holder.owner:
            self._files.delete([lease_file(self._folder)])

    def _standing(self) -> tuple[Holder | None, float]:
        """Who has the lease, and for how many more seconds it is valid without a renewal."""
        written = self._files.modified(lease_file(self._folder))
        if written is None:
            return None, 0.0
        holder = None
        with suppress(RuntimeFault):
            holder = read_holder(self._files, self._folder)
        if holder is not None and holder.gone:
            return holder, 0.0
        if holder is not None and self._guarded and is_copied(holder, self._folder):
            return None, 0.0
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
        """Rewrites the lease, unless another has it; a failure counts once it persists."""
        with self._renewing:
            begun = _clock()
            try:
                if self._store is not None:
                    if (other := self._store.renew(self._holder)) is None:
                        self._renewed = begun
                    else:
                        self._lose_to(other.holder)
                    return
                holder = read_holder(self._files, self._folder)
                if holder is None or holder.owner != self._holder.owner:
                    self._lose_to(holder)
                    return
                self._write(replace(self._holder, renewed_at=instant_now()))
                if self._may_be_taken(begun):
                    return
                self._renewed = begun
            except Exception as error:
                if _clock() - self._renewed > self._seconds:
                    late = f"it could not be renewed for {self._seconds:.0f} s"
                    self._lose(f"{late}: {reason(error)}")

    def _may_be_taken(self, begun: float) -> bool:
        """Whether another may have this lease, which was renewed too late; it is then lost."""
        now = _clock()
        if self._guarded or now - self._renewed < self._seconds - _SLOW:
            return False
        if now - begun > _SLOW:
            self._lose("it was renewed too late, and another may have it now")
            return True
        time.sleep(_SETTLE)
        holder = read_holder(self._files, self._folder)
        if holder is not None and holder.owner == self._holder.owner:
            return False
        self._lose_to(holder)
        return True

    def _lose_to(self, holder: Holder | None) -> None:
        self._lose(f"{'nobody' if holder is None else holder.shown} has it now")

    def _lose(self, reason: str) -> None:
        self._lost = RuntimeFault(
            LEASE_LOST,
            f"this run has lost its lease on the state {self._shown}: {reason}",
            "start it again when no other process runs on the state",
        )

    def _write(self, holder: Holder) -> None:
        write_note(self._files, lease_file(self._folder), holder.to_json())

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


def _lock(folder: str, shown: str) -> tuple[IO[str] | None, bool]:
    """The folder's lock, held until it is closed or the process ends; None when another has it.

    And whether it locks: some file systems have no locks, and there the lease alone decides.
    """
    try:
        secure(folder)
        lock = open_to_append(f"{folder}/lock")
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
        return None, False
    except OSError:
        return lock, False
    return lock, True


def _clock() -> float:
    """Seconds that include the machine's sleep, where the system counts them."""
    boot: Callable[[], float] | None = _BOOT_CLOCK
    return time.monotonic() if boot is None else boot()


def _boot_clock() -> Callable[[], float] | None:
    number = getattr(time, "CLOCK_BOOTTIME", None)
    return None if number is None else lambda: time.clock_gettime(number)


_BOOT_CLOCK = _boot_clock()
