"""CREATE FUNCTION, and the order in which functions and aggregates can be resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from ....contracts.targets import target_parts
from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name, Node
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.coercion import can_cast
from ...model.declared import DeclaredFunction, DeclaredType, Parameter, PythonFunction, SqlFunction
from ...model.functions import aggregate, function
from ...model.schema import Field, Schema
from ...model.typed import Typed
from ..expressions.conversions import converted
from ..expressions.resolve import Clause, check
from ..expressions.typing import Context
from ..foreign.functions import is_window_function
from ..scopes.function_binding import Functions
from ..scopes.function_scope import PartScope
from ..scopes.names import Declared
from .user_aggregates import resolve_aggregate

_Node: TypeAlias = st.CreateFunction | st.CreateAggregate
_TAKEN = frozenset({"proctime", "watermark", "now"})
"""Names with a special meaning somewhere in the language."""

T = TypeVar("T", bound=Node)


def resolve_functions(
    declared: Mapping[str, Declared], broken: Iterable[str], diagnostics: Diagnostics
) -> Functions:
    """Resolve all functions and aggregates, each after those it calls.

    ``broken`` are names of statements that did not parse, which may be functions.
    """
    nodes = {n: d for n, d in declared.items() if isinstance(d, _Node)}
    functions = Functions(dict.fromkeys((*broken, *nodes)))
    done: dict[str, DeclaredFunction | None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = path[path.index(name) :]
            if not done.keys() & set(circle):
                diagnostics.add(_recursive(circle, nodes))
                done.update(dict.fromkeys(circle))
            return
        if name in done:
            return
        for called in _called(nodes[name], nodes):
            visit(called, (*path, name))
        if name not in done:
            done[name] = functions.known[name] = _resolve(nodes[name], functions, diagnostics)

    for name in nodes:
        visit(name, ())
    functions.called.intersection_update(nodes)
    return functions


def _called(node: _Node, nodes: Mapping[str, _Node]) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, e.Call) and inner.name.text.lower() in nodes:
            yield inner.name.text.lower()


def _resolve(
    node: _Node, functions: Functions, diagnostics: Diagnostics
) -> DeclaredFunction | None:
    before = len(diagnostics)
    if is_built_in(node.name):
        diagnostics.add(_built_in(node))
    parameters = _parameters(node, diagnostics)
    bound = functions.bind(node, diagnostics)
    found: DeclaredFunction | None
    if isinstance(bound, st.CreateAggregate):
        found = resolve_aggregate(bound, parameters, diagnostics)
    elif bound.python is not None:
        found = _python(bound, bound.python, parameters, diagnostics)
    else:
        found = _sql(bound, parameters, diagnostics)
    return found if len(diagnostics) == before else None


def is_built_in(name: Name) -> bool:
    """Return whether a name is built in."""
    call = e.Call(name.span, name, ())
    folded = name.text.lower()
    known = function(folded) is not None or aggregate(folded) is not None
    return known or folded in _TAKEN or is_window_function(call)


def _parameters(node: _Node, diagnostics: Diagnostics) -> tuple[Parameter, ...]:
    found: dict[str, st.Parameter] = {}
    for parameter in node.parameters:
        first = found.setdefault(parameter.name.text.lower(), parameter)
        if first is not parameter:
            diagnostics.add(_double_parameter(parameter, first))
    return tuple(
        Parameter(p.name.text, DeclaredType(t.from_node(p.type, diagnostics), p.type))
        for p in found.values()
    )


def _sql(
    node: st.CreateFunction, parameters: tuple[Parameter, ...], diagnostics: Diagnostics
) -> SqlFunction | None:
    assert node.body is not None
    returns = DeclaredType(t.from_node(node.returns, diagnostics), node.returns)
    schema = Schema(tuple(Field(p.name, p.type.type) for p in parameters))
    scope = PartScope("parameter", f"function `{node.name}`", schema, node.name, diagnostics)
    clause = Clause("a function")
    before = len(diagnostics)
    body = check(node.body, scope, clause, diagnostics)
    if len(diagnostics) > before:
        return None
    result = converted(body, returns, Context(scope, clause, diagnostics))
    if result is None:
        diagnostics.add(_result(node, body, returns, diagnostics))
        return None
    return SqlFunction(node.name.text, parameters, result, node.name.span)


def _python(
    node: st.CreateFunction,
    target: str,
    parameters: tuple[Parameter, ...],
    diagnostics: Diagnostics,
) -> PythonFunction:
    returns = DeclaredType(t.from_node(node.returns, diagnostics), node.returns)
    if target_parts(target) is None:
        diagnostics.add(_bad_target(node, target))
    if not parameters:
        diagnostics.add(_no_series(node))
    for type_ in (*(p.type for p in parameters), returns):
        if isinstance(type_.type, t.IntervalType) and not type_.type.is_day_time:
            diagnostics.add(_no_arrow_type(type_))
    return PythonFunction(node.name.text, parameters, returns, target, node.name.span)


def _recursive(circle: tuple[str, ...], nodes: Mapping[str, _Node]) -> Diagnostic:
    way = " → ".join(f"`{name}`" for name in (*circle, circle[0]))
    return Diagnostic(
        codes.RECURSIVE_FUNCTION,
        f"`{circle[0]}` calls itself: {way}" if len(circle) > 1 else f"`{circle[0]}` calls itself",
        Label(nodes[circle[0]].name.span),
        secondary=tuple(Label(nodes[name].name.span) for name in circle[1:]),
        help="a call is replaced by the body, so it must end: for a list, use `aggregate(items, "
        "start, (all, item) -> …)`",
    )


def _built_in(node: _Node) -> Diagnostic:
    what = "function" if isinstance(node, st.CreateFunction) else "aggregate"
    return Diagnostic(
        codes.BUILT_IN_NAME,
        f"`{node.name.text}` is the name of a Spark function",
        Label(node.name.span),
        help=f"give the {what} another name, such as `my_{node.name.text.lower()}`",
    )


def _double_parameter(parameter: st.Parameter, first: st.Parameter) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"parameter `{parameter.name}` is declared twice",
        Label(parameter.name.span, "declared again"),
        secondary=(Label(first.name.span, "first declared here"),),
        help="give one of them another name: names are case-insensitive",
    )


def _result(
    node: st.CreateFunction, body: Typed, returns: DeclaredType, diagnostics: Diagnostics
) -> Diagnostic:
    assert node.body is not None
    text = " ".join(diagnostics.source.excerpt(node.body.span).split())
    cast = f"RETURN CAST({text} AS {returns.type})"
    ways = [f"declare `RETURNS {body.type}`"]
    if can_cast(body.type, returns.type) and len(text) <= 40:
        ways.append(f"write `{cast}`")
    return Diagnostic(
        codes.FUNCTION_RESULT,
        f"`{node.name}` returns {returns.type}, but its body is {body.type}",
        Label(node.body.span, str(body.type)),
        secondary=(Label(node.returns.span, "declared here"),),
        help=", or ".join(ways),
    )


def _bad_target(node: st.CreateFunction, target: str) -> Diagnostic:
    return Diagnostic(
        codes.PYTHON_FUNCTION,
        f"`{target}` does not name a function of a Python module",
        Label(node.span),
        help=f"write `AS 'module:{node.name}'`",
    )


def _no_series(node: st.CreateFunction) -> Diagnostic:
    return Diagnostic(
        codes.PYTHON_FUNCTION,
        f"`{node.name}` has no parameter: a Python function computes a Series from others",
        Label(node.name.span),
        help="give it the columns that it needs; for a constant, write a SQL function, `RETURN 42`",
    )


def _no_arrow_type(type_: DeclaredType) -> Diagnostic:
    return Diagnostic(
        codes.PYTHON_FUNCTION,
        f"a Series cannot hold {type_.type}",
        Label(type_.node.span),
        help="pass a number of months as INT",
    )
