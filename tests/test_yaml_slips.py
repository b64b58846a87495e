"""Texts that are not YAML: the slip, and how to fix it."""

from __future__ import annotations

import pytest
from streamc.dsl.yaml.nodes import read_documents
from streamc.dsl.yaml.slips import slip_of
from streamc.dsl.yaml.tree import YamlSyntaxError


@pytest.mark.parametrize(
    ("text", "problem", "marked", "help_"),
    [
        ("d: x\n v: 1\n", "`v` is indented deeper", " ", "remove the space before `v`"),
        ("s:\n  d: x\n    v: 1\n", "`v` is indented deeper", "    ", "remove 2 spaces before `v`"),
        ("- d: x\n     v: 1\n", "`v` is indented deeper", "     ", "before `v`"),
        ("d: x: y\n", "a value contains a colon", ":", "in quotes"),
        ("d: a\nu: http://x: 1\n", "a value contains a colon", ":", "in quotes"),
        ("s:\n    a: 1\n  b: 2\n", "indented by 2, and none above", "b", "by 0 or 4"),
        ("d\nv: 1\n", "the line `d` has no colon", "d", "write `name: value`"),
        ("v: 1\nd\nw: 1\n", "the line `d` has no colon", "d", "write `name: value`"),
        ("d:x\nv: 1\n", "no space after its colon", "d:x", "write `d: x`"),
        ("d: 'it's'\n", "text follows a quoted value", "s", "written twice"),
        ('d: "x" y\n', "text follows a quoted value", "y", "the whole value"),
        ("d: 'x\nv: 2\n", "a quote is not closed", "'", "close it"),
        ("d: [1, 2\nv: 3\n", "`[` is not closed", "[", "end it with `]`"),
        ("d: {a: 1\nv: 3\n", "`{` is not closed", "{", "end it with `}`"),
        ("d: @x\n", "begins with `@`", "@", "in quotes"),
        ("d: *x\n", "begins with `*`", "*", "in quotes"),
        ("d:\n\tv: 1\n", "a tab indents a line", "\t", "with spaces"),
        ('d: "\\d"\n', "is an escape in double quotes", "\\", "single quotes"),
        ("d: 1\n- e\n", "a list item is used where", "-", None),
        ("d: }\n", "`}` closes nothing", "}", "in quotes"),
        ("d: {e: [\n", "is not closed", "", "end it with"),
        ("- d\ne: 1\n", "where a list item is expected", "e", "`- `"),
    ],
)
def test_slips(text: str, problem: str, marked: str, help_: str | None) -> None:
    with pytest.raises(YamlSyntaxError) as caught:
        read_documents(text)
    slip = slip_of(str(caught.value), caught.value.offset, text)
    assert problem in slip.problem
    assert text[slip.span.start : slip.span.end] == marked
    assert (help_ is None) == (slip.help is None) and (help_ or "") in (slip.help or "")


def test_the_place_in_a_file_that_holds_more() -> None:
    before = "---\n# a comment: with a colon\n"
    text = before + "d: x\n v: 1\n---\n"
    slip = slip_of("mapping values", text.index(": 1"), text, start=len(before))
    assert slip.help == "remove the space before `v`"
