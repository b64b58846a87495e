"""Windows of groups: which old ones make up a new one.

A tumbling window is a hopping one whose slide is its size, and a cumulating one of a single step,
so there are two families: windows of one size at regular starts, and growing windows.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.migration import WindowChange, WindowMerge
from ....contracts.plan import Window
from ....contracts.records import dataclass
from ...model.intervals import micros_text
from ..compared.versions import Meaning, Versions
from ..findings.verdicts import Decision, Finding, Verdict
from ..texts.lengths import micros

_START, _END = "unix_micros(`window`.start)", "unix_micros(`window`.`end`)"


@dataclass(frozen=True, slots=True)
class Shape:
    """Windows in microseconds; ``cumulate`` windows grow by the step."""

    family: str
    step: int
    size: int
    offset: int

    @property
    def tumbles(self) -> bool:
        """Whether each instant is in one window."""
        return self.family != "session" and self.step == self.size


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """The findings on a window, the SQL of a new one, which old ones continue, whether some merge.

    ``several`` says that the SQL gives an array: an old window may be part of several. ``lengths``
    are those of the merge, in microseconds: windows ``of`` a size ``into`` ones of another at an
    ``offset``, every ``step``; sessions that end ``later``.
    """

    findings: tuple[Finding, ...] = ()
    expression: str | None = None
    where: str | None = None
    merges: bool = False
    several: bool = False
    impossible: bool = False
    lengths: WindowMerge | None = None

    def made(self) -> WindowChange | None:
        """Return the window in the runtime's form."""
        if self.expression is None:
            return None
        return WindowChange(self.expression, self.several, self.lengths)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way from old windows to new ones; ``is_partial`` says that the first are incomplete."""

    verdict: Verdict
    why: str
    is_partial: bool = False
    expression: str = "`window`"
    where: str | None = None
    merges: bool = False
    several: bool = False
    lengths: WindowMerge | None = None


def plan_window(
    versions: Versions,
    id_: str,
    old: Window | None,
    new: Window | None,
    times: tuple[Meaning, Meaning],
) -> WindowPlan:
    """Return the migration of an operator's windows; ``times`` are their time columns."""
    if old is None and new is None:
        return WindowPlan()
    before, after = (None if window is None else window_text(window) for window in (old, new))
    if old is None or new is None:
        why = "groups of all time and groups of a window are not made of each other"
        return _impossible(id_, before, after, why)
    if times[0] != times[1] or old.time != new.time:
        return _impossible(id_, before, after, "it is over another time")
    was, now = shape(old), shape(new)
    way = _way(was, now)
    if way is None:
        return _impossible(id_, before, after, _why_not(was, now))
    if way.is_partial:
        finding = _accepted(versions, id_, before, after, way)
    else:
        finding = Finding("window", before, after, way.verdict, way.why)
    return WindowPlan(
        (finding,), way.expression, way.where, way.merges, way.several, lengths=way.lengths
    )


def window_text(window: Window) -> str:
    """Return a window in words."""
    return f"{window.kind} {', '.join(window.lengths())}"


def shape(window: Window) -> Shape:
    """Return the shape of a window in a plan."""
    size = micros(window.size or window.gap)
    if window.kind == "session":
        return Shape("session", size, size, 0)
    if window.kind == "cumulate" and micros(window.step) != size:
        step, family = micros(window.step), "cumulate"
    else:
        step, family = micros(window.slide) or size, "hop"
    every = size if family == "cumulate" else step
    return Shape(family, step, size, micros(window.offset) % every)


def _accepted(
    versions: Versions, id_: str, before: str | None, after: str | None, way: _Way
) -> Finding:
    path = ("operators", id_, "rewindow")
    if versions.decisions.get(*path) == "auto":
        return Finding("window", before, after, way.verdict, way.why, marked=True)
    fix = "accept it with `rewindow: auto`"
    open_ = Decision(path, "auto", ("auto",))
    return Finding("window", before, after, way.verdict, way.why, fix, marked=True, open=open_)


def _impossible(id_: str, before: str | None, after: str | None, why: str) -> WindowPlan:
    fix = f"`{id_}: drop` begins with new groups"
    finding = Finding("window", before, after, Verdict.IMPOSSIBLE, why, fix)
    return WindowPlan((finding,), impossible=True)


def _way(old: Shape, new: Shape) -> _Way | None:
    if old == new:
        return _Way(Verdict.KEPT, "")
    if old.family == new.family == "session":
        return _wider_session(old, new)
    if "session" in (old.family, new.family):
        return None
    return next(_ways(old, new), None)


