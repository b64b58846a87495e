"""A new name for a stream or a column, wherever the spec says it."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types as lsp

from ...compiler.driver import compile_source
from ...dsl.reports.source import SourceFile, Span
from ...dsl.syntax.place import is_plain_name
from .documents import Analysis
from .occurrences import Symbol


class NotRenamed(Exception):
    """Why a name cannot be changed."""


def renamed_range(analysis: Analysis, position: lsp.Position) -> lsp.Range | None:
    """Return the name at a position if it can be renamed: what the spec declares."""
    found = analysis.names.at(analysis.places.offset(position))
    if found is None or found.symbol.declared is None:
        return None
    return analysis.places.range(found.span)


def rename(analysis: Analysis, position: lsp.Position, new: str) -> list[lsp.TextEdit]:
    """Return the edits; raises ``NotRenamed`` if the spec would not compile any more."""
    found = analysis.names.at(analysis.places.offset(position))
    if found is None or found.symbol.declared is None:
        raise NotRenamed("the spec declares no such name")
    written = new if is_plain_name(new) or found.symbol.kind == "variable" else _quoted(new)
    edits = _edits(analysis, found.symbol, written)
    _check(analysis, edits, new)
    return [lsp.TextEdit(analysis.places.range(s), text) for s, text in sorted(edits.items())]


def _quoted(name: str) -> str:
    inner = name.strip("`")
    return "`" + inner.replace("`", "``") + "`"


def _edits(analysis: Analysis, symbol: Symbol, new: str) -> Mapping[Span, str]:
    implicit = analysis.names.implicit
    edits: dict[Span, str] = {}
    for one in analysis.names.of(symbol):
        # A column that takes its name from the one it reads keeps it.
        kept = f" AS {analysis.source.excerpt(one.span)}" if one.span in implicit else ""
        edits[one.span] = new + kept
    for span, column in implicit.items():
        if column.declared == symbol.declared:
            # What the column reads keeps its name.
            edits[span] = f"{analysis.source.excerpt(span)} AS {new}"
    return edits


def _check(analysis: Analysis, edits: Mapping[Span, str], new: str) -> None:
    """Refuse a name that breaks the spec: one that is taken, or that cannot be an id."""
    text = analysis.source.text
    for span, replacement in sorted(edits.items(), reverse=True):
        text = text[: span.start] + replacement + text[span.end :]
    source = SourceFile(analysis.source.name, text, analysis.source.folder)
    after = compile_source(source, stop_after="graph").diagnostics
    before = {(one.code, one.message) for one in analysis.result.diagnostics}
    if after.errors > analysis.result.diagnostics.errors:
        first = next((o for o in after if (o.code, o.message) not in before), None)
        why = "" if first is None else f": {first.message}"
        raise NotRenamed(f"with the name `{new}` the spec does not compile{why}")
