"""What names and calls mean in DEFINE and MEASURES: the row that is tried, and rows before it.

``B.price`` is the last row of B, in the condition of B itself the one that is tried; a name alone
is the last row of the match so far. FIRST and LAST count from either end, PREV goes back from the
row that is tried; aggregates are over the rows of a variable, or over all rows.
"""

from __future__ import annotations

from dataclasses import field, replace

from ....dsl import codes
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name, Node
from ....dsl.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.records import dataclass
from ....dsl.suggest import closest
from ....dsl.walk import rewrite, walk
from ...model import types as t
from ...model.aggregates import aggregate
from ...model.schema import Schema
from ...model.typed import Typed
from ..expressions import Clause, check
from ..fields import field_of, unknown_field
from ..not_built import not_built
from ..program_reads import PROGRAM, clocked
from ..typing import Context, typed, unknown
from .match_fields import Memory, Remembered
from .parts import call, cast, column, number

_NAVIGATION = frozenset({"first", "last", "prev", "next"})
_OF_MATCHES = frozenset({"classifier", "match_number"})
_FARTHEST = 100


@dataclass(frozen=True, slots=True)
class PatternCall(e.Expression):
    """A call that reads rows of the match, before it is known which."""

    call: e.Call


@dataclass
class MatchScope:
    """The names where an expression of a pattern stands.

    ``tried`` is the variable whose condition it is, None in MEASURES. ``place`` is what FIRST, LAST
    or PREV around it has said: which end, and how many rows from it. ``row`` says that it is the
    argument of an aggregate, whose names are those of one row.
    """

    alias: str
    schema: Schema
    variables: frozenset[str]
    taken: frozenset[str]
    memory: Memory
    diagnostics: Diagnostics
    tried: str | None = None
    place: tuple[str, int] = ("last", 0)
    row: bool = False
    met: set[str | None] = field(default_factory=set)
    read: list[Remembered] = field(default_factory=list)
    back: int = 0

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a reference; None after it has been said why that can't be done."""
        head, *rest = ref.parts
        variable: str | None = None
        if rest and head.text.lower() in self.variables:
            variable, (head, *rest) = head.text.lower(), rest
        elif rest and head.text.lower() == self.alias.lower():
            head, *rest = rest
        found = self.schema.find(head.text)
        if found is None:
            self.diagnostics.add(self._unknown(head, ref))
            return None
        self.met.add(variable)
        read = column(ref.span, self.alias, found.name, self.taken)
        value = Typed(read, found.type, found.nullable)
        value = value if self.row else self._of_row(variable, value)
        return self._with_path(value, head, rest)

    def event_times(self) -> tuple[Typed, ...]:
        """Return none: what depends on an order has that of the pattern."""
        return ()

    def remembered(self, one: Remembered) -> Typed:
        """Return what a field is where the expression stands."""
        self.read.append(one)
        value = self.memory.read(one.name)
        if self.tried is not None:
            value = self.memory.then(one, self.tried)
        return Typed(value, one.type)

    def _of_row(self, variable: str | None, value: Typed) -> Typed:
        end, place = self.place
        is_tried = self.tried is not None and variable in (None, self.tried)
        if end == "prev":
            self.back = max(self.back, place)
            variable = None
        if end == "first":
            return self.remembered(self.memory.first(variable, value, place))
        if not is_tried:
            return self.remembered(self.memory.last(variable, value, place))
        if place == 0:
            return value
        # The row that is tried is not among those that the attempt remembers.
        one = self.memory.last(variable, value, place - 1)
        self.read.append(one)
        return Typed(self.memory.read(one.name), one.type)

    def _with_path(self, value: Typed, head: Name, path: list[Name]) -> Typed | None:
        expression, type_, written = value.expression, value.type, head.text
        for part in path:
            if type_ is t.UNKNOWN:
                break
            inner = field_of(type_, part.text)
            if inner is None:
                self.diagnostics.add(unknown_field(type_, part, written))
                return None
            name = Name(part.span, inner.name)
            if isinstance(expression, e.ColumnRef):
                expression = replace(expression, parts=(*expression.parts, name))
            else:
                expression = e.FieldAccess(part.span, expression, name)
            type_, written = inner.type, f"{written}.{inner.name}"
        return Typed(expression, type_, value.nullable or bool(path))

    def _unknown(self, name: Name, ref: e.ColumnRef) -> Diagnostic:
        known = [*self.schema.names(), *sorted(self.variables if len(ref.parts) > 1 else ())]
        near = closest(name.text, known)
        fix = f"the columns are: {', '.join(self.schema.names())}"
        if len(ref.parts) > 1:
            fix = f"the variables of PATTERN are: {', '.join(sorted(self.variables))}"
        return Diagnostic(
            codes.UNKNOWN_COLUMN,
            f"there is no column `{name}` in `{self.alias}`",
            Label(name.span),
            help=f"did you mean `{near[0]}`?" if near else fix,
        )


