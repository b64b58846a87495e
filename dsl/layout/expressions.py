"""The forms of expressions and types."""

from __future__ import annotations

from collections.abc import Sequence

from .comments import Leaf
from .concrete import Branch, Tree
from .docs import LINE, NOTHING, SOFT, SPACE, Doc, Run, group, indent, run
from .forms import (
    FORMS,
    bracketed,
    breaks_before,
    comments_inside,
    doc,
    first_leaf,
    form,
    is_symbol,
    items,
    outer_leaves,
    spaced,
    tight,
    words,
)

_SHORT = 10
"""Next to so short an operand, a comparison breaks in the other one."""

_CHAINS = frozenset(("or_", "and_", "binary"))

for _rule in (
    "column_part variant_start variant_field variant_element field_access index qualified_star "
    "empty_call pattern_repeat pattern_exactly pattern_between pattern_at_most option_name"
).split():
    FORMS[_rule] = tight


@form("or_", "and_", "binary")
def chain(branch: Branch) -> Run:
    """Return operands joined by operators of one precedence; a long chain has a line for each."""
    first, rest = links(branch)
    if branch.origin == "value" and len(rest) == 1:
        operator, operand = map(doc, rest[0])
        if isinstance(operand, Leaf) or (isinstance(operand, Run) and operand.width <= _SHORT):
            return run(doc(first), SPACE, operator, SPACE, operand)
    return group(doc(first), indent(*_continued(rest)), broken=_is_split(rest))


def links(tree: Tree, rules: frozenset[str] = _CHAINS) -> tuple[Tree, list[Sequence[Tree]]]:
    """Return the first operand of a chain, and the operator and operand of each further one."""
    rest: list[Sequence[Tree]] = []
    origin = tree.origin if isinstance(tree, Branch) else ""
    while isinstance(tree, Branch) and tree.rule in rules and tree.origin == origin:
        rest.append(tree.parts[1:])
        tree = tree.parts[0]
    return tree, rest[::-1]


def _continued(rest: Sequence[Sequence[Tree]]) -> list[Doc]:
    found: list[Doc] = []
    for operator, operand in rest:
        found += [LINE, doc(operator), SPACE, doc(operand)]
    return found


def _is_split(rest: Sequence[Sequence[Tree]]) -> bool:
    """Return whether the source has a line break before an AND or OR of a chain."""
    return any(
        operator.breaks and operator.kind in ("AND", "OR")
        for operator, _ in rest
        if isinstance(operator, Leaf)
    )


def condition(keyword: Sequence[Tree], tree: Tree, *, hanging: bool = True) -> Run:
    """Return ``WHERE a AND b``; the lines of a long one are indented if ``hanging``."""
    is_chain = isinstance(tree, Branch) and tree.rule == "and_"
    first, rest = links(tree, frozenset(("and_",))) if is_chain else (tree, [])
    continued = run(*_continued(rest))
    return group(
        spaced([*map(doc, keyword), doc(first)]),
        indent(continued) if hanging else continued,
        broken=_is_split(rest),
    )


@form("between")
def _between(branch: Branch) -> Run:
    *head, and_, high = branch.parts
    return group(words(Branch("", "", head)), indent(LINE, doc(and_), SPACE, doc(high)))


@form("in_list", "like_any")
def _in_list(branch: Branch) -> Run:
    opening = next(i for i, part in enumerate(branch.parts) if is_symbol(part, "("))
    head = list(map(doc, branch.parts[:opening]))
    return spaced([*head, bracketed(branch.parts[opening:])])


@form("atom")
def _atom(branch: Branch) -> Run:
    if not is_symbol(branch.parts[0], "("):
        return words(branch)
    opening, *inner, closing = branch.parts
    body = spaced(list(map(doc, inner)))
    inside = indent(SOFT, body, *comments_inside(closing))
    return group(doc(opening), inside, SOFT, doc(closing))


@form("unary")
def _unary(branch: Branch) -> Run:
    sign, operand = branch.parts
    made = doc(operand)
    first, _ = outer_leaves(made)
    # Two signs would begin a comment, and a sign before a number would be part of it.
    clashes = first is not None and (first.text[0] in "+-" or first.text[0].isdigit())
    between = SPACE if clashes or (first and (first.beside or first.above)) else NOTHING
    return run(doc(sign), between, made)


