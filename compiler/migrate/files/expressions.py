"""Expressions of a migration file: read, bound to the old state, and typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....contracts.java import function_runs_java
from ....dsl.ast.expressions import Call, Cast, ColumnRef, Expression, Lambda
from ....dsl.ast.node import Node
from ....dsl.ast.walk import walk
from ....dsl.format import sql
from ....dsl.parsing.parse import parse_expression
from ....dsl.reports.diagnostics import Diagnostics
from ....dsl.reports.source import SourceFile, Span
from ....dsl.reports.suggest import closest
from ...model import types
from ...model.schema import Field, Schema
from ...model.typed import Typed
from ...operators.rows.origins import Terms, substitute
from ...resolve.expressions.conversions import converted_to
from ...resolve.expressions.resolve import Clause, check
from ...resolve.expressions.typing import Context
from ...resolve.scopes.scope import BlockScope, Visible
from ..types.structs import converted, goes_by_place

_NOWHERE = Span(0, 0)


class BadExpression(Exception):
    """An unusable expression; the text says why, ``help`` how to fix it."""

    def __init__(self, message: str, help_: str | None = None) -> None:
        super().__init__(message)
        self.help = help_


def expression(text: str, names: Mapping[str, Typed], target: types.Type) -> str:
    """Return an expression over some names as SQL of a type; raises ``BadExpression``."""
    tree = parsed(text)
    bound = {
        parameter.text
        for node in walk(tree)
        if isinstance(node, Lambda)
        for parameter in node.parameters
    }
    for node in walk(tree):
        if isinstance(node, ColumnRef) and node.parts[0].text not in {*names, *bound}:
            raise _unknown(node.parts[0].text, names)
    columns: Terms = {(n,): value.expression for n, value in names.items() if n not in bound}
    return sql(_typed(substitute(tree, columns), names, target))


def parsed(text: str) -> Expression:
    """Return the tree of a text; raises ``BadExpression``."""
    source = SourceFile("expression", text)
    tree, diagnostics = parse_expression(source)
    if tree is None or len(diagnostics):
        raise _first(diagnostics)
    _refuse_java(tree)
    return tree


def _refuse_java(tree: Expression) -> None:
    for node in walk(tree):
        if isinstance(node, Call) and function_runs_java(node.name.text, len(node.arguments)):
            raise BadExpression(
                f"`{node.name}` calls a Java class by name, which no migration does",
                "compute the value with functions of SQL",
            )


def _typed(tree: Expression, names: Mapping[str, Typed], target: types.Type) -> Expression:
    diagnostics = Diagnostics(SourceFile("expression", ""))
    fields = [
        Field(_name(value.expression), value.type)
        for value in names.values()
        if isinstance(value.expression, ColumnRef)
    ]
    scope = BlockScope((Visible("state", Schema(tuple(fields)), _NOWHERE),), diagnostics)
    clause = Clause("a migration", aggregates=False)
    value = check(tree, scope, clause, diagnostics)
    if len(diagnostics):
        raise _first(diagnostics)
    _refuse_misplaced(tree, scope, clause)
    found = converted_to(value, target, Context(scope, clause, diagnostics))
    if found is None:
        raise BadExpression(f"it gives {value.type}, not {target}", f"write `CAST(… AS {target})`")
    return tree if found is value else found.expression


def _refuse_misplaced(tree: Expression, scope: BlockScope, clause: Clause) -> None:
    """Refuse a CAST that would assign a field of a struct the value of another one."""
    for node in walk(tree):
        if not isinstance(node, Cast):
            continue
        unheard = Diagnostics(SourceFile("expression", ""))
        held, type_ = (check(n, scope, clause, unheard).type for n in (node.operand, node))
        if not len(unheard) and not goes_by_place(held, type_):
            raise BadExpression(
                f"a CAST goes by place, and {held} has other fields there than {type_}",
                f"name them: `{converted(sql(node.operand), str(held), str(type_))}`",
            )


def _name(node: Node) -> str:
    assert isinstance(node, ColumnRef)
    return node.parts[0].text


def _first(diagnostics: Diagnostics) -> BadExpression:
    first = next(iter(diagnostics))
    return BadExpression(first.message, first.help)


def _unknown(name: str, names: Iterable[str]) -> BadExpression:
    names = tuple(names)
    near = closest(name, names)
    listed = ", ".join(f"`{known}`" for known in names)
    help_ = f"did you mean `{near[0]}`?" if near else f"known: {listed}" if names else None
    return BadExpression(f"there is no `{name}` in the old state", help_)
