"""What there is to know about an operator's state, as facts with names.

What is said of time was compared with Spark: see the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from ...contracts.records import dataclass
from ...dsl.ast.expressions import ColumnRef
from ...dsl.diagnostics import InternalError
from ...dsl.format import sql
from ..model import types
from ..model.graph import OperatorGraph
from ..model.programs import (
    CellKind,
    ClearState,
    Operator,
    Panes,
    cell_emptied,
    columns_used,
    kept_for_good,
    statements,
)
from ..model.steps import Aggregate, Deduplicate, Join, JoinSide, Stateful, TopN, Window
from ..model.typed import Typed
from .clocks import Timing, passes_on, timings
from .instants import EXAMPLE, instant, length, window_of
from .sizes import number_size, row_size

_WINDOW = types.Struct((types.Field("start", types.TIMESTAMP), types.Field("end", types.TIMESTAMP)))


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is true of an operator: its name and its texts, each on lines of its own."""

    name: str
    texts: tuple[str, ...]


NO_BOUND = Fact("bound", ("nothing",))
"""What is said of state that grows for ever."""


_LATE = "a row whose event time is not after the watermark is dropped"


@singledispatch
def facts(step: Stateful, graph: OperatorGraph) -> Iterable[Fact]:
    """Return the facts about a step's state."""
    raise InternalError(f"nothing to say about {type(step).__name__}")


@facts.register
def aggregate_facts(step: Aggregate, graph: OperatorGraph) -> Iterator[Fact]:
    """Say what GROUP BY keeps."""
    keys = [(key.name, key.value.type) for key in step.keys]
    shown = [f"{name} {type_}" for name, type_ in keys]
    if step.window is not None:
        keys.append(("window", _WINDOW))
        shown.append("window")
    yield Fact("keys", (", ".join(shown) or "none: one group of all rows",))
    used = _used_aggregates(step, graph)
    calls = [call for call in step.calls if call.id in used]
    cells = [(call.id, cell.type) for call in calls for cell in call.cells]
    size = row_size(keys) + row_size(cells)
    of = [*(["key"] if step.keys else []), *([f"open {_word(step.window)}"] if step.window else [])]
    texts = [f"{size} for each {' and '.join(of)}" if of else f"{size} in all"]
    for call in calls:
        buffers = ", ".join(f"{cell.buffer} {cell.type}" for cell in call.cells)
        if len(call.cells) > 6:
            buffers = f"{len(call.cells)} cells of {call.cells[0].type}"
        texts.append(f"{call.id}: {buffers}")
    yield Fact("state", tuple(texts))
    if step.window is not None:
        yield from _window_facts(step, step.window, graph)
    else:
        yield from _group_facts(step, graph)


def _window_facts(step: Aggregate, window: Window, graph: OperatorGraph) -> Iterator[Fact]:
    start, end = window_of(window, EXAMPLE)
    shown = f"[{instant(start)}, {instant(end)})"
    what = _word(window)
    yield from _behind(step, graph)
    yield Fact("bound", (f"the watermark: a {what} is forgotten when it reaches its end",))
    if step.changes:
        begin = "in each batch that changes it"
        closes = f"It is forgotten at the watermark {instant(end)}"
    else:
        begin = f"once, when the {what} closes"
        closes = f"{shown} closes at the watermark {instant(end)}"
    if window.kind == "session":
        closes = (
            f"A session whose last row is of {instant(start)} ends {window.size} later and "
            f"closes at the watermark {instant(end)}"
        )
    yield Fact("comes out", (f"{begin}. {closes}:", *_when(graph, step, end)))
    if window.processing:
        late = "no row: the clock goes forward"
    elif window.kind == "session":
        late = "a row is dropped when a session of its own would be closed"
    elif window.kind in ("hop", "cumulate"):
        late = "a row is left out of those of its windows that are closed"
    else:
        late = "a row of a closed window is dropped"
    yield Fact("late", (late,))


def _word(window: Window) -> str:
    return "session" if window.kind == "session" else "window"


