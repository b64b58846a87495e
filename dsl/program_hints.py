"""Mistakes in the statements of CREATE OPERATOR, told as what was meant."""

from __future__ import annotations

from . import codes
from .diagnostics import Diagnostic
from .place import Place

_STATEMENTS = frozenset(
    """SET DECLARE IF WHILE FOR PUT REMOVE ADD APPEND CLEAR START STOP EMIT
    ELSE ELSEIF END ON""".split()
)
"""Words that begin a statement, or end the block of one."""


def _missing_semicolon(place: Place) -> Diagnostic | None:
    if not place.creates("OPERATOR") or place.word() not in _STATEMENTS:
        return None
    if not place.would_take(";", place.word()):
        return None
    help_ = f"put `;` behind `{place.text(-1)}`"
    return place.report(
        codes.MISSING_SEMICOLON, "a statement has no `;`", "the statement ends here", help_, -1
    )


def _other_assignment(place: Place) -> Diagnostic | None:
    """``SET x := 1``, ``SET x += 1``."""
    written = place.text() + place.text(1)
    if written not in (":=", "+=", "-=", "*=", "/=") or "=" not in place.expected:
        return None
    name = place.text(-1)
    value = f"{name} {place.text()} …" if place.text() != ":" else "…"
    message = f"`{written}` stands where one `=` belongs"
    return place.report(codes.ASSIGNMENT, message, help=f"`SET {name} = {value}`")


def _no_set(place: Place) -> Diagnostic | None:
    """``x = 1;``, which behind ON EVENT is read as the name of an input."""
    for offset in (-1, 0):
        follows = place.text(offset + 1) in ("=", ":")
        begins = place.word(offset - 1) in (";", "THEN", "ELSE", "DO", "EVENT")
        if place.creates("OPERATOR") and place.is_word(offset) and follows and begins:
            name = place.text(offset)
            message = "a value is assigned by `SET`"
            return place.report(codes.SYNTAX, message, "", f"`SET {name} = …;`", offset)
    return None


def _open_block(place: Place) -> Diagnostic | None:
    """``END;`` where END IF, END WHILE or END FOR is due."""
    due = place.expected & {"IF", "WHILE", "FOR"}
    if place.word(-1) != "END" or place.word() in ("IF", "WHILE", "FOR") or len(due) != 1:
        return None
    (word,) = due
    help_ = f"put `END {word};` where the block ends"
    offset = -1
    while word == "IF" and place.text(offset):
        if place.words("ELSE", "IF", offset=offset):
            help_ = "`ELSEIF` is one word: `ELSE IF` begins a block that has an `END IF` of its own"
        offset -= 1
    return place.report(codes.SYNTAX, f"a block has no `END {word}`", "", help_, -1)


HINTS = (_missing_semicolon, _other_assignment, _no_set, _open_block)
