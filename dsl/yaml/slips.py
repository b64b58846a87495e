"""Syntax errors in YAML, reported as the mistake that was made."""

from __future__ import annotations

import re

from ...contracts.records import dataclass
from ..reports.source import Span

_KEY = re.compile(r"(\s*)((?:- +)?[\w.\"'-]+)\s*\Z")
"""The text before the colon of a line with a key and its value."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A mistake, its location, and how to fix it."""

    problem: str
    span: Span
    help: str | None


def slip_of(problem: str, offset: int, text: str, start: int = 0) -> Slip:
    """Return the mistake behind a problem at which a YAML parser stopped.

    ``text`` is the whole file, of which the YAML begins at ``start``.
    """
    char = text[offset : offset + 1]
    here = Span(offset, offset + 1)
    if char == "\t" or text[_line_start(text, offset) : offset].endswith("\t"):
        return Slip("a tab indents a line", here, "indent with spaces")
    if "mapping values" in problem:
        return _colon(offset, text, start)
    if "cannot start any token" in problem or "undefined alias" in problem:
        return Slip(f"a value begins with `{char}`", here, "put the value in quotes")
    if "tag" in problem and char == "!":
        return Slip("a value begins with `!`", here, "put the value in quotes")
    if "could not find expected ':'" in problem:
        line = _line_before(text, offset, start)
        shown = text[line.start : line.end].strip()
        return Slip(f"the line `{shown}` has no colon", line, "write `name: value`")
    if "unexpected end of stream" in problem:
        return Slip("a quote is not closed", here, "close it on the line where it opens")
    if "expected ',' or" in problem:
        closing = problem[-2:-1]
        opened = {"]": "[", "}": "{"}.get(closing, "[")
        message = f"`{opened}` is not closed"
        return Slip(message, here, f"end it with `{closing}`; commas stand between its items")
    if "unknown escape" in problem:
        return Slip("`\\` is an escape in double quotes", here, "use single quotes: `'…'`")
    if "expected node content" in problem:
        if char and char in "]}":
            return Slip(f"`{char}` closes nothing", here, "put the value in quotes")
        if not text[offset:].strip():
            return Slip("a `[` or `{` is not closed", here, "end it with `]` or `}`")
        return Slip("a value is missing", here, None)
    if "did not find expected" in problem and char:
        return _unexpected(offset, text, start)
    return Slip(problem, here, None)


def _colon(offset: int, text: str, start: int) -> Slip:
    """A misplaced colon: in a value, or after a key that is indented too deeply."""
    begin = _line_start(text, offset)
    key = _KEY.fullmatch(text[begin:offset])
    before = _line_before(text, begin, start)
    previous = text[before.start : before.end]
    if key is not None and begin > start and previous.strip():
        deeper = len(key[1]) > _indent(previous)
        if deeper and re.search(r":\s+\S", previous):
            span = Span(begin, begin + len(key[1]))
            spaces = len(key[1]) - _indent(previous)
            what = "the space" if spaces == 1 else f"{spaces} spaces"
            message = (
                f"`{key[2]}` is indented deeper than the line above, which already has a value"
            )
            return Slip(message, span, f"remove {what} before `{key[2]}`")
        if not deeper and ":" not in previous:
            message = f"the line `{previous.strip()}` has no colon"
            return Slip(message, before, "write `name: value`")
        if not deeper and re.match(r"\s*[\w.-]+:\S", previous):
            message = f"the line `{previous.strip()}` has no space after its colon"
            return Slip(message, before, f"write `{previous.strip().replace(':', ': ', 1)}`")
    return Slip("a value contains a colon", Span(offset, offset + 1), "put the value in quotes")


def _unexpected(offset: int, text: str, start: int) -> Slip:
    """Something that cannot follow: an unmatched indent, or text after a quoted value."""
    begin = _line_start(text, offset)
    here = Span(offset, offset + 1)
    lead = text[begin:offset]
    if lead.strip():
        quoted = text[begin : offset + 1]
        if "'" in quoted or '"' in quoted:
            help_ = "put the whole value in quotes; a single quote inside is written twice: `''`"
            return Slip("text follows a quoted value", here, help_)
        return Slip(f"`{text[offset]}` is not allowed here", here, "put the value in quotes")
    above = text[start:begin].splitlines()
    indents = sorted({_indent(line) for line in above if line.strip()})
    if len(lead) not in indents:
        listed = " or ".join(map(str, indents))
        message = f"a line is indented by {len(lead)}, and none above it is"
        return Slip(message, here, f"indent it by {listed}, like the lines it belongs to")
    if text[offset] == "-":
        return Slip("a list item is used where `name: value` is expected", here, None)
    return Slip("`name: value` is used where a list item is expected", here, "begin it with `- `")


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_before(text: str, offset: int, start: int) -> Span:
    """Return the last line before an offset that is neither empty nor a comment."""
    end = _line_start(text, offset)
    while end > start:
        begin = max(_line_start(text, end - 1), start)
        line = text[begin : end - 1]
        if line.strip() and not line.lstrip().startswith("#"):
            return Span(begin, begin + len(line.rstrip()))
        end = begin
    return Span(start, start)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
