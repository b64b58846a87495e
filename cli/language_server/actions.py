"""Code actions: the fix that a diagnostic proposes, where it is a replacement of what it marks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types as lsp

from ...dsl.reports.source import SourceFile
from .positions import Places

_WORD = re.compile(r"[\w.-]+|(?P<quote>[`'\"])[^`'\"]+(?P=quote)")
_DID_YOU_MEAN = re.compile(r"did you mean `([^`]+)`\?")


def actions(
    uri: str, source: SourceFile, diagnostics: Iterable[lsp.Diagnostic]
) -> list[lsp.CodeAction]:
    """Return an action for each diagnostic that proposes another word for the one it marks."""
    found = []
    places = Places(source.text)
    for one in diagnostics:
        help_ = one.data.get("help") if isinstance(one.data, dict) else None
        proposed = _DID_YOU_MEAN.fullmatch(help_ or "")
        marked = source.text[places.offset(one.range.start) : places.offset(one.range.end)]
        new = None if proposed is None else _in_place_of(marked, proposed[1])
        if new is not None:
            edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(one.range, new)]})
            found.append(
                lsp.CodeAction(
                    f"Replace with {new}",
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[one],
                    edit=edit,
                    is_preferred=True,
                )
            )
    return found


def _in_place_of(marked: str, name: str) -> str | None:
    """Return a name as it is written in place of another; None if that is more than a name."""
    match = _WORD.fullmatch(marked)
    if match is None:
        return None
    quote = match["quote"] or ""
    return f"{quote}{name}{quote}"
