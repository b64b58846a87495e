"""Resolved calls of aggregates over rows that a program keeps, for OVER and COUNT_WINDOW.

A call is resolved as in GROUP BY, and each resulting aggregate of Spark becomes one over rows: a
user aggregate has several, and so has CORR. FIRST_VALUE, LAST_VALUE, NTH_VALUE, ARRAY_AGG and
LISTAGG follow the order of the rows, which is by event time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.aggregates import aggregate
from ...model.declared import DeclaredCall, UserAggregate
from ...model.typed import Typed
from ..expressions.call_diagnostics import not_an_aggregate
from ..expressions.calls import aggregate_clause
from ..expressions.resolve import Clause, FoundAggregate, Scope, check, check_with_aggregates
from ..foreign.not_built import not_built
from . import builders as parts
from . import folds
from .frames import AGGREGATES, Part, RowsCall
from .placeholders import AnyCall
from .program_items import refuse_python

_THERE_ARE = (
    "there are COUNT, SUM, AVG, MIN, MAX, VAR_*, STDDEV_*, COVAR_*, CORR, BOOL_*, BIT_*, MIN_BY, "
    "MAX_BY, FIRST_VALUE, LAST_VALUE, ARRAY_AGG, LISTAGG, COLLECT_SET, MODE, MEDIAN, PERCENTILE"
)

_BY_PLACE = {
    "first_value": "first_value",
    "last_value": "last_value",
    "nth_value": "nth_value",
    "any_value": "first_value",
}
_IN_ORDER = frozenset({"array_agg", "collect_list", "listagg"})
_OF_SKETCHES = ("hll_", "theta_", "kll_", "count_min_", "bitmap_", "approx_top_", "histogram_")


@dataclass(frozen=True, slots=True)
class RowsCalls:
    """Resolves calls; ``where`` is their clause in messages: ``OVER``."""

    scope: Scope
    where: str
    diagnostics: Diagnostics

    def resolve(self, node: AnyCall, name: str) -> RowsCall | None:
        """Return an aggregate whose value has this name, None after a report."""
        found = self._resolved(node, name)
        if found is not None and found.value is not None:
            refuse_python(found.value, f"a SELECT with {self.where}", self.diagnostics)
        if found is not None and found.lower is not None:
            lower = Typed(found.lower, found.type)
            refuse_python(lower, f"a SELECT with {self.where}", self.diagnostics)
        return found

    def _resolved(self, node: AnyCall, name: str) -> RowsCall | None:
        if isinstance(node, DeclaredCall):
            plain = replace(node, call=replace(node.call, over=None))
            return self._of_natives(plain, name, node.span)
        node = _counting(replace(node, over=None))
        called = node.name.text.lower()
        known = aggregate(called, distinct=node.distinct)
        function = known.name if known is not None else called
        if function in _BY_PLACE:
            return self._by_place(node, name, _BY_PLACE[function])
        if function in _IN_ORDER and not node.distinct and not node.order_by:
            return self._in_order(node, name, function)
        return self._of_natives(node, name, node.span)

    def _of_natives(self, node: AnyCall, name: str, span: Span) -> RowsCall | None:
        """Return a call as an expression over Spark's own aggregates."""
        clause = Clause(self.where, aggregates=True)
        value, found = check_with_aggregates(node, self.scope, clause, self.diagnostics)
        natives = {one.call: one for one in found}
        refused = next((one for one in natives.values() if self._is_refused(one, node)), None)
        if refused is not None or value.type is t.UNKNOWN or not found:
            return None
        if value.expression in natives:
            native = natives[value.expression]
            return _native(native, name, value.type, span, nullable=value.nullable)
        return self._composite(node, name, value, found)

    def _composite(
        self, node: AnyCall, name: str, value: Typed, found: Sequence[FoundAggregate]
    ) -> RowsCall:
        """Return a call computed from several aggregates; a row's argument is a struct."""
        span, fields = node.span, _fields(node, found)
        calls = {
            field: _native(one, f"{name}__{field}", one.function.result(one.argument_types), span)
            for field, one in fields.items()
        }
        given = [(field, call.value) for field, call in calls.items() if call.value is not None]
        is_alone = len(given) == 1 and not isinstance(node, DeclaredCall)
        one_value = given[0][1] if is_alone else parts.struct(span, given)
        of_one = tuple(
            Part(one.call, calls[field], None if is_alone else field)
            for field, one in fields.items()
        )
        return RowsCall(
            *(name, "", one_value, value.type, value.nullable, span),
            parts=of_one,
            lower=value.expression,
        )

    def _is_refused(self, found: FoundAggregate, node: AnyCall) -> bool:
        """Report an aggregate that can't be updated row by row."""
        function = found.function.name
        if function.startswith(_OF_SKETCHES):
            self.diagnostics.add(_sketch(node, function, self.where))
            return True
        several = function == "percentile" and len(found.call.arguments) > 2
        intervals = function in ("percentile", "median") and isinstance(
            found.argument_types[0], t.IntervalType
        )
        if function in AGGREGATES and not several and not intervals:
            return False
        what = f"`{function}` with {self.where}"
        self.diagnostics.add(not_built(what, node.span, _THERE_ARE))
        return True

    def _by_place(self, node: e.Call, name: str, function: str) -> RowsCall | None:
        """Return FIRST_VALUE, LAST_VALUE or NTH_VALUE, whose order is that of the rows."""
        others = replace(node, nulls=None, filter=None)
        clause = aggregate_clause(others)
        if clause is not None or (function == "nth_value" and node.filter is not None):
            self.diagnostics.add(not_an_aggregate(others, clause or "FILTER"))
            return None
        is_nth = function == "nth_value"
        value = self.argument(node)
        constants, flags = node.arguments[1 : 1 + is_nth], node.arguments[1 + is_nth :]
        is_flag = all(isinstance(flag, e.BooleanLiteral) for flag in flags) and len(flags) < 2
        if not is_flag or len(constants) < is_nth or not all(map(_is_place, constants)):
            form = f"{node.name.text.upper()}({'x, 2' if is_nth else 'x'}) IGNORE NULLS"
            self.diagnostics.add(wrong_arguments(node, form, self.where))
            return None
        if value is None:
            return None
        flag = any(isinstance(one, e.BooleanLiteral) and one.value for one in flags)
        skips = node.nulls == "IGNORE" or flag
        nullable = value.nullable or skips or is_nth
        found = RowsCall(
            *(name, function, value, value.type, nullable, node.span, skips, constants)
        )
        return found if node.filter is None else self._filtered(found, node)

    def _filtered(self, call: RowsCall, node: e.Call) -> RowsCall | None:
        """Return FIRST_VALUE or LAST_VALUE of the rows that FILTER keeps."""
        assert node.filter is not None and call.value is not None
        condition = check(node.filter, self.scope, Clause("FILTER"), self.diagnostics)
        if condition.type is t.UNKNOWN:
            return None
        span, value = node.span, call.value
        if call.skips:
            given = _where(value, condition.expression, span)
            return replace(call, value=given, nullable=True)
        # A NULL in a row that counts is a value, so arguments are structs.
        held = parts.struct(span, [("value", value)])
        given = _where(held, condition.expression, span)
        inner = replace(
            call, name=f"{call.name}__row", value=given, type=held.type, nullable=True, skips=True
        )
        native = e.Call(span, Name(span, call.function), (held.expression,))
        lower = e.FieldAccess(span, native, Name(span, "value"))
        return RowsCall(
            *(call.name, "", given, call.type, True, span),
            parts=(Part(native, inner, None),),
            lower=lower,
        )

    def _in_order(self, node: e.Call, name: str, function: str) -> RowsCall | None:
        """Return ARRAY_AGG or LISTAGG in the order of the rows."""
        plain = replace(node, name=Name(node.name.span, "collect_list"))
        if function == "listagg":
            # It is resolved as one with an order, and follows that of the rows.
            order = e.SortItem(node.span, parts.number(node.span, 1), False, None)
            plain = replace(node, order_by=(order,))
        clause = Clause(self.where, aggregates=True)
        value, found = check_with_aggregates(plain, self.scope, clause, self.diagnostics)
        if value.type is t.UNKNOWN or not found:
            return None
        if value.type == t.BINARY:
            self.diagnostics.add(not_built(f"`listagg` of BINARY with {self.where}", node.span))
            return None
        return _native(found[0], name, value.type, node.span, nullable=value.nullable)

    def argument(self, node: e.Call) -> Typed | None:
        """Return the first argument of a call whose value comes from a row."""
        if not node.arguments:
            form = f"{node.name.text.upper()}(x)"
            self.diagnostics.add(wrong_arguments(node, form, self.where))
            return None
        value = check(node.arguments[0], self.scope, Clause(self.where), self.diagnostics)
        return None if value.type is t.UNKNOWN else value