def _behind(step: Stateful, graph: OperatorGraph) -> Iterator[Fact]:
    """Say how far the watermark is behind because of joins below."""
    lag = next((timing.lag for timing in timings(graph, step)), None)
    if lag is not None and lag.micros:
        text = f"{length(lag.micros)} behind that of the query, for the joins below"
        yield Fact("watermark", (text,))


def _group_facts(step: Aggregate, graph: OperatorGraph) -> Iterator[Fact]:
    if step.changes:
        yield NO_BOUND
        yield Fact("comes out", ("the row of a key in each batch that changes it",))
        yield Fact("late", ("no row",))
        return
    yield from _behind(step, graph)
    yield Fact("bound", ("the watermark: a key is forgotten when it reaches its event time",))
    closes = (
        "once, when the key closes. One whose event time (of a window: its end) is "
        f"{instant(EXAMPLE)} closes at that watermark:"
    )
    yield Fact("comes out", (closes, *_when(graph, step, EXAMPLE)))
    yield Fact("late", ("a row of a closed key is dropped",))


@facts.register
def join_facts(step: Join, graph: OperatorGraph) -> Iterator[Fact]:
    """Say what a join keeps of its two sides."""
    pairs = zip(step.left.keys, step.right.keys, strict=True)
    keys = [f"{sql(a.expression)} = {sql(b.expression)}" for a, b in pairs]
    yield Fact("keys", (", ".join(keys),))
    yield from _behind(step, graph)
    yield Fact("state", tuple(_side_state(step, graph)))
    if step.left.window is not None:
        yield from _window_join_facts(step, step.left.window, graph)
    elif step.lower is None or step.upper is None:
        yield NO_BOUND
        yield Fact("comes out", ("a match at once",))
        yield Fact("late", (_LATE,))
    else:
        yield Fact("bound", tuple(_kept(step, graph)))
        yield Fact("comes out", tuple(_join_output(step)))
        yield Fact("late", (_LATE,))
    if behind := passes_on(step):
        text = f"rows that are up to {length(behind)} older than its watermark: what reads them"
        yield Fact("passes on", (f"{text} has a watermark that is behind by as much",))


def _side_state(step: Join, graph: OperatorGraph) -> Iterator[str]:
    columns = [use.columns for q in graph.queries for use in q.states if use.step.id == step.id]
    for number, side in enumerate((step.left, step.right)):
        names = {name for sides in columns for name in sides[number]}
        kept = [(f.name, f.type) for f in side.schema if f.name in names]
        keys = [(sql(key.expression), _key_type(key, side)) for key in side.keys]
        matched: list[tuple[str, types.Type]] = [("matched", types.BOOLEAN)]
        row = row_size(keys) + number_size(1) + row_size([*kept, *matched])
        yield f"{row} for each row of {side.relation} ({', '.join(n for n, _ in kept) or 'none'})"


def _key_type(key: Typed, side: JoinSide) -> types.Type:
    """Return the type of a key, that of the column if it is one."""
    field = None
    if isinstance(key.expression, ColumnRef):
        field = side.schema.find(key.expression.parts[-1].text)
    return field.type if field is not None else key.type


def _kept(step: Join, graph: OperatorGraph) -> Iterator[str]:
    assert step.lower is not None and step.upper is not None
    for side, longest in ((step.left, step.upper), (step.right, -step.lower)):
        until = _shifted(side, longest)
        yield f"a row of {side.relation} is kept until the watermark is past {until}:"
        for text in _when(graph, step, EXAMPLE + longest, passes=True):
            yield f"one of {instant(EXAMPLE)} until {text.removeprefix('when ')}"


def _shifted(side: JoinSide, micros: int) -> str:
    column = f"{side.alias}.{side.event_time}"
    if micros == 0:
        return column
    return f"{column} {'+' if micros > 0 else '-'} {length(abs(micros))}"


def _join_output(step: Join) -> Iterator[str]:
    yield "a match at once"
    lone = {
        "left": (step.left.relation,),
        "right": (step.right.relation,),
        "full": (step.left.relation, step.right.relation),
    }
    for relation in lone.get(step.join, ()):
        yield f"a row of {relation} without any when it is let go, with NULLs for the other side"


