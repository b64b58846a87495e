"""How diagnostics look: full text, one line each, JSON."""

from __future__ import annotations

from json_outputs import output
from streamc.dsl.reports.codes import UNKNOWN_COLUMN, UNKNOWN_NAME, UNUSED
from streamc.dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile, Span

TEXT = """\
CREATE SOURCE x (
\ta STRING, 日本 INT,
  b INT
) WITH (
  path = 'f\u202eiles'
);
SELECT 'é' , zz FROM y;
"""


def spot(text: str) -> Span:
    start = TEXT.index(text)
    return Span(start, start + len(text))


def found(*diagnostics: Diagnostic, name: str = "specs/x.stream") -> Diagnostics:
    collected = Diagnostics(SourceFile(name, TEXT))
    collected.extend(diagnostics)
    return collected


def body(diagnostic: Diagnostic) -> str:
    """Return the full rendering without title and count."""
    return render([found(diagnostic)]).split("\n", 1)[1].rsplit("\n\n", 1)[0]


NO_Y = Diagnostic(
    UNKNOWN_NAME,
    "nothing is called `y`",
    Label(spot("y;")),
    (Label(spot("x"), "near to this"),),
    ("names are case-sensitive",),
    "write\n  x",
)


def test_full() -> None:
    unused = Diagnostic(UNUSED, "nothing reads `x`", Label(spot("x")))
    assert render([found(NO_Y, unused), found()]) == (
        "warning[SC0209] unused: nothing reads `x`\n"
        " --> specs/x.stream:1:15\n"
        "  |\n"
        "1 | CREATE SOURCE x (\n"
        "  |               ^\n"
        "\n"
        "error[SC0201] unknown-name: nothing is called `y`\n"
        " --> specs/x.stream:7:22\n"
        "  |\n"
        "7 | SELECT 'é' , zz FROM y;\n"
        "  |                      ^^\n"
        "  |\n"
        "1 | CREATE SOURCE x (\n"
        "  |               - near to this\n"
        "  = note: names are case-sensitive\n"
        "  = help: write\n"
        "      x\n"
        "\n"
        "1 error, 1 warning in 1 file; `streamc explain CODE` says more\n"
    )


def test_tabs_and_wide_characters_keep_the_marks_in_place() -> None:
    assert body(Diagnostic(UNKNOWN_COLUMN, "", Label(spot("日本"), "wide"))) == (
        " --> specs/x.stream:2:12\n  |\n2 |     a STRING, 日本 INT,\n  |               ^^^^ wide"
    )


def test_characters_that_turn_text_around_are_not_printed() -> None:
    assert "path = 'f\ufffdiles'" in body(Diagnostic(UNKNOWN_COLUMN, "", Label(spot("path"))))


def test_a_second_label_in_the_same_line_shares_its_excerpt() -> None:
    label = Label(spot("'é'"), "not this")
    assert body(Diagnostic(UNKNOWN_COLUMN, "", Label(spot("zz"), "this"), (label,))) == (
        " --> specs/x.stream:7:14\n"
        "  |\n"
        "7 | SELECT 'é' , zz FROM y;\n"
        "  |              ^^ this\n"
        "  |        --- not this"
    )


def test_spans_of_several_lines() -> None:
    few = Span(spot(") WITH").start, spot(");").end)
    assert body(Diagnostic(UNKNOWN_COLUMN, "", Label(few, "here"))) == (
        " --> specs/x.stream:4:1\n"
        "  |\n"
        "4 | ) WITH (\n"
        "  | ^^^^^^^^\n"
        "5 |   path = 'f\ufffdiles'\n"
        "  |   ^^^^^^^^^^^^^^^\n"
        "6 | );\n"
        "  | ^^ here"
    )
    many = Span(0, spot(");").end)
    assert body(Diagnostic(UNKNOWN_COLUMN, "", Label(many, "here"))) == (
        " --> specs/x.stream:1:1\n"
        "  |\n"
        "1 | CREATE SOURCE x (\n"
        "  | ^^^^^^^^^^^^^^^^^\n"
        "...\n"
        "6 | );\n"
        "  | ^^ here"
    )


def test_the_end_of_the_file_can_be_marked() -> None:
    end = Span(len(TEXT), len(TEXT))
    assert body(Diagnostic(UNKNOWN_COLUMN, "", Label(end))) == (
        " --> specs/x.stream:8:1\n  |\n8 |\n  | ^"
    )


def test_colour_only_when_asked() -> None:
    plain, coloured = render([found(NO_Y)]), render([found(NO_Y)], color=True)
    assert "\x1b[" not in plain
    assert coloured.startswith("\x1b[1;31merror[SC0201] unknown-name\x1b[0m")


def test_concise() -> None:
    assert render([found(NO_Y)], "concise") == (
        "specs/x.stream:7:22: error[SC0201] unknown-name: nothing is called `y`\n"
    )


def test_json() -> None:
    (one,) = output(render([found(NO_Y)], "json"))["diagnostics"]
    start, end = ({"line": 1, "column": n + 1, "offset": n} for n in (14, 15))
    assert one.pop("labels")[1] == {
        "primary": False,
        "text": "near to this",
        "start": start,
        "end": end,
    }
    assert one == {
        "code": "SC0201",
        "slug": "unknown-name",
        "severity": "error",
        "message": "nothing is called `y`",
        "file": "specs/x.stream",
        "start": {"line": 7, "column": 22, "offset": spot("y;").start},
        "end": {"line": 7, "column": 24, "offset": spot("y;").end},
        "notes": ["names are case-sensitive"],
        "help": "write\n  x",
    }


def test_nothing_found() -> None:
    assert (render([found()]), render([found()], "concise")) == ("", "")
    assert output(render([found()], "json"))["diagnostics"] == []
