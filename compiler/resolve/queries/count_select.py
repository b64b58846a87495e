"""A SELECT over COUNT_WINDOW: its keys, its lengths, and its output for a window."""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import children, rewrite
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.declared import DeclaredCall, UserAggregate
from ...model.programs import ProgramInput
from ...model.schema import Field
from ...model.typed import Typed
from ..clauses.columns import Item, item_name
from ..clauses.keys import is_aggregate
from ..clauses.windows import missing_watermark
from ..expressions.resolve import Clause, check
from ..lowering import builders as parts
from ..lowering.count_window import Counted, count_operator
from ..lowering.frames import RowsCall
from ..lowering.placeholders import AnyCall, Mark, Marks
from ..lowering.program_items import has_type, no_type, program_items, refuse_python
from ..lowering.rows_calls import RowsCalls
from ..scopes.fields import ambiguous_key, taken_name
from ..scopes.relation_builder import Chain
from ..scopes.scope import WINDOW_COLUMNS, BlockScope
from .aggregates import not_grouped

_WHERE = "COUNT_WINDOW"
_FORM = "COUNT_WINDOW(t PARTITION BY k, 100)"


@dataclass(frozen=True, slots=True)
class CountWindow:
    """COUNT_WINDOW in FROM, with its lengths read."""

    node: q.WindowTable
    size: int
    slide: int


def count_window(node: q.WindowTable) -> CountWindow | Diagnostic:
    """Return the lengths of a count window, or a diagnostic about them."""
    lengths = [_length(argument) for argument in node.arguments]
    known = [length for length in lengths if length]
    if len(known) < len(lengths) or len(known) > 2:
        return _lengths(node)
    size, slide = known[0], known[-1]
    return CountWindow(node, size, slide) if slide <= size else _long_slide(node, size, slide)


def _length(node: e.Expression) -> int | None:
    is_number = isinstance(node, e.NumberLiteral) and node.text.isdigit()
    return int(node.text) if isinstance(node, e.NumberLiteral) and is_number else None


