"""Documents to lines of at most ``WIDTH`` characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .comments import Leaf
from .docs import HARD, LINE, NOTHING, SOFT, SPACE, Doc, Gap, Pad, Run, leaf_width

WIDTH = 100
INDENT = 2
_BEFORE_COMMENT = 2
"""Spaces between a line and the comment at its end."""

_Command = tuple[int, bool, Doc]
"""A document with its indentation, and whether it is on one line."""


@dataclass(slots=True)
class Line:
    """A line and the comment at its end."""

    text: str
    comment: str = ""


def print_doc(doc: Doc) -> list[Line]:
    """Return the lines of a document."""
    printer = _Printer()
    printer.print(doc)
    return printer.lines


def lines_text(lines: Iterable[Line]) -> str:
    """Return lines as text; comments at the ends of consecutive lines are aligned."""
    texts: list[str] = []
    run: list[Line] = []
    for line in [*lines, Line("")]:
        if line.comment:
            run.append(line)
            continue
        column = max((len(one.text) for one in run), default=0) + _BEFORE_COMMENT
        texts += [f"{one.text:<{column}}{one.comment}" for one in run]
        texts.append(line.text)
        run = []
    return "\n".join(texts)


class _Printer:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._text = ""
        self._is_fresh = True
        self._spaces = 0
        self._comment = ""
        self._must_break = False
        self._opened = False

    def print(self, doc: Doc) -> None:
        commands: list[_Command] = [(0, False, doc)]
        while commands:
            depth, flat, part = commands.pop()
            if isinstance(part, Run):
                if part.is_group and not flat:
                    flat = not part.is_broken and self._fits(depth, part, commands)
                if part.is_indented:
                    depth += INDENT
                commands.extend((depth, flat, one) for one in reversed(part.parts))
            elif isinstance(part, Leaf):
                self._leaf(part, depth)
            else:
                self._place(part, depth, flat)
        if not self._is_fresh:
            self._end_line()

    def _place(self, part: Doc, depth: int, flat: bool) -> None:
        if isinstance(part, Pad):
            self._space(1 if flat else part.width)
        elif isinstance(part, Gap):
            self._place(LINE, depth, flat)
            if not flat and part.leaf.follows_gap:
                self._gap()
        elif part is SPACE or (part is LINE and flat):
            self._space(1)
        elif part is HARD or (part in (LINE, SOFT) and not flat):
            self._end_line()

    def _fits(self, depth: int, part: Run, rest: list[_Command]) -> bool:
        """Return whether a group and what follows it up to a line break fit."""
        begins_line = self._is_fresh or self._must_break or bool(part.first and part.first.above)
        used = depth if begins_line else len(self._text) + self._spaces
        room = WIDTH - used - part.width
        if part.last and part.last.behind:
            return room >= 0
        following: list[tuple[bool, Doc]] = []
        index = len(rest)
        while room >= 0:
            if not following:
                if index == 0:
                    return True
                index -= 1
                following.append(rest[index][1:])
            flat, one = following.pop()
            if isinstance(one, Run):
                following.extend((flat, inner) for inner in reversed(one.parts))
            elif isinstance(one, Leaf):
                if one.above:
                    return True
                room -= leaf_width(one)
                if one.behind:
                    break
            elif one is HARD or (not flat and (one in (LINE, SOFT) or isinstance(one, Gap))):
                return True
            elif one is not SOFT and one is not NOTHING:
                room -= 1
        return room >= 0

    def _leaf(self, leaf: Leaf, depth: int) -> None:
        for number, comment in enumerate(leaf.above):
            self._end_line()
            if number and comment.gap:
                self._gap()
            self._write(comment.text, depth)
            self._must_break = True
        if leaf.above:
            self._end_line()
            if leaf.gap:
                self._gap()
        for text in leaf.beside:
            if not self._opened:
                self._space(1)
            self._write(text, depth)
            self._space(int(leaf.kind not in (")", ",", ";")))
        if leaf.text:
            self._write(leaf.text, depth)
            self._opened = leaf.kind == "("
        for text in leaf.behind:
            self._write_behind(text)

    def _write(self, text: str, depth: int) -> None:
        if self._must_break:
            self._end_line()
        if self._is_fresh:
            self._text = " " * depth
        else:
            self._text += " " * self._spaces
        self._spaces = 0
        self._is_fresh = self._opened = False
        *whole, self._text = (self._text + text).split("\n")
        self.lines += map(Line, whole)

    def _write_behind(self, text: str) -> None:
        self._comment += f" {text}" if self._comment else text
        self._must_break = True

    def _space(self, width: int) -> None:
        if not self._is_fresh and not self._must_break:
            self._spaces = max(self._spaces, width)

    def _gap(self) -> None:
        """Ensure an empty line before what is written next."""
        if self.lines and self.lines[-1].text and self._is_fresh:
            self.lines.append(Line(""))

    def _end_line(self) -> None:
        """Begin a line, if the last one is not empty."""
        if not self._is_fresh:
            *whole, last = self._comment.split("\n")
            if whole:
                # A comment of several lines is left as it is.
                first, *between = whole
                self.lines.append(Line(f"{self._text}{' ' * _BEFORE_COMMENT}{first}"))
                self.lines += map(Line, between)
                self.lines.append(Line(last))
            else:
                self.lines.append(Line(self._text, last))
        self._text = self._comment = ""
        self._is_fresh, self._must_break, self._spaces = True, False, 0
