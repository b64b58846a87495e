"""What the texts of tokens stand for."""

from __future__ import annotations

import re

_CODES = r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))"
_ESCAPES = {
    "'": re.compile(f"{_CODES}|''", re.DOTALL),
    '"': re.compile(f'{_CODES}|""', re.DOTALL),
}
_ESCAPED = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": r"\%",
    "_": r"\_",
}


def text_of(literal: str) -> str:
    """Return what a string token stands for: escapes as in Spark, doubled quotes, ``r'…'``."""
    if literal[0] in "rR":
        return literal[2:-1]
    quote = literal[0]
    text = literal[1:-1]
    if "\\" not in text and quote not in text:
        return text
    text = _ESCAPES[quote].sub(_unescape, text)
    # The two surrogates of a character may have been written as separate escapes.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if octal:
        return chr(int(octal, 8))
    return _ESCAPED.get(other, other) if other else match[0][0]


def unit_of(word: str) -> str:
    """Return a unit of time in the singular and upper case."""
    return word.upper().removesuffix("S")
