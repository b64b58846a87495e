"""Random specs, derived from the rules of the grammar: every rule can occur."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from random import Random

from lark.grammar import NonTerminal, Rule, Symbol
from lark.lexer import PatternStr
from lark.load_grammar import load_grammar
from streamc.grammar.generate import STARTS, grammar_text

TEXTS = {
    "NAME": (
        "a",
        "b",
        "ts",
        "card_id",
        "Key",
        "`a b`",
        "date",
        "timestamp",
        "state",
        "f",
        "struct",
    ),
    "ALIAS": ("x", "y", "`z z`"),
    "INTEGER": ("1", "5", "100"),
    "NUMBER": ("1.5", "1e3", "10L"),
    "STRING": ("'1 day'", "'x'", "'it''s'", '"a"', "'two\nlines'"),
    "AMOUNT": ("1", "30", "'5'"),
    "COMPARISON": ("<>", "!=", "<=", ">=", "<=>"),
    "SHIFT": ("<<", ">>"),
    "DIVISION": ("/", "%"),
    "TYPED": ("DATE", "timestamp", "X"),
    "UNIT": ("DAY", "hours", "SECONDS", "minute"),
    "UNIT_TO": ("TO",),
    "WINDOWING": ("TUMBLE", "hop", "SESSION"),
    "LIKE": ("LIKE", "ilike"),
    "RLIKE": ("RLIKE", "regexp"),
}


_NARROW = {
    ("program_statement", "index"),
    ("star", "column"),
}
"""Where a rule is part of another that accepts only some of its sentences."""


class Derivations:
    """Sentences of the grammar, as texts of tokens."""

    def __init__(self) -> None:
        parsed, _ = load_grammar(grammar_text(), "streamc", [], False)
        terminals, rules, _ = parsed.compile(list(STARTS), "*")
        self.rules: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules:
            self.rules[rule.origin.name].append(rule)
        self._spelling = {
            t.name: t.pattern.value for t in terminals if isinstance(t.pattern, PatternStr)
        }
        heights = self._measure()
        self._by_height = {
            name: [(self._height(rule, heights) or 0, rule) for rule in rules]
            for name, rules in self.rules.items()
        }
        self._ways = self._ways_to()

    def _measure(self) -> dict[str, int]:
        """Return how deep the smallest tree of each rule is."""
        heights: dict[str, int] = {}
        while len(heights) < len(self.rules):
            for name, rules in self.rules.items():
                known = [h for rule in rules if (h := self._height(rule, heights)) is not None]
                if name not in heights and known:
                    heights[name] = min(known)
        return heights

    def _height(self, rule: Rule, heights: dict[str, int]) -> int | None:
        inner = [s.name for s in rule.expansion if isinstance(s, NonTerminal)]
        if any(name not in heights for name in inner):
            return None
        return 1 + max((heights[name] for name in inner), default=0)

    def _ways_to(self) -> dict[str, list[Rule]]:
        """Return the rules on the shortest way from ``statement`` to each rule."""
        ways: dict[str, list[Rule]] = {"statement": []}
        queue = ["statement"]
        for name in queue:
            for rule in self.rules[name]:
                for symbol in rule.expansion:
                    is_new = isinstance(symbol, NonTerminal) and symbol.name not in ways
                    if is_new and (name, symbol.name) not in _NARROW:
                        ways[symbol.name] = [*ways[name], rule]
                        queue.append(symbol.name)
        return ways

    def through(self, rule: Rule, dice: Random, depth: int) -> list[str] | None:
        """Return a small statement in which a rule is used; None if no statement has it."""
        way = self._ways.get(rule.origin.name)
        return None if way is None else self._along([*way, rule], dice, depth)

    def _along(self, way: Sequence[Rule], dice: Random, depth: int) -> list[str]:
        tokens: list[str] = []
        taken = False
        for symbol in way[0].expansion:
            goes_on = len(way) > 1 and not taken and symbol.name == way[1].origin.name
            if goes_on:
                taken = True
                tokens += self._along(way[1:], dice, depth)
            else:
                tokens += self.derive(symbol, dice, depth)
        return tokens

    def derive(self, symbol: Symbol, dice: Random, depth: int) -> list[str]:
        """Return a sentence of a symbol; trees grow only while there is ``depth`` left."""
        if not isinstance(symbol, NonTerminal):
            return [self._text(symbol.name, dice)]
        rules = self._by_height[symbol.name]
        most = max(depth, min(height for height, _ in rules))
        fitting = [rule for height, rule in rules if height <= most]
        rule = dice.choice(fitting)
        tokens: list[str] = []
        for inner in rule.expansion:
            tokens += self.derive(inner, dice, depth - 1)
        return tokens

    def _text(self, name: str, dice: Random) -> str:
        if name in TEXTS:
            return dice.choice(TEXTS[name])
        return self._spelling.get(name, name)


@cache
def derivations() -> Derivations:
    """Return the derivations of the grammar (made once)."""
    return Derivations()
