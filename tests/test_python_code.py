"""Code in Python is part of what a plan compares: a changed module gives other values."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiled import plan_in
from streamc.compiler.driver import compile_source
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.plan.modules import module_code
from streamc.contracts.plan import Plan
from streamc.dsl.reports.source import SourceFile

SPEC = """\
CREATE FUNCTION risk(v DOUBLE) RETURNS DOUBLE AS 'models.risk:score';
CREATE SOURCE e (k STRING NOT NULL, v DOUBLE, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE OPERATOR seen WITH (unbounded = 'a few') ON e PARTITION BY k ORDER BY ts
  STATE (n BIGINT)
  RETURNS (k STRING, v DOUBLE, ts TIMESTAMP)
AS
ON EVENT USING PYTHON 'handlers:Seen'
END;
CREATE STREAM top AS
  SELECT k, window_start, SUM(v) AS s FROM TUMBLE(seen, ts, INTERVAL 1 HOUR)
  GROUP BY k, window_start;
CREATE STREAM risks AS
  SELECT k, window_start, SUM(risk(v)) AS s FROM TUMBLE(e, ts, INTERVAL 1 HOUR)
  GROUP BY k, window_start;
CREATE SINK a FROM top WITH (connector = 'memory');
CREATE SINK b FROM risks WITH (connector = 'memory');
"""
CODE = "def score(v):\n    return v * 2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.stream").write_text(SPEC, encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "risk.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "handlers.py").write_text("class Seen:\n    pass\n", encoding="utf-8")
    return tmp_path


def plan_of(folder: Path) -> Plan:
    return plan_in(compile_source(SourceFile.read(folder / "spec.stream")))


def asked(old: Plan, new: Plan) -> dict[str, str]:
    return {
        outcome.id: finding.why
        for outcome in plan_migration(old, new).operators
        for finding in outcome.findings
        if finding.open is not None
    }


def test_another_module_of_a_function_is_asked_about(folder: Path) -> None:
    old = plan_of(folder)
    (folder / "models" / "risk.py").write_text(CODE.replace("2", "3"), encoding="utf-8")
    found = asked(old, plan_of(folder))
    assert found.keys() == {"risks"}
    assert "`risk` is another function" in found["risks"]
    assert "not what that imports" in found["risks"]


def test_another_module_of_a_handler_is_reported_and_asked_about_above_it(folder: Path) -> None:
    old = plan_of(folder)
    (folder / "handlers.py").write_text("class Seen:\n    x = 1\n", encoding="utf-8")
    new = plan_of(folder)
    assert asked(old, new).keys() == {"top"}
    (seen,) = (outcome for outcome in plan_migration(old, new).operators if outcome.id == "seen")
    assert [f.part for f in seen.findings if "its code is another" in f.why] == ["handlers"]


def test_comments_are_no_code(folder: Path) -> None:
    old = plan_of(folder)
    (folder / "models" / "risk.py").write_text(f"# What it costs.\n\n{CODE}", encoding="utf-8")
    assert plan_of(folder) == old


def test_a_module_that_is_not_there_or_no_text(folder: Path) -> None:
    assert module_code(None, "models.risk:score") is None
    assert module_code(folder, "models.other:score") is None
    assert module_code(folder, "models:score") is None
    (folder / "models" / "__init__.py").write_bytes(b"\xff\xfe")
    assert module_code(folder, "models:score") is None
    (folder / "models" / "__init__.py").write_text("x = 1\n", encoding="utf-8")
    assert module_code(folder, "models:score") is not None


TUMBLED = "CREATE STREAM found AS SELECT k, window_start, {items} FROM TUMBLE({rows}, ts, "
TUMBLED += "INTERVAL 1 HOUR) GROUP BY k, window_start;\n"
KEYED = """\
CREATE STREAM f AS SELECT k, risk(v) AS w, ts FROM e;
CREATE OPERATOR found ON f PARTITION BY k ORDER BY ts
  STATE (n DOUBLE) TTL (n INTERVAL 1 DAY) RETURNS (k STRING, n DOUBLE)
AS
ON EVENT
  SET n = w;
  EMIT k, n;
END;
"""
CALLS = {
    "an aggregate": TUMBLED.format(items="MAX(risk(v)) AS x", rows="e"),
    "a filter": TUMBLED.format(items="COUNT(*) FILTER (WHERE risk(v) > 1) AS x", rows="e"),
    "a condition": "CREATE STREAM f AS SELECT k, ts FROM e WHERE risk(v) > 1;\n"
    + TUMBLED.format(items="COUNT(*) AS x", rows="f"),
    "a computed column": "CREATE STREAM f AS SELECT k, risk(v) AS w, ts FROM e;\n"
    + TUMBLED.format(items="SUM(w) AS x", rows="f"),
    "a column that a program reads": KEYED,
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_function_is_found_wherever_it_is_called(text: str, folder: Path) -> None:
    head = SPEC[: SPEC.index("CREATE OPERATOR")]
    sink = "CREATE SINK a FROM found WITH (connector = 'memory');\n"
    (folder / "spec.stream").write_text(head + text + sink, encoding="utf-8")
    old = plan_of(folder)
    (folder / "models" / "risk.py").write_text(CODE.replace("2", "3"), encoding="utf-8")
    found = asked(old, plan_of(folder))
    assert found.keys() == {"found"} and "`risk` is another function" in found["found"]
