"""CREATE AGGREGATE: what a row contributes, how that is combined, and the result.

    LIFT (xw = x * w, w = w) COMBINE (xw = SUM, w = SUM) LOWER xw / w

    weighted_mean(price, qty)      sum(price * qty) / sum(qty)

Each accumulator is one of Spark's own aggregates, so its state is kept, merged and shared like
theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.aggregates import AggregateFunction, aggregate
from ...model.declared import Accumulator, Parameter, UserAggregate
from ...model.schema import Field, Schema
from ...model.typed import Typed
from ..expressions.aggregate_arguments import fits, taken
from ..expressions.resolve import Clause, check
from ..scopes.function_scope import PartScope

_COMBINES = {
    "SUM": "sum",
    "MIN": "min",
    "MAX": "max",
    "BIT_AND": "bit_and",
    "BIT_OR": "bit_or",
    "BIT_XOR": "bit_xor",
    "BOOL_AND": "bool_and",
    "BOOL_OR": "bool_or",
    "COLLECT": "collect_list",
    "HLL": "hll_sketch_agg",
    "THETA": "theta_sketch_agg",
    "KLL": "kll_sketch_agg_bigint",
}
"""How two accumulators are combined, and Spark's aggregate for that."""

_KLL_OF: dict[t.Type, str] = {t.FLOAT: "kll_sketch_agg_float", t.DOUBLE: "kll_sketch_agg_double"}

Part = TypeVar("Part", st.Lift, st.Combine)


def resolve_aggregate(
    node: st.CreateAggregate, parameters: tuple[Parameter, ...], diagnostics: Diagnostics
) -> UserAggregate | None:
    """Return the aggregate, or None after a report."""
    before = len(diagnostics)
    owner = f"aggregate `{node.name}`"
    lifts, combines = _once(node.lifts, diagnostics), _once(node.combines, diagnostics)
    diagnostics.extend(_alone(lifts, combines))
    schema = Schema(tuple(Field(p.name, p.type.type) for p in parameters))
    scope = PartScope("parameter", owner, schema, node.name, diagnostics)
    accumulators: list[Accumulator] = []
    for name, lift in lifts.items():
        value = check(lift.expression, scope, Clause("LIFT"), diagnostics)
        combine = combines.get(name)
        function = None if combine is None else _function(combine, lift, value, diagnostics)
        if function is not None:
            accumulators.append(Accumulator(lift.name.text, function, value))
    if len(diagnostics) > before:
        return None
    read = Schema(tuple(_read(part) for part in accumulators))
    unlifted = {p.name.lower(): _lift_it(p) for p in parameters}
    below = PartScope("accumulator", owner, read, node.name, diagnostics, unlifted)
    lower = check(node.lower, below, Clause("LOWER"), diagnostics)
    if len(diagnostics) > before:
        return None
    return UserAggregate(node.name.text, parameters, tuple(accumulators), lower, node.name.span)


def _once(nodes: Sequence[Part], diagnostics: Diagnostics) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for node in nodes:
        first = found.setdefault(node.name.text.lower(), node)
        if first is not node:
            diagnostics.add(_twice(node, first))
    return found


def _alone(lifts: dict[str, st.Lift], combines: dict[str, st.Combine]) -> list[Diagnostic]:
    """Return the diagnostics for accumulators in only one of LIFT and COMBINE."""
    found = []
    for name, lift in lifts.items():
        if name not in combines and not closest(name, combines.keys() - lifts.keys()):
            found.append(_not_combined(lift))
    for name, combine in combines.items():
        if name not in lifts:
            found.append(_not_lifted(combine, lifts.keys() - combines.keys()))
    return found


def _function(
    combine: st.Combine, lift: st.Lift, value: Typed, diagnostics: Diagnostics
) -> AggregateFunction | None:
    """Return the aggregate that combines an accumulator, None after a report."""
    name = _COMBINES.get(combine.function)
    if name is None:
        diagnostics.add(_unknown_combine(combine))
        return None
    if combine.function == "KLL":
        name = _KLL_OF.get(value.type, name)
    function = aggregate(name)
    assert function is not None
    # A list in order of arrival would differ between runs: it is sorted.
    wanted = "orderable" if combine.function == "COLLECT" else function.takes[0]
    if not t.is_open(value.type) and not fits(wanted, value.type):
        diagnostics.add(_bad_combine(combine, lift, value, wanted, diagnostics))
        return None
    return function


def _read(part: Accumulator) -> Field:
    """Return an accumulator as LOWER sees it."""
    nullable = part.function.nullable or part.function.name.startswith("kll_")
    return Field(part.name, part.function.result((part.lift.type,)), nullable)


def _lift_it(parameter: Parameter) -> str:
    name = parameter.name
    return f"LOWER reads what many rows accumulated: lift it, as in `LIFT ({name} = {name})`"


def _twice(node: Part, first: Part) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"accumulator `{node.name}` is given twice",
        Label(node.span, "given again"),
        secondary=(Label(first.span, "first given here"),),
        help="give one of them another name: names are case-insensitive",
    )


def _not_combined(lift: st.Lift) -> Diagnostic:
    return Diagnostic(
        codes.ACCUMULATOR,
        f"nothing says how to combine two accumulators `{lift.name}`",
        Label(lift.name.span),
        help=f"add it to COMBINE, as in `{lift.name} = SUM`",
    )


def _not_lifted(combine: st.Combine, lifted: Iterable[str]) -> Diagnostic:
    near = closest(combine.name.text, lifted)
    return Diagnostic(
        codes.ACCUMULATOR,
        f"nothing says what a row contributes to accumulator `{combine.name}`",
        Label(combine.name.span),
        help=f"did you mean `{near[0]}`?"
        if near
        else f"add it to LIFT, as in `{combine.name} = x`",
    )


def _unknown_combine(combine: st.Combine) -> Diagnostic:
    near = closest(combine.function, _COMBINES)
    others = {
        "AVG": (
            "lift two values, and combine them by SUM: `LIFT (total = x, n = 1) … LOWER total / n`"
        ),
        "COUNT": "count with a sum: `LIFT (n = 1) COMBINE (n = SUM)`",
    }
    others["MEAN"] = others["AVG"]
    listed = f"it is one of: {', '.join(_COMBINES)}"
    return Diagnostic(
        codes.ACCUMULATOR,
        f"`{combine.function}` cannot combine two accumulators",
        Label(combine.span),
        help=others.get(combine.function, f"did you mean `{near[0]}`?" if near else listed),
    )


def _bad_combine(
    combine: st.Combine, lift: st.Lift, value: Typed, wanted: str, diagnostics: Diagnostics
) -> Diagnostic:
    text = " ".join(diagnostics.source.excerpt(lift.expression.span).split())
    fix = f"lift {taken(wanted)}"
    if combine.function == "KLL" and isinstance(value.type, t.Decimal):
        fix = f"lift `CAST({text} AS DOUBLE)`"
    elif value.type == t.BOOLEAN:
        fix = f"lift `CAST({text} AS INT)`" if wanted != "boolean" else fix
    return Diagnostic(
        codes.ACCUMULATOR,
        f"{combine.function} does not combine {value.type}",
        Label(combine.span),
        secondary=(Label(lift.expression.span, str(value.type)),),
        help=fix,
    )
