"""Facts about the state of a join."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.ast.expressions import ColumnRef
from ....dsl.format import sql
from ...model import types
from ...model.graph import OperatorGraph
from ...model.steps import Join, JoinSide, Window
from ...model.typed import Typed
from ..clocks import behind, when
from ..facts.fact import LATE, NO_BOUND, Fact
from ..facts.instants import EXAMPLE, instant, length, window_of
from ..facts.sizes import number_size, row_size


def passes_on(step: Join) -> int | None:
    """Return how much older than its watermark its rows may be; None if they never are."""
    if step.lower is None or step.upper is None:
        return None
    return max(0, step.upper, -step.lower)


def join_facts(step: Join, graph: OperatorGraph) -> Iterator[Fact]:
    """Yield the facts about what a join keeps of its two sides."""
    pairs = zip(step.left.keys, step.right.keys, strict=True)
    keys = [f"{sql(a.expression)} = {sql(b.expression)}" for a, b in pairs]
    yield Fact("keys", (", ".join(keys),))
    yield from behind(graph, step)
    yield Fact("state", tuple(_side_state(step, graph)))
    if step.left.window is not None:
        yield from _window_join_facts(step, step.left.window, graph)
    elif step.lower is None or step.upper is None:
        yield NO_BOUND
        yield Fact("comes out", ("a match at once",))
        yield Fact("late", (LATE,))
    else:
        yield Fact("bound", tuple(_kept(step, graph)))
        yield Fact("comes out", tuple(_join_output(step)))
        yield Fact("late", (LATE,))
    if lag := passes_on(step):
        text = f"rows that are up to {length(lag)} older than its watermark: what reads them"
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
    """Return the type of a key, or of the column if the key is one."""
    field = None
    if isinstance(key.expression, ColumnRef):
        field = side.schema.find(key.expression.parts[-1].text)
    return field.type if field is not None else key.type


def _kept(step: Join, graph: OperatorGraph) -> Iterator[str]:
    assert step.lower is not None and step.upper is not None
    for side, longest in ((step.left, step.upper), (step.right, -step.lower)):
        until = _shifted(side, longest)
        yield f"a row of {side.relation} is kept until the watermark is past {until}:"
        for text in when(graph, step, EXAMPLE + longest, passes=True):
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
            *when(graph, step, end),
        ),
    )
    yield Fact("comes out", tuple(_join_output(step)))
    yield Fact("late", ("a row of a closed window is dropped",))
