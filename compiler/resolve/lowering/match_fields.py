"""The fields of an attempt at a match: one for each value that is needed of its rows.

Nothing needs all rows of a match, so an attempt holds the first and last values, counts and sums
that DEFINE and MEASURES read, and has the same size however long the match becomes. A field is
named after what it holds: ``last_b_price``, ``sum_b_amount``; ``rows`` counts the rows of the
match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import reduce

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite
from ....dsl.format import sql
from ....dsl.reports.source import Span
from ...model import types as t
from ...model.coercion import arithmetic
from ...model.typed import Typed
from . import builders as parts
from . import folds
from .builders import call, cast, free_name, number


@dataclass(frozen=True, slots=True)
class ClassifierRef(e.ColumnRef):
    """``CLASSIFIER()``: the variable of a row, spelt as in PATTERN."""


_SIGNS = {"+": " plus ", "-": " minus ", "*": " times ", "/": " by ", "%": " mod "}


@dataclass(frozen=True, slots=True)
class Remembered:
    """A field of an attempt.

    ``variable`` is the one whose rows it is about, None for all rows. ``initial`` is its value
    before the first row, ``after`` its value after such a row.
    """

    name: str
    type: t.Type
    variable: str | None
    initial: e.Expression
    after: e.Expression


@dataclass
class Memory:
    """The fields of the attempts of one pattern; ``read`` returns the read of a field.

    ``variables`` are those of PATTERN in its spelling, by name in lower case.
    """

    span: Span
    read: Callable[[str], e.Expression]
    variables: Mapping[str, str]
    fields: dict[tuple[str, str | None, str, t.Type], Remembered] = field(default_factory=dict)

    def in_order(self) -> list[Remembered]:
        """Return the fields by name, so that measures may be reordered."""
        return sorted(self.fields.values(), key=lambda one: one.name)

    def then(self, one: Remembered, variable: str) -> e.Expression:
        """Return the value of a field after a row of a variable."""
        if one.variable not in (None, variable):
            return self.read(one.name)
        return self.classified(one.after, variable)

    def classified(self, value: e.Expression, variable: str) -> e.Expression:
        """Return an expression over a row of a variable, with its name for CLASSIFIER()."""
        name = parts.text(self.span, self.variables[variable])
        return rewrite(value, lambda one: name if isinstance(one, ClassifierRef) else None)

    def as_of(self, value: e.Expression, variable: str) -> e.Expression:
        """Return an expression over the fields as they are after a row of a variable."""
        fields = {self.read(one.name): one for one in self.fields.values()}

        def then(node: Node) -> Node | None:
            if not isinstance(node, e.ColumnRef):
                return None
            for count in range(len(node.parts), 0, -1):
                found = fields.get(replace(node, parts=node.parts[:count]))
                if found is not None:
                    paths = (name.text for name in node.parts[count:])
                    return reduce(folds.part, paths, self.then(found, variable))
            return None

        return rewrite(value, then)

    def count(self, variable: str | None) -> Remembered:
        """Return how many rows a variable has so far."""
        return self._field("count", variable, None, t.BIGINT, self._zero(), self._one_more)

    def last(self, variable: str | None, column: Typed, place: int) -> Remembered:
        """Return the value in the last row of a variable, or some of its rows earlier."""
        if place == 0:
            return self._field("last", variable, column, column.type, None, lambda _: column)
        newer = self.last(variable, column, place - 1)
        kind = f"last_{place + 1}"
        read = Typed(self.read(newer.name), column.type)
        return self._field(kind, variable, column, column.type, None, lambda _: read)

    def first(self, variable: str | None, column: Typed, place: int) -> Remembered:
        """Return the value in the first row of a variable, or some of its rows later."""
        before = self.read(self.count(variable).name)
        is_it = e.Binary(self.span, "=", before, number(self.span, place))

        def change(old: e.Expression) -> e.Expression:
            return e.Case(self.span, None, (e.When(self.span, is_it, column.expression),), old)

        kind = "first" if place == 0 else f"first_{place + 1}"
        return self._field(kind, variable, column, column.type, None, change)

    def known(self, variable: str | None, value: Typed) -> Remembered:
        """Return how many rows of a variable have a value."""
        is_known = parts.is_known(value.expression)

        def change(old: e.Expression) -> e.Expression:
            return e.Case(self.span, None, (e.When(self.span, is_known, self._one_more(old)),), old)

        return self._field("count", variable, value, t.BIGINT, self._zero(), change)

    def total(
        self, variable: str | None, value: Typed, type_: t.Type, kind: str = "sum"
    ) -> Remembered:
        """Return the sum of a value, NULL if there are none."""
        one = value.expression if value.type == type_ else cast(value.expression, type_)

        def change(old: e.Expression) -> e.Expression:
            both: e.Expression = e.Binary(self.span, "+", old, one)
            if arithmetic("+", type_, type_) != type_:
                both = cast(both, type_)
            return call(self.span, "coalesce", both, old, one)

        return self._field(kind, variable, value, type_, None, change)

    def extreme(self, kind: str, variable: str | None, value: Typed) -> Remembered:
        """Return the least or greatest value; ``kind`` is ``min`` or ``max``."""
        function = "least" if kind == "min" else "greatest"

        def change(old: e.Expression) -> e.Expression:
            return call(self.span, function, old, value.expression)

        return self._field(kind, variable, value, value.type, None, change)

    def listed(self, variable: str | None, value: Typed) -> Remembered:
        """Return all known values, in order."""
        type_ = t.Array(value.type)
        is_null = parts.is_null(value.expression)

        def change(old: e.Expression) -> e.Expression:
            more = call(self.span, "array_append", old, value.expression)
            if isinstance(value.expression, ClassifierRef):
                return more
            return e.Case(self.span, None, (e.When(self.span, is_null, old),), more)

        empty = cast(call(self.span, "array"), type_)
        return self._field("list", variable, value, type_, empty, change)

    def folded(self, variable: str | None, value: Typed, function: str) -> list[Remembered]:
        """Return the held values of an aggregate that is a fold, one field each."""
        fold = folds.fold(function, value.type, self.span)
        kinds = ["_".join(word for word in (function, one.name) if word) for one in fold.held]
        text, pairs = sql(value.expression), list(zip(kinds, fold.held, strict=True))
        keys = [(kind, variable, text, held.type) for kind, held in pairs]
        if keys[0] in self.fields:
            return [self.fields[key] for key in keys]
        names: list[str] = []
        for kind in kinds:
            names.append(self._name(kind, variable, value, names))
        old = [self.read(name) for name in names]
        counts = fold.counts(value.expression)
        after = fold.after(old, value.expression)
        for place, (key, held) in enumerate(zip(keys, fold.held, strict=True)):
            then = e.When(self.span, counts, after[place])
            changed = e.Case(self.span, None, (then,), old[place])
            initial = held.before(self.span)
            self.fields[key] = Remembered(names[place], held.type, variable, initial, changed)
        return [self.fields[key] for key in keys]

    def _one_more(self, old: e.Expression) -> e.Expression:
        return e.Binary(self.span, "+", old, number(self.span, 1))

    def _zero(self) -> e.Expression:
        return cast(number(self.span, 0), t.BIGINT)

    def _field(
        self,
        kind: str,
        variable: str | None,
        what: Typed | None,
        type_: t.Type,
        initial: e.Expression | None,
        change: Callable[[e.Expression], e.Expression | Typed],
    ) -> Remembered:
        key = (kind, variable, sql(what.expression) if what is not None else "", type_)
        found = self.fields.get(key)
        if found is None:
            name = self._name(kind, variable, what)
            changed = change(self.read(name))
            after = changed.expression if isinstance(changed, Typed) else changed
            before = initial or cast(e.NullLiteral(self.span), type_)
            found = self.fields[key] = Remembered(name, type_, variable, before, after)
        return found

    def _name(
        self, kind: str, variable: str | None, what: Typed | None, taken: Iterable[str] = ()
    ) -> str:
        slug = _slug(what) if what is not None else ""
        words = "_".join(word for word in (kind, variable or "", slug) if word)
        known = {*taken, *(one.name for one in self.fields.values())}
        return free_name("rows" if words == "count" else words, known)


def _slug(value: Typed) -> str:
    """Return an expression as a part of a name."""
    if isinstance(value.expression, e.ColumnRef):
        return value.expression.parts[-1].text.lower()
    text = "".join(_SIGNS.get(sign, sign) for sign in sql(value.expression))
    return "_".join(re.findall(r"[a-z0-9]+", text.lower())) or "value"