class CountSelect:
    """Adds the program of a SELECT over a count window to a chain."""

    def __init__(
        self, select: q.Select, window: CountWindow, scope: BlockScope, chain: Chain
    ) -> None:
        self._select = select
        self._window = window
        self._scope = scope
        self._chain = chain
        self._rows = scope.relations[0]
        self._diagnostics = chain.context.diagnostics
        self._before = self._diagnostics.errors
        self._calls: list[RowsCall] = []
        self._starts = False
        self._known = RowsCalls(scope, _WHERE, self._diagnostics)
        keys = {part.text.lower() for key in window.node.partition_by for part in _parts(key)[-1:]}
        taken = {self._rows.alias.lower(), *keys}
        self._marks = Marks(_calls_of, self._resolved, taken, self._diagnostics)

    def resolve(self, state_id: str) -> None:
        """Append the operator; mistakes in the SELECT are reported."""
        time, keys = self._time(), tuple(self._keys())
        self._check_groups(keys)
        items = self._items()
        condition = self._having()
        if condition is not None:
            refuse_python(condition, "a SELECT over COUNT_WINDOW", self._diagnostics)
        values = [item.value for item in items] + ([condition] if condition else [])
        for value in values if self._diagnostics.errors == self._before else ():
            self._only_keys(value.expression, keys)
        emit, lateness = self._select.emit, self._select.allowed_lateness
        if emit is not None and emit.kind != "ON WINDOW CLOSE":
            self._diagnostics.add(_when_full(emit.span, "EMIT"))
        elif lateness is not None:
            self._diagnostics.add(_when_full(lateness.span, "ALLOWED LATENESS"))
        if not self._chain.context.unbounded:
            self._diagnostics.add(_unbounded(self._window.node, self._chain.context.stream))
        if time is None or self._diagnostics.errors > self._before:
            return
        given = ProgramInput(
            *(self._chain.inputs[0], self._rows.alias, self._rows.schema, keys, time.name)
        )
        counted = Counted(
            given,
            time,
            self._window.size,
            self._window.slide,
            tuple(self._calls),
            self._starts,
            items,
            condition,
            self._select.span,
        )
        step = count_operator(state_id, counted)
        self._chain.add(step, step.returns)

    def _time(self) -> Field | None:
        times = self._rows.schema.event_times()
        node = self._window.node
        if not times:
            ts = e.ColumnRef(node.span, (Name(node.span, "ts"),))
            self._diagnostics.add(missing_watermark(_WHERE, ts, self._rows))
            return None
        if times[0].type != t.TIMESTAMP:
            self._diagnostics.add(_no_instant(node, times[0]))
        return times[0]

    def _keys(self) -> Iterator[Typed]:
        found: list[e.Expression] = []
        for node in self._window.node.partition_by:
            value = check(node, self._scope, Clause("PARTITION BY"), self._diagnostics)
            is_column = isinstance(value.expression, e.ColumnRef)
            taken = taken_name(value.expression, self._rows.schema, found)
            if value.type is not t.UNKNOWN and not (is_column and t.is_groupable(value.type)):
                self._diagnostics.add(_no_key(node))
            elif taken is not None:
                key, relation = value.expression, self._rows.alias
                self._diagnostics.add(ambiguous_key(node, key, taken, relation))
            found.append(value.expression)
            yield value

    def _check_groups(self, keys: tuple[Typed, ...]) -> None:
        """Report a GROUP BY that is not the keys and the window."""
        missing = {key.expression for key in keys}
        by_window = False
        for node in self._select.group_by:
            if self._is_window_column(node):
                by_window = True
                continue
            value = check(node, self._scope, Clause("GROUP BY"), self._diagnostics)
            if value.type is not t.UNKNOWN and value.expression not in {k.expression for k in keys}:
                self._diagnostics.add(_other_group(node, self._window.node))
            missing.discard(value.expression)
        if (missing or not by_window) and self._diagnostics.errors == self._before:
            names = [sql(key.expression) for key in keys]
            self._diagnostics.add(_groups(self._window.node, names))

    def _is_window_column(self, node: Node) -> bool:
        if not isinstance(node, e.ColumnRef) or len(node.parts) > 1:
            return False
        name = node.parts[0].text.lower()
        return name in WINDOW_COLUMNS and self._rows.schema.find(name) is None

    def _items(self) -> tuple[Item, ...]:
        marked: list[q.SelectItem] = []
        for item in self._select.items:
            name = item_name(item)
            expression = self._marked(item.expression, name or "unnamed")
            alias = item.alias
            if alias is None and name is not None:
                alias = Name(item.span, name)
            marked.append(q.SelectItem(item.span, expression, alias))
        where = "a SELECT over COUNT_WINDOW"
        return program_items(tuple(marked), self._scope, where, self._diagnostics, self._before)

    def _marked(self, node: e.Expression, name: str, *, known: bool = False) -> e.Expression:
        """Return an expression with marks for aggregates, and for the columns of the window."""

        def change(found: Node) -> Node | None:
            if not isinstance(found, e.ColumnRef) or not self._is_window_column(found):
                return None
            column = found.parts[0].text.lower()
            self._starts = self._starts or column == "window_start"
            return Mark(found.span, column, t.TIMESTAMP, nullable=False)

        return rewrite(self._marks.put(node, name, known=known), change)

    def _resolved(self, node: AnyCall, name: str) -> RowsCall | None:
        found = self._known.resolve(node, name)
        if found is not None and not has_type(Typed(node, found.type)):
            self._diagnostics.add(no_type(node))
            return None
        if found is not None:
            self._calls.append(found)
        return found

    def _having(self) -> Typed | None:
        node = self._select.having
        if node is None:
            return None
        named = {
            item.alias.text.lower(): item.expression
            for item in self._select.items
            if item.alias is not None and self._rows.schema.find(item.alias.text) is None
        }

        def unaliased(found: Node) -> Node | None:
            if isinstance(found, e.ColumnRef) and len(found.parts) == 1:
                return named.get(found.parts[0].text.lower())
            return None

        marked = self._marked(rewrite(node, unaliased), "having", known=True)
        return check(marked, self._scope, Clause("HAVING"), self._diagnostics)

    def _only_keys(self, expression: e.Expression, keys: tuple[Typed, ...]) -> None:
        """Report columns that are not keys, since it is undefined which row's they would be."""
        known = {key.expression for key in keys}

        def note(ref: e.ColumnRef) -> e.Expression:
            if ref not in known and self._rows.schema.find(ref.parts[0].text):
                self._diagnostics.add(not_grouped(ref, self._select))
            return ref

        parts.replaced(expression, note)