def _wider_session(old: Shape, new: Shape) -> _Way | None:
    more = new.size - old.size
    if more < 0:
        return None
    end = f"timestamp_micros({_END} + {more})"
    why = (
        f"open sessions end {micros_text(more)} later, those that are near enough now become one; "
        "what would have joined a session that closed before the cut begins another"
    )
    expression = f"named_struct('start', `window`.start, 'end', {end})"
    return _Way(Verdict.MERGED, why, True, expression, merges=True, lengths=WindowMerge(later=more))


def _ways(old: Shape, new: Shape) -> Iterator[_Way]:
    """Yield ways from one family of regular windows to another, the best first."""
    same_size = old.size == new.size
    if old.family == new.family and same_size:
        if _begin_alike(old, new, old) and new.step % old.step == 0:
            yield _fewer(new)
        elif _begin_alike(old, new, new) and old.step % new.step == 0:
            yield _Way(Verdict.KEPT, "windows between those that are open begin empty", True)
    elif same_size and (old.offset - new.offset) % new.size == 0:
        if old.tumbles:
            yield _Way(Verdict.KEPT, "shorter windows of those that are open begin empty", True)
        elif new.tumbles:
            where = f"{_END} - {_START} = {new.size}"
            yield _Way(Verdict.KEPT, "shorter windows are dropped, whole ones kept", where=where)
    if old.family == new.family == "hop" and new.size > old.size and _is_made_of(old, new):
        yield _coarser(old, new) if new.tumbles else _overlapping(old, new)


def _is_made_of(old: Shape, new: Shape) -> bool:
    """Whether each new window consists of consecutive old ones."""
    follow = old.size % old.step == 0 == new.size % old.size
    return follow and new.step % old.step == 0 and _begin_alike(old, new, old)


def _begin_alike(old: Shape, new: Shape, finer: Shape) -> bool:
    """Whether windows of both begin where the finer ones do."""
    every = finer.size if finer.family == "cumulate" else finer.step
    return (new.offset - old.offset) % every == 0


def _fewer(new: Shape) -> _Way:
    place = f"{_END} - {_START}" if new.family == "cumulate" else _since(new.offset)
    where = f"pmod({place}, {new.step}) = 0"
    return _Way(Verdict.KEPT, "windows that there are no more are dropped", where=where)


def _since(offset: int) -> str:
    """Return the time from an offset to the start of a window."""
    return f"{_START} - {offset}" if offset else _START


def _coarser(old: Shape, new: Shape) -> _Way:
    start = f"{_START} - pmod({_since(new.offset)}, {new.size})"
    expression = (
        f"named_struct('start', timestamp_micros({start}), "
        f"'end', timestamp_micros({start} + {new.size}))"
    )
    where = None if old.tumbles else f"pmod({_since(new.offset)}, {old.size}) = 0"
    why = (
        f"windows of {micros_text(old.size)} that are open become one of {micros_text(new.size)}; "
        "what closed before the cut is missing in the first"
    )
    lengths = WindowMerge(of=old.size, into=new.size, offset=new.offset)
    return _Way(Verdict.MERGED, why, True, expression, where, merges=True, lengths=lengths)


def _overlapping(old: Shape, new: Shape) -> _Way:
    """Return the way into overlapping windows: an old one is in those that begin early enough."""
    first = f"{_START} - {new.size - old.size}"
    since = f"t - {new.offset}" if new.offset else "t"
    starts = f"filter(sequence({first}, {_START}, {old.size}), t -> pmod({since}, {new.step}) = 0)"
    whole = f"named_struct('start', timestamp_micros(t), 'end', timestamp_micros(t + {new.size}))"
    why = (
        f"windows of {micros_text(old.size)} that are open become parts of those of "
        f"{micros_text(new.size)}; what closed before the cut is missing in the first"
    )
    lengths = WindowMerge(of=old.size, into=new.size, offset=new.offset, step=new.step)
    expression = f"transform({starts}, t -> {whole})"
    return _Way(
        *(Verdict.MERGED, why, True, expression), merges=True, several=True, lengths=lengths
    )


def _why_not(old: Shape, new: Shape) -> str:
    if old.family == new.family == "session":
        return "a shorter gap would split sessions, and what is in them has no instants any more"
    if "session" in (old.family, new.family):
        return "sessions and windows of a fixed size are not made of each other"
    if new.size < old.size:
        return "a window can't be taken apart: its rows have no instants any more"
    if new.size % old.size:
        return "the new size is no multiple of the old one"
    if "cumulate" in (old.family, new.family):
        return "windows that grow and those of another size are not made of each other"
    if old.size % old.step:
        return "no old window begins where another ends"
    return "the new windows do not begin where old ones do"
