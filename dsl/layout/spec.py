"""A whole file, reformatted."""

from __future__ import annotations

from ...contracts.records import dataclass
from ..parsing.depth import deep_calls, too_deep
from ..parsing.parse import parse, statements_begin
from ..reports.diagnostics import Diagnostics, InternalError
from ..reports.source import SourceFile
from . import expressions, programs, queries, statements
from .comments import Leaf
from .concrete import ConcreteSpec, ConcreteStatement, read
from .docs import Doc, indent, run
from .forms import comments_inside, doc, first_leaf
from .printer import Line, lines_text, print_doc


@dataclass(frozen=True)
class Formatted:
    """The new text of a spec, or None if it has syntax errors, which are in the diagnostics."""

    text: str | None
    diagnostics: Diagnostics


FORMS = (expressions, programs, queries, statements)
"""The modules that register forms."""


def format_source(source: SourceFile) -> Formatted:
    """Format a spec as in the language reference; front matter is kept byte for byte."""
    with deep_calls():
        try:
            return _format(source)
        except RecursionError:
            diagnostics = Diagnostics(source)
            diagnostics.add(too_deep(source))
            return Formatted(None, diagnostics)


def _format(source: SourceFile) -> Formatted:
    parsed = parse(source)
    if parsed.diagnostics.has_errors:
        return Formatted(None, parsed.diagnostics)
    start = statements_begin(source)
    head = source.text[:start].lstrip()
    body = lines_text(_lines(read(source, start))).strip("\n")
    if head and not head.endswith("\n"):
        head += "\n"
    if not head and statements_begin(SourceFile(source.name, f"{body}\n")):
        # A comment that would be taken for front matter at the start of the file.
        body = f";\n{body}"
    text = "\n".join(part for part in (head, body and f"{body}\n") if part)
    if text != source.text and parse(SourceFile(source.name, text)).spec != parsed.spec:
        raise InternalError(f"the layout of {source.name} would change what it means")
    return Formatted(text, parsed.diagnostics)


def _lines(spec: ConcreteSpec) -> list[Line]:
    lines: list[Line] = []
    kind, length = "", 0
    for statement in spec.statements:
        first = first_leaf(statement.tree)
        follows_gap = first.follows_gap
        comments = _taken(first)
        made = print_doc(_document(statement))
        are_short = length == len(made) == 1 or kind == statement.tree.rule == "create_sink"
        if lines and (follows_gap or not are_short):
            lines.append(Line(""))
        lines += [*comments, *made]
        kind, length = statement.tree.rule, len(made)
    if lines and spec.end.follows_gap:
        lines.append(Line(""))
    return lines + _taken(spec.end)


def _document(statement: ConcreteStatement) -> Doc:
    inside = comments_inside(statement.end)
    return run(doc(statement.tree), indent(*inside), statement.end)


def _taken(leaf: Leaf) -> list[Line]:
    """Take the comments above a token; return their lines."""
    above, leaf.above = leaf.above, []
    lines = print_doc(Leaf("", "", above))
    return [*lines, Line("")] if above and leaf.gap and leaf.text else lines
