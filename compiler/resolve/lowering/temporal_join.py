"""Temporal joins: cells that hold the newest version of a key, and rows that read them.

    FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON r.ccy = o.ccy
      AND r.ts >= o.ts - INTERVAL 1 DAY

becomes, with the versions first, so that rows of the same instant see them:

    on event r    set version_rate = rate
                  start timer expiry at ts + INTERVAL 1 DAY
    on event o    emit order_id, amount * version_rate
    on timer expiry    clear state

Rows and versions of a key are handled in the order of their event times, so no older version is
ever needed: one that is older than the watermark is removed as soon as the next one arrives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import programs as m
from ...model import types as t
from ...model.conditions import conjuncts
from ...model.schema import Field, Schema
from ...model.typed import Typed
from ..clauses.columns import Item, resolve_items, schema_of
from ..clauses.output_time import with_event_time
from ..expressions.declared_calls import is_python_call, no_python_here
from ..expressions.resolve import Clause, check
from ..programs.reads import clocked
from ..scopes.relation_builder import Chain, Known
from ..scopes.scope import BlockScope
from . import builders as parts
from .temporal_form import TemporalForm, temporal_form, versions_kept


@dataclass(frozen=True, slots=True)
class TemporalJoin:
    """A temporal join in FROM; the scope has both sides, rows before versions."""

    node: q.Join
    as_of: e.Expression
    known: tuple[Known, Known]
    scope: BlockScope


def add_temporal_join(join: TemporalJoin, select: q.Select, chain: Chain, state_id: str) -> None:
    """Append the program of a SELECT over a temporal join; mistakes are reported."""
    context = chain.context
    before = context.diagnostics.errors
    where: Typed | None = None
    if select.where is not None:
        where = check(select.where, join.scope, Clause("WHERE"), context.diagnostics)
    items = resolve_items(select.items, join.scope, context.diagnostics, aggregates=False)
    form = temporal_form(join.node, join.as_of, join.scope, context.diagnostics)
    python = [_python_call(value.expression) for value in _values(items, where)]
    for call in filter(None, python):
        context.diagnostics.add(no_python_here(call, "a temporal join"))
    if form is None or context.diagnostics.errors > before:
        return
    if form.age is None and not context.unbounded:
        context.diagnostics.add(versions_kept(join.node, form, join.scope, context.stream))
    program = _Program(join, form, items, where)
    step = with_event_time(program.operator(state_id))
    chain.inputs = tuple(dict.fromkeys(given.relation for given in step.inputs))
    chain.add(step, step.returns)


def _values(items: tuple[Item, ...], where: Typed | None) -> Iterable[Typed]:
    yield from (item.value for item in items)
    if where is not None:
        yield where


def _python_call(expression: e.Expression) -> e.Call | None:
    calls = (node for node in walk(expression) if isinstance(node, e.Call))
    return next((call for call in calls if is_python_call(call)), None)


class _Program:
    """The parts of the program, and the meaning of the query's names in it."""

    def __init__(
        self, join: TemporalJoin, form: TemporalForm, items: tuple[Item, ...], where: Typed | None
    ) -> None:
        self._join = join
        self._form = form
        self._items = items
        self._where = where
        self._values = tuple(_values(items, where))
        self._span = join.node.span
        self._rows, self._versions = join.scope.relations
        keys = {field.name.lower() for field in form.version_keys}
        taken = {self._rows.alias.lower(), self._versions.alias.lower(), *keys}
        for value in self._values:
            taken |= parts.parameters_of(value.expression)
        self._cells = {
            field.name: parts.free_name(f"version_{field.name}", taken) for field in self._kept()
        }
        cells = {name.lower() for name in self._cells.values()}
        self._timer = parts.free_name("expiry", {*taken, *cells})
        pairs = zip(form.row_keys, form.version_keys, strict=True)
        same = {row.name.lower() for row, one in pairs if row.name.lower() == one.name.lower()}
        self._taken = {*cells, self._timer}
        self._taken_by_keys = keys - same

    def operator(self, state_id: str) -> m.Operator:
        """Return the whole."""
        form = self._form
        handlers = [
            m.Handler(self._versions.alias, self._on_version()),
            m.Handler(self._rows.alias, self._on_row()),
        ]
        timers: tuple[m.Timer, ...] = ()
        if form.age is not None:
            timers = (m.Timer(self._timer, processing=False),)
            handlers.append(m.Handler(self._timer, (m.ClearState(),), is_timer=True))
        return m.Operator(
            state_id,
            tuple(m.ProgramKey(field.name, field.type) for field in form.version_keys),
            (self._input(1), self._input(0)),
            ordered=True,
            late_rows=None,
            cells=tuple(
                m.Cell(self._cells[field.name], m.CellKind.VALUE, field.type)
                for field in self._kept()
            ),
            timers=timers,
            returns=_plain(schema_of(self._items)),
            handlers=tuple(handlers),
        )

    def _input(self, side: int) -> m.ProgramInput:
        known, alias = self._join.known[side], self._join.scope.relations[side].alias
        form = self._form
        fields = form.version_keys if side else form.row_keys
        keys = tuple(
            Typed(parts.column(self._span, alias, field.name, ()), field.type, field.nullable)
            for field in fields
        )
        time = form.version_time if side else form.row_time
        return m.ProgramInput(known.relation, alias, known.schema, keys, time.name)

    # Versions.

    def _kept(self) -> list[Field]:
        """Return the kept fields of a version: the columns that the query reads, its instant."""
        time = self._form.version_time.name
        read = {
            node.parts[1].text
            for value in self._values
            for node in walk(value.expression)
            if isinstance(node, e.ColumnRef) and len(node.parts) > 1
            if node.parts[0].text == self._versions.alias
        }
        return [f for f in self._join.known[1].schema if f.name in read or f.name == time]

    def _on_version(self) -> tuple[m.ProgramStatement, ...]:
        body: list[m.ProgramStatement] = [
            m.SetCell(
                self._cells[field.name],
                Typed(self._column(field.name), field.type, field.nullable),
            )
            for field in self._kept()
        ]
        if self._form.age is not None:
            instant = parts.after(self._column(self._form.version_time.name), self._form.age)
            body.append(m.StartTimer(self._timer, Typed(instant, t.TIMESTAMP)))
        # A NULL equals nothing.
        names = {field.name for field in self._form.version_keys}
        schema = self._join.known[1].schema
        known = [
            parts.is_known(self._column(field.name))
            for field in schema
            if field.name in names and field.nullable
        ]
        return _if(parts.all_of(known), body)

    # Rows.

    def _on_row(self) -> tuple[m.ProgramStatement, ...]:
        conditions: list[e.Expression] = []
        if self._join.node.kind == "INNER":
            instant = self._cells[self._form.version_time.name]
            conditions.append(parts.is_known(parts.cell(self._span, instant)))
        if self._where is not None:
            conditions += conjuncts(self._read(self._where).expression)
        values = tuple(self._read(item.value) for item in self._items)
        return _if(parts.all_of(conditions), [m.Emit(values)])

    def _read(self, value: Typed) -> Typed:
        """Return an expression of the query for the program's handler of rows."""
        hidden = parts.parameters_of(value.expression)

        def change(ref: e.ColumnRef) -> e.Expression:
            alias, name, *path = ref.parts
            if alias.text == self._versions.alias:
                names = (part.text for part in path)
                return parts.cell(ref.span, self._cells[name.text], *names)
            taken = {*self._taken, *self._taken_by_keys, *hidden}
            found = parts.column(ref.span, self._rows.alias, name.text, taken)
            return replace(found, parts=(*found.parts, *path))

        return clocked(replace(value, expression=parts.replaced(value.expression, change)))

    def _column(self, name: str) -> e.ColumnRef:
        """Return a column of an arriving version."""
        return parts.column(self._span, self._versions.alias, name, self._taken)


def _if(condition: Typed | None, body: list[m.ProgramStatement]) -> tuple[m.ProgramStatement, ...]:
    if condition is None:
        return tuple(body)
    return (m.If((m.IfBranch(condition, tuple(body)),), ()),)


def _plain(schema: Schema) -> Schema:
    """Return columns without their event times: rows have waited."""
    fields = (replace(f, watermark=None, of_window=False, proctime=False) for f in schema)
    return Schema(tuple(fields))


def own_select(select: q.Select, roles: tuple[str, ...]) -> Diagnostic | None:
    """Return the clause that a SELECT over a temporal join can't have."""
    others = {"aggregate": "aggregates", "topn": "QUALIFY", "dedup": "DISTINCT ON"}
    too_much = [words for role, words in others.items() if role in roles]
    if not too_much:
        return None
    return Diagnostic(
        codes.TEMPORAL_JOIN,
        f"a temporal join can't be combined with {too_much[0]} in one SELECT",
        Label(select.relation.span),
        help="put the join in a separate stream and read that by its name",
    )
