"""GROUP BY, aggregates and HAVING: groups, state, output.

A block with aggregates becomes Aggregate, then Filter (HAVING), then Project (the select list):

    SELECT k, SUM(x) AS total, SUM(x) / (MAX(y) + k) AS share … GROUP BY k HAVING COUNT(*) > 1

    Aggregate  keys k, columns total = sum(x), `max(y)` = max(y), `count(*)` = count(*)
    Filter     `count(*)` > 1
    Project    k, total, share = total / (`max(y)` + k)

An item made only of aggregates is computed inside the aggregate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import children, rewrite, walk
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.reports.source import Span
from ...model import types
from ...model.programs import Panes
from ...model.same import canonical
from ...model.schema import Field, LostTime, Schema
from ...model.steps import (
    WINDOW_STRUCTS,
    Aggregate,
    AggregateCall,
    Column,
    EveryRow,
    Filter,
    Key,
    Project,
)
from ...model.typed import Typed
from ..clauses.columns import Item
from ..clauses.keys import (
    aggregate_calls,
    has_aggregate,
    is_aggregate,
    is_window_part,
    resolve_keys,
    unaliased,
)
from ..clauses.unbounded import unbounded
from ..expressions.resolve import Clause, FoundAggregate, check_with_aggregates
from ..lowering.pane_clauses import misplaced_pane
from ..lowering.panes import PanedBlock, add_panes
from ..scopes.relation_builder import Chain
from ..scopes.scope import BlockScope


class Grouping:
    """Builds an aggregate from the parts of a SELECT block."""

    def __init__(
        self, select: q.Select, chain: Chain, scope: BlockScope, panes: Panes | None = None
    ) -> None:
        self._panes = panes
        self._select = select
        self._chain = chain
        self._scope = scope
        self._diagnostics = chain.context.diagnostics
        self._columns: list[Column] = []
        self._keys: tuple[Key, ...] = ()
        self._grouped_by_window = False
        self._keys_are_known = True
        self._found: dict[e.Call, FoundAggregate] = {}

    def resolve(self, items: tuple[Item, ...], state_id: str) -> None:
        """Append Aggregate, Filter and Project to the chain."""
        self._note(found for item in items for found in item.found)
        grouped = resolve_keys(self._select.group_by, items, self._scope, self._diagnostics)
        self._keys, self._grouped_by_window = grouped.keys, grouped.by_window
        self._keys_are_known = grouped.complete
        self._check_window()
        projected = [self._project(item) for item in items]
        having = self._having(items)
        changes = self._changes()
        step = Aggregate(
            id=state_id,
            window=self._scope.window if self._grouped_by_window else None,
            keys=self._keys,
            columns=tuple(self._columns),
            calls=self._calls(),
            changes=changes,
        )
        fields = tuple(self._field(i) for i in items)
        keeps_time = not self._grouped_by_window or any(field.watermark for field in fields)
        lost = None if keeps_time else LostTime(self._chain.name, "window_time")
        columns, schema = tuple(projected), Schema(fields, lost)
        if self._panes is not None:
            self._diagnostics.extend(misplaced_pane(step))
            block = (step, self._panes, self._scope.relations[0], self._found)
            add_panes(PanedBlock(*block, having, columns, schema), self._chain)
            return
        late = self._select.late_rows
        if late is not None and late.stream is not None:
            self._chain.add(EveryRow())
        self._chain.add(step)
        if having is not None:
            self._chain.add(Filter(having))
        self._chain.changes = changes
        self._chain.add(Project(columns), schema)

    def _check_window(self) -> None:
        window = self._scope.window
        known = self._grouped_by_window and self._keys_are_known
        if window is not None and window.kind == "session" and known:
            self._diagnostics.extend(_other_sessions(self._select, self._keys))
        if window is None or self._grouped_by_window or not self._keys_are_known:
            if window is not None and window.kind == "session" and not self._keys:
                self._diagnostics.add(_session_without_key(self._select.relation.span))
            return
        self._diagnostics.add(_window_not_grouped(self._select))

    # Columns.

    def _project(self, item: Item) -> Column:
        expression = item.value.expression
        if (
            has_aggregate(expression)
            and not self._has_plain(expression)
            and not any(_is_moved(node) for node in walk(expression))
        ):
            name = self._add_column(item.name, item.value)
            return Column(item.name, replace(item.value, expression=_ref(item.span, name)))
        after = self._after(expression)
        return Column(item.name, replace(item.value, expression=after))

    def _add_column(self, name: str, value: Typed) -> str:
        """Add an aggregate column and return its name."""
        taken = {key.name.lower() for key in self._keys} | set(WINDOW_STRUCTS)
        taken |= {c.name.lower() for c in self._columns}
        if name.lower() in taken:
            name = self._identity(value.expression)
        if name.lower() not in {c.name.lower() for c in self._columns}:
            self._columns.append(Column(name, value))
        return name

    def _after(self, expression: e.Expression) -> e.Expression:
        """Return an expression over the aggregate's output instead of its input."""

        def change(node: Node) -> Node | None:
            if not isinstance(node, e.Expression):
                return None
            for key in self._keys:
                if node == key.value.expression:
                    return _ref(node.span, key.name)
            if is_window_part(self._scope, node):
                return unaliased(node)
            if is_aggregate(node):
                return _ref(node.span, self._column_of(node))
            if isinstance(node, e.ColumnRef) and self._is_ungrouped(node):
                self._diagnostics.add(not_grouped(node, self._select))
            return None

        return rewrite(expression, change)

    def _is_ungrouped(self, node: e.ColumnRef) -> bool:
        """Return whether a reference outside aggregates and keys is a column, and a mistake.

        A name that the scope does not know was bound by a lambda: it was checked before.
        """
        name = node.parts[0].text
        return self._keys_are_known and any(
            name == r.alias if self._scope.qualified else r.schema.find(name)
            for r in self._scope.relations
        )

    def _column_of(self, call: e.Call) -> str:
        for column in self._columns:
            if column.value.expression == call:
                return column.name
        return self._add_column(self._identity(call), Typed(call, types.UNKNOWN))

    def _has_plain(self, node: Node, bound: frozenset[str] = frozenset()) -> bool:
        """Return whether there are columns, keys or the window besides the aggregates.

        ``bound`` are the parameters of enclosing lambdas, which are not columns.
        """
        if is_aggregate(node):
            return False
        if isinstance(node, e.ColumnRef):
            return node.parts[0].text not in bound
        if any(node == key.value.expression for key in self._keys):
            return True
        if isinstance(node, e.Lambda):
            bound |= {name.text for name in node.parameters}
        return any(self._has_plain(child, bound) for child in children(node))

    def _having(self, items: tuple[Item, ...]) -> Typed | None:
        node = self._select.having
        if node is None:
            return None
        scope = _HavingScope(self._scope, items)
        clause = Clause("HAVING", aggregates=True)
        typed, found = check_with_aggregates(node, scope, clause, self._diagnostics)
        self._note(found)
        return replace(typed, expression=self._after(typed.expression))

    def _field(self, item: Item) -> Field:
        """Return the output column; only keys and the window keep an event time."""
        is_key = any(item.value.expression == key.value.expression for key in self._keys)
        if is_key or item.field.pane or is_window_part(self._scope, item.value.expression):
            return item.field
        return Field(item.name, item.value.type, item.value.nullable)

    # State and emission.

    def _note(self, found: Iterable[FoundAggregate]) -> None:
        self._found.update((one.call, one) for one in found)

    def _calls(self) -> tuple[AggregateCall, ...]:
        calls: dict[e.Expression, AggregateCall] = {}
        for column in self._columns:
            for call in aggregate_calls(column.value.expression):
                form = canonical(call)
                found = self._found.get(call)
                if form not in calls and found is not None:
                    function, given = found.function, tuple(found.argument_types)
                    id_, cells = self._identity(call), function.cells(given)
                    calls[form] = AggregateCall(id_, call, function.spark_function, cells, given)
        return tuple(calls.values())

    def _identity(self, expression: e.Expression) -> str:
        """Return what an aggregate computes, as text.

        An alias is left out where the column is unique.
        """
        if not self._scope.qualified:
            return sql(expression)

        def bare(node: Node) -> Node | None:
            if isinstance(node, e.ColumnRef) and len(node.parts) > 1:
                owner, column = (part.text for part in node.parts[:2])
                holders = [r for r in self._scope.relations if r.schema.find(column) is not None]
                # A table lookup does not change what a column of the stream is.
                streams = [r for r in holders if not r.is_table]
                if len(holders) == 1 or [r.alias for r in streams] == [owner]:
                    return replace(node, parts=node.parts[1:])
            return None

        return sql(rewrite(expression, bare))

    def _changes(self) -> bool:
        emit = self._select.emit
        if self._panes is not None:
            return True
        closes = self._grouped_by_window or any(
            (field := self._scope.field(key.value.expression)) is not None
            and field.watermark is not None
            for key in self._keys
        )
        if emit is None:
            changes = not closes
        else:
            changes = emit.kind == "CHANGES"
            if not changes and not closes:
                self._diagnostics.add(_never_closes(emit.span))
                return changes
        window = self._scope.window if self._grouped_by_window else None
        if emit is not None and changes and window is not None and window.kind == "session":
            self._diagnostics.add(_session_changes(emit.span))
        if self._scope.window is not None and not self._grouped_by_window:
            return changes
        if not closes and not self._chain.context.unbounded and self._keys_are_known:
            stream, times = self._chain.context.stream, self._scope.event_times()
            self._diagnostics.add(unbounded(self._select, stream, times))
        return changes


