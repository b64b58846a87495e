"""The owner of a files sink's output: a note in its folder, which each run rewrites.

    {"state": <id of the state>, "sink": "spend", "turn": <the run's>, "place": <of the folder>}

A folder that was copied together with its state still has the note of the original. Its place shows
that it is a copy, which a state that became one of its own may take.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace

from ....contracts.notes.files_sink import ClaimedPlace, OutputClaim
from ...base.errors import FOREIGN_OUTPUT, OUTPUT_GONE, RuntimeFault
from ...state.home import Home, lost_output
from ...state.state import State
from ...storage.file_system import Storage
from ...storage.notes import create_note, read_note_as, write_note
from ...storage.places import Place
from .commits import Outlet

_EVERY = 5.0
"""How often, in seconds, a run checks whether its output is still its own."""


class Claims:
    """The claims of one state on the folders of a sink."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._storage = state.storage
        self._looked = time.monotonic()

    def check(self, outlet: Outlet, *, known: bool) -> None:
        """Raises RuntimeFault when this state may not write to a folder; changes nothing.

        `known` is whether the state has written there before, so that its rows must be there.
        """
        note = read_claim(self._storage, outlet, self._state.id)
        if note is None:
            if known:
                raise _gone(outlet)
        elif not self._is_copied_along(outlet, note):
            check_owner(self._storage, outlet, self._state.id, self._state.home)

    def take(self, outlet: Outlet) -> None:
        """Notes that this run writes to the folder."""
        claim = OutputClaim(self._state.id, outlet.sink, self._state.home.turn)
        if read_claim(self._storage, outlet, self._state.id) is None:
            # Of two runs that find no note, one gets it.
            create_note(self._storage, outlet.claim, claim.to_json())
        place = ClaimedPlace(**asdict(self._place(outlet)))
        write_note(self._storage, outlet.claim, replace(claim, place=place).to_json())

    def holds(self, outlet: Outlet) -> bool:
        """Whether a folder written earlier still belongs to this state, and not to a copy."""
        note = read_claim(self._storage, outlet, self._state.id)
        if note is None or note.state != self._state.id:
            return False
        home = self._state.home
        return note.turn is None or home.adopted or note.turn in home.turns

    def confirm(self, outlet: Outlet) -> None:
        """Raises RuntimeFault when another has taken the folder since this run has."""
        note = read_claim(self._storage, outlet, self._state.id)
        mine = (self._state.id, self._state.home.turn)
        if note is None or (note.state, note.turn) != mine:
            raise lost_output(f"the output of {_named(outlet)}")
        self._looked = time.monotonic()

    def confirm_often(self, outlet: Outlet) -> None:
        """The same, every few seconds."""
        if time.monotonic() - self._looked > _EVERY:
            self.confirm(outlet)

    def _is_copied_along(self, outlet: Outlet, note: OutputClaim) -> bool:
        """Whether a folder is a copy of the one to which this state's original writes."""
        if note.state not in self._state.home.copy_of or note.place is None:
            return False
        place = Place(note.place.path, note.place.host, note.place.device, note.place.inode)
        return not place.is_same(self._place(outlet))

    def _place(self, outlet: Outlet) -> Place:
        local = self._storage.local_path(outlet.path)
        if local is None or not local.is_dir():
            return Place(outlet.path)
        return Place.of(str(local), local=True)


def check_owner(storage: Storage, outlet: Outlet, state: str, home: Home) -> None:
    """Raises RuntimeFault when another state writes to a folder, or another copy of this one."""
    note = read_claim(storage, outlet, state)
    if note is None:
        return
    if note.state != state:
        raise _foreign(outlet)
    home.check_turn(note.turn, f"the output of {_named(outlet)}")


def read_claim(storage: Storage, outlet: Outlet, state: str) -> OutputClaim | None:
    """The note of a folder, None without one; raises RuntimeFault when it is damaged."""
    help = (
        f"restore the file from a backup; the state that writes here is {state} if {outlet.shown} "
        "was never written with another one"
    )
    return read_note_as(storage, outlet.claim, OutputClaim.from_json, help)


def _gone(outlet: Outlet) -> RuntimeFault:
    return RuntimeFault(
        OUTPUT_GONE,
        f"the output of {_named(outlet)} is missing, but the state continues after the rows "
        f"that were in it: there is no {outlet.claim.removeprefix('file:')}",
        "restore the folder, or start over with another `--state`",
    )


def _foreign(outlet: Outlet) -> RuntimeFault:
    return RuntimeFault(
        FOREIGN_OUTPUT,
        f"{outlet.shown} holds what sink `{outlet.sink}` wrote with another state: its rows would "
        "be there twice",
        f"continue with that state, or give the sink another path, or delete {outlet.shown}",
    )


def _named(outlet: Outlet) -> str:
    return f"sink `{outlet.sink}` in {outlet.shown}"
