"""Concrete trees to documents: the registry of forms, and the default form.

A rule without a form of its own is its words separated by spaces, except around brackets, commas
and dots. Rules that differ register a form, see ``expressions`` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .comments import Leaf
from .concrete import Branch, Tree
from .docs import NOTHING, SOFT, SPACE, Doc, Gap, Run, group, indent, run

Form = Callable[[Branch], Doc]

FORMS: dict[str, Form] = {}
"""The form of a rule by the name of its action, or of the rule if it has no action."""

_TIGHT_BEFORE = frozenset((",", ")", ";", "."))
_TIGHT_BEHIND = frozenset(("(", "."))


def form(*rules: str) -> Callable[[Form], Form]:
    """Register the form of some rules."""

    def register(function: Form) -> Form:
        FORMS.update(dict.fromkeys(rules, function))
        return function

    return register


def doc(tree: Tree) -> Doc:
    """Return the document of a tree."""
    if isinstance(tree, Leaf):
        return tree
    return FORMS.get(tree.rule, words)(tree)


def words(branch: Branch) -> Run:
    """Return the words of a rule."""
    return spaced(list(map(doc, branch.parts)))


def spaced(parts: Sequence[Doc]) -> Run:
    """Return documents separated by spaces, except where no space belongs."""
    found: list[Doc] = []
    last: Leaf | None = None
    for part in parts:
        first, end = outer_leaves(part)
        if last is not None and first is not None:
            found.append(_between(last, first))
        found.append(part)
        last = end or last
    return run(*found)


def tight(branch: Branch) -> Run:
    """Return the words of a rule without spaces."""
    return run(*map(doc, branch.parts))


def outer_leaves(part: Doc) -> tuple[Leaf | None, Leaf | None]:
    """Return the first and the last leaf of a document."""
    if isinstance(part, Run):
        return part.first, part.last
    return (part, part) if isinstance(part, Leaf) else (None, None)


def _between(last: Leaf, first: Leaf) -> Doc:
    is_tight = first.kind in _TIGHT_BEFORE or last.kind in _TIGHT_BEHIND
    return NOTHING if is_tight else SPACE


def first_leaf(tree: Tree) -> Leaf:
    """Return the first token of a tree."""
    while isinstance(tree, Branch):
        tree = tree.parts[0]
    return tree


def bracketed(parts: Sequence[Tree], *, item: Callable[[Sequence[Tree]], Doc] | None = None) -> Run:
    """Return ``head(a, b) tail`` with a line for each item if it does not fit on one.

    It is also broken where the source has a line break after the bracket.
    """
    begin = next(i for i, part in enumerate(parts) if is_symbol(part, "("))
    end = max(i for i, part in enumerate(parts) if is_symbol(part, ")"))
    opening, closing = doc(parts[begin]), parts[end]
    inner = flattened(parts[begin + 1 : end])
    if not inner:
        return run(opening, doc(closing))
    broken = first_leaf(inner[0]).breaks
    body = items(inner, item)
    return group(
        opening, indent(SOFT, body, *comments_inside(closing)), SOFT, doc(closing), broken=broken
    )


def items(parts: Sequence[Tree], item: Callable[[Sequence[Tree]], Doc] | None = None) -> Run:
    """Return items with commas, each followed by an optional line break.

    The items of a broken list may share a line if they do so in the source.
    """
    found: list[Doc] = []
    parted = split(parts)
    breaks = [first_leaf(one[0]).breaks for one in parted]
    for one in parted:
        comma = one[-1] if is_symbol(one[-1], ",") else None
        bare = one[:-1] if comma else one
        made = item(bare) if item else spaced(list(map(doc, bare)))
        if found:
            found.append(Gap(first_leaf(bare[0])))
        found.append(run(made, doc(comma)) if comma else made)
    share_line = breaks[0] and len(breaks) > 1 and not any(breaks[1:])
    return group(*found) if share_line else run(*found)


def split(parts: Sequence[Tree]) -> list[list[Tree]]:
    """Return the parts between commas; each but the last ends with its comma."""
    found: list[list[Tree]] = [[]]
    for part in parts:
        found[-1].append(part)
        if is_symbol(part, ","):
            found.append([])
    return [one for one in found if one]


LISTS = frozenset(
    """arguments select_items source_elements table_columns names lifts combines
    operator_inputs""".split()
)
"""Rules that are a comma-separated list."""


def flattened(parts: Sequence[Tree]) -> list[Tree]:
    """Return parts with lists replaced by their items."""
    found: list[Tree] = []
    for part in parts:
        if isinstance(part, Branch) and part.rule in LISTS:
            found += part.parts
        else:
            found.append(part)
    return found


def comments_inside(closing: Tree) -> list[Doc]:
    """Take the comments above the end of a block, to be placed inside it."""
    leaf = first_leaf(closing)
    if not leaf.above:
        return []
    above, leaf.above = leaf.above, []
    inside = Leaf("", "", above)
    if leaf.gap:
        leaf.gap = False
    return [Gap(inside), inside]


def breaks_before(trees: Sequence[Tree]) -> bool:
    """Return whether one of these trees begins a line in the source."""
    return any(first_leaf(tree).breaks for tree in trees)


def is_symbol(tree: Tree, kind: str) -> bool:
    """Return whether a tree is a token of a kind."""
    return isinstance(tree, Leaf) and tree.kind == kind