def _window_join_facts(step: Join, window: Window, graph: OperatorGraph) -> Iterator[Fact]:
    start, end = window_of(window, EXAMPLE)
    yield Fact(
        "bound",
        (
            f"the window: rows of [{instant(start)}, {instant(end)}) are kept until the watermark "
            f"reaches {instant(end)}:",
            *_when(graph, step, end),
        ),
    )
    yield Fact("comes out", tuple(_join_output(step)))
    yield Fact("late", ("a row of a closed window is dropped",))


@facts.register
def deduplicate_facts(step: Deduplicate, graph: OperatorGraph) -> Iterator[Fact]:
    """Say what DISTINCT ON keeps."""
    keys = [(key.name, key.value.type) for key in step.keys]
    yield Fact("keys", (", ".join(f"{name} {type_}" for name, type_ in keys),))
    yield from _behind(step, graph)
    yield Fact("state", (f"{row_size(keys) + number_size(1)} for each key: when it expires",))
    end = EXAMPLE + step.within.micros
    forgotten = (
        f"a key is forgotten {step.within} after its row. That of a row of {instant(EXAMPLE)}"
    )
    yield Fact(
        "bound",
        (
            f"the watermark: {forgotten} is forgotten at the watermark {instant(end)}:",
            *_when(graph, step, end),
        ),
    )
    yield Fact("comes out", ("the first row of a key at once",))
    yield Fact("late", (_LATE,))


@facts.register
def top_n_facts(step: TopN, graph: OperatorGraph) -> Iterator[Fact]:
    """Say what a top-N keeps."""
    relation = next(r for r, s in graph.stateful() if s.id == step.id)
    schema = {field.name: field.type for field in relation.schema}
    row = row_size((name, schema.get(name, types.UNKNOWN)) for name in step.columns)
    yield Fact("keys", (", ".join(step.keys),))
    yield from _behind(step, graph)
    yield Fact(
        "state", (f"{row} for each row of an open window, not only for the first {step.limit}",)
    )
    yield Fact("bound", (f"the watermark: rows are forgotten when it reaches their {step.time}",))
    closes = f"the first {step.limit} rows of a window together, when it closes"
    text = f"{closes}. The window that ends at {instant(EXAMPLE)} closes at that watermark:"
    yield Fact("comes out", (text, *_when(graph, step, EXAMPLE)))
    yield Fact("late", ("a row of a closed window is dropped",))


_SLOW = "the slow path, thousands of rows/s where a program has tens of thousands"


@facts.register
def program_facts(step: Operator, graph: OperatorGraph) -> Iterator[Fact]:
    """Say what a program keeps for each key."""
    shown = ", ".join(f"{key.name} {key.type}" for key in step.keys)
    yield Fact("keys", (shown or "none: one program for all rows",))
    if step.python is not None:
        yield Fact("handlers", (f"{step.python}, a class in Python: {_SLOW}",))
    yield from _behind(step, graph)
    yield Fact("state", tuple(_program_state(step)) or ("none",))
    if kept_for_good(step):
        yield NO_BOUND
    elif step.cells:
        yield Fact("bound", tuple(_program_bound(step)))
    for timer in step.timers:
        clock = "clock" if timer.processing else "watermark"
        yield Fact("timer", (f"{timer.name} goes off when the {clock} reaches its instant",))
    if step.panes is not None:
        yield from _panes_facts(step, step.panes, graph)
    elif step.ordered:
        turn = (
            "rows and timers of a key have their turns by event time, as the watermark reaches them"
        )
        text = f"what handlers emit: {turn}. One of {instant(EXAMPLE)} has its turn"
        yield Fact("comes out", (text, *_when(graph, step, EXAMPLE)))
        yield Fact("late", (_LATE,))
    else:
        yield Fact("comes out", ("what handlers emit, of a row in the batch in which it comes",))
        yield Fact("late", ("no row",))


