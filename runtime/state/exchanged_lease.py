"""A lease on a store without locks, which exchanges one version of a file for the next in one step.

Of all who have read one version, one writes the next: to take a lease, to renew it and to give it
back are one write each, and none of them overwrites what its writer has not seen. So nobody waits
for others to show themselves. A lease that was given back stays, with the number of its taking.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..base.errors import RuntimeFault
from ..storage.notes import seal
from .holders import SECONDS, Holder, held_by, instant_now, lease_file

if TYPE_CHECKING:
    from ..storage.file_system import VersionedFiles

_GRAIN = 1.0
"""Stores tell the time of a write in whole seconds."""


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that another has: who, as far as that is readable, and for how many seconds."""

    holder: Holder | None
    left: float


class ExchangedLease:
    """The lease of a folder, as one process sees and writes it."""

    def __init__(self, files: VersionedFiles, folder: str, clock: Callable[[], float]) -> None:
        """`clock` says what time it is in the store, in seconds."""
        self._files = files
        self._path = lease_file(folder)
        self._clock = clock
        self._token: str | None = None

    def take(self, holder: Holder) -> Holder | Held:
        """Takes the lease, if it is free or has expired; returns it with its number, or who has it.

        A lease that another writes at the same moment is his.
        """
        found = self._files.version(self._path)
        number = 1
        if found is not None:
            before = None
            with suppress(RuntimeFault):
                before = held_by(found.text, self._path)
            if before is None or not before.released:
                left = _left(before, found.written, self._clock)
                if left > 0:
                    return Held(before, left)
            # A damaged lease hides its number: milliseconds are more than any number of takings.
            number = int(found.written * 1000) if before is None else (before.number or 0) + 1
        taken = replace(holder, number=number)
        if self._write(taken, None if found is None else found.token):
            return taken
        found = self._files.version(self._path)
        with suppress(RuntimeFault):
            return Held(None if found is None else held_by(found.text, self._path), 0.0)
        return Held(None, 0.0)

    def renew(self, holder: Holder) -> Held | None:
        """Renews a lease that this process took; returns who has it instead, if another took it."""
        if self._token is not None and self._write(
            replace(holder, renewed_at=instant_now()), self._token
        ):
            return None
        # Of a write whose answer was lost, the token is not known.
        found = self._files.version(self._path)
        now = None if found is None else held_by(found.text, self._path)
        if found is None or now is None or now.owner != holder.owner or now.released:
            return Held(None if now is None or now.released else now, 0.0)
        if self._write(replace(holder, renewed_at=instant_now()), found.token):
            return None
        raise OSError("the lease changes while it is written")

    def release(self, holder: Holder) -> None:
        """Gives the lease back, unless another has it."""
        found = self._files.version(self._path)
        if found is not None and held_by(found.text, self._path).owner == holder.owner:
            self._write(replace(holder, released=True), found.token)

    def _write(self, holder: Holder, expected: str | None) -> bool:
        self._token = None
        text = seal(holder.to_json())
        if not self._files.exchange(self._path, text, expected):
            return False
        found = self._files.version(self._path)
        if found is not None and found.text == text:
            self._token = found.token
        return True


def _left(holder: Holder | None, written: float, clock: Callable[[], float]) -> float:
    """For how many more seconds a lease is valid without a renewal."""
    if holder is not None and holder.gone:
        return 0.0
    seconds = SECONDS if holder is None else holder.seconds
    return written + seconds + _GRAIN - clock()
