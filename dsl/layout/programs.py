"""The forms of CREATE OPERATOR: one statement per line, blocks indented."""

from __future__ import annotations

from collections.abc import Sequence

from .comments import Leaf
from .concrete import Branch, Tree
from .docs import HARD, LINE, SPACE, Doc, Gap, Run, group, indent, joined, run
from .forms import (
    bracketed,
    breaks_before,
    comments_inside,
    doc,
    first_leaf,
    flattened,
    form,
    is_symbol,
    spaced,
    split,
)

_SECTIONS = frozenset(("late_rows_drop", "late_rows_send", "state", "ttl", "timers"))


@form("create_operator")
def _operator(branch: Branch) -> Run:
    parts = branch.parts
    on = next(i for i, part in enumerate(parts) if is_symbol(part, "ON"))
    returns = next(i for i, part in enumerate(parts) if is_symbol(part, "RETURNS"))
    as_ = next(i for i, part in enumerate(parts) if i > returns and is_symbol(part, "AS"))
    inputs = parts[on + 1]
    name = spaced(list(map(doc, parts[:on])))
    read = group(doc(parts[on]), SPACE, indent(_inputs(inputs)), broken=_is_split(inputs))
    sections = [*map(doc, parts[on + 2 : returns]), spaced(list(map(doc, parts[returns:as_])))]
    *handlers, end = parts[as_ + 1 :]
    lines: list[Doc] = [run(name, SPACE, read)]
    if isinstance(parts[on - 1], Branch):
        # After WITH there is seldom room left.
        lines = [group(name, indent(LINE, read), broken=breaks_before([parts[on]]))]
    lines.append(indent(joined(sections, (HARD,))))
    lines.append(doc(parts[as_]))
    lines += [doc(handler) for handler in handlers]
    return run(joined(lines, (HARD,)), *comments_inside(end), HARD, doc(end))


def _is_split(inputs: Tree) -> bool:
    """Return whether an input other than the first begins a line in the source."""
    _, *others = split(flattened([inputs]))
    return any(_begins_input(item) and breaks_before(item[:1]) for item in others)


def _inputs(tree: Tree) -> Run:
    """Return inputs with an optional line break before each that can't be a mere key."""
    found: list[Doc] = []
    for item in split(flattened([tree])):
        if found:
            found.append(LINE if _begins_input(item) else SPACE)
        found.append(spaced(list(map(doc, item))))
    return run(*found)


def _begins_input(item: Sequence[Tree]) -> bool:
    words = {part.kind for part in _tokens(item) if isinstance(part, Leaf)}
    return bool(words & {"AS", "PARTITION"})


def _tokens(item: Sequence[Tree]) -> list[Tree]:
    return [part for tree in item if isinstance(tree, Branch) for part in tree.parts]


@form("state", "ttl", "timers")
def _section(branch: Branch) -> Run:
    word, *rest = branch.parts
    return run(doc(word), SPACE, bracketed(rest))


@form("handlers")
def _handlers(branch: Branch) -> Run:
    lines: list[Doc] = []
    for handler in branch.parts:
        if lines:
            lines.append(Gap(first_leaf(handler)))
        lines.append(doc(handler))
    return run(*lines)


@form("on_event", "on_timer")
def _handler(branch: Branch) -> Run:
    parts = list(branch.parts)
    body: Sequence[Tree] = ()
    if isinstance(parts[-1], Branch) and parts[-1].rule == "body":
        body = parts.pop().parts  # type: ignore[union-attr]
    head = spaced(list(map(doc, parts)))
    return run(head, indent(*(one for tree in body for one in (_line(tree, body), doc(tree)))))


def _line(tree: Tree, body: Sequence[Tree]) -> Doc:
    """Return the line break before a statement; the first of a block has no empty line before."""
    return LINE if tree is body[0] else Gap(first_leaf(tree))


@form("if_statement", "while_statement", "for_statement")
def _block(branch: Branch) -> Run:
    """Return a statement that holds others; on one line if it is in the source."""
    *parts, end, word, semicolon = branch.parts
    lines: list[Doc] = []
    is_split = first_leaf(end).breaks
    head: list[Doc] = []
    for part in _opened(parts):
        if isinstance(part, Branch) and part.rule == "body":
            is_split = is_split or any(first_leaf(one).breaks for one in part.parts)
            lines.append(spaced(head))
            head = []
            inside = [one for tree in part.parts for one in (_line(tree, part.parts), doc(tree))]
            lines.append(indent(*inside))
            continue
        if isinstance(part, Leaf) and part.kind in ("ELSE", "ELSEIF"):
            if head:
                lines.append(spaced(head))
                head = []
            lines.append(LINE)
            is_split = is_split or part.breaks
        head.append(doc(part))
    if head:
        lines.append(spaced(head))
    inside = [indent(*comments_inside(end))]
    closing = spaced([doc(end), doc(word), doc(semicolon)])
    return group(*lines, *inside, LINE, closing, broken=is_split)


def _opened(parts: Sequence[Tree]) -> list[Tree]:
    """Return the parts of a block with its branches replaced by their parts."""
    found: list[Tree] = []
    for part in parts:
        if isinstance(part, Branch) and part.rule in ("if_branch", "elseif"):
            found += _opened(part.parts)
        else:
            found.append(part)
    return found
