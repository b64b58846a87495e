"""Comments, and the tokens that they belong to.

A comment never moves past a token, with two exceptions: one at the end of a line before a comma or
a semicolon moves after it, and so do those above a comma. They still refer to the same things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..reports.source import Span

COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(slots=True)
class Comment:
    """A comment on lines of its own; ``gap`` says that an empty line precedes it."""

    text: str
    gap: bool = False


@dataclass(slots=True)
class Leaf:
    """A token with the comments that belong to it.

    ``above`` are on lines of their own before it, ``beside`` on its line before it, ``behind`` at
    the end of its line. ``breaks`` says that it begins a line in the source, ``gap`` that an empty
    line precedes it, after the comments above.
    """

    kind: str
    text: str
    above: list[Comment] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    breaks: bool = False
    gap: bool = False

    @property
    def follows_gap(self) -> bool:
        """Whether an empty line precedes the token and the comments above it."""
        return self.above[0].gap if self.above else self.gap


def attach(text: str, start: int, spans: Sequence[Span], leaves: Sequence[Leaf]) -> None:
    """Attach each comment between and in tokens to one of them."""
    end = start
    for index, (span, leaf) in enumerate(zip(spans, leaves, strict=True)):
        behind = _between(text, end, span.start, leaf, is_first=index == 0)
        if index:
            leaves[index - 1].behind = behind
        else:
            leaf.above[:0] = map(Comment, behind)
        if span.end - span.start != len(leaf.text):
            _inside(text[span.start : span.end], leaf)
        end = span.end
    for before, leaf, after in zip(leaves, leaves[1:], leaves[2:], strict=False):
        if leaf.kind == ",":
            _past_comma(before, leaf, after)
        elif leaf.kind == ";" and not leaf.above and not leaf.beside:
            _past_semicolon(before, leaf, after)


def hand_on(lone: Leaf, following: Leaf) -> None:
    """Move the comments of a dropped token to the next one."""
    texts = [*lone.beside, *lone.behind]
    taken = [*lone.above, *map(Comment, texts)]
    if taken:
        following.above[:0] = taken
    else:
        following.gap = following.gap or lone.gap
    following.breaks = True


def is_line_comment(text: str) -> bool:
    """Return whether a comment extends to the end of its line."""
    return text.startswith("--")


def _between(text: str, start: int, end: int, leaf: Leaf, *, is_first: bool) -> list[str]:
    """Sort the comments before a token; return those that belong to the one before it."""
    matches = list(COMMENT.finditer(text, start, end))
    behind: list[str] = []
    place = start
    has_broken = is_first
    for match in matches:
        space = text[place : match.start()]
        has_broken = has_broken or "\n" in space
        comment = Comment(match[0].rstrip(), space.count("\n") > 1)
        if has_broken:
            leaf.above.append(comment)
        else:
            behind.append(comment.text)
        place = match.end()
    rest = text[place:end]
    leaf.gap = rest.count("\n") > 1
    leaf.breaks = "\n" in text[start:end]
    if matches and "\n" not in rest and leaf.kind != "EOF":
        _move_beside(text, matches, leaf, behind)
    return behind


def _move_beside(text: str, matches: list[re.Match[str]], leaf: Leaf, behind: list[str]) -> None:
    """Move comments that end on the token's line from above it, or from after the last token."""
    place = len(text)
    for match in reversed(matches):
        if is_line_comment(match[0]) or (place < len(text) and "\n" in text[match.end() : place]):
            break
        if leaf.above:
            first = leaf.above.pop()
            leaf.gap = first.gap
        else:
            behind.pop()
        leaf.beside.insert(0, match[0])
        place = match.start()


def _inside(text: str, leaf: Leaf) -> None:
    """Take the comments inside a token that consists of a sign and a number."""
    texts = [match[0].rstrip() for match in COMMENT.finditer(text)]
    if any(map(is_line_comment, texts)):
        leaf.above += map(Comment, [*leaf.beside, *texts])
        leaf.beside = []
    else:
        leaf.beside += texts


def _past_comma(before: Leaf, comma: Leaf, after: Leaf) -> None:
    own = [*comma.above]
    texts = [*before.behind] if own else [*before.behind, *comma.behind]
    rest = list(map(Comment, comma.behind)) if own else []
    if comma.beside and (own or before.behind):
        # The comment next to the comma is between those that move.
        own += map(Comment, comma.beside)
        texts, rest = [*before.behind], list(map(Comment, comma.behind))
        comma.beside = []
    cut = next((i for i, text in enumerate(texts, 1) if is_line_comment(text)), len(texts))
    moved = [*map(Comment, texts[cut:]), *own, *rest]
    if moved:
        after.above[:0] = moved
    before.behind, comma.above, comma.behind = [], [], texts[:cut]
    after.breaks = after.breaks or bool(texts or moved)


def _past_semicolon(before: Leaf, semicolon: Leaf, after: Leaf) -> None:
    texts = [*before.behind, *semicolon.behind]
    cut = next((i for i, text in enumerate(texts, 1) if is_line_comment(text)), len(texts))
    if texts[cut:]:
        after.above[:0] = map(Comment, texts[cut:])
    before.behind, semicolon.behind = [], texts[:cut]
    after.breaks = after.breaks or bool(texts)
