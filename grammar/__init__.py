"""The grammar of ``.stream`` files, and the parser's tables generated from it.

- ``statements.lark``, ``queries.lark``, ``programs.lark``, ``expressions.lark``: the rules, in the
  order of the language reference; ``terminals.lark``: the tokenizer's output.
- ``generate``: builds ``tables.json`` with Lark; ``make grammar`` runs it.
- ``load``: reads the tables, which are all that a parser needs at run time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as a parser sees it; ``generate`` says what ``action`` and ``arguments`` are."""

    origin: str
    length: int
    action: str | None
    arguments: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """An LALR(1) automaton.

    ``starts`` gives the first and the last state of a start rule. ``actions`` has for each state
    the terminals that may come: a positive number is the state to shift to, a negative one is minus
    the number of the rule to reduce by (``rules[0]`` is not used). ``gotos`` has the state after a
    rule.
    """

    starts: dict[str, tuple[int, int]]
    terminals: frozenset[str]
    rules: tuple[Rule | None, ...]
    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]


@cache
def load() -> Tables:
    """Read the tables (once per process)."""
    data = json.loads(Path(__file__).with_name("tables.json").read_bytes())
    rules = [
        Rule(origin, length, action, tuple(args)) for origin, length, action, args in data["rules"]
    ]
    return Tables(
        starts={name: (first, last) for name, (first, last) in data["starts"].items()},
        terminals=frozenset(data["terminals"]),
        rules=(None, *rules),
        actions=data["actions"],
        gotos=data["gotos"],
    )