def _panes_facts(step: Operator, panes: Panes, graph: OperatorGraph) -> Iterator[Fact]:
    start, end = window_of(panes.window, EXAMPLE)
    shown = f"[{instant(start)}, {instant(end)})"
    texts = []
    if panes.early is not None:
        texts.append(f"while the window is open, {panes.early} after a row that none has followed")
    texts.append(f"when the window closes. {shown} closes at the watermark {instant(end)}:")
    texts += _when(graph, step, end)
    late = "a row of a closed window is dropped"
    if panes.lateness is not None:
        texts.append("after that, in each batch that brings a row of it")
        until = instant(end + panes.lateness.micros)
        late = f"a row is dropped when its window has been closed for {panes.lateness}: one of "
        late += f"{shown} at the watermark {until}"
    yield Fact("comes out", tuple(texts))
    yield Fact("late", (late,))


def _program_state(step: Operator) -> Iterator[str]:
    keys = [(key.name, key.type) for key in step.keys]
    values = [cell for cell in step.cells if cell.kind is CellKind.VALUE]
    instants = [*(timer.name for timer in step.timers), *(c.name for c in values if c.ttl)]
    shown = [*(f"{c.name} {c.type}" for c in values), *(f"timer {t.name}" for t in step.timers)]
    if shown or step.ordered:
        # Besides, when it is to be woken and for what.
        own = [*((cell.name, cell.type) for cell in values), *_instants(*instants, *["turn"] * 3)]
        size = row_size(keys) + row_size(own)
        yield f"{size} for each {'key' if keys else 'program'}: {', '.join(shown) or 'its turn'}"
    for cell in step.cells:
        if cell.kind is CellKind.VALUE:
            continue
        held = [(cell.name, cell.entry), *(_instants("written") if cell.ttl else ())]
        type_ = f"{cell.kind.upper()}<{cell.entry}>"
        if isinstance(cell.type, types.Map):
            held.append((cell.name, cell.type.value))
            type_ = str(cell.type)
        yield f"{row_size(keys) + row_size(held)} for each entry of {cell.name} {type_}"
    for given in step.inputs if step.ordered else ():
        names = columns_used(step, given)
        waiting = [(field.name, field.type) for field in given.schema if field.name in names]
        size = row_size(keys) + row_size(waiting)
        yield f"{size} for each row of {given.relation} that waits ({', '.join(names)})"


def _instants(*names: str) -> list[tuple[str, types.Type]]:
    return [(name, types.TIMESTAMP) for name in names]


def _program_bound(step: Operator) -> Iterator[str]:
    body = [one for handler in step.handlers for one in statements(handler.body)]
    for cell in step.cells:
        if cell.ttl is not None:
            yield f"{cell.name} is forgotten {cell.ttl} after it was written"
    kept = [cell.name for cell in step.cells if cell.ttl is None]
    if step.python is not None and kept:
        yield f"the class alone takes away what {' and '.join(kept)} {_holds(kept)}"
    emptied = {cell_emptied(one) for one in body}
    names = [cell.name for cell in step.cells if cell.name in emptied]
    if names:
        yield f"handlers take away what {' and '.join(names)} {_holds(names)}"
    if any(isinstance(one, ClearState) for one in body):
        yield "CLEAR STATE forgets all cells of a key"


def _holds(names: list[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _when(
    graph: OperatorGraph, step: Stateful, micros: int, *, passes: bool = False
) -> tuple[str, ...]:
    """Return when a step's watermark reaches an instant, a text for each way in queries."""
    found = timings(graph, step)
    if len(found) == 1:
        return (_seen(found[0], micros, passes),)
    return tuple(
        f"in {', '.join(timing.queries)} {_seen(timing, micros, passes)}" for timing in found
    )


def _seen(timing: Timing, micros: int, passes: bool) -> str:
    seen = timing.reaches(micros, passes=passes)
    return f"when {seen} has been seen" if seen else "never: nothing moves the watermark"


def _used_aggregates(step: Aggregate, graph: OperatorGraph) -> set[str]:
    """Return the aggregates that some query keeps; all of them if no sink reads the step."""
    uses = [use for q in graph.queries for use in q.states if use.step.id == step.id]
    return {id_ for use in uses for id_ in use.aggregates} if uses else {c.id for c in step.calls}
