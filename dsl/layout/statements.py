"""The forms of statements, as in the language reference."""

from __future__ import annotations

from collections.abc import Sequence

from .comments import Leaf
from .concrete import Branch, Tree
from .docs import HARD, LINE, SPACE, Doc, Pad, Run, group, indent, joined, run
from .forms import bracketed, breaks_before, doc, first_leaf, flattened, form, is_symbol, spaced
from .printer import WIDTH


@form("checkpoint")
def _checkpoint(branch: Branch) -> Run:
    clauses: list[list[Doc]] = [[]]
    for part in branch.parts:
        if isinstance(part, Leaf) and part.kind in ("RETAIN", "TIMEOUT", "TOLERATE"):
            clauses.append([])
        clauses[-1].append(doc(part))
    head, *rest = map(spaced, clauses)
    return group(head, indent(*(one for clause in rest for one in (LINE, clause))))


@form("create_source", "create_table")
def _source(branch: Branch) -> Run:
    *head, options = branch.parts
    policies = head.pop().parts if _is(head[-1], "row_policies") else []  # type: ignore[union-attr]
    opening = next(i for i, part in enumerate(head) if is_symbol(part, "("))
    elements = _elements(head[opening:])
    name = spaced(list(map(doc, head[:opening])))
    rules = list(map(doc, policies))
    whole = spaced([name, elements, *rules])
    if not elements.is_broken and whole.width <= WIDTH:
        return _with_options(whole, options)
    first, rest = rules[:1], rules[1:]
    lines = [spaced([name, elements, *first]), *rest]
    if rules:
        return run(joined([*lines, doc(options)], (HARD,)))
    return run(lines[0], SPACE, doc(options))


def _elements(parts: Sequence[Tree]) -> Run:
    """Return columns in brackets with their types aligned."""
    inner = flattened(parts[1:-1])
    widths = [len(first_leaf(part).text) for part in inner if _is_column(part)]
    width = max(widths, default=0)

    def element(found: Sequence[Tree]) -> Doc:
        (tree,) = found
        if not (isinstance(tree, Branch) and _is_column(tree)):
            return doc(tree)
        name, *rest = tree.parts
        pad = Pad(width - len(first_leaf(name).text) + 1)
        return run(doc(name), pad, spaced(list(map(doc, rest))))

    return bracketed(parts, item=element)


def _is_column(tree: Tree) -> bool:
    return isinstance(tree, Branch) and tree.rule.startswith("column_")


def _is(tree: Tree, rule: str) -> bool:
    return isinstance(tree, Branch) and tree.rule == rule


@form("options")
def _options(branch: Branch) -> Run:
    word, *rest = branch.parts
    return run(doc(word), SPACE, bracketed(rest))


def _with_options(head: Run, options: Tree) -> Run:
    """Return a head and WITH, which gets a line of its own if it then fits."""
    made = doc(options)
    assert isinstance(made, Run)
    if made.is_broken or made.width + 3 > WIDTH:
        return run(head, SPACE, made)
    return group(head, indent(LINE, made), broken=breaks_before([options]))


@form("create_sink")
def _sink(branch: Branch) -> Run:
    *head, options = branch.parts
    return _with_options(spaced(list(map(doc, head))), options)


@form("create_stream")
def _stream(branch: Branch) -> Run:
    *head, query = branch.parts
    return group(
        spaced(list(map(doc, head))), indent(LINE, doc(query)), broken=breaks_before([query])
    )


@form("create_python_function", "create_sql_function")
def _function(branch: Branch) -> Run:
    *head, word, body = branch.parts
    create, function, name, parameters, *returns = map(doc, head)
    signature = spaced([create, function, run(name, parameters), *returns])
    rest = spaced([doc(word), doc(body)])
    return group(signature, indent(LINE, rest), broken=breaks_before([word]))


@form("parameters")
def _parameters(branch: Branch) -> Run:
    return bracketed(branch.parts)


@form("create_aggregate")
def _aggregate(branch: Branch) -> Run:
    create, aggregate, name, parameters, *parts = branch.parts
    signature = run(spaced([doc(create), doc(aggregate), doc(name)]), doc(parameters))
    lower = next(i for i, part in enumerate(parts) if is_symbol(part, "LOWER"))
    lift, combine = parts[: lower // 2], parts[lower // 2 : lower]
    clauses = [
        *(run(doc(word), SPACE, bracketed(rest)) for word, *rest in (lift, combine)),
        spaced(list(map(doc, parts[lower:]))),
    ]
    is_split = breaks_before([combine[0], parts[lower]])
    body = group(joined(clauses, (LINE,)), broken=is_split)
    return group(signature, indent(LINE, body), broken=breaks_before([lift[0]]))


@form("combine")
def _combine(branch: Branch) -> Run:
    function = branch.parts[-1]
    if isinstance(function, Leaf) and not function.text.startswith("`"):
        function.text = function.text.upper()
    return spaced(list(map(doc, branch.parts)))