def _is_place(node: e.Expression) -> bool:
    return isinstance(node, e.NumberLiteral) and node.text.isdigit() and int(node.text) > 0


def _counting(node: e.Call) -> e.Call:
    """Return COUNT of several values, or of a condition, as a COUNT of the rows that count."""
    name = node.name.text.lower()
    if name == "count" and len(node.arguments) > 1:
        known = [parts.is_known(argument) for argument in node.arguments]
        if not node.distinct:
            return _rows_where(node, known)
        values = parts.call(node.span, "struct", *node.arguments)
        return replace(_with_filter(node, known), arguments=(values,))
    if name == "count_if" and len(node.arguments) == 1:
        return _rows_where(node, node.arguments)
    return node


def _rows_where(node: e.Call, conditions: Sequence[e.Expression]) -> e.Call:
    counted = replace(_with_filter(node, conditions), arguments=(e.Star(node.span),))
    return replace(counted, name=Name(node.name.span, "count"))


def _with_filter(node: e.Call, conditions: Sequence[e.Expression]) -> e.Call:
    given = () if node.filter is None else (node.filter,)
    whole = parts.all_of((*given, *conditions))
    assert whole is not None
    return replace(node, filter=whole.expression)


def _native(
    found: FoundAggregate, name: str, type_: t.Type, span: Span, *, nullable: bool = True
) -> RowsCall:
    """Return one of Spark's aggregates over rows; a row that FILTER drops gives NULL."""
    call, function = found.call, found.function.name
    arguments, types = call.arguments, found.argument_types
    given: Typed | None = None
    constants: tuple[e.Expression, ...] = ()
    if function in folds.OF_TWO:
        values = [Typed(a, type_) for a, type_ in zip(arguments, types, strict=True)]
        given = folds.of_two(function, values, span)
    elif not isinstance(arguments[0], e.Star):
        given = Typed(arguments[0], types[0])
        constants = arguments[1:]
        if function == "listagg" and given.type != t.STRING:
            given = Typed(parts.cast(given.expression, t.STRING), t.STRING)
    if call.filter is not None:
        counted = given or Typed(e.BooleanLiteral(span, True), t.BOOLEAN)
        given = _where(counted, call.filter, span)
    return RowsCall(name, function, given, type_, nullable, span, constants=constants)


