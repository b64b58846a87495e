"""Added and removed parts of a program: whether they are the same is for people to decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from ....contracts.plan import ProgramCell, Timer
from ....contracts.records import dataclass
from ..compared.versions import Versions
from ..findings.verdicts import Decision, Finding, Verdict

P = TypeVar("P", ProgramCell, Timer)


@dataclass(frozen=True, slots=True)
class Successors(Generic[P]):
    """By the ids of new parts: the old one that each continues, and the one that it may be.

    An old part may be only one new part.
    """

    sources: Mapping[str, P]
    maybe: Mapping[str, str]


def successors(
    versions: Versions,
    id_: str,
    old: Mapping[str, P],
    new: Sequence[P],
    fits: Callable[[P, P], bool],
) -> Successors[P]:
    """Pair parts by the file's renames, else by name; then by whether one ``fits`` the other."""
    renamed = _renames(versions, id_)
    sources: dict[str, P] = {}
    for part in new:
        name = part.id
        was = renamed.get(name, name if name not in renamed.values() else "")
        if was in old:
            sources[name] = old[was]
    taken = {part.id for part in sources.values()}
    free = [name for name in old if name not in taken]
    maybe: dict[str, str] = {}
    for part in new:
        name = part.id
        near = next((one for one in free if name not in sources and fits(old[one], part)), None)
        if near is not None and not _is_said(versions, id_, name):
            free.remove(near)
            maybe[name] = near
    return Successors(sources, maybe)


def _renames(versions: Versions, id_: str) -> dict[str, str]:
    """Return the old name of each part that the file renames."""
    below = versions.decisions.below("operators", id_, "rename")
    for name in below:
        versions.decisions.get("operators", id_, "rename", name)
    return {new: old for old, new in below.items()}


def _is_said(versions: Versions, id_: str, name: str) -> bool:
    """Whether the file says what a part starts with."""
    path = ("operators", id_)
    said = [
        versions.decisions.get(*path, "accept", name) == "empty",
        versions.decisions.values.get((*path, "accept", name)) == "backfill",
        *((*path, way, name) in versions.decisions.values for way in ("set", "timers")),
        bool(versions.decisions.below(*path, "set", name)),
    ]
    return any(said)


def asked(id_: str, part: str, name: str, was: str, why: str) -> Finding:
    """Return the finding on a part that begins empty, unless it is renamed."""
    return Finding(
        *(part, None, name, Verdict.EMPTY),
        f"{why}, unless it is what was `{was}`",
        f"`rename: {{{was}: {name}}}` goes on with that, `accept: {{{name}: empty}}` begins anew",
        marked=True,
        open=Decision(("operators", id_, "rename", was), name, (name,)),
    )
