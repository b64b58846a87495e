"""The forms of queries: one clause per line, unless the whole query is on one in the source."""

from __future__ import annotations

from collections.abc import Sequence

from .comments import Leaf
from .concrete import Branch, Tree
from .docs import LINE, SOFT, SPACE, Doc, Run, group, indent, joined, run
from .expressions import condition
from .forms import (
    bracketed,
    breaks_before,
    comments_inside,
    doc,
    first_leaf,
    flattened,
    form,
    is_symbol,
    items,
    spaced,
    words,
)


@form("query")
def _query(branch: Branch) -> Run:
    with_ = [part for part in branch.parts if isinstance(part, Branch) and part.rule == "with_"]
    rest = branch.parts[len(with_) :]
    blocks: list[list[Doc]] = [[]]
    starts = list(rest[:1]) if with_ else []
    for part in rest:
        if is_symbol(part, "UNION"):
            blocks.append([])
            starts.append(part)
        blocks[-1].append(doc(part))
        if is_symbol(part, "ALL"):
            blocks.append([])
    lines = [*map(doc, with_), *map(spaced, blocks)]
    return group(joined(lines, (LINE,)), broken=breaks_before(starts))


@form("with_")
def _with(branch: Branch) -> Run:
    word, *tables = branch.parts
    if len(tables) == 1:
        return run(doc(word), SPACE, doc(tables[0]))
    return _clause_list([word], tables)


@form("common_table", "subquery", "window_input_query")
def _in_brackets(branch: Branch) -> Run:
    """Return a query in brackets with a name before or after it."""
    opening = next(i for i, part in enumerate(branch.parts) if is_symbol(part, "("))
    query, closing, *alias = branch.parts[opening + 1 :]
    inside = indent(SOFT, doc(query), *comments_inside(closing))
    is_split = first_leaf(query).breaks
    brackets = group(doc(branch.parts[opening]), inside, SOFT, doc(closing), broken=is_split)
    return spaced([*map(doc, branch.parts[:opening]), brackets, *_alias(alias)])


def _alias(parts: Sequence[Tree]) -> list[Doc]:
    """Return an alias, with AS."""
    for part in parts:
        if isinstance(part, Leaf):
            part.text = f"AS {part.text}"
    return list(map(doc, parts))


@form("table", "window_table", "count_window", "unnest", "match_recognize")
def _factor(branch: Branch) -> Run:
    *parts, last = branch.parts
    has_alias = bool(parts) and isinstance(last, Leaf) and last.kind == "NAME"
    alias = _alias([last]) if has_alias else []
    if not has_alias:
        parts.append(last)
    if branch.rule == "table":
        return spaced([*map(doc, parts), *alias])
    if isinstance(parts[-1], Branch):
        alias = [doc(parts.pop())]
    body = _match(parts) if branch.rule == "match_recognize" else _window(parts)
    return spaced([body, *alias])


def _window(parts: Sequence[Tree]) -> Doc:
    return run(doc(parts[0]), bracketed(parts[1:]))


def _match(parts: Sequence[Tree]) -> Doc:
    relation, word, opening, *clauses, closing = parts
    lines = joined(_match_clauses(clauses), (LINE,))
    inside = indent(SOFT, lines, *comments_inside(closing))
    return spaced(
        [
            doc(relation),
            doc(word),
            group(doc(opening), inside, SOFT, doc(closing), broken=breaks_before(clauses)),
        ]
    )


def _match_clauses(parts: Sequence[Tree]) -> list[Doc]:
    return list(map(doc, parts))


@form("measures", "definitions", "group_by", "windows")
def _listed(branch: Branch) -> Run:
    """Return a clause whose items are on lines of their own if they do not fit on one."""
    count = 2 if branch.rule == "group_by" else 1
    head, rest = branch.parts[:count], branch.parts[count:]
    return _clause_list(head, rest)


def _clause_list(head: Sequence[Tree], rest: Sequence[Tree]) -> Run:
    inner = flattened(rest)
    is_split = first_leaf(inner[0]).breaks
    return group(words(Branch("", "", list(head))), indent(LINE, items(inner)), broken=is_split)


@form("distinct_on")
def _distinct_on(branch: Branch) -> Run:
    distinct, on, *rest = branch.parts
    end = next(i for i, part in enumerate(rest) if is_symbol(part, ")"))
    keys = bracketed(rest[: end + 1])
    return spaced([doc(distinct), doc(on), keys, *map(doc, rest[end + 1 :])])


@form("select_item")
def _select_item(branch: Branch) -> Run:
    expression, *alias = branch.parts
    if len(alias) == 1 and isinstance(alias[0], Leaf):
        return spaced([doc(expression), *_alias(alias)])
    return words(branch)


@form("select")
def _select(branch: Branch) -> Run:
    parts = branch.parts
    from_ = next(i for i, part in enumerate(parts) if is_symbol(part, "FROM"))
    *head, selected = parts[:from_]
    relation, *clauses = parts[from_ + 1 :]
    factor, joins = _joins(relation)
    lines: list[Doc] = [_clause_list(head, [selected]), spaced([doc(parts[from_]), doc(factor)])]
    lines += [_join(join) for join in joins]
    lines += map(doc, clauses)
    starts = [parts[from_], *(join[0] for join in joins), *clauses]
    return group(joined(lines, (LINE,)), broken=breaks_before(starts))


def _joins(relation: Tree) -> tuple[Tree, list[list[Tree]]]:
    """Return what follows FROM, and the parts of each JOIN in order."""
    joins: list[list[Tree]] = []
    while isinstance(relation, Branch) and relation.rule.startswith("join_"):
        joins.append(relation.parts[1:])
        relation = relation.parts[0]
    return relation, joins[::-1]


def _join(parts: Sequence[Tree]) -> Doc:
    on = next((i for i, part in enumerate(parts) if is_symbol(part, "ON")), None)
    if on is None:
        return spaced(list(map(doc, parts)))
    head = spaced(list(map(doc, parts[:on])))
    test = condition([parts[on]], parts[on + 1], hanging=False)
    return group(head, indent(LINE, test), broken=breaks_before([parts[on]]))


@form("where", "having", "qualify")
def _condition(branch: Branch) -> Run:
    *keyword, tree = branch.parts
    return condition(keyword, tree)
