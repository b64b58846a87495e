"""Facts about the state of an aggregate."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.graph import OperatorGraph
from ...model.steps import Aggregate, Window
from ..clocks import behind, when
from ..facts.fact import NO_BOUND, Fact
from ..facts.instants import EXAMPLE, instant, window_of
from ..facts.sizes import row_size
from ..windows import STRUCT


def aggregate_facts(step: Aggregate, graph: OperatorGraph) -> Iterator[Fact]:
    """Yield the facts about the state of GROUP BY."""
    keys = [(key.name, key.value.type) for key in step.keys]
    shown = [f"{name} {type_}" for name, type_ in keys]
    if step.window is not None:
        keys.append(("window", STRUCT))
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
    yield from behind(graph, step)
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
    yield Fact("comes out", (f"{begin}. {closes}:", *when(graph, step, end)))
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


def _group_facts(step: Aggregate, graph: OperatorGraph) -> Iterator[Fact]:
    if step.changes:
        yield NO_BOUND
        yield Fact("comes out", ("the row of a key in each batch that changes it",))
        yield Fact("late", ("no row",))
        return
    yield from behind(graph, step)
    yield Fact("bound", ("the watermark: a key is forgotten when it reaches its event time",))
    closes = (
        "once, when the key closes. One whose event time (of a window: its end) is "
        f"{instant(EXAMPLE)} closes at that watermark:"
    )
    yield Fact("comes out", (closes, *when(graph, step, EXAMPLE)))
    yield Fact("late", ("a row of a closed key is dropped",))


def _used_aggregates(step: Aggregate, graph: OperatorGraph) -> set[str]:
    """Return the aggregates that some query keeps; all of them if no sink reads the step."""
    uses = [use for q in graph.queries for use in q.states if use.step.id == step.id]
    return {id_ for use in uses for id_ in use.aggregates} if uses else {c.id for c in step.calls}
