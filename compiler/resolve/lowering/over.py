"""A SELECT with OVER: the rows that it is over, and clauses that it can't be combined with.

All calls of a SELECT are over the rows of one key in one order, so that one program handles them;
frames may differ. QUALIFY filters the output rows, whose values it may name.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite, walk
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model.programs import ProgramInput
from ...model.schema import Schema
from ...model.typed import Typed
from ..clauses.columns import Item, item_name
from ..expressions.resolve import Clause, check
from ..scopes.relation_builder import Chain
from ..scopes.scope import WINDOW_COLUMNS, BlockScope
from .over_calls import OverCall, OverCalls, calls_of, over_of
from .over_program import Selected, over_operator
from .over_windows import OverWindow
from .program_items import program_items, refuse_python


def is_over(select: q.Select, schema: Schema, *, in_window: bool) -> bool:
    """Return whether a SELECT is over its rows in event-time order, rather than a top-N of windows.

    ``schema`` is that of the rows, which with ``in_window`` have the columns of a window too. A
    top-N numbers rows by something else, or rows of windows.
    """
    nodes = [item.expression for item in select.items]
    if select.qualify is not None:
        nodes.append(select.qualify)
    specs = [over_of(call) for node in nodes for call in calls_of(node)]
    if select.qualify is None:
        return bool(specs)
    named = {one.name.text.lower(): one.window for one in select.windows}
    windows = WINDOW_COLUMNS if in_window else ()
    return any(spec is not None and _by_time(spec, named, schema, windows) for spec in specs)


def _by_time(
    spec: e.WindowSpec,
    named: dict[str, e.WindowSpec],
    schema: Schema,
    windows: Container[str],
) -> bool:
    if spec.name is not None and spec.name.text.lower() in named:
        base = named[spec.name.text.lower()]
        keys, order = (*base.partition_by, *spec.partition_by), (*base.order_by, *spec.order_by)
    else:
        keys, order = spec.partition_by, spec.order_by
    if any(_last(node).lower() in windows for node in keys):
        return False
    columns = [schema.find(_last(node)) for node in keys]
    if any(one is not None and (one.of_window or one.watermark is not None) for one in columns):
        return False
    times = [schema.find(_last(item.expression)) for item in order]
    return bool(times) and times[0] is not None and times[0].watermark is not None


def _last(node: e.Expression) -> str:
    return node.parts[-1].text if isinstance(node, e.ColumnRef) else ""


class OverResolver:
    """Adds the program of a SELECT with OVER to a chain whose rows it is over."""

    def __init__(self, select: q.Select, scope: BlockScope, chain: Chain, state_id: str) -> None:
        self._select = select
        self._scope = scope
        self._chain = chain
        self._id = state_id
        self._rows = scope.relations[0]
        self._diagnostics: Diagnostics = chain.context.diagnostics
        self._before = self._diagnostics.errors
        taken = {self._rows.alias.lower(), *_keys(select)}
        self._calls = OverCalls(select, scope, taken, self._diagnostics)

    def resolve(self) -> None:
        """Append the operator; mistakes in the SELECT are reported."""
        items = self._items()
        condition = self._condition()
        self._calls.finish()
        windows, calls = self._calls.windows, self._calls.found
        for window in windows[1:]:
            if not _alike(window, windows[0]):
                self._diagnostics.add(_other_window(window, windows[0]))
                return
        if not windows:
            return
        if condition is not None:
            refuse_python(condition, "a SELECT with OVER", self._diagnostics)
        self._bounded(windows[0], calls)
        if self._diagnostics.errors > self._before:
            return
        given = ProgramInput(
            self._chain.inputs[0],
            self._rows.alias,
            self._rows.schema,
            windows[0].keys,
            windows[0].time.name,
        )
        span = self._select.span
        selected = Selected(given, windows[0].time, tuple(calls), items, condition, span)
        step = over_operator(self._id, selected)
        self._chain.add(step, step.returns)

    def _items(self) -> tuple[Item, ...]:
        marked = tuple(
            q.SelectItem(
                item.span,
                self._calls.marked(item.expression, item_name(item) or "unnamed"),
                item.alias,
            )
            for item in self._select.items
        )
        return program_items(
            marked, self._scope, "a SELECT with OVER", self._diagnostics, self._before
        )

    def _condition(self) -> Typed | None:
        node = self._select.qualify
        if node is None:
            return None
        columns = self._rows.schema
        named = {
            item.alias.text.lower(): item.expression
            for item in self._select.items
            if item.alias is not None and columns.find(item.alias.text) is None
            if any(True for _ in calls_of(item.expression))
        }

        def unaliased(found: Node) -> Node | None:
            if isinstance(found, e.ColumnRef) and len(found.parts) == 1:
                return named.get(found.parts[0].text.lower())
            return None

        marked = self._calls.marked(rewrite(node, unaliased), "qualify", known=True)
        return check(marked, self._scope, Clause("QUALIFY"), self._diagnostics)

    def _bounded(self, window: OverWindow, calls: list[OverCall]) -> None:
        """Report state that is kept for each key for ever, and a single key."""
        if not window.keys:
            self._diagnostics.add(_one_core(window))
            return
        kept = next((call for call in calls if not call.is_bounded), None)
        if kept is not None and not self._chain.context.unbounded:
            self._diagnostics.add(_unbounded(kept, window, self._chain.context.stream))


def _keys(select: q.Select) -> Iterator[str]:
    """Yield the names of the partitioning columns, in lower case."""
    for node in walk(select):
        if isinstance(node, e.WindowSpec):
            yield from (_last(key).lower() for key in node.partition_by)


def _alike(one: OverWindow, other: OverWindow) -> bool:
    keys = [[key.expression for key in window.keys] for window in (one, other)]
    return keys[0] == keys[1] and one.time == other.time


def _other_window(window: OverWindow, first: OverWindow) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        "all OVER of one SELECT have the same PARTITION BY and ORDER BY",
        Label(window.span),
        secondary=(Label(first.span, "the first"),),
        help="put the other one in a separate stream",
    )


def _one_core(window: OverWindow) -> Diagnostic:
    return Diagnostic(
        codes.ONE_CORE,
        "OVER has no PARTITION BY: one core processes all rows",
        Label(window.span),
        help="write `PARTITION BY k` if rows with different `k` are independent",
    )


def _unbounded(call: OverCall, window: OverWindow, stream: str) -> Diagnostic:
    keys = ", ".join(sql(key.expression) for key in window.keys)
    fix = "bound it: `RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW`"
    if call.function == "row_number":
        fix = (
            f"for the first row of each, write `SELECT DISTINCT ON ({keys}) WITHIN INTERVAL 1 "
            "DAY …`"
        )
    elif call.function in ("lag", "rank", "dense_rank"):
        fix = "use a CREATE OPERATOR with a TTL"
    return Diagnostic(
        codes.UNBOUNDED_STATE,
        f"the state of each `{keys}` is kept forever: nothing says when no more rows can arrive",
        Label(call.rows.span, "sees rows however old they are"),
        help=f"{fix}; or accept it: `CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def beside_over(select: q.Select, what: str) -> Diagnostic:
    """Return the diagnostic for OVER in a SELECT with another operation on its rows."""
    nodes = [item.expression for item in select.items]
    nodes += [select.qualify] if select.qualify is not None else []
    call = next(call for node in nodes for call in calls_of(node))
    return Diagnostic(
        codes.OVER_FORM,
        f"OVER can't be combined with {what} in one SELECT",
        Label(call.span),
        help="put one of them in a separate stream and read that by its name",
    )
