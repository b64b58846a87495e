"""The meaning of names in an expression of a pattern: rows of the match, or the tried one."""

from __future__ import annotations

from dataclasses import field, replace

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.declared import DeclaredCall
from ...model.schema import Schema
from ...model.typed import Typed
from ..scopes.fields import field_of, unknown_field
from .builders import column
from .match_fields import ClassifierRef, Memory, Remembered


@dataclass(frozen=True, slots=True)
class PatternCall(e.Expression):
    """A call that reads rows of the match, before these are known."""

    call: e.Call | DeclaredCall


@dataclass
class MatchScope:
    """The names in an expression of a pattern.

    ``tried`` is the variable whose condition it is, None in MEASURES. ``place`` is set by an
    enclosing FIRST, LAST or PREV: which end, and how many rows from it. ``row`` says that it is the
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
        """Resolve a reference; None after a report."""
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

    def knows(self, name: str) -> bool:
        """Return whether the rows have a column of a name."""
        return self.schema.find(name) is not None

    def event_times(self) -> tuple[Typed, ...]:
        """Return none: order-dependent calls use that of the pattern."""
        return ()

    def remembered(self, one: Remembered) -> Typed:
        """Return the value of a field at this point."""
        self.read.append(one)
        value = self.memory.read(one.name)
        if self.tried is not None:
            value = self.memory.then(one, self.tried)
        return Typed(value, one.type)

    def classifier(self, node: e.Call) -> Typed:
        """Return CLASSIFIER(): the variable of the row that a bare name would be of."""
        self.met.add(None)
        value = Typed(ClassifierRef(node.span, (node.name,)), t.STRING, nullable=False)
        return value if self.row else self._of_row(None, value)

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
            assert self.tried is not None
            return replace(value, expression=self.memory.classified(value.expression, self.tried))
        # The tried row is not among those in the attempt's fields.
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


def one_variable(node: e.Call, met: set[str | None]) -> Diagnostic | None:
    """Return the diagnostic for a call over the rows of several variables."""
    if len(met) <= 1:
        return None
    return unreadable(
        node,
        f"`{node.name}` is over the rows of one variable",
        "name the same variable before each column, or none for all rows",
    )


def unreadable(node: e.Call, message: str, fix: str) -> Diagnostic:
    """Return the diagnostic for a call whose rows can't be read."""
    return Diagnostic(codes.PATTERN_READ, message, Label(node.span), help=fix)
