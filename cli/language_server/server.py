"""The protocol: requests and notifications, each answered by the module that knows.

Specs are compiled in a thread of their own, shortly after the last change. Requests about what is
there compile the current text first, if that has not been done; completion takes the columns of
other statements from the last version that was compiled.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ... import __version__
from . import completion as completions
from .actions import actions
from .debounce import Debounced
from .definition import definition, highlights, references
from .diagnostics import is_spec, is_test, of_spec, of_tests
from .documents import Documents, path_of
from .formatting import formatting
from .hover import hover
from .rename import NotRenamed, rename, renamed_range
from .symbols import symbols

_STACK = 256 * 1024 * 1024
"""Expressions may be nested deeply, and each level takes some of the thread's stack."""


class _InUtf16(LanguageServerProtocol):
    """The protocol with positions in UTF-16 code units, which every client understands."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(
        self, params: lsp.InitializeParams
    ) -> Generator[Any, Any, lsp.InitializeResult]:
        """Answer as if the client offered no other unit."""
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))


class SpecServer(LanguageServer):
    """A server with its documents, and the checks that wait."""

    def __init__(self) -> None:
        super().__init__("streamc", __version__, protocol_cls=_InUtf16)
        self.documents = Documents()
        self.checks = Debounced(self._check)
        threading.stack_size(_STACK)
        self._compiler = ThreadPoolExecutor(1, "compiler")

    def opened(self) -> dict[Path, str]:
        """Return the URIs of open documents by path."""
        return {path_of(uri).resolve(): uri for uri in self.documents.uris()}

    async def _check(self, uri: str) -> None:
        """Compile a document and publish what is wrong with it, unless it has changed since."""
        version = self.documents.version(uri)
        if version is None:
            return
        loop = asyncio.get_running_loop()
        if is_spec(uri):
            found = {uri: await loop.run_in_executor(self._compiler, of_spec, self.documents, uri)}
        else:
            opened = self.opened()
            found = await loop.run_in_executor(
                self._compiler, of_tests, self.documents, opened, uri
            )
        if self.documents.version(uri) == version:
            for place, diagnostics in found.items():
                self._publish(place, diagnostics, version if place == uri else None)

    def _publish(self, uri: str, found: list[lsp.Diagnostic], version: int | None) -> None:
        params = lsp.PublishDiagnosticsParams(uri, found, version)
        self.text_document_publish_diagnostics(params)

    def changed(self, uri: str, *, at_once: bool = False) -> None:
        """Have a document checked, and the open tests that a spec or migration is read by."""
        if is_spec(uri) or is_test(uri):
            self.checks.changed(uri, at_once=at_once)
        for other in self.documents.uris():
            if other != uri and is_test(other):
                self.checks.changed(other)

    def closed(self, uri: str) -> None:
        """Forget a document, and what was wrong with it."""
        self.checks.cancel(uri)
        self.documents.close(uri)
        self._publish(uri, [], None)


def make_server() -> SpecServer:
    """Return the server, which ``start_io`` runs on standard input and output."""
    server = SpecServer()
    _follow_documents(server)
    _answer_about_names(server)
    _answer_about_text(server)
    return server


def _follow_documents(server: SpecServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        opened = params.text_document
        server.documents.open(opened.uri, opened.text, opened.version)
        server.changed(opened.uri, at_once=True)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.documents.change(document.uri, params.content_changes, document.version)
        server.changed(document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)


def _answer_about_names(server: SpecServer) -> None:
    documents = server.documents

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        uri = params.text_document.uri
        return definition(documents.analysis(uri), uri, params.position) if is_spec(uri) else None

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        if not is_spec(uri):
            return []
        declaration = params.context.include_declaration
        return references(documents.analysis(uri), uri, params.position, declaration=declaration)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        uri = params.text_document.uri
        return highlights(documents.analysis(uri), params.position) if is_spec(uri) else []

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        return hover(documents.analysis(uri), params.position) if is_spec(uri) else None

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        uri = params.text_document.uri
        return renamed_range(documents.analysis(uri), params.position) if is_spec(uri) else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def on_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        if not is_spec(uri):
            return None
        try:
            edits = rename(documents.analysis(uri), params.position, params.new_name)
        except NotRenamed as refused:
            raise JsonRpcInvalidParams(str(refused)) from None
        return lsp.WorkspaceEdit(changes={uri: edits})


def _answer_about_text(server: SpecServer) -> None:
    documents = server.documents

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "`", "'"])
    )
    def on_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        uri = params.text_document.uri
        return completions.at(documents, uri, params.position) if is_spec(uri) else []

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri = params.text_document.uri
        return symbols(documents.analysis(uri)) if is_spec(uri) else []

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        uri = params.text_document.uri
        return formatting(documents.source(uri)) if is_spec(uri) else []

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
    )
    def on_code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return actions(uri, documents.source(uri), params.context.diagnostics)
