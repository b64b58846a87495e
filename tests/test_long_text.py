"""Long SQL in a script: whatever its text, the literals joined are that text."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamc.compiler.pyspark.long_text import broken

PIECES = [
    "(",
    ")",
    ", ",
    "'",
    '"',
    "\\",
    "named_struct(",
    "'a'",
    "x",
    " + ",
    "a_name_of_some_length",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_literals_are_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert ast.literal_eval(f"({broken(text)})") == text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("f(a, b)", ['"f(a, b)"']),
        (
            f"f({'a' * 40}, g({'b' * 40}, ','))",
            ['"f("', f'    "{"a" * 40}, "', f"    \"g({'b' * 40}, ',')\"", '")"'],
        ),
        (
            f"named_struct('a', {'a' * 40}, 'b', {'b' * 40})",
            ['"named_struct("', f"    \"'a', {'a' * 40}, \"", f"    \"'b', {'b' * 40}\"", '")"'],
        ),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert broken(text).splitlines() == lines
