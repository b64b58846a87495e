"""The document of a migration: read as it was written, with the columns that expressions read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamc.contracts.json_records import Malformed
from streamc.contracts.migration import Made, Migration, OperatorChange
from streamc.dsl.ast.expressions import ColumnRef, Lambda
from streamc.dsl.ast.walk import walk
from streamc.dsl.parsing.parse import parse_expression
from streamc.dsl.reports.source import SourceFile

TESTS = Path(__file__).parent
WRITTEN = sorted(TESTS.glob("*/*/migration.json"))


def read(path: Path) -> Migration:
    return Migration.from_json(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_what_is_read_is_written_again(path: Path) -> None:
    assert read(path).to_text() == path.read_text(encoding="utf-8")


def test_expressions_name_all_columns_that_they_read() -> None:
    found = [
        one
        for path in WRITTEN
        for change in read(path).operators.values()
        for one in sql_of(change)
    ]
    assert len(found) > 1000
    for text, reads in found:
        assert set(reads) == columns_of(text), text


def sql_of(change: OperatorChange) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the expressions of a change that say what they read."""
    columns = (*change.keys, *change.timers)
    columns += tuple(one for side in change.sides for one in side.columns)
    columns += tuple(one for given in change.waiting or () for one in given.columns)
    for one in (*columns, *change.cells):
        yield one.expr, one.reads
    if change.where is not None:
        yield change.where, change.where_reads


def columns_of(text: str) -> set[str]:
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    assert tree is not None and not len(diagnostics), text
    bound = {p.text for node in walk(tree) if isinstance(node, Lambda) for p in node.parameters}
    return {n.parts[0].text for n in walk(tree) if isinstance(n, ColumnRef)} - bound


def test_a_column_as_it_was_is_distinguished_from_one_that_is_computed() -> None:
    made = [
        Made("a", "a", ("a",)),
        Made("b", "`a``b.c`", ("a`b.c",)),
        Made("c", "a + 1", ("a",)),
        Made("d", "a + b", ("a", "b")),
        Made("e", "CAST(NULL AS INT)"),
    ]
    assert [one.column for one in made] == ["a", "a`b.c", None, None, None]


def test_a_document_of_another_format_is_refused() -> None:
    document = read(WRITTEN[0]).to_json()
    with pytest.raises(Malformed, match="its `format` is 1, and 2 is read"):
        Migration.from_json(document | {"format": 1})
