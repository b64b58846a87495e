"""Mistakes in the statements of CREATE OPERATOR, reported as what was meant."""

from __future__ import annotations

from itertools import pairwise

from ..reports import codes
from ..reports.diagnostics import Diagnostic, Label
from ..syntax.place import Place

_STATEMENTS = frozenset(
    """SET DECLARE IF WHILE FOR PUT REMOVE ADD APPEND CLEAR START STOP EMIT
    ELSE ELSEIF END ON""".split()
)
"""Words that begin a statement, or end its block."""

_BLOCKS = frozenset({"IF", "WHILE", "FOR"})
"""Words that begin a block; END and the same word end it."""


def _missing_semicolon(place: Place) -> Diagnostic | None:
    if not place.creates("OPERATOR") or place.word() not in _STATEMENTS:
        return None
    if not place.would_take(";", place.word()):
        return None
    help_ = f"put `;` after `{place.text(-1)}`"
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
    message = f"`{written}` is used for `=`"
    return place.report(codes.ASSIGNMENT, message, help=f"`SET {name} = {value}`")


def _no_set(place: Place) -> Diagnostic | None:
    """``x = 1;``, where ``x`` was read as the name of an input after ON EVENT."""
    for offset in (-1, 0):
        follows = place.text(offset + 1) in ("=", ":")
        begins = place.word(offset - 1) in (";", "THEN", "ELSE", "DO", "EVENT")
        if place.creates("OPERATOR") and place.is_word(offset) and follows and begins:
            name = place.text(offset)
            message = "a value is assigned by `SET`"
            return place.report(codes.SYNTAX, message, "", f"`SET {name} = …;`", offset)
    return None


def _open_block(place: Place) -> Diagnostic | None:
    """``END;``, ELSE or the next handler, where END IF, END WHILE or END FOR is due."""
    ends = place.word(-1) == "END" and place.word() not in _BLOCKS
    next_begins = place.word() in ("ON", "ELSE", "ELSEIF") and "END" in place.expected
    due = place.expected & _BLOCKS if ends else _BLOCKS if next_begins else frozenset()
    opened, word = max(
        ((at, word) for word in due if (at := _opened_block(place, word)) is not None),
        default=(None, ""),
    )
    if opened is None or (word == "IF" and place.word() in ("ELSE", "ELSEIF")):
        return None
    help_ = f"put `END {word};` where the block ends"
    for offset in range(opened, 0):
        if word == "IF" and place.words("ELSE", "IF", offset=offset):
            help_ = "`ELSEIF` is one word: `ELSE IF` begins a block that needs its own `END IF`"
    opening = (Label(place.span(opened), "opened here"),)
    message, label = f"a block has no `END {word}`", f"`END {word};` is expected"
    return place.report(codes.SYNTAX, message, label, help_, -1 if ends else 0, opening)


def _opened_block(place: Place, word: str) -> int | None:
    """Return the IF, WHILE or FOR that is still open before what fails, as an offset."""
    depth = 0
    for offset in range(-2, place.first - place.at, -1):
        if place.word(offset) != word:
            continue
        if place.word(offset - 1) == "END":
            depth += 1
        elif not _begins_statement(place, offset):
            continue  # IF(condition, a, b) is a function.
        elif depth == 0:
            return offset
        else:
            depth -= 1
    return None


_OTHER_WORDS = {
    **dict.fromkeys(("SELECT", "RETURN", "YIELD", "COLLECT", "OUTPUT", "SEND", "FORWARD"), "EMIT"),
    **dict.fromkeys(("LET", "VAR", "VAL", "LOCAL"), "DECLARE"),
    **dict.fromkeys(("CANCEL", "RESET", "DELETE"), "CLEAR"),
    **dict.fromkeys(("UPSERT",), "PUT"),
    **dict.fromkeys(("PUSH",), "APPEND"),
}
"""Words that begin a statement in other languages, and the word used here."""

_OTHER_STATEMENTS = {
    "INSERT": (
        "rows are output by `EMIT value, …;`, entries are added to a cell by `PUT`, "
        "`ADD` or `APPEND`"
    ),
    "UPDATE": "a value is assigned by `SET name = …;`, an entry by `PUT cell[key] = …;`",
    "MERGE": "an entry is written by `PUT cell[key] = …;`, which replaces an existing one",
    "REGISTER": "a timer is started by `START TIMER name AT …;`",
    "SCHEDULE": "a timer is started by `START TIMER name AT …;`",
    "CALL": "functions are called in expressions: `SET x = f(y);`",
    "PRINT": "rows are output by `EMIT value, …;`",
    "RAISE": "mark such rows in a column, and `EMIT` them",
    "THROW": "mark such rows in a column, and `EMIT` them",
    "LOOP": "a loop is `WHILE condition DO … END WHILE;` or `FOR x IN values DO … END FOR;`",
    "REPEAT": "a loop is `WHILE condition DO … END WHILE;`",
    "CASE": "branches are `IF condition THEN … ELSEIF … ELSE … END IF;`",
    "SWITCH": "branches are `IF condition THEN … ELSEIF … ELSE … END IF;`",
    "BEGIN": "a handler's statements directly follow `ON EVENT`: leave out BEGIN",
    "BREAK": "a loop ends by its condition: use `WHILE` with a local variable",
    "CONTINUE": "put what follows into `IF … THEN … END IF;`",
}
"""Statements of other languages, and how to write them here."""


