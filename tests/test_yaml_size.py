"""YAML that would be huge: rejected at its location, at once."""

from __future__ import annotations

import time

import pytest
from streamc.compiler.driver import compile_source
from streamc.dsl.reports.source import SourceFile
from streamc.dsl.yaml.nodes import read_documents
from streamc.dsl.yaml.tree import YamlSyntaxError, read_yaml

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
MERGE_BOMB = "m0: &m0 {a: 1}\n" + "".join(
    f"m{n}: &m{n} {{{', '.join(f'k{i}: *m{n - 1}' for i in range(9))}}}\n" for n in range(1, 30)
)
HUGE = {
    "aliases of lists": (BOMB, "aliases expand to"),
    "aliases of mappings": (MERGE_BOMB, "aliases expand to"),
    "one alias often": (f"a: &a [{'x, ' * 1000}]\nb: [{'*a, ' * 1000}]\n", "aliases expand to"),
    "itself": ("a: &a [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n", "is used within"),
    "itself further in": (f"a: &a {{b: [{'*a, ' * 500}]}}\n", "is used within"),
    "brackets": ("a: " + "[" * 200_000, "too deep|nesting depth"),
    "braces": ("a: " + "{a: " * 200_000, "too deep"),
    "dashes": ("- " * 200_000 + "x", "too deep"),
    "indentation": ("".join(" " * n + "a:\n" for n in range(2000)), "too deep"),
    "keys": ("? " * 100_000, "too deep"),
    "many values": (f"a: [{'x,' * 320_000}]", "more than 300,000 values"),
    "much text": (f"a: {'x' * (17 << 20)}", "larger than 16 MB"),
}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", HUGE)
def test_huge_documents_are_refused_at_once(name: str) -> None:
    text, problem = HUGE[name]
    for read in (lambda: read_documents(text), lambda: read_yaml(text, 0)):
        begun = time.process_time()
        with pytest.raises(YamlSyntaxError, match=problem):
            read()
        assert time.process_time() - begun < 20


@pytest.mark.timeout(60)
def test_a_bomb_in_a_front_matter_is_a_diagnostic() -> None:
    for text in (f"variables:\n  {'  '.join(BOMB.splitlines(keepends=True))}", BOMB):
        found = compile_source(SourceFile("s.stream", f"---\n{text}---\n")).diagnostics
        assert [one.code.number for one in found] == ["SC0601"]


def test_aliases_of_rows_are_read() -> None:
    text = f"row: &row {{a: 1, b: [1, 2]}}\nrows: [{', '.join(['*row'] * 2000)}]\n"
    (document,) = read_documents(text)
    assert len(document.get("rows").items) == 2000  # type: ignore[union-attr]
