"""Facts about the state of a program."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import types
from ...model.graph import OperatorGraph
from ...model.programs import (
    CellKind,
    ClearState,
    Operator,
    Panes,
    cell_emptied,
    columns_used,
    kept_for_good,
    statements,
)
from ..clocks import behind, when
from ..facts.fact import LATE, NO_BOUND, Fact
from ..facts.instants import EXAMPLE, instant, window_of
from ..facts.sizes import row_size

_SLOW = "the slow path, thousands of rows/s where a program has tens of thousands"


def program_facts(step: Operator, graph: OperatorGraph) -> Iterator[Fact]:
    """Yield the facts about what a program keeps for each key."""
    shown = ", ".join(f"{key.name} {key.type}" for key in step.keys)
    yield Fact("keys", (shown or "none: one program for all rows",))
    if step.python is not None:
        yield Fact("handlers", (f"{step.python}, a class in Python: {_SLOW}",))
    yield from behind(graph, step)
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
        yield Fact("comes out", (text, *when(graph, step, EXAMPLE)))
        yield Fact("late", (LATE,))
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
    texts += when(graph, step, end)
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
        # Plus when the key is due next, and for what.
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
