"""Bad specs and their diagnostics. A folder is named after the one code that its spec gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compiled
from golden_extension import cases
from streamc.dsl.reports.codes import all_codes
from streamc.dsl.reports.render import render

CASES = cases("errors")

IN_UNIT_TESTS: dict[str, str] = {
    **{f"SC070{n}": "test_spec_tests.py" for n in range(1, 9)},
    **{f"SC090{n}": "test_migration_files.py" for n in range(1, 7)},
    "SC0590": "test_check_spark.py",
}
"""Codes that no spec on disk can give, and the test that covers each."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors(case: Path, golden: Callable[[str, str], None]) -> None:
    result = compiled(case / "spec.stream", "spec.stream")
    diagnostics, number = result.diagnostics, case.name.split("_")[0]
    text = render([diagnostics])
    assert {one.code.number for one in diagnostics} == {number}, text
    golden("stderr.txt", text)


def test_every_code_has_a_case() -> None:
    covered = {case.name.split("_")[0] for case in CASES} | IN_UNIT_TESTS.keys()
    assert {code.number for code in all_codes()} - covered == set()


def test_a_folder_is_called_after_its_code() -> None:
    slugs = {code.number: code.slug.replace("-", "_") for code in all_codes()}
    for case in CASES:
        number, slug = case.name.split("_", 1)
        assert number in slugs, f"{case.name}: no such code"
        assert f"{slug}_".startswith(f"{slugs[number]}_"), f"{number} is {slugs[number]}"
