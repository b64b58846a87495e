"""Where a state is. A copy of it is recognised, and writes to no output without consent.

Two folders with one id would truncate, duplicate and take over each other's outputs. So a state
notes its location in `home.json`, and its outputs note which run opened them last:

- A folder that was moved or is mounted elsewhere is still the same: its inode shows that. Without
  inodes its path does. Any other folder with this note is a copy; whoever starts it decides what it
  is: the state from now on (`ADOPT`), or a state of its own (`AS_COPY`).
- Each run has an id of its own, its *turn*. A state knows its turns. An output with a turn that the
  state does not know was opened by a copy of it since: see `check_turn`. This detects what folders
  can't show: another machine, a snapshot, an older copy in the same place.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ...contracts.notes.home import HomeNote
from ...contracts.notes.identity import StateIdentity
from ..base.errors import OUTPUT_TAKEN, STATE_COPIED, STATE_IN_USE, RuntimeFault
from ..plan.arguments import ADOPT, AS_COPY
from ..storage.local_files import identity_file
from ..storage.notes import read_note_as, write_note
from ..storage.places import Place
from .lease import running

if TYPE_CHECKING:
    from ..storage.file_system import Files

_TURNS = 1000
"""How many turns are remembered: for a sink not written for longer, the user has to decide."""
_HELP = "restore the file from a backup; if the state was never copied, it may be deleted"


@dataclass(frozen=True, slots=True)
class Home:
    """A state folder's note of its place and its runs; `adopted` is this run's remark about it.

    `copy_of` are the ids of the states that it was copied from and separated from.
    """

    place: Place
    turns: tuple[str, ...] = ()
    copy_of: tuple[str, ...] = ()
    adopted: bool = False

    @property
    def turn(self) -> str:
        """The turn of this run, once it has begun one."""
        return self.turns[-1]

    def check_turn(self, turn: str | None, output: str) -> None:
        """Raises RuntimeFault when an output was opened by a run that this state does not know.

        `turn` is the output's, None if it was opened by a version without turns.
        """
        if turn is None or self.adopted or turn in self.turns:
            return
        raise taken(
            output,
            "another copy of this state has opened it since this one ran last",
            "continue with that copy; or let this one take the outputs over, with `--adopt`: "
            "the other then\nfinds them taken",
        )


def taken(output: str, reason: str, help: str) -> RuntimeFault:
    """The fault for an output that now belongs to another copy of the state."""
    return RuntimeFault(OUTPUT_TAKEN, f"this state may not write {output}: {reason}", help)


def lost_output(output: str) -> RuntimeFault:
    """The fault for an output that another copy has opened while this one runs."""
    return taken(
        output,
        "another copy of the state has opened it meanwhile",
        "let one of the two run, and give the other outputs of its own: `--as-copy`",
    )


def settle(
    files: Files,
    folder: str,
    shown: str,
    *,
    local: bool,
    decision: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Home:
    """The home of a state that this process holds; created if the folder has none.

    Raises RuntimeFault when the folder is a copy and `decision` does not say what it is to become.
    As a copy the state gets an id of its own in its `state.json`.
    """
    here = Place.of(folder, local=local)
    home = read_home(files, folder)
    if home is None:
        home = Home(here)
        _write(files, folder, home)
        return home
    if home.place.is_same(here):
        if home.place != here:
            _write(files, folder, replace(home, place=here))
        return replace(home, place=here, adopted=decision == ADOPT)
    check_decided(files, folder, shown, local=local, decision=decision)
    if decision == AS_COPY:
        return _made_own(files, folder, here, home, tell)
    original = _original(files, folder, home.place, local=local)
    if original is not None:
        _give_up(files, original, here)
    adopted = replace(home, place=here, adopted=True)
    _write(files, folder, adopted)
    tell(f"{shown} is the state from now on; it was in {home.place.shown} before")
    return adopted


def check_decided(
    files: Files, folder: str, shown: str, *, local: bool, decision: str | None
) -> None:
    """Raises RuntimeFault when a folder is a copy and nothing says what it is to become."""
    home = read_home(files, folder)
    if home is None or decision is not None or home.place.is_same(Place.of(folder, local=local)):
        return
    original = _original(files, folder, home.place, local=local)
    raise _copied(shown, home.place, there=original is not None)


def read_home(files: Files, folder: str) -> Home | None:
    """A folder's note of its place, None if it has none; raises RuntimeFault if damaged."""
    note = read_note_as(files, home_file(folder), HomeNote.from_json, _HELP)
    if note is None:
        return None
    place = Place(note.path, note.host, note.device, note.inode)
    return Home(place, note.turns, note.copy_of)


def begin_turn(files: Files, folder: str, home: Home) -> Home:
    """Begins a run's turn, before it opens an output; an output may keep the previous one."""
    turn = uuid.uuid4().hex[:16]
    begun = replace(home, turns=(*home.turns[1 - _TURNS :], turn))
    _write(files, folder, begun)
    return begun


def home_file(folder: str) -> str:
    """The file with a folder's note of its place."""
    return f"{folder}/home.json"


def _original(files: Files, copy: str, place: Place, *, local: bool) -> Home | None:
    """The home of a copy's original state, if that is still in its place and visible from here."""
    with suppress(OSError, RuntimeFault):
        home = read_home(files, place.path)
        there = Place.of(place.path, local=local)
        same = _identity(files, copy) == _identity(files, place.path)
        if home is not None and place.is_same(there) and same:
            return home
    return None


def _give_up(files: Files, original: Home, successor: Place) -> None:
    """Marks a state as a copy of its successor; raises RuntimeFault while a job runs on it."""
    folder = original.place.path
    holder = running(files, folder, time.time())
    if holder is not None:
        raise RuntimeFault(
            STATE_IN_USE,
            f"{holder.shown} runs on {original.place.shown}, which this state is a copy of",
            "stop it first; or make this one a state of its own: `--as-copy`",
        )
    # No job can run where nothing can be written.
    with suppress(OSError):
        _write(files, folder, replace(original, place=successor))


def _made_own(
    files: Files, folder: str, here: Place, home: Home, tell: Callable[[str], None]
) -> Home:
    before = _identity(files, folder)
    assert before is not None
    # In this order: an interruption in between leaves a folder that needs the decision again.
    made = replace(before, id=str(uuid.uuid4()))
    write_note(files, identity_file(folder), made.to_json())
    own = Home(here, (), (*home.copy_of, before.id))
    _write(files, folder, own)
    tell("the copy is a state of its own from now on, and needs outputs of its own")
    return own


def _copied(shown: str, original: Place, *, there: bool) -> RuntimeFault:
    told = "which still exists" if there else "which may be in use elsewhere"
    return RuntimeFault(
        STATE_COPIED,
        f"{shown} is a copy of the state in {original.shown}, {told}: both would write to the same "
        "outputs",
        "`--as-copy`: it becomes a state of its own, with outputs of its own (other paths, tables, "
        "topics)\n`--adopt`: it is the state from now on (it was moved, or is what is left), and "
        "the other may not go on",
    )


def _write(files: Files, folder: str, home: Home) -> None:
    note = HomeNote(**asdict(home.place), turns=home.turns, copy_of=home.copy_of)
    write_note(files, home_file(folder), note.to_json())


def _identity(files: Files, folder: str) -> StateIdentity | None:
    return read_note_as(files, identity_file(folder), StateIdentity.from_json)