def checked(node: e.Expression, scope: MatchScope) -> Typed:
    """Return an expression of a pattern resolved, UNKNOWN once a mistake is reported."""
    wrapped = rewrite(node, _wrapped)
    return clocked(check(wrapped, scope, PROGRAM, scope.diagnostics))


def _wrapped(node: Node) -> Node | None:
    if not isinstance(node, e.Call):
        return None
    name = node.name.text.lower()
    if name in _NAVIGATION | _OF_MATCHES or aggregate(name) is not None:
        return PatternCall(node.span, node)
    return None


@typed.register(PatternCall)
def _typed_call(wrapped: PatternCall, context: Context) -> Typed:
    node, scope = wrapped.call, context.scope
    assert isinstance(scope, MatchScope)
    name = node.name.text.lower()
    if name in _OF_MATCHES:
        context.report(not_built(f"{name.upper()}()", node.span))
        return unknown(node)
    if context.lambdas:
        context.report(_in_lambda(node))
        return unknown(node)
    if any(isinstance(one, e.Call) and _wrapped(one) for a in node.arguments for one in walk(a)):
        context.report(_read(node, "a call that reads rows stands in another", _ONE_CALL))
        return unknown(node)
    if name in _NAVIGATION:
        return _navigation(node, scope, context)
    return _aggregate(node, scope, context)


_ONE_CALL = "write FIRST, LAST or PREV around columns alone, as in `LAST(B.price, 1)`"


def _navigation(node: e.Call, scope: MatchScope, context: Context) -> Typed:
    name = node.name.text.lower()
    place = _place(node)
    if name == "next":
        context.report(_read(node, "NEXT would read rows that have not come yet", _NO_NEXT))
    elif place is None:
        context.report(_read(node, f"{name.upper()} takes columns and how many rows", _ONE_CALL))
    elif name == "prev" and scope.tried is None:
        context.report(_read(node, "PREV is for DEFINE: it goes back from a row", _ONE_CALL))
    else:
        end = "last" if name == "prev" and place == 0 else name
        inner = replace(scope, place=(end, place), met=set())
        value = check(node.arguments[0], inner, PROGRAM, context.diagnostics)
        scope.back = max(scope.back, inner.back)
        problem = _one_variable(node, inner.met)
        if problem is None and name == "prev" and not inner.met <= {None, scope.tried}:
            problem = _read(node, "PREV goes back from the row that is tried", _ONE_CALL)
        if problem is not None:
            context.report(problem)
            return unknown(node)
        return value
    return unknown(node)


_NO_NEXT = "name the next row by a variable of its own, and compare that with this one"


def _place(node: e.Call) -> int | None:
    """Return how many rows from its end a call says, None for something else."""
    if not 1 <= len(node.arguments) <= 2 or node.distinct or node.filter or node.order_by:
        return None
    if len(node.arguments) == 1:
        return 1 if node.name.text.lower() == "prev" else 0
    count = node.arguments[1]
    if not isinstance(count, e.NumberLiteral) or not count.text.isdigit():
        return None
    return int(count.text) if int(count.text) <= _FARTHEST else None


