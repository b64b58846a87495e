"""Open documents, and what the compiler finds in each: once per version."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path, to_fs_path

from ...compiler.driver import CompileResult, compile_source
from ...compiler.model.schema import Schema
from ...dsl.ast.statements import Spec
from ...dsl.reports.source import SourceFile, Span
from .names import find_names
from .occurrences import Found
from .positions import Places

_EMPTY = Spec(Span(0, 0), None, ())


@dataclass
class Analysis:
    """A version of a spec: its text, what it compiles to, and the columns known of it before."""

    source: SourceFile
    result: CompileResult
    schemas: Mapping[str, Schema]

    @property
    def spec(self) -> Spec:
        """The statements without syntax errors; none when front matter has no end."""
        return self.result.spec or _EMPTY

    @cached_property
    def places(self) -> Places:
        """The places of the text."""
        return Places(self.source.text)

    @cached_property
    def names(self) -> Found:
        """What the names stand for."""
        return find_names(self.spec, self.source, self.schemas)


@dataclass(slots=True)
class _Open:
    """A document as it is in the editor, with line feeds as line ends."""

    text: str
    version: int


class Documents:
    """The open documents by URI, and their analyses."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._analyses: dict[str, Analysis] = {}
        # A version is compiled once, though its diagnostics and a request may ask for it.
        self._lock = threading.RLock()

    def open(self, uri: str, text: str, version: int) -> None:
        """Take a document that was opened."""
        self._open[uri] = _Open(_with_line_feeds(text), version)

    def change(
        self, uri: str, changes: Iterable[lsp.TextDocumentContentChangeEvent], version: int
    ) -> None:
        """Make changes, each of a part of the text as the one before left it, or of all of it.

        Lines are those of the protocol: Python's ``splitlines`` knows ends that are none there.
        """
        text = self._open[uri].text
        for change in changes:
            new = _with_line_feeds(change.text)
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                places = Places(text)
                start, end = (places.offset(p) for p in (change.range.start, change.range.end))
                text = text[:start] + new + text[end:]
            else:
                text = new
        self._open[uri] = _Open(text, version)

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._open.pop(uri, None)
        self._analyses.pop(uri, None)

    def uris(self) -> tuple[str, ...]:
        """Return the open documents."""
        return tuple(self._open)

    def version(self, uri: str) -> int | None:
        """Return the version of a document, None for one that is not open."""
        return self._open[uri].version if uri in self._open else None

    def source(self, uri: str) -> SourceFile:
        """Return the current text."""
        path = path_of(uri)
        return SourceFile(path.as_posix(), self._open[uri].text, path.parent)

    def analysis(self, uri: str) -> Analysis:
        """Return what the compiler finds in the current text."""
        source = self.source(uri)
        with self._lock:
            before = self._analyses.get(uri)
            if before is not None and before.source.text == source.text:
                return before
            return self._analyse(uri, source, before)

    def last(self, uri: str) -> Analysis:
        """Return what was found last, which may be of an earlier version."""
        before = self._analyses.get(uri)
        return self.analysis(uri) if before is None else before

    def _analyse(self, uri: str, source: SourceFile, before: Analysis | None) -> Analysis:
        result = compile_source(source, stop_after="graph")
        schemas = dict(result.schemas)
        if before is not None and result.diagnostics.has_errors:
            # What a half-typed statement has had is the best guess at what it will have.
            schemas = {**before.schemas, **schemas}
        found = Analysis(source, result, schemas)
        self._analyses[uri] = found
        return found


def _with_line_feeds(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def path_of(uri: str) -> Path:
    """Return the path of a document; of one without a file, a name that can name a pipeline."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path("untitled.stream") if path is None else Path(path)


def uri_of(path: Path) -> str:
    """Return the URI of a file."""
    uri = from_fs_path(str(path.absolute()))
    assert isinstance(uri, str)
    return uri
