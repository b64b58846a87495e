"""Open documents, and what the compiler finds in each: once per version."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path

from ...compiler.driver import CompileResult, compile_source
from ...compiler.model.schema import Schema
from ...dsl.ast.statements import Spec
from ...dsl.source import SourceFile, Span
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


class Documents:
    """The texts that ``text_of`` returns by URI, and their analyses."""

    def __init__(self, text_of: Callable[[str], str]) -> None:
        self._text_of = text_of
        self._analyses: dict[str, Analysis] = {}
        # A version is compiled once, though its diagnostics and a request may ask for it.
        self._lock = threading.RLock()

    def source(self, uri: str) -> SourceFile:
        """Return the current text."""
        path = path_of(uri)
        text = self._text_of(uri).removeprefix("\ufeff")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return SourceFile(path.as_posix(), text, path.parent)

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

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._analyses.pop(uri, None)


def path_of(uri: str) -> Path:
    """Return the path of a document; of one without a file, a name that can name a pipeline."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path("untitled.stream") if path is None else Path(path)


def uri_of(path: Path) -> str:
    """Return the URI of a file."""
    uri = from_fs_path(str(path.absolute()))
    assert isinstance(uri, str)
    return uri