def _aggregate(node: e.Call, scope: MatchScope, context: Context) -> Typed:
    found = aggregate(node.name.text)
    assert found is not None
    name = {"collect_list": "array_agg"}.get(found.name, found.name)
    if name not in ("count", "sum", "min", "max", "avg", "array_agg") or _has_clause(node):
        what = " ".join(context.text(node).split())
        context.report(not_built(f"`{what}` over the rows of a match", node.span, _AGGREGATES))
        return unknown(node)
    if name == "count" and len(node.arguments) == 1 and isinstance(node.arguments[0], e.Star):
        return _counted(node, node.arguments[0], scope, context)
    inner = replace(scope, row=True, met=set())
    as_call = replace(node, name=Name(node.name.span, name))
    result: t.Type = t.UNKNOWN
    if name == "array_agg" and len(node.arguments) == 1:
        value = check(node.arguments[0], inner, PROGRAM, context.diagnostics)
        if value.type is not t.UNKNOWN:
            result = t.Array(value.type)
    else:
        whole = check(as_call, inner, Clause(PROGRAM.name, aggregates=True), context.diagnostics)
        result, value = whole.type, Typed(e.NullLiteral(node.span), t.UNKNOWN)
        if whole.type is not t.UNKNOWN and isinstance(whole.expression, e.Call):
            value = _argument(whole.expression, node, inner, context)
    problem = _one_variable(node, inner.met)
    if problem is not None:
        context.report(problem)
    if t.UNKNOWN in (value.type, result) or problem is not None:
        return unknown(node)
    variable = next(iter(inner.met), None)
    return _over_rows(name, variable, value, result, scope)


_AGGREGATES = (
    "those that a pattern has are COUNT, SUM, MIN, MAX, AVG and ARRAY_AGG, without clauses"
)


def _has_clause(node: e.Call) -> bool:
    return bool(node.distinct or node.order_by or node.nulls or node.filter or node.over)


def _argument(whole: e.Call, node: e.Call, inner: MatchScope, context: Context) -> Typed:
    """Return the argument of an aggregate with its type; what is wrong has been reported."""
    if len(whole.arguments) != 1 or isinstance(whole.arguments[0], e.Star):
        # COUNT(1) counts rows.
        return Typed(number(node.span, 1), t.INT, nullable=False)
    quiet = Diagnostics(context.diagnostics.source)
    value = check(node.arguments[0], inner, PROGRAM, quiet)
    return clocked(value)


def _counted(node: e.Call, star: e.Star, scope: MatchScope, context: Context) -> Typed:
    variable = None if star.qualifier is None else star.qualifier.text.lower()
    if variable is not None and variable not in scope.variables:
        known = ", ".join(sorted(name.upper() for name in scope.variables))
        context.report(_read(node, f"there is no `{star.qualifier}` in PATTERN", f"it has {known}"))
        return unknown(node)
    return scope.remembered(scope.memory.count(variable))


def _over_rows(
    name: str, variable: str | None, value: Typed, result: t.Type, scope: MatchScope
) -> Typed:
    memory = scope.memory
    match name:
        case "count":
            one = memory.known(variable, value) if value.nullable else memory.count(variable)
            return scope.remembered(one)
        case "sum":
            return scope.remembered(memory.total(variable, value, result))
        case "min" | "max":
            return scope.remembered(memory.extreme(name, variable, value))
        case "array_agg":
            return scope.remembered(memory.listed(variable, value))
    span = memory.span
    kept = result
    if isinstance(value.type, t.Decimal):
        kept = t.decimal(value.type.precision + 10, value.type.scale)
    total = scope.remembered(memory.total(variable, value, kept, "avg_sum")).expression
    known = scope.remembered(memory.known(variable, value)).expression
    mean = e.Binary(span, "/", total, call(span, "nullif", known, number(span, 0)))
    return Typed(mean if result == t.DOUBLE else cast(mean, result), result)


def _one_variable(node: e.Call, met: set[str | None]) -> Diagnostic | None:
    if len(met) <= 1:
        return None
    return _read(
        node,
        f"`{node.name}` is over the rows of one variable",
        "name the same variable before each column, or none for all rows",
    )


def _in_lambda(node: e.Call) -> Diagnostic:
    return _read(node, f"`{node.name}` of rows can't stand in a lambda", "compute it outside of it")


def _read(node: e.Call, message: str, fix: str) -> Diagnostic:
    return Diagnostic(codes.PATTERN_READ, message, Label(node.span), help=fix)