def _calls_of(node: Node) -> Iterator[AnyCall]:
    """Yield the outermost aggregates of an expression; lambdas have none."""
    is_declared = isinstance(node, DeclaredCall) and isinstance(node.function, UserAggregate)
    if is_declared or is_aggregate(node):
        assert isinstance(node, e.Call | DeclaredCall)
        yield node
    elif not isinstance(node, e.Lambda):
        for child in children(node):
            yield from _calls_of(child)


def _parts(node: e.Expression) -> tuple[Name, ...]:
    return node.parts if isinstance(node, e.ColumnRef) else ()


def counted_beside(node: q.WindowTable, what: str) -> Diagnostic:
    """Return the diagnostic for a count window combined with something else."""
    return Diagnostic(
        codes.COUNT_WINDOW,
        f"COUNT_WINDOW can't stand in one SELECT with {what}",
        Label(node.span),
        help="put one of them in a separate stream and read that by its name",
    )


def not_aggregated(node: q.WindowTable) -> Diagnostic:
    """Return the diagnostic for a count window whose rows are not grouped."""
    return Diagnostic(
        codes.COUNT_WINDOW,
        "a count window is known only once its rows are grouped",
        Label(node.span),
        help="add aggregates and `GROUP BY`, the keys and `window_start`",
    )


def _lengths(node: q.WindowTable) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        "a count window goes by numbers of rows: a size, and perhaps a slide",
        Label(node.arguments[0].span.to(node.arguments[-1].span)),
        help=f"the form is `{_FORM}`, or with a slide `COUNT_WINDOW(t PARTITION BY k, 100, 10)`",
    )


def _long_slide(node: q.WindowTable, size: int, slide: int) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        f"the slide of {slide} rows is longer than the size of {size}: some rows were in no window",
        Label(node.arguments[1].span),
        help="make the slide at most as long as the size",
    )


def _no_instant(node: q.WindowTable, time: Field) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        f"COUNT_WINDOW goes by instants, and `{time.name}` is {time.type}",
        Label(node.span),
        help="declare the event time as TIMESTAMP",
    )


def _no_key(node: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        "the key of a count window is a column with values that can be compared",
        Label(node.span),
        help="compute it under a name first: `COUNT_WINDOW((SELECT *, … AS k FROM t) PARTITION BY "
        "k, 100)`",
    )


def _groups(node: q.WindowTable, keys: list[str]) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        "a count window is a window of each key",
        Label(node.span),
        help=f"write `GROUP BY {', '.join((*keys, 'window_start'))}`",
    )


def _other_group(node: e.Expression, window: q.WindowTable) -> Diagnostic:
    return Diagnostic(
        codes.COUNT_WINDOW,
        "the rows of a count window are grouped by its keys and the window alone",
        Label(node.span),
        secondary=(Label(window.span, "rows are counted by these keys"),),
        help="add it to PARTITION BY, or aggregate it",
    )


def _when_full(span: Span, what: str) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "a count window comes out when it is full",
        Label(span),
        help=f"leave {what} out",
    )


def _unbounded(node: q.WindowTable, stream: str) -> Diagnostic:
    return Diagnostic(
        codes.UNBOUNDED_STATE,
        "the last window of a key waits for its rows for ever",
        Label(node.span, "kept forever for each key"),
        help="use a window of time, as in `TUMBLE(t, ts, INTERVAL 1 HOUR)`; or accept it: "
        f"`CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )
