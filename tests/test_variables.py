"""``${name}`` in the texts of options."""

from __future__ import annotations

import pytest
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile, Span
from streamc.dsl.settings.variables import Variable, check_variables, split_variables


def split(written: str, text: str | None = None) -> tuple[list[str], Diagnostics]:
    """Return the pieces of an option (variables as ``<name@marked text>``) and the diagnostics."""
    source = SourceFile("x.stream", f"path = {written}")
    diagnostics = Diagnostics(source)
    span = Span(7, 7 + len(written))
    parts = split_variables(written[1:-1] if text is None else text, span, diagnostics)
    check_variables(parts, {"input": None, "day": "1"}, span, diagnostics)
    return [
        part if isinstance(part, str) else f"<{part.name}@{source.excerpt(part.span)}>"
        for part in parts
    ], diagnostics


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("''", []),
        ("'data'", ["data"]),
        ("'costs $5 {x}'", ["costs $5 {x}"]),
        ("'${input}'", ["<input@${input}>"]),
        ("'a/${input}/b-${day}.json'", ["a/", "<input@${input}>", "/b-", "<day@${day}>", ".json"]),
        ("'${input}${input}'", ["<input@${input}>", "<input@${input}>"]),
    ],
)
def test_pieces(written: str, parts: list[str]) -> None:
    found, diagnostics = split(written)
    assert found == parts
    assert not len(diagnostics)


def test_a_text_with_escapes_is_marked_as_a_whole() -> None:
    parts, _ = split(r"'it\'s ${day}'", "it's ${day}")
    assert parts == ["it's ", r"<day@'it\'s ${day}'>"]


@pytest.mark.parametrize(
    ("written", "code", "marked", "help_"),
    [
        ("'a/${input'", "SC0608", "${input", "close it: `${name}`"),
        ("'a/${}/b'", "SC0608", "${}", "write its name: `${name}`"),
        (
            "'${In put}'",
            "SC0608",
            "${In put}",
            "use lower-case letters, digits and `_`, starting with a letter",
        ),
        ("'${inptu}'", "SC0607", "${inptu}", "did you mean `input`?"),
        (
            "'${zone}'",
            "SC0607",
            "${zone}",
            "declare it in the front matter: `variables: {zone: null}`, or with a default",
        ),
    ],
)
def test_mistakes(written: str, code: str, marked: str, help_: str) -> None:
    _, diagnostics = split(written)
    (found,) = diagnostics
    assert found.code.number == code
    assert diagnostics.source.excerpt(found.primary.span) == marked
    assert found.help == help_


def test_variables_compare_by_name() -> None:
    assert Variable("a", Span(0, 1)) == Variable("a", Span(0, 1))
