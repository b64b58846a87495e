"""Specs with random mistakes, always the same ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
_TOKEN = re.compile(r"\s+|--[^\n]*|'(?:[^'\\]|\\.)*'|`[^`]*`|\w+|.", re.DOTALL)
_BLOCK = re.compile(r"^```stream[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CHARACTERS = "();,.'\"`-*/:<>=|&^~!?[]{}%$#@\\ \n\t0aé\N{SNOWMAN}\0\N{GRINNING FACE}"
_WORDS = """SELECT FROM WHERE GROUP BY HAVING QUALIFY UNION ALL JOIN LEFT ON USING AS AND OR NOT IN
IS BETWEEN LIKE CASE WHEN THEN ELSE END NULL TRUE CREATE SOURCE STREAM SINK TABLE FUNCTION AGGREGATE
OPERATOR WITH WATERMARK FOR INTERVAL 1 MINUTE DAYS DISTINCT OVER PARTITION ORDER ROWS RANGE TUMBLE
HOP SESSION CUMULATE EMIT CHANGES CAST DATE TIMESTAMP STRING INT DECIMAL ARRAY MAP STRUCT < > ( ) [
] { } , ; . :: -> => * + - / % = <> || 'x' '' 1 0 -1 1.5 99999999999999999999 1e400 `a b` COUNT SUM
ROW_NUMBER window_start a b ts --- -- /* */ ${x}""".split()


@cache
def texts() -> tuple[str, ...]:
    """Return all specs of the project: of its examples, tests and documents."""
    cases = [f"tests/{kind}" for kind in ("golden", "errors", "run", "changes")]
    paths = [path for folder in ("specs", *cases) for path in (ROOT / folder).rglob("*.stream")]
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    pages += (ROOT / "dsl" / "explanations").glob("*.md")
    found = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    for page in sorted(pages):
        found += _BLOCK.findall(page.read_text(encoding="utf-8"))
    return tuple(found)


def mutated(number: int) -> str:
    """Return the mutated spec of a number."""
    dice = Random(number)
    text = dice.choice(texts())
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        text = dice.choice(_MUTATIONS)(text, dice)
    return text


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text) or [" "]


def _delete(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    start = dice.randrange(len(tokens))
    del tokens[start : start + dice.choice([1, 1, 1, 2, 5, 30])]
    return "".join(tokens)


def _duplicate(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    start = dice.randrange(len(tokens))
    run = tokens[start : start + dice.choice([1, 1, 3, 10])]
    return "".join([*tokens[:start], *run, *tokens[start:]])


def _swap(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    one, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _replace(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    source = tokens if dice.random() < 0.5 else _WORDS
    tokens[dice.randrange(len(tokens))] = dice.choice(source)
    return "".join(tokens)


def _insert(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    tokens.insert(dice.randrange(len(tokens)), f" {dice.choice(_WORDS)} ")
    return "".join(tokens)


def _character(text: str, dice: Random) -> str:
    place = dice.randrange(len(text) + 1)
    kept = place + dice.choice([0, 1])
    return text[:place] + dice.choice(_CHARACTERS) + text[kept:]


def _splice(text: str, dice: Random) -> str:
    other = dice.choice(texts())
    return text[: dice.randrange(len(text) + 1)] + other[dice.randrange(len(other)) :]


def _cut(text: str, dice: Random) -> str:
    return text[: dice.randrange(len(text) + 1)]


def _nest(text: str, dice: Random) -> str:
    tokens = _tokens(text)
    place = dice.randrange(len(tokens))
    depth = dice.choice([1, 2, 3, 40])
    opening, closing = dice.choice([("(", ")"), ("f(", ")"), ("-", ""), ("NOT ", ""), ("a[", "]")])
    tokens[place] = opening * depth + tokens[place] + closing * depth
    return "".join(tokens)


_MUTATIONS: tuple[Callable[[str, Random], str], ...] = (
    *(_delete, _delete, _duplicate, _swap, _replace, _replace, _insert, _insert),
    *(_character, _character, _splice, _cut, _nest),
)
