"""Window joins: the rows of two streams that fall into the same window.

Each side gets its window as a column, and the condition equates the two:

    FROM TUMBLE(a, ts, …) AS a JOIN TUMBLE(b, ts, …) AS b
      ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end

    a.k = b.k AND a.window = b.window
"""

from __future__ import annotations

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types
from ...model.conditions import conjuncts
from ...model.schema import Field
from ...model.steps import Window
from ..scopes.scope import Visible, is_window_time
from .windows import taken_name


def unlike_windows(node: q.Join, a: Visible, b: Visible) -> Diagnostic | None:
    """Return why the sides can't be joined by their windows; None if they can or have none."""
    left, right = a.window, b.window
    if left is None and right is None:
        return None
    if left is None or right is None:
        bare = node.left if left is None else node.right
        return Diagnostic(
            codes.WINDOW_JOIN,
            "one side of the join has a window and the other has none",
            Label(bare.span, "no window"),
            help="open the same window on both, or join first and open a window over the join",
        )
    for window, side in ((left, node.left), (right, node.right)):
        if window.kind == "session":
            return Diagnostic(
                codes.WINDOW_JOIN,
                "a SESSION is known only once its rows are grouped, so it can't be joined on",
                Label(side.span),
                help="use TUMBLE, HOP or CUMULATE, or an interval join",
            )
    for visible, side in ((a, node.left), (b, node.right)):
        if visible.schema.find(left.struct) is not None:
            return taken_name(side.span, visible, left.struct)
    if _shape(left) != _shape(right):
        return Diagnostic(
            codes.WINDOW_JOIN,
            "the windows of the two sides differ, so rows would seldom match",
            Label(node.right.span),
            secondary=(Label(node.left.span, "the other"),),
            help="give both the same kind, lengths and offset",
        )
    return None


def _shape(window: Window) -> tuple[object, ...]:
    lengths = (window.size, window.slide, window.offset)
    micros = tuple(length.micros if length is not None else None for length in lengths)
    return window.kind, window.processing, *micros


def join_windows(condition: e.Expression, left: Visible, right: Visible) -> e.Expression | None:
    """Return the condition with the equalities of starts and ends replaced by one of windows.

    None when it does not equate the windows. The end alone identifies the window, the start only
    where all windows are equally long.
    """
    assert left.window is not None
    parts = list(conjuncts(condition))
    found = {at: name for at, part in enumerate(parts) if (name := _same_part(part, left, right))}
    enough = {"end"} if left.window.kind == "cumulate" else {"start", "end"}
    if not enough & set(found.values()):
        return None
    first = min(found)
    merged: e.Expression | None = None
    for at, part in enumerate(parts):
        if at in found and at != first:
            continue
        if at == first:
            span = part.span
            part = e.Binary(span, "=", _struct(part, left), _struct(part, right))
        merged = part if merged is None else e.Binary(condition.span, "AND", merged, part)
    return merged


def _same_part(part: e.Expression, left: Visible, right: Visible) -> str | None:
    """Return ``start`` or ``end`` for an equality of that part of both windows."""
    if not isinstance(part, e.Binary) or part.operator != "=":
        return None
    sides = [_window_part(part.left), _window_part(part.right)]
    names = {name for _, name in sides}
    if {alias for alias, _ in sides} != {left.alias, right.alias} or len(names) != 1:
        return None
    return names.pop()


def _window_part(expression: e.Expression) -> tuple[str, str | None]:
    """Return the alias of a side and the part of its window that a resolved expression is."""
    if is_window_time(expression):
        assert isinstance(expression, e.Call)
        inner = expression.arguments[0]
        alias = inner.parts[0].text if isinstance(inner, e.ColumnRef) else ""
        return alias, "end"
    if isinstance(expression, e.ColumnRef) and len(expression.parts) == 3:
        alias, struct, name = (part.text for part in expression.parts)
        if struct == "window" and name in ("start", "end"):
            return alias, name
    return "", None


def _struct(part: e.Expression, side: Visible) -> e.ColumnRef:
    assert side.window is not None
    return e.ColumnRef(
        part.span, (Name(part.span, side.alias), Name(part.span, side.window.struct))
    )


def window_field(window: Window) -> Field:
    """Return the column that a side of a window join has besides those of its relation."""
    return Field(window.struct, types.WINDOW, nullable=False, of_window=True)


def no_window(node: q.Join, left: Visible, right: Visible) -> Diagnostic:
    """Return the diagnostic for a condition that does not equate the windows."""
    assert left.window is not None
    grows = left.window.kind == "cumulate"
    name = "window_end" if grows else "window_start"
    why = ": windows of CUMULATE share their start" if grows else ""
    return Diagnostic(
        codes.WINDOW_JOIN,
        f"the condition does not require both rows to be in the same window{why}",
        Label(node.condition.span if node.condition else node.span),
        help=f"add `AND {left.alias}.{name} = {right.alias}.{name}`",
    )