def _begins_statement(place: Place, offset: int = 0) -> bool:
    return place.word(offset - 1) in (";", "THEN", "ELSE", "DO", "EVENT") or (
        place.word(offset - 2) in ("EVENT", "TIMER") and place.is_word(offset - 1)
    )


def _other_statement(place: Place) -> Diagnostic | None:
    """``SELECT a, b;``, ``RETURN a;``, ``INSERT INTO …`` in a handler."""
    if not place.creates("OPERATOR"):
        return None
    if (place.word(-1), place.word()) == ("AS", "BEGIN"):
        return _no_statement(place, "BEGIN", "handlers directly follow AS: leave out BEGIN", 0)
    for offset in (0, -1):
        word = place.word(offset)
        known = word in _OTHER_WORDS or word in _OTHER_STATEMENTS
        if known and _begins_statement(place, offset):
            break
    else:
        return None
    if {"EMIT", "SET"} - place.expected and offset == 0 and word != "BEGIN":
        return None
    if word == "DELETE" or (word == "CANCEL" and place.word(offset + 1) == "TIMER"):
        timer = place.text(offset + 2) if place.word(offset + 1) == "TIMER" else "name"
        help_ = f"a timer is stopped by `STOP TIMER {timer};`"
        if word == "DELETE":
            help_ = "an entry is removed by `REMOVE cell[key];`, a cell by `CLEAR cell;`"
        return _no_statement(place, word, help_, offset)
    if word in _OTHER_STATEMENTS:
        return _no_statement(place, word, _OTHER_STATEMENTS[word], offset)
    values, end = "", offset + 1
    while place.text(end) not in (";", "", "FROM", "INTO"):
        end += 1
    if end > offset + 1:
        text = place.tokens.source.text
        values = " " + text[place.span(offset + 1).start : place.span(end - 1).end]
    instead = _OTHER_WORDS[word]
    goes_out = "rows are output by EMIT" if instead == "EMIT" else f"write {instead} instead"
    return _no_statement(place, word, f"{goes_out}: `{instead}{values};`", offset)


def _no_statement(place: Place, word: str, help_: str, offset: int) -> Diagnostic:
    message = f"no statement of a handler starts with `{word}`"
    return place.report(codes.SYNTAX, message, "", help_, offset)


def _timer_instant(place: Place) -> Diagnostic | None:
    """``START TIMER t IN INTERVAL 1 HOUR``, ``AFTER``, ``FOR``, or the interval alone."""
    if place.word(-3) != "START" or place.word(-2) != "TIMER" or "AT" not in place.expected:
        return None
    timer, first = place.text(-1), 0
    if place.word() in ("IN", "AFTER", "FOR", "EVERY", "WITHIN", "ON", "="):
        first = 1
    end = first
    while place.text(end) not in (";", ""):
        end += 1
    text = place.tokens.source.text
    written = text[place.span(first).start : place.span(end - 1).end] if end > first else ""
    instant = written or "…"
    if place.word(first) == "INTERVAL":
        instant = f"{_time_of(place, timer)} + {written}"
    elif place.kind(first) in ("INTEGER", "AMOUNT"):
        instant = f"{_time_of(place, timer)} + INTERVAL {written}"
    message = "a timer fires at an instant, given by AT"
    return place.report(codes.SYNTAX, message, help=f"`START TIMER {timer} AT {instant};`")


def _time_of(place: Place, timer: str) -> str:
    """Return the instant that a timer of this domain is counted from."""
    at = place.first - place.at
    words = [place.word(offset) for offset in range(at, 0)]
    pairs = list(pairwise(words))
    if (timer.upper(), "PROCESSING") in pairs:
        return "CURRENT_TIMESTAMP"
    if ("ORDER", "BY") in pairs:
        return place.text(at + pairs.index(("ORDER", "BY")) + 2)
    return "ts"


HINTS = (
    _missing_semicolon,
    _other_assignment,
    _timer_instant,
    _other_statement,
    _no_set,
    _open_block,
)
