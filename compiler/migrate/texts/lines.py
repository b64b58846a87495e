"""Statements of a program as its plan spells them, a line each, read by the language's own tokens.

set spent__rows = concat(…)      a word, what it is done to, an expression
add id to seen                   an expression before what it is done to
emit id, amount + 1              expressions alone
on event payments                none
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....dsl.ast.expressions import Expression
from ....dsl.format import identifier, string
from ....dsl.parsing.parse import tokens_of
from ....dsl.syntax.tokens import Tokens
from .parsing import parsed_expression

_AFTER = {"set": "=", "declare": "=", "put": "=", "start": "at", "for": "in"}
"""Words whose expression follows another one."""
_BEFORE = {"add": "to", "append": "to", "remove": "from"}
"""Words whose expression stands before another one."""
_WHOLE = ("else if ", "if ", "while ", "emit ")
"""Words that only expressions follow."""
_BARE = ("on event ", "on timer ", "else", "clear ", "stop timer ", "python ")
"""Beginnings of lines without an expression."""
_TARGETS = ("set local ", "set ", "declare ", "start timer ", "stop timer ", "clear ")
"""Words that a name follows, which is not quoted however it is spelled."""
_OPENS, _CLOSES = frozenset("(["), frozenset(")]")


def expressions_in(line: str) -> tuple[Expression, ...] | None:
    """Return the expressions of a statement; None of a line that can't be read."""
    bare = line.strip()
    if bare.startswith(_BARE) and not bare.startswith("else if "):
        return ()
    texts = list(_texts(bare))
    trees = [parsed_expression(text) for text in texts]
    found = tuple(tree for tree in trees if tree is not None)
    return found if texts and len(found) == len(trees) else None


def assigned(line: str, target: str) -> Expression | None:
    """Return the expression of ``set target = …`` or ``start timer target at …``."""
    bare = line.strip()
    for head in (f"set {target} = ", f"start timer {target} at "):
        if bare.startswith(head):
            return parsed_expression(bare.removeprefix(head))
    return None


def renamed(line: str, names: Mapping[str, str], *, fields: bool = False) -> str:
    """Return a statement with names in other words; with ``fields`` also behind a point.

    Such fields are called in texts as well: `named_struct('amount', amount)`.
    """
    if not names:
        return line
    begin = _end_of_target(line, names)
    done = [line[:begin] if begin == 0 else _with_target(line[:begin], names)]
    tokens, at = tokens_of(line[begin:]), 0
    for index, text in enumerate(tokens.texts):
        now = _said(tokens, index, names, fields)
        done += [tokens.source.text[at : tokens.starts[index]], text if now is None else now]
        at = tokens.ends[index]
    return "".join(done)


def words_in(text: str) -> frozenset[str]:
    """Return all names that a text has, of fields in texts too."""
    tokens = tokens_of(text)
    return frozenset(
        _plain(word) for word, kind in zip(tokens.texts, tokens.kinds, strict=True) if kind != "EOF"
    )


def _said(tokens: Tokens, index: int, names: Mapping[str, str], fields: bool) -> str | None:
    text = tokens.texts[index]
    now = names.get(_plain(text))
    after_point = index > 0 and tokens.texts[index - 1] == "."
    if now is None or (after_point and not fields):
        return None
    if text[0] == "'":
        return string(now) if fields else None
    return identifier(now)


def _plain(word: str) -> str:
    """Return the name that a token spells; a text without its quotes."""
    if word[:1] == "`":
        return word[1:-1].replace("``", "`")
    return word[1:-1] if word[:1] == "'" else word


def _end_of_target(line: str, names: Mapping[str, str]) -> int:
    """Return where the name ends that a statement begins with, if it is one of some; else 0."""
    bare = line.lstrip()
    head = next((head for head in _TARGETS if bare.startswith(head)), None)
    if head is None:
        return 0
    rest = bare.removeprefix(head)
    ends = [len(name) for name in names if rest == name or rest.startswith(f"{name} ")]
    return len(line) - len(rest) + max(ends) if ends else 0


def _with_target(head: str, names: Mapping[str, str]) -> str:
    was = max((name for name in names if head.endswith(f" {name}")), key=len)
    return head.removesuffix(was) + names[was]


def _texts(line: str) -> Iterator[str]:
    """Yield the texts of a statement's expressions."""
    for words in _WHOLE:
        if line.startswith(words):
            yield from _listed(line.removeprefix(words))
            return
    word, _, rest = line.partition(" ")
    tokens = tokens_of(rest)
    if word in _AFTER:
        first = next((at for at in _outside(tokens) if tokens.texts[at] == _AFTER[word]), None)
        if first is not None:
            yield rest[tokens.ends[first] :]
            if word == "put":
                yield rest[: tokens.starts[first]]
    elif word in _BEFORE:
        places = [at for at in _outside(tokens) if tokens.texts[at] == _BEFORE[word]]
        if places:
            yield rest[: tokens.starts[places[-1]]]


def _listed(text: str) -> Iterator[str]:
    """Yield the parts between commas."""
    tokens, begin = tokens_of(text), 0
    for at in _outside(tokens):
        if tokens.texts[at] == ",":
            yield text[begin : tokens.starts[at]]
            begin = tokens.ends[at]
    yield text[begin:]


def _outside(tokens: Tokens) -> Iterator[int]:
    """Yield the places of the tokens that stand in no bracket."""
    depth = 0
    for at, text in enumerate(tokens.texts):
        depth += (text in _OPENS) - (text in _CLOSES)
        if depth == 0:
            yield at