def _where(value: Typed, condition: e.Expression, span: Span) -> Typed:
    when = e.When(span, condition, value.expression)
    return Typed(e.Case(span, None, (when,), None), value.type)


def _fields(node: AnyCall, found: Sequence[FoundAggregate]) -> dict[str, FoundAggregate]:
    """Return the distinct aggregates of a call by name: the accumulators of a user aggregate."""
    names = [one.function.name for one in found]
    if isinstance(node, DeclaredCall) and isinstance(node.function, UserAggregate):
        names = [one.name for one in node.function.accumulators]
    fields: dict[str, FoundAggregate] = {}
    known: set[e.Call] = set()
    for name, one in zip(names, found, strict=True):
        if one.call not in known:
            known.add(one.call)
            fields[parts.free_name(name, {field.lower() for field in fields})] = one
    return fields


def _sketch(node: AnyCall, function: str, where: str) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"`{function}` exists only as a Spark aggregate, but {where} works row by row",
        Label(node.span),
        help="aggregate over time windows, as in `FROM TUMBLE(t, ts, INTERVAL 1 HOUR)`; here "
        "COUNT(DISTINCT x) and PERCENTILE(x, 0.5) are exact",
    )


def wrong_arguments(node: e.Call, form: str, where: str) -> Diagnostic:
    """Return the diagnostic for a malformed call."""
    return Diagnostic(
        codes.OVER_FUNCTION,
        f"`{node.name.text.lower()}` can't be called like this with {where}",
        Label(node.span),
        help=f"the form is `{form}{' OVER (…)' if where == 'OVER' else ''}`",
    )
