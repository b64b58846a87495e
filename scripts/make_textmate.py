"""Write the TextMate grammar of specs, by which editors color them: ``make textmate``.

Its keywords are the terminals of the language's grammar. A reserved word is colored however it is
written; another only in upper case, as the formatter writes keywords, since it may be a name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamc.compiler.model.types import type_names
from streamc.dsl.parsing.parse import parser_and_kinds
from streamc.dsl.syntax.lalr import RESERVED

FILE = "streamc.tmLanguage.json"
_CONSTANTS = ("TRUE", "FALSE", "NULL", "UNKNOWN")


def grammar() -> dict[str, Any]:
    """Return the grammar as it is written to the file."""
    _, kinds = parser_and_kinds()
    words = set(kinds.keywords)
    types = set(type_names())
    constants = words & set(_CONSTANTS)
    reserved = (words & RESERVED) - constants
    soft = words - RESERVED - constants - types
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "streamc",
        "scopeName": "source.streamc",
        "patterns": [
            _front_matter(),
            *({"include": f"#{name}"} for name in ("comments", "texts", "words")),
        ],
        "repository": {
            "comments": {"patterns": _comments()},
            "texts": {"patterns": _texts()},
            "words": {
                "patterns": [
                    _match(f"(?i:{_any(constants)})", "constant.language.streamc"),
                    _match(f"(?i:{_any(reserved)})", "keyword.other.streamc"),
                    _match(_any(soft), "keyword.other.streamc"),
                    _match(f"(?i:{_any(types)})", "storage.type.streamc"),
                    _match(r"\b[A-Za-z_]\w*(?=\s*\()", "entity.name.function.streamc"),
                    _match(
                        r"(?<![\w.])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?([bB][dD]|[lLsSyYfFdD])?\b",
                        "constant.numeric.streamc",
                    ),
                ]
            },
        },
    }


def _front_matter() -> dict[str, Any]:
    return {
        "begin": r"\A\s*(---)[ \t]*$",
        "end": r"^(---)[ \t]*$",
        "beginCaptures": {"1": {"name": "punctuation.definition.frontmatter.streamc"}},
        "endCaptures": {"1": {"name": "punctuation.definition.frontmatter.streamc"}},
        "contentName": "meta.embedded.block.yaml",
        "patterns": [{"include": "source.yaml"}],
    }


def _comments() -> list[dict[str, Any]]:
    return [
        _match("--.*$", "comment.line.double-dash.streamc"),
        {"begin": r"/\*", "end": r"\*/", "name": "comment.block.streamc"},
    ]


def _texts() -> list[dict[str, Any]]:
    variable = _match(r"\$\{[^}]*\}", "variable.other.streamc")
    escape = _match(r"\\.", "constant.character.escape.streamc")
    texts: list[dict[str, Any]] = [
        _match(r"""\b[rR]('[^']*'|"[^"]*")""", "string.quoted.raw.streamc"),
        _match("`([^`]|``)+`", "variable.other.quoted.streamc"),
    ]
    for quote, name in (("'", "single"), ('"', "double")):
        texts.append(
            {
                "begin": quote,
                "end": quote,
                "name": f"string.quoted.{name}.streamc",
                "patterns": [variable, escape],
            }
        )
    return texts


def _any(words: Iterable[str]) -> str:
    return rf"\b({'|'.join(sorted(words))})\b"


def _match(pattern: str, name: str) -> dict[str, Any]:
    return {"match": pattern, "name": name}


def text() -> str:
    """Return the text of the file."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1], FILE).write_text(text(), encoding="utf-8")
