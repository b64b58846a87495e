"""Good specs: the output of every phase."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compiled
from golden_extension import cases
from streamc.dsl.reports.render import render

STAGES = {
    "ast.txt": "ast",
    "model.txt": "model",
    "graph.txt": "graph",
    "plan.json": "plan",
    "pipeline.py": "script",
}
"""The file of each phase."""

WARNED = {
    "operator_attribution": {"SC0447"},
    "operator_cdc_latest": {"SC0447"},
    "operator_statements": {"SC0446", "SC0447"},
}
"""Operators that handle rows as they come, or all of them by one core: right, and warned of."""


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: case.name)
def test_golden(case: Path, stage: str, golden: Callable[[str, str], None]) -> None:
    result = compiled(case / "spec.stream", f"{case.name}.stream")
    found = {one.code.number for one in result.diagnostics}
    assert found == WARNED.get(case.name, set()), render([result.diagnostics])
    golden(stage, result.text(STAGES[stage]))
