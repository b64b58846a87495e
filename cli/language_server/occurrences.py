"""Where names stand in a spec, and what each of them stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...dsl.ast.node import Name
from ...dsl.reports.source import Span
from .relations import Column, Visible


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a name stands for; ``declared`` is the name that declares it, None if none does."""

    kind: str
    name: str
    declared: Span | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a symbol is named."""

    span: Span
    symbol: Symbol
    declares: bool = False


@dataclass
class Found:
    """The names of a spec.

    ``declared`` are the statements' by name, ``functions`` those of functions in lower case;
    ``relations`` the names of WITH by name and owner; ``types`` the columns that names stand for;
    ``scopes`` the relations that are visible in a part of the text. ``implicit`` are references
    that name a column of a select list, for lack of an alias, and that column.
    """

    occurrences: list[Occurrence] = field(default_factory=list)
    declared: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, Symbol] = field(default_factory=dict)
    relations: dict[tuple[str, str], Span] = field(default_factory=dict)
    types: dict[Span, Column] = field(default_factory=dict)
    scopes: list[tuple[Span, tuple[Visible, ...]]] = field(default_factory=list)
    implicit: dict[Span, Symbol] = field(default_factory=dict)
    _at: dict[Span, Symbol] = field(default_factory=dict)

    def add(self, span: Span, symbol: Symbol, *, declares: bool = False) -> None:
        """Note a name; the first meaning of a place counts."""
        if span not in self._at:
            self._at[span] = symbol
            self.occurrences.append(Occurrence(span, symbol, declares))

    def declares(self, name: Name, kind: str) -> Symbol:
        """Note the declaration of a name."""
        symbol = Symbol(kind, name.text, name.span)
        self.add(name.span, symbol, declares=True)
        return symbol

    def reads(self, name: Name) -> None:
        """Note the name of a declared relation."""
        symbol = self.declared.get(name.text)
        if symbol is not None:
            self.add(name.span, symbol)

    def calls(self, name: Name) -> None:
        """Note the name of a function, declared or built in."""
        folded = name.text.lower()
        self.add(name.span, self.functions.get(folded, Symbol("built-in", folded, None)))

    def same(self, name: Name, other: Span) -> None:
        """Note a name that stands for what another place stands for."""
        symbol = self._at.get(other)
        if symbol is not None:
            self.add(name.span, symbol)

    def scope(self, span: Span, rows: tuple[Visible, ...]) -> None:
        """Note the relations that are visible in a part of the text."""
        self.scopes.append((span, rows))

    def visible(self, offset: int) -> tuple[Visible, ...]:
        """Return the relations that are visible at a place, those of the innermost query."""
        around = [(s, rows) for s, rows in self.scopes if s.start <= offset <= s.end]
        return min(around, key=lambda one: one[0].end - one[0].start)[1] if around else ()

    def sort(self) -> None:
        """Order the occurrences by place; called once, when all are found."""
        self.occurrences.sort(key=lambda one: one.span)

    def at(self, offset: int) -> Occurrence | None:
        """Return the name at a place, also right after its last character."""
        index = bisect_right(self.occurrences, offset, key=lambda one: one.span.start) - 1
        if index < 0:
            return None
        found = self.occurrences[index]
        return found if offset <= found.span.end else None

    def of(self, symbol: Symbol) -> Iterator[Occurrence]:
        """Yield where a symbol is named; nothing for what the spec does not declare."""
        if symbol.declared is not None:
            for one in self.occurrences:
                if one.symbol.declared == symbol.declared:
                    yield one