@form("typed_literal")
def _typed_literal(branch: Branch) -> Run:
    word = branch.parts[0]
    is_binary = isinstance(word, Leaf) and word.text == "X"
    return tight(branch) if is_binary else words(branch)


@form("interval_signed")
def _interval_signed(branch: Branch) -> Run:
    word, sign, *amount = branch.parts
    return run(doc(word), SPACE, doc(sign), spaced(list(map(doc, amount))))


@form("case")
def _case(branch: Branch) -> Run:
    opening, *parts, end = branch.parts
    clauses: list[Doc] = []
    operand: list[Doc] = []
    is_split = False
    for number, part in enumerate(parts):
        if isinstance(part, Branch) and part.rule == "when":
            clauses += [LINE, doc(part)]
            is_split = is_split or first_leaf(part).breaks
        elif is_symbol(part, "ELSE") and clauses:
            clauses += [LINE, spaced(list(map(doc, parts[number:])))]
            break
        else:
            operand.append(doc(part))
    head = spaced([doc(opening), *operand])
    inside = indent(*clauses, *comments_inside(end))
    return group(head, inside, LINE, doc(end), broken=is_split)


@form("row")
def _row(branch: Branch) -> Run:
    return bracketed(branch.parts)


@form(
    *("cast", "try_cast", "extract", "call", "call_nulls_inside", "call_by_words", "struct_call"),
    *("call_by_commas", "trim", "trim_characters", "trim_side", "trim_side_characters"),
)
def _call(branch: Branch) -> Run:
    """Return a name with arguments in brackets; also ``a::INT``."""
    if is_symbol(branch.parts[1], "::"):
        return tight(branch)
    if isinstance(branch.parts[0], Leaf) and branch.rule == "extract":
        field = branch.parts[2]
        if isinstance(field, Leaf) and not field.text.startswith("`"):
            field.text = field.text.upper()
    return run(doc(branch.parts[0]), bracketed(branch.parts[1:]))


@form("window_spec")
def _window_spec(branch: Branch) -> Run:
    opening, *parts, closing = branch.parts
    if not parts:
        return tight(branch)
    clauses: list[Doc] = []
    for part in parts:
        clauses += [LINE, doc(part)] if clauses else [doc(part)]
    inside = indent(SOFT, *clauses, *comments_inside(closing))
    return group(doc(opening), inside, SOFT, doc(closing), broken=breaks_before(parts))


@form("partition_by", "order_by")
def by_clause(branch: Branch) -> Run:
    """Return ``PARTITION BY a, b``."""
    word, by, *keys = branch.parts
    return group(doc(word), SPACE, doc(by), SPACE, indent(items(keys)))


@form("call_filter", "call_order")
def _in_brackets(branch: Branch) -> Run:
    """Return the bracketed part after a call."""
    opening = next(i for i, part in enumerate(branch.parts) if is_symbol(part, "("))
    *inner, closing = branch.parts[opening + 1 :]
    body = indent(SOFT, spaced(list(map(doc, inner))), *comments_inside(closing))
    brackets = group(doc(branch.parts[opening]), body, SOFT, doc(closing))
    return spaced([*map(doc, branch.parts[:opening]), brackets])


# Types.


@form("simple_type")
def _simple_type(branch: Branch) -> Run:
    name, *parameters = branch.parts
    if isinstance(name, Leaf) and not name.text.startswith("`"):
        name.text = name.text.upper()
    return run(doc(name), spaced(list(map(doc, parameters))))


@form("collection_type", "struct_type")
def _generic(branch: Branch) -> Run:
    word, opening, *parts, closing = branch.parts
    return run(doc(word), doc(opening), spaced(list(map(doc, parts))), doc(closing))


@form("struct_field")
def _struct_field(branch: Branch) -> Run:
    name, *rest = branch.parts
    if is_symbol(rest[0], ":"):
        return spaced([run(doc(name), doc(rest[0])), *map(doc, rest[1:])])
    return words(branch)
