"""Select lists: stars, names, and which columns remain event times."""

from __future__ import annotations

from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model.schema import Field, Schema
from ...model.steps import Column
from ...model.typed import Typed
from ..expressions.literals import name_in_quotes
from ..expressions.resolve import Clause, FoundAggregate, check_with_aggregates
from ..scopes.scope import BlockScope


@dataclass(frozen=True, slots=True)
class Item:
    """A resolved select item: its output column, and the aggregates in it."""

    name: str
    value: Typed
    field: Field
    span: Span
    found: tuple[FoundAggregate, ...] = ()


def resolve_items(
    items: tuple[q.SelectItem, ...],
    scope: BlockScope,
    diagnostics: Diagnostics,
    *,
    aggregates: bool,
) -> tuple[Item, ...]:
    """Resolve a select list; report missing and duplicate names."""
    clause = Clause("SELECT", aggregates=aggregates)
    resolved: list[Item] = []
    for item in items:
        if isinstance(item.expression, e.Star):
            for column, value in scope.star(item.expression) or ():
                resolved.append(_item(column, value, scope, item.span))
            continue
        typed, found = check_with_aggregates(item.expression, scope, clause, diagnostics)
        name = item_name(item)
        if name is None:
            written = diagnostics.source.excerpt(item.span)
            diagnostics.add(_unnamed(item, written))
            continue
        resolved.append(replace(_item(name, typed, scope, item.span), found=found))
    _refuse_doubles(resolved, diagnostics)
    return tuple(resolved)


def item_name(item: q.SelectItem) -> str | None:
    """Return the name of an item's column: its alias, or the last part of a plain reference."""
    if item.alias is not None:
        return item.alias.text
    if isinstance(item.expression, e.ColumnRef):
        return item.expression.parts[-1].text
    if isinstance(item.expression, e.FieldAccess):
        return item.expression.field.text
    return None


def columns_of(items: tuple[Item, ...]) -> tuple[Column, ...]:
    """Return the columns of a projection."""
    return tuple(Column(i.name, i.value) for i in items)


def schema_of(items: tuple[Item, ...]) -> Schema:
    """Return the schema of a projection."""
    return Schema(tuple(i.field for i in items))


def is_identity(items: tuple[Item, ...], schema: Schema) -> bool:
    """Return whether a projection leaves all columns as they are."""
    return len(items) == len(schema.fields) and all(
        isinstance(item.value.expression, e.ColumnRef)
        and [p.text for p in item.value.expression.parts] == [item.name]
        and item.name == field.name
        for item, field in zip(items, schema.fields, strict=True)
    )


def output_field(name: str, typed: Typed, origin: Field | None) -> Field:
    """Return the output column of an expression; a plain reference keeps its event time."""
    if origin is not None:
        return replace(origin, name=name, type=typed.type, nullable=typed.nullable)
    return Field(name, typed.type, typed.nullable)


def _item(name: str, typed: Typed, scope: BlockScope, span: Span) -> Item:
    origin = scope.field(typed.expression)
    if origin is None and _is_window_edge(typed.expression, scope):
        origin = Field(name, typed.type, False, of_window=True)
    return Item(name, typed, output_field(name, typed, origin), span)


def _is_window_edge(expression: e.Expression, scope: BlockScope) -> bool:
    return isinstance(expression, e.ColumnRef) and scope.window_at(expression) is not None


def _refuse_doubles(items: list[Item], diagnostics: Diagnostics) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        first = seen.setdefault(item.name.lower(), item)
        if first is not item:
            diagnostics.add(
                Diagnostic(
                    codes.DUPLICATE_COLUMN,
                    f"two columns are called `{item.name}`",
                    Label(item.span, "the second"),
                    secondary=(Label(first.span, "the first"),) if first.span != item.span else (),
                    help=f"name one of them with AS, as in `AS {item.name.lower()}_2`",
                )
            )


def _unnamed(item: q.SelectItem, written: str) -> Diagnostic:
    return Diagnostic(
        codes.UNNAMED_COLUMN,
        "this expression has no column name",
        Label(item.span),
        help=name_in_quotes(written) or "name it with AS, as in `AS total`",
    )
