"""Who holds a state folder, according to its `lease.json`: see `lease`."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...contracts.notes.lease import RUN, LeaseNote
from ..base.processes import is_running, place, started
from ..storage.notes import said, unreadable, unsealed
from ..storage.places import Place

if TYPE_CHECKING:
    from ..storage.file_system import Files

SECONDS = 30.0
"""How long a lease is valid without being renewed."""
ROLLBACK = "rollback"
_DAMAGED = f"the next run rewrites it, once it is older than {SECONDS:.0f} s"


class Holder(LeaseNote):
    """Who holds a folder, and whether its processes are running."""

    __slots__ = ()

    @classmethod
    def here(
        cls,
        seconds: float,
        others: Sequence[int] = (),
        work: str = RUN,
        inode: int | None = None,
    ) -> Holder:
        """A new holder: the calling process, and others that work for it."""
        now, pid = instant_now(), os.getpid()
        processes = {str(number): started(number) for number in (pid, *others)}
        owner, host = str(uuid.uuid4()), socket.gethostname()
        return cls(owner, pid, host, place(), processes, now, now, seconds, work, inode)

    @property
    def shown(self) -> str:
        return f"process {self.pid} on {self.host}"

    @property
    def gone(self) -> bool:
        """Whether its processes are known to have ended: only those of this machine can be."""
        return self._is_known(self.processes) and not self._alive(self.processes)

    @property
    def lives(self) -> bool:
        """Whether its own process is known to be running: only one of this machine can be."""
        own = {str(self.pid): self.processes.get(str(self.pid))}
        return self._is_known(own) and self._alive(own)

    @property
    def ending(self) -> bool:
        """Whether its own process is known to have ended; its others may end a little later."""
        own = {str(self.pid): self.processes.get(str(self.pid))}
        return self._is_known(own) and not self._alive(own)

    @property
    def orphans(self) -> tuple[int, ...]:
        """The remaining processes of a holder whose own process is known to have ended."""
        others = self.processes.items() if self.ending else ()
        return tuple(int(pid) for pid, since in others if is_running(int(pid), since))

    def _is_known(self, processes: Mapping[str, str | None]) -> bool:
        here = self.place is not None and self.place == place()
        return here and bool(processes) and None not in processes.values()

    def _alive(self, processes: Mapping[str, str | None]) -> bool:
        return any(is_running(int(pid), since) for pid, since in processes.items())


def lease_file(folder: str) -> str:
    """The file of a folder's lease."""
    return f"{folder}/lease.json"


def read_holder(files: Files, folder: str) -> Holder | None:
    """The holder in a folder's lease, valid or not; None if it was released.

    Raises RuntimeFault when the lease is damaged.
    """
    return _read(files, folder)[0]


def held_by(text: str, path: str) -> Holder:
    """The holder in the text of a lease; raises RuntimeFault when it is damaged."""
    return said(unsealed(text, path, _DAMAGED), path, Holder.from_json, _DAMAGED)


def _read(files: Files, folder: str) -> tuple[Holder | None, float]:
    """Who has a lease, and when it was written."""
    path = lease_file(folder)
    try:
        found = files.version(path)
    except OSError as error:
        raise unreadable(path, error.strerror or str(error), _DAMAGED) from None
    holder = None if found is None else held_by(found.text, path)
    if found is None or holder is None or holder.released:
        return None, 0.0
    return holder, found.written


def running(files: Files, folder: str, now: float) -> Holder | None:
    """Who runs on a folder of this machine; `now` is by the file system's clock."""
    holder, written = _read(files, folder)
    if holder is None or holder.gone or is_copied(holder, folder):
        return None
    # A suspended process still exists, though it can't renew its lease.
    return holder if holder.lives or now - written <= holder.seconds else None


def is_copied(holder: Holder, folder: str) -> bool:
    """Whether the lease is from another folder, of which this one is a copy."""
    with suppress(OSError):
        return holder.inode not in (None, Place.of(folder, local=True).inode)
    return False


def instant_now() -> str:
    """The instant in a lease's form."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
