"""Diagnostics of specs, and of tests and migrations beside them, as the protocol has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types as lsp

from ...contracts.redaction import masked
from ...dsl.reports.diagnostics import Diagnostic, Diagnostics, Severity
from ...dsl.reports.source import SourceFile
from ..shared.report import UserError
from ..shared.spec_files import SUFFIX, read_spec
from ..testing.find import FOLDER, SUFFIXES, spec_beside
from ..testing.load import load_tests
from .documents import Documents, path_of, uri_of
from .positions import Places


def is_spec(uri: str) -> bool:
    """Return whether a document is a spec, also one that is not saved yet."""
    return not uri.startswith("file:") or path_of(uri).suffix == SUFFIX


def is_test(uri: str) -> bool:
    """Return whether a document is a file of tests: beside a spec, in a folder of tests."""
    path = path_of(uri)
    if not uri.startswith("file:") or path.suffix not in SUFFIXES:
        return False
    return path.parent.name == FOLDER and spec_beside(path) is not None


def of_spec(documents: Documents, uri: str) -> list[lsp.Diagnostic]:
    """Return the diagnostics of a spec."""
    analysis = documents.analysis(uri)
    return _shown(analysis.result.diagnostics, uri)


def of_tests(
    documents: Documents, opened: Mapping[Path, str], uri: str
) -> dict[str, list[lsp.Diagnostic]]:
    """Return the diagnostics of a file of tests, and of the migrations that it names, by URI.

    ``opened`` are the URIs of open documents by path: of these, the text in the editor counts.
    """

    def read(path: Path) -> SourceFile:
        known = opened.get(path.resolve())
        return read_spec(path) if known is None else documents.source(known)

    try:
        found = load_tests([path_of(uri)], read).found
    except (UserError, UnicodeDecodeError):
        return {uri: []}
    shown: dict[str, list[lsp.Diagnostic]] = {uri: []}
    for diagnostics in found:
        path = Path(diagnostics.source.name)
        if path.suffix != SUFFIX:
            place = opened.get(path.resolve()) or uri_of(path)
            shown.setdefault(place, []).extend(_shown(diagnostics, place))
    return shown


def _shown(found: Diagnostics, uri: str) -> list[lsp.Diagnostic]:
    places = Places(found.source.text)
    return [_one(one, found.source, places, uri) for one in found]


def _one(one: Diagnostic, source: SourceFile, places: Places, uri: str) -> lsp.Diagnostic:
    lines = [one.message, *(f"note: {note}" for note in one.notes)]
    if one.help is not None:
        lines.append(f"help: {one.help}")
    error = one.code.severity is Severity.ERROR
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri, places.range(label.span)), masked(label.text, source.hidden)
        )
        for label in one.secondary
    ]
    return lsp.Diagnostic(
        range=places.range(one.primary.span),
        message=masked("\n".join(lines), source.hidden),
        severity=lsp.DiagnosticSeverity.Error if error else lsp.DiagnosticSeverity.Warning,
        code=one.code.number,
        source="streamc",
        tags=[lsp.DiagnosticTag.Unnecessary] if one.code.slug == "unused" else None,
        related_information=related or None,
        data={"help": one.help},
    )