def _is_moved(node: Node) -> bool:
    """Return whether Spark extracts a subexpression and computes it last.

    It does so for what would be computed twice; its aggregates are then not kept in the order in
    which they are written. After the aggregate it has no choice.
    """
    return isinstance(node, e.Between) or (
        isinstance(node, e.Call) and node.name.text.lower() == "nullif"
    )


class _HavingScope:
    """The block's scope, and then the aliases of the select list."""

    def __init__(self, scope: BlockScope, items: tuple[Item, ...]) -> None:
        self._scope = scope
        self._items = {item.name.lower(): item for item in items}

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a column of the input, else the select item of that name."""
        name = ref.parts[0].text.lower()
        if len(ref.parts) == 1 and not self._scope.knows(name) and name in self._items:
            return self._items[name].value
        return self._scope.column(ref)

    def knows(self, name: str) -> bool:
        """Return whether a name is that of a column or of a select item."""
        return name.lower() in self._items or self._scope.knows(name)

    def event_times(self) -> tuple[Typed, ...]:
        """Return the columns that order rows."""
        return self._scope.event_times()


def _ref(span: Span, name: str) -> e.ColumnRef:
    return e.ColumnRef(span, (Name(span, name),))


def not_grouped(node: e.ColumnRef, select: q.Select) -> Diagnostic:
    """Return the diagnostic for a column that may have several values in a group."""
    name = sql(node)
    keys = [key.span for key in select.group_by]
    return Diagnostic(
        codes.NOT_GROUPED,
        f"`{name}` is neither a key of GROUP BY nor inside an aggregate",
        Label(node.span),
        secondary=(Label(keys[0].to(keys[-1]), "the keys"),) if keys else (),
        help=f"add `{name}` to GROUP BY, or take one value of it, as in `MAX({name})`",
    )


def _window_not_grouped(select: q.Select) -> Diagnostic:
    return Diagnostic(
        codes.WINDOW_NOT_GROUPED,
        "a window is opened and its rows are not grouped by it",
        Label(select.relation.span),
        help="add `window_start` to GROUP BY",
    )


def _other_sessions(select: q.Select, keys: Sequence[Key]) -> Iterator[Diagnostic]:
    """Report sessions with other keys than the grouping."""
    node = select.relation
    if not isinstance(node, q.WindowTable) or not node.partition_by:
        return
    named = {_last_name(one) for one in node.partition_by}
    if named != {_last_name(key.value.expression) for key in keys}:
        wanted = ", ".join(sql(key.value.expression) for key in keys) or "…"
        yield Diagnostic(
            codes.WINDOW_NOT_GROUPED,
            "its sessions are of other keys than those that rows are grouped by",
            Label(node.span),
            help=f"Spark makes sessions by the keys of GROUP BY: write `PARTITION BY {wanted}`, or "
            "group the sessions by fewer keys in a stream behind",
        )


def _last_name(expression: e.Expression) -> str:
    """Return a column's name without its relation, in lower case; for others the whole text."""
    if isinstance(expression, e.ColumnRef):
        return expression.parts[-1].text.lower()
    return sql(expression)


def _session_without_key(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.UNSUPPORTED_CHAIN,
        "Spark runs no session window without a key",
        Label(span),
        help="group by a column besides `window_start`",
    )


def _session_changes(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "sessions come out only when they close",
        Label(span, "Spark has no updates of session windows"),
        help="leave EMIT out, or use TUMBLE or HOP",
    )


def _never_closes(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.EMIT_FORM,
        "nothing closes these groups, so no row would ever come out",
        Label(span),
        help="group by a window, or write `EMIT CHANGES`",
    )
