"""The extension for VS Code: its grammar is current, and knows the words of the language."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import make_textmate
import pytest
from streamc.dsl.parsing.parse import parser_and_kinds

VSCODE = Path(__file__).parent.parent / "editors" / "vscode"
SYNTAX = VSCODE / "syntaxes" / make_textmate.FILE


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_grammar_is_current() -> None:
    assert SYNTAX.read_text(encoding="utf-8") == make_textmate.text(), "run `make textmate`"


def scope(word: str) -> str | None:
    """Return the scope of a word: that of the first pattern that matches all of it."""
    for pattern in read(SYNTAX)["repository"]["words"]["patterns"]:
        if re.fullmatch(pattern["match"], word):
            return str(pattern["name"])
    return None


def test_every_keyword_is_colored() -> None:
    _, kinds = parser_and_kinds()
    assert len(kinds.keywords) > 150
    for word in kinds.keywords:
        assert scope(word) is not None, word


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("select", "keyword.other.streamc"),
        ("WATERMARK", "keyword.other.streamc"),
        ("TUMBLE", "keyword.other.streamc"),
        ("state", None),
        ("time", None),
        ("null", "constant.language.streamc"),
        ("TIMESTAMP", "storage.type.streamc"),
        ("string", "storage.type.streamc"),
        ("1.5e3", "constant.numeric.streamc"),
        ("page", None),
    ],
)
def test_words(word: str, expected: str | None) -> None:
    assert scope(word) == expected


def test_includes_exist() -> None:
    grammar = read(SYNTAX)
    for pattern in grammar["patterns"][1:]:
        assert pattern["include"].removeprefix("#") in grammar["repository"]


def test_the_extension_has_what_its_manifest_names() -> None:
    manifest = read(VSCODE / "package.json")
    (language,) = manifest["contributes"]["languages"]
    (grammar,) = manifest["contributes"]["grammars"]
    assert grammar["language"] == language["id"]
    assert grammar["scopeName"] == read(SYNTAX)["scopeName"]
    for path in (manifest["main"], language["configuration"], grammar["path"]):
        assert (VSCODE / path).is_file()
    read(VSCODE / language["configuration"])
    (setting,) = manifest["contributes"]["configuration"]["properties"]
    section, name = setting.split(".")
    code = (VSCODE / manifest["main"]).read_text(encoding="utf-8")
    assert f'getConfiguration("{section}").get("{name}")' in code


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_extension_parses() -> None:
    subprocess.run(["node", "--check", VSCODE / "extension.js"], check=True)
