"""Any name in backticks at any place: compiled, and run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from compiled import compiled_text
from odd_names import (
    FEW,
    NAMES,
    TIMES,
    given,
    inside,
    places,
    right,
    right_inside,
    spec,
    ticked,
    timed,
)
from streamc.cli.testing.find import find_tests
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.report import outcome_text
from streamc.cli.testing.run import run_tests
from streamc.dsl.reports.render import render
from streamc.runtime.state_tables.program_state import plain_name, state_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OFTEN = [
    pytest.param(name, marks=() if name in (*FEW, *TIMES) else pytest.mark.long) for name in NAMES
]
"""One name of each kind is tried in `make test` by itself, and all of them in one spec."""


def script_of(text: str) -> str:
    """The script of a spec, which parses."""
    result = compiled_text(text, "odd.stream")
    assert not len(result.diagnostics), render([result.diagnostics])
    assert result.script is not None and result.plan_json is not None
    json.loads(result.plan_json)
    ast.parse(result.script)
    return result.script


@pytest.mark.slow
def test_all_names_stand_at_all_places() -> None:
    script = script_of(spec(NAMES))
    assert script == script_of(spec(NAMES))


@pytest.mark.parametrize("name", OFTEN)
def test_a_name_stands_inside_of_any_statement(name: str) -> None:
    script_of(inside((name, "other one", "x", "y")))


@pytest.mark.parametrize("name", OFTEN)
def test_an_event_time_has_any_name(name: str) -> None:
    script = script_of(timed(name))
    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    marks = [
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "withWatermark"
        and isinstance(call.args[0], ast.Constant)
    ]
    plain = name.isascii() and name.isidentifier()
    assert marks == [name if plain else ticked(name)] * 2
    # What a script uses of the runtime depends on its code, not on the length of its lines.
    assert "import Job, cumulate, program\n" in script


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_state_is_read_back(name: str) -> None:
    written = state_name(name)
    assert written.isascii() and plain_name(written) == name


def test_names_in_state_are_as_many() -> None:
    assert len({state_name(name) for name in (*NAMES, "my_x0020col", "my col")}) == len(NAMES)


@pytest.mark.parametrize("character", "\n\r\t\0\x1b\x7f\x85\u2028\u202e\u200b\ufeff")
@pytest.mark.parametrize("form", ["`{}` INT", "a STRUCT<`{}` INT>"])
def test_what_cannot_be_seen_is_refused(character: str, form: str) -> None:
    column = form.format(f"a{character}b")
    result = compiled_text(
        f"CREATE SOURCE e ({column}) WITH (connector = 'files', path = 'in', format = 'json');\n"
        "CREATE SINK s FROM e WITH (connector = 'memory');\n",
        "odd.stream",
    )
    # A name with a line end may be one that was not closed, which is reported as well.
    assert {d.code.number for d in result.diagnostics} <= {"SC0215", "SC0102", "SC0101", "SC0107"}
    assert result.script is None


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("way", ["as written", "savepoints"])
def test_rows_of_odd_names(way: str, spark: SparkSession, tmp_path: Path) -> None:
    steps = [
        {"e": [given(FEW, 1)], "f": [given(FEW, 1)]},
        {"e": [given(FEW, 2)], "f": [given(FEW, 2)]},
        "drain",
        {"expect": right(FEW)},
    ]
    holds(tmp_path, spec(FEW), {"name": "odd names", "ways": [way], "steps": steps}, spark)


@pytest.mark.spark
@pytest.mark.long
def test_rows_of_odd_names_inside_of_statements(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"k": "a", "v": n, "ts": f"2026-01-01T10:00:0{n}Z"} for n in (1, 2)]
    table = [{"k": "a", **places(FEW)}]
    steps = [{"t": table, "e": rows, "c": rows}, "drain", {"expect": right_inside(FEW)}]
    holds(tmp_path, inside(FEW), {"name": "odd names", "steps": steps}, spark)


def holds(folder: Path, text: str, case: dict[str, Any], spark: SparkSession) -> None:
    (folder / "tests").mkdir()
    (folder / "odd.stream").write_text(text, encoding="utf-8")
    (folder / "tests" / "odd.yaml").write_text(yaml.dump(case, allow_unicode=True), "utf-8")
    suite = load_tests(find_tests([folder]))
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    (outcome,) = run_tests(suite.tests, spark=spark)
    assert outcome.passed, outcome_text(outcome)


@pytest.mark.long
@pytest.mark.spark
def test_rows_by_an_event_time_of_an_odd_name(spark: SparkSession, tmp_path: Path) -> None:
    for number, name in enumerate(TIMES[1:2]):
        folder = tmp_path / str(number)
        (folder / "tests").mkdir(parents=True)
        (folder / "odd.stream").write_text(timed(name), encoding="utf-8")
        first, second = "2026-01-01T10:00:00Z", "2026-01-01T10:00:05Z"
        rows = [{"k": "a", "v": 1, name: first}, {"k": "a", "v": 2, name: second}]
        expect = {
            "hours_out": [{"k": "a", "window_start": first, "n": 2}],
            "visits_out": [{"k": "a", "window_start": first, "n": 2}],
            "rolling_out": [{"k": "a", name: first, "s": 1}, {"k": "a", name: second, "s": 3}],
            "matched_out": [{"k": "a", "a": first}],
            "firsts_out": [{"k": "a", name: first}],
            "per_pair_out": [{"k": "a", "window_start": first, "n": 3}],
            "versions_out": [{"k": "a", name: first, "v": 1}, {"k": "a", name: second, "v": 2}],
        }
        steps = [{"e": rows, "f": rows}, "drain", {"expect": expect}]
        case = yaml.dump({"name": name, "steps": steps}, allow_unicode=True)
        (folder / "tests" / "odd.yaml").write_text(case, "utf-8")
    suite = load_tests(find_tests([tmp_path]))
    assert not any(found.has_errors for found in suite.found), render(suite.found)
    for outcome in run_tests(suite.tests, spark=spark):
        assert outcome.passed, outcome_text(outcome)
