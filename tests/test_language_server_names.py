"""What the language server uses: positions, signatures, and the names of a spec."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def test_positions_are_those_of_the_protocol() -> None:
    """Characters outside the first plane are two units; what is past a line is its end."""
    from lsprotocol.types import Position
    from streamc.cli.language_server.positions import Places

    places = Places("ä😀x\n😀\n")
    at = [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0), (1, 2), (2, 0)]
    assert [places.offset(Position(*one)) for one in at] == list(range(7))
    assert [places.position(offset) for offset in range(7)] == [Position(*one) for one in at]
    assert places.offset(Position(0, 99)) == 3
    assert places.offset(Position(9, 0)) == 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("UUID", "uuid([BIGINT]) -> STRING"),
        ("transform", "transform(ARRAY<T>, fn(T, [INT]): U) -> ARRAY<U>"),
        ("round", "round(NUMBER, [INT])"),
        ("sum", "sum(numeric)"),
        ("count", "count(any, ...)"),
        ("row_number", "row_number()"),
        ("nothing", None),
    ],
)
def test_signatures(name: str, text: str | None) -> None:
    from streamc.compiler.model.signature_text import signature_text

    assert signature_text(name) == text


@pytest.mark.slow
def test_every_name_of_the_expected_specs_is_known() -> None:
    """Each reference in a spec that compiles stands for something."""
    from streamc.cli.language_server.names import find_names
    from streamc.compiler.driver import compile_source
    from streamc.dsl.ast.expressions import ColumnRef
    from streamc.dsl.ast.walk import walk
    from streamc.dsl.reports.source import SourceFile

    unknown, references = [], 0
    for path in sorted(GOLDEN.glob("*/spec.stream")):
        source = SourceFile.read(path)
        result = compile_source(source, stop_after="model")
        assert result.spec is not None
        found = {o.span for o in find_names(result.spec, source, result.schemas).occurrences}
        nodes = [node for node in walk(result.spec) if isinstance(node, ColumnRef)]
        references += len(nodes)
        unknown += [source.excerpt(n.span) for n in nodes if n.parts[0].span not in found]
    assert references > 1000
    # A pane and a unit of time are declared nowhere; an alias may name another alias.
    assert set(unknown) <= {"pane", "HOUR", "n"}


@pytest.mark.slow
def test_names_of_the_expected_specs_can_be_changed() -> None:
    """A new name is used everywhere, or the spec would not compile; a rejected rename says why."""
    from streamc.cli.language_server.documents import Analysis
    from streamc.cli.language_server.rename import NotRenamed, rename
    from streamc.compiler.driver import compile_source
    from streamc.dsl.reports.source import SourceFile

    refused, renamed = [], 0
    for case in ("union", "lookups", "patterns", "user_aggregates", "operator_inventory_balance"):
        source = SourceFile.read(GOLDEN / case / "spec.stream")
        result = compile_source(source, stop_after="graph")
        analysis = Analysis(source, result, result.schemas)
        declared = {o.symbol.declared for o in analysis.names.occurrences} - {None}
        for span in sorted(s for s in declared if s is not None):
            try:
                assert rename(analysis, analysis.places.position(span.start), "zz_new")
                renamed += 1
            except NotRenamed as error:
                refused.append(f"{case}: {error}")
    assert refused == []
    assert renamed > 80
