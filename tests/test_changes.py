"""Two versions of a spec: an edit changes only its own lines, and its effect on state is shown."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compiled
from golden_extension import cases
from streamc.compiler.driver import CompileResult
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.differences import with_meaning
from streamc.compiler.plan.compare import compare_plans
from streamc.compiler.plan.compare_text import changes_text
from streamc.dsl.reports.render import render


def version(case: Path, name: str) -> CompileResult:
    result = compiled(case / f"{name}.stream", "pipeline.stream")
    assert not len(result.diagnostics), render([result.diagnostics])
    return result


@pytest.mark.parametrize("case", cases("changes", "before.stream"), ids=lambda case: case.name)
def test_changes(case: Path, golden: Callable[[str, str], None]) -> None:
    before, after = version(case, "before"), version(case, "after")
    assert before.script is not None and after.script is not None
    lines = difflib.unified_diff(
        before.script.splitlines(keepends=True),
        after.script.splitlines(keepends=True),
        "before/pipeline.py",
        "after/pipeline.py",
    )
    golden("pipeline.diff", "".join(lines) or "no difference\n")
    assert before.plan is not None and after.plan is not None
    found = plan_migration(before.plan, after.plan)
    changes = with_meaning(compare_plans(before.plan, after.plan), found)
    golden("verdict.txt", changes_text(changes))
