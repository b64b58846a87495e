"""The LALR(1) parser: runs the grammar's tables over tokens and calls an action for each rule.

Actions are called as ``action(span, *arguments)``. An argument is what the action of a symbol's
rule returned, a ``Name`` for a name, the text of any other token that the grammar keeps, or None
for an optional part that is missing.

A word is a keyword only where the grammar takes it as one:

- a *reserved* word is always a keyword, except right after a dot, where every word is a name;
- any other word is a keyword where the parser can continue with it as one, else a name;
- where both a keyword and a name could stand, ``FOLLOWED_BY`` says which tokens must come next for
  a keyword; a keyword that is not listed there wins;
- an alias without AS is neither a word that could continue as a keyword nor one of ``NO_ALIAS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from ...grammar import Rule, Tables
from ..ast.node import Name
from ..reports.source import Span
from .tokens import SYMBOLIC, Tokens, plain_kind

RESERVED = frozenset(
    """SELECT FROM WHERE GROUP HAVING QUALIFY UNION JOIN INNER CROSS ON USING AS AND OR NOT IN IS
    BETWEEN LIKE RLIKE CASE WHEN THEN ELSE NULL TRUE FALSE DISTINCT CREATE WITH""".split()
)
NO_ALIAS = frozenset(
    """LIMIT ORDER OFFSET FETCH INTERSECT EXCEPT MINUS NATURAL LATERAL SEMI ANTI LEFT RIGHT FULL
    TABLESAMPLE PIVOT UNPIVOT ASOF WINDOW SORT CLUSTER DISTRIBUTE EMIT ALLOWED MATCH_RECOGNIZE
    CHECKPOINT""".split()
)
_LITERALS = ("INTEGER", "NUMBER", "STRING", "AMOUNT")
FOLLOWED_BY = {
    "TYPED": ("STRING", "AMOUNT"),
    "INTERVAL": (*_LITERALS, "UNIT"),
    "WATERMARK": ("FOR",),
    "WITHIN": ("INTERVAL", "GROUP"),
    "OFFSET": ("INTERVAL",),
    "CURRENT": ("ROW",),
    "UNBOUNDED": ("PRECEDING", "FOLLOWING"),
    "PARTITION": ("BY",),
    "ORDER": ("BY",),
    **dict.fromkeys(("CAST", "TRY_CAST", "EXTRACT", "WINDOWING", "COUNT_WINDOW", "UNNEST"), ("(",)),
    **dict.fromkeys(("SUBSTRING", "OVERLAY", "POSITION", "TRIM", "ANY", "ALL"), ("(",)),
    "STRUCT": ("(", "<"),
    **dict.fromkeys(("BOTH", "LEADING", "TRAILING"), ("STRING", "NAME", "FROM")),
}

Action = Callable[..., Any]
_Pick = Callable[[list[Any]], Sequence[Any]]
_Step = tuple[str, int, _Pick | None, Action | None]


class SyntaxFailure(Exception):
    """The parser cannot continue: ``kind`` at token ``index``, with the states it had there."""

    def __init__(self, index: int, kind: str, states: list[int]) -> None:
        super().__init__(f"{kind} at token {index}")
        self.index = index
        self.kind = kind
        self.states = states


class Parser:
    """The tables with an action for each rule; raises ``KeyError`` if a rule has none."""

    def __init__(self, tables: Tables, actions: dict[str, Action]) -> None:
        self.tables = tables
        self._steps = [_step(rule, actions) for rule in tables.rules]
        words = {terminal for terminal in tables.terminals if terminal.isidentifier()}
        self._soft = (words - RESERVED - SYMBOLIC) | {"-"}

    def parse(self, start: str, tokens: Tokens, index: int) -> tuple[Any, int]:
        """Return the value of a start rule and the number of the token after it.

        The input of a statement ends at a semicolon that the grammar does not take, that of the
        other start rules at the end of the file. Raises ``SyntaxFailure``.
        """
        first, last = self.tables.starts[start]
        actions, gotos, steps, soft = (
            self.tables.actions,
            self.tables.gotos,
            self._steps,
            self._soft,
        )
        kinds, texts, starts, ends = tokens.kinds, tokens.texts, tokens.starts, tokens.ends
        stop = ";" if start == "statement" else "EOF"
        states: list[int] = [first]
        values: list[Any] = []
        begins: list[int] = []
        end = starts[index]
        while True:
            kind = kinds[index]
            if kind in soft:
                kind = self._choose(kind, tokens, index, states)
            while (act := actions[states[-1]].get(kind, 0)) <= 0:
                if act == 0:
                    other = "$END" if kind == stop else None
                    kind = other or self._other_kind(kind, tokens, index, states)
                    continue
                origin, length, pick, action = steps[-act]
                if length:
                    if action is not None:
                        taken = values[-length:] if pick is None else pick(values[-length:])
                        value = action(Span(begins[-length], end), *taken)
                        del values[-length:]
                        values.append(value)
                    elif length > 1 and pick is not None:
                        values[-length:] = pick(values[-length:])
                    if length > 1:
                        del begins[1 - length :]
                    del states[-length:]
                else:
                    place = Span(starts[index], starts[index])
                    values.append(action(place, *pick([])) if action and pick else None)
                    begins.append(starts[index])
                state = gotos[states[-1]][origin]
                if state == last and kind == "$END":
                    return values[-1], index
                states.append(state)
            states.append(act)
            begins.append(starts[index])
            end = ends[index]
            text = texts[index]
            if kind == "NAME" or kind == "ALIAS":
                values.append(Name(Span(starts[index], end), _unquoted(text)))
            else:
                values.append(text)
            index += 1

    def accepts(self, states: list[int], *kinds: str) -> bool:
        """Return whether tokens of these kinds could come next, in this order."""
        states = states[:]
        return all(self._advance(states, kind) for kind in kinds)

    def _advance(self, states: list[int], kind: str) -> bool:
        """Advance the states past a token of a kind; False if it cannot come."""
        while True:
            act = self.tables.actions[states[-1]].get(kind, 0)
            if act > 0:
                states.append(act)
            if act >= 0:
                return act > 0
            origin, length, _, _ = self._steps[-act]
            if length:
                del states[-length:]
            if kind == "$END" and len(states) == 1 and origin in self.tables.starts:
                return True
            states.append(self.tables.gotos[states[-1]][origin])

    def expected(self, states: list[int]) -> frozenset[str]:
        """Return the kinds of token that could come next; ``$END`` for the end of the input."""
        row = self.tables.actions[states[-1]]
        return frozenset(kind for kind in row if self.accepts(states, kind))

    def _choose(self, kind: str, tokens: Tokens, index: int, states: list[int]) -> str:
        """Return the keyword itself or ``NAME``; a minus before a number becomes part of it."""
        row = self.tables.actions[states[-1]]
        if kind == "-":
            begins_operand = "NAME" in row and self.accepts(states, "NAME")
            return _signed(tokens, index) if begins_operand else kind
        act = row.get(kind, 0)
        if act == 0:
            return "NAME"
        if "NAME" in row or "ALIAS" in row:
            followed_by = FOLLOWED_BY.get(kind)
            if followed_by and _next_kind(tokens, index) not in followed_by:
                return "NAME"
        if act < 0 and not self.accepts(states, kind):
            return "NAME"
        return kind

    def _other_kind(self, kind: str, tokens: Tokens, index: int, states: list[int]) -> str:
        """Return what else a token could be where it is not accepted as ``kind``."""
        text = tokens.texts[index]
        row = self.tables.actions[states[-1]]
        if kind == "NAME" and "ALIAS" in row and text.upper() not in NO_ALIAS:
            return "ALIAS"
        if kind == "AMOUNT" or kind == "UNIT_TO":
            return plain_kind(kind, text)
        if kind == "SHIFT" and text[0] == ">" and ">" in row:
            tokens.split(index)
            return ">"
        raise SyntaxFailure(index, kind, states)


def _next_kind(tokens: Tokens, index: int) -> str:
    """Return the kind of the next token, skipping a sign before an interval's amount."""
    following = tokens.kinds[index + 1]
    if following in ("-", "+") and tokens.kinds[index + 2] == "AMOUNT":
        return "AMOUNT"
    return following


