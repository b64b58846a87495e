"""Sources of files that are read in another folder than before."""

from __future__ import annotations

from collections.abc import Callable

from ..base.errors import INPUT_MOVED, RuntimeFault
from .gate import Gate, MovedInput


def check_moved(gate: Gate, tell: Callable[[str], None] = lambda line: None) -> None:
    """Reports the sources whose folder is another; before an epoch opens.

    Raises RuntimeFault when files of the new folder have the names of files that were read: they
    would be read again, and only a person knows whether they are the same.
    """
    for moved in gate.moved():
        if moved.same:
            raise _doubled(moved)
        tell(
            f"source `{moved.source}` reads {_shown(moved.now)} now; it has read "
            f"{_files(moved.known)} in {_shown(moved.before)}"
        )


def _doubled(moved: MovedInput) -> RuntimeFault:
    read = f"source `{moved.source}` has read {_files(moved.known)} in {_shown(moved.before)}"
    have = "has the name of one of them" if moved.same == 1 else "have the names of some of them"
    return RuntimeFault(
        INPUT_MOVED,
        f"{read}, and reads {_shown(moved.now)} now,\n"
        f"where {_files(moved.same)} {have}, such as {moved.example}: a file is known by its path, "
        "and these would be read again",
        "move them elsewhere if they are the same, rename them if they are not; to read all that "
        "is there, start\nwith a savepoint and a migration file that has "
        f"`sources: {{{moved.source}: {{start: earliest}}}}`",
    )


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _shown(path: str) -> str:
    return path.removeprefix("file:")
