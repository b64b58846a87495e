"""The comments of a spec in the script: above the paragraph of their statement."""

from __future__ import annotations

import ast

from compiled import compiled_text
from hypothesis import given
from hypothesis import strategies as st

SPEC = """-- About the file.

{source}
CREATE SOURCE readings (
  sensor STRING NOT NULL, value DOUBLE, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'data', format = 'json');
-- An empty line is below.

/* no line of its own */
{stream}
CREATE STREAM hot AS
  -- within
  SELECT sensor, value, at FROM readings WHERE value > 80; -- behind
CREATE SINK hot_out FROM hot WITH (connector = 'files', path = 'out', format = 'json');
"""


def script(source: str, stream: str = "--") -> str:
    result = compiled_text(SPEC.format(source=source, stream=stream), "p.stream")
    assert result.script is not None
    return result.script


def test_comments_stand_above_what_they_are_about() -> None:
    found = script("-- From the roof:\n--   twice an hour\n--\n-- at most.", "--why")
    assert (
        "    # From the roof:\n    #   twice an hour\n    #\n    # at most.\n"
        "    # readings: files json source\n    readings = (\n"
    ) in found
    assert "    # why\n    # hot: filter\n    hot = (\n" in found
    for elsewhere in ("About the file", "empty line", "own", "within", "behind"):
        assert elsewhere not in found


def test_they_hold_no_secret() -> None:
    found = script("-- was: jdbc:postgresql://db/x?user=u&password=hunter22")
    assert "hunter22" not in found and "# was: jdbc:postgresql://db/x" in found


def test_lines_end_as_the_file_has_them() -> None:
    spec = SPEC.format(source="-- one\n-- two", stream="--").replace("\n", "\r\n")
    result = compiled_text(spec, "p.stream")
    assert result.script is not None and "    # one\n    # two\n    # readings" in result.script


PLAIN = script("--")


@given(st.text(st.characters(exclude_characters="\n"), max_size=40))
def test_nothing_of_a_comment_is_code(text: str) -> None:
    """Whatever Python, a terminal or a reader takes for the end of a line or for another way."""
    try:
        found = script(f"-- {text}")
    except AssertionError:
        # The spec does not parse: not every character may stand in one.
        return
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(PLAIN))
    assert all(c.isprintable() or c == "\n" for c in found)


def test_the_end_of_the_front_matter_is_no_comment() -> None:
    spec = SPEC.removeprefix("-- About the file.\n\n").format(source="{source}", stream="--")
    for settings in ("", "pipeline: p\n", "# ---\n"):
        for above, lines in (("", []), ("-- Why.", ["# Why."]), ("---", ["# -"])):
            text = f"---\n{settings}---\n{spec.format(source=above).lstrip()}"
            result = compiled_text(text, "p.stream")
            assert result.script is not None
            body = result.script.split('operator\'s id."""\n')[1].splitlines()
            paragraph = [line.strip() for line in body[: body.index("    readings = (")]]
            assert paragraph == [*lines, "# readings: files json source"]