def _signed(tokens: Tokens, index: int) -> str:
    if plain_kind(tokens.kinds[index + 1], tokens.texts[index + 1]) not in ("INTEGER", "NUMBER"):
        return "-"
    tokens.join(index, "NUMBER")
    return "NUMBER"


def _unquoted(text: str) -> str:
    return text[1:-1].replace("``", "`") if text[0] == "`" else text


def _step(rule: Rule | None, actions: dict[str, Action]) -> _Step:
    if rule is None:
        return ("", 0, None, None)
    arguments = rule.arguments
    if rule.action == "list":
        # The list of a repetition grows in place.
        repeated = arguments[0] is not None and arguments[0] < 0
        kept = [~a if a is not None and a < 0 else a for a in arguments]
        return (
            rule.origin,
            rule.length,
            _pick(tuple(kept), rule.length),
            _extend if repeated else _list,
        )
    action = None if rule.action is None else actions[rule.action]
    return (rule.origin, rule.length, _pick(arguments, rule.length), action)


def _pick(arguments: tuple[int | None, ...], length: int) -> _Pick | None:
    """Return how to take a rule's arguments from its symbols' values; None for just these."""
    if length and arguments == tuple(range(length)):
        return None
    positions = [a for a in arguments if a is not None and a >= 0]
    if len(positions) == len(arguments) > 1:
        return itemgetter(*positions)
    if len(positions) == len(arguments) == 1:
        only = positions[0]
        return lambda values: (values[only],)

    def pick(values: list[Any]) -> list[Any]:
        taken: list[Any] = []
        for argument in arguments:
            if argument is None:
                taken.append(None)
            elif argument >= 0:
                taken.append(values[argument])
            else:
                taken.extend(values[~argument])
        return taken

    return pick


def _list(_span: Span, *items: Any) -> list[Any]:
    return list(items)


def _extend(_span: Span, items: list[Any], *more: Any) -> list[Any]:
    items.extend(more)
    return items
