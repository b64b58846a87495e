"""Migration files: mistakes are reported with their location, and decisions are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compiled, plan_in
from golden_extension import cases
from streamc.compiler.migrate.files.expressions import BadExpression, expression
from streamc.compiler.migrate.files.names import column
from streamc.compiler.migrate.files.read import read_migration, tell_unused
from streamc.compiler.migrate.findings.decisions import Decisions
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.types.conversions import type_of
from streamc.contracts.plan import Plan
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile

FOLDER = Path(__file__).parent / "migration_mistakes"
BAD = cases("migration_mistakes", "migration.yaml")


def plans() -> tuple[Plan, Plan]:
    found = []
    for name in ("old", "new"):
        found.append(plan_in(compiled(FOLDER / f"{name}.stream", "cards.stream")))
    return found[0], found[1]


def read(text: str) -> tuple[Decisions, Diagnostics]:
    old, new = plans()
    diagnostics = Diagnostics(SourceFile("2-to-3.yaml", text))
    decisions = read_migration(old, new, diagnostics)
    plan_migration(old, new, decisions)
    if not diagnostics.has_errors:
        tell_unused(decisions, diagnostics)
    return decisions, diagnostics


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_mistakes(case: Path, golden: Callable[[str, str], None]) -> None:
    _, diagnostics = read((case / "migration.yaml").read_text(encoding="utf-8"))
    text = render([diagnostics])
    assert {one.code.number for one in diagnostics} == {case.name.split("_")[0]}, text
    golden("stderr.txt", text)


def test_every_code_of_migrations_has_a_case() -> None:
    assert {case.name.split("_")[0] for case in BAD} == {f"SC090{n}" for n in range(1, 7)}


@pytest.mark.parametrize("written", ["max(amount)", "MAX(amount)", "max( amount )"])
def test_an_aggregate_is_known_however_it_is_written(written: str) -> None:
    decisions, diagnostics = read(
        f"from: 2\nto: 3\noperators: {{per_minute: {{add: {{peak: '{written}'}}}}}}\n"
    )
    assert not len(diagnostics), render([diagnostics])
    assert decisions.values == {("operators", "per_minute", "add", "peak"): "max(amount)"}


def test_an_expression_reads_a_cell_by_the_column_that_it_comes_out_as() -> None:
    decisions, diagnostics = read(
        "from: 2\nto: 3\n"
        "operators: {per_minute: {where: payments > 1, accept: {max(amount): empty}}}\n"
    )
    assert not len(diagnostics), render([diagnostics])
    assert decisions.values["operators", "per_minute", "where"] == "`count(*)` > 1"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("CAST(spot AS STRUCT<y: BIGINT, x: BIGINT>)", "STRUCT<y: BIGINT, x: BIGINT>"),
        ("CAST(array(spot) AS ARRAY<STRUCT<y: INT, x: INT>>)", "ARRAY<STRUCT<y: INT, x: INT>>"),
        ("CAST(map(1, spot) AS MAP<INT, STRUCT<y: INT, x: INT>>)[1]", "STRUCT<y: INT, x: INT>"),
    ],
)
def test_a_cast_makes_no_field_of_another(text: str, type_: str) -> None:
    names = {"spot": column("spot", "STRUCT<x: BIGINT, y: BIGINT>")}
    with pytest.raises(BadExpression, match="goes by place") as refused:
        expression(text, names, type_of(type_))
    assert refused.value.help is not None
    written = refused.value.help.removeprefix("name them: `").removesuffix("`")
    assert "'y', " in written
    if text.startswith("CAST(spot"):
        assert expression(written, names, type_of(type_)).startswith("CAST(CASE WHEN spot IS NULL")


def test_a_cast_of_the_same_fields_is_taken() -> None:
    names = {"spot": column("spot", "STRUCT<x: BIGINT, y: BIGINT>")}
    wider = "STRUCT<x: DECIMAL(19,0), y: BIGINT>"
    assert expression(f"CAST(spot AS {wider})", names, type_of(wider)).startswith("CAST(spot AS")
