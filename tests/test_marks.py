"""Marks of a state: what a migration leaves partly right, from when and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_run import Run, run
from compiled import compiled_text, plan_in
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.results.document import document
from streamc.contracts.notes.marks import Mark, open_marks
from streamc.contracts.savepoint import SavedOperator, SavedQuery, Savepoint
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.savepoints.migrate.incompleteness import marks_after, partly
from streamc.runtime.savepoints.migrate.state_mapping import Fit
from streamc.runtime.state.state import generation_note
from streamc.runtime.storage.notes import seal

__all__ = ["run"]

OLD = """\
---
pipeline: cards
version: 1
---
CREATE SOURCE payments (
  card STRING NOT NULL, v DOUBLE, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT card, window_start, SUM(v) AS total
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE) GROUP BY card, window_start;
CREATE SINK out FROM spend WITH (connector = 'files', path = 'out', format = 'json');
"""
NEW = OLD.replace("version: 1", "version: 2").replace("AS total", "AS total, MAX(v) AS peak")
SESSIONS = ("TUMBLE(payments, at, INTERVAL 1 MINUTE)", "SESSION(payments, at, INTERVAL 1 MINUTE)")
STOOD = 1_000_000


def fit(old: str, new: str, word: str, *marks: Mark) -> Fit:
    """Return the migration from an old spec to a new one, with the peak empty or computed."""
    return decided(old, new, f"{{accept: {{'max(v)': {word}}}}}", *marks)


def decided(old: str, new: str, decisions: str, *marks: Mark) -> Fit:
    """Return the migration from an old spec to a new one, with these decisions about `spend`."""
    before, after = (compiled_text(one, "cards.stream") for one in (old, new))
    text = f"from: 1\nto: 2\noperators: {{spend: {decisions}}}\n"
    diagnostics = Diagnostics(SourceFile("m.yaml", text))
    plans = plan_in(before), plan_in(after)
    plan = plan_migration(*plans, read_migration(*plans, diagnostics))
    assert not list(diagnostics)
    operator = SavedOperator("spend", "aggregate", ("card",), ("sum(v)",), {})
    query = SavedQuery(4, STOOD, STOOD, ("out",), {"spend": operator}, counted_as="spend")
    savepoint = Savepoint(
        *("cut", datetime(2026, 1, 1, tzinfo=UTC), "cards", 1, 7, 9, "0001", "s", "4.2.1"),
        plan=plans[0],
        sources={},
        logs={},
        lineage=(),
        queries={"spend": query},
        marks=marks,
    )
    return Fit(savepoint, "", plans[1], document(plan))


def test_a_mark_ends_when_the_windows_of_the_cut_have_closed() -> None:
    (mark,) = marks_after(fit(OLD, NEW, "empty"))
    assert (mark.operator, mark.cell) == ("spend", "max(v)")
    assert (mark.since, mark.watermark_ms) == ("2026-01-01T00:00:00+00:00", STOOD)
    # No row was ahead of the watermark by more than 30 s, and its window ends a minute later.
    assert mark.until_ms == STOOD + 90_000
    assert list(open_marks([mark], {"spend": STOOD + 89_999})) == [mark]
    assert list(open_marks([mark], {"spend": STOOD + 90_000})) == []
    assert list(open_marks([mark], {})) == [mark]


def test_sessions_and_longer_delays() -> None:
    sessions = [text.replace(*SESSIONS) for text in (OLD, NEW)]
    (mark,) = marks_after(fit(*sessions, "empty"))
    assert mark.until_ms is None
    peak, late = marks_after(fit(OLD.replace("30 SECONDS", "2 MINUTES"), NEW, "empty"))
    assert (peak.cell, late.cell) == ("max(v)", None)
    assert "late by another watermark" in late.reason
    assert peak.until_ms == late.until_ms == STOOD + 180_000


def test_what_is_computed_is_whole_unless_rows_are_gone() -> None:
    way = fit(OLD, NEW, "backfill")
    assert marks_after(way) == ()
    (mark,) = partly(way, "1 of 2 files are gone")
    assert (mark.cell, mark.reason) == ("max(v)", "1 of 2 files are gone")


def test_marks_carry_over_with_what_continues() -> None:
    whole = Mark("spend", None, "it begins", "2026-01-01T00:00:00+00:00", 5, None)
    total, gone = replace(whole, cell="sum(v)"), replace(whole, cell="min(v)")
    assert marks_after(fit(OLD, NEW, "backfill", whole, total, gone)) == (whole, total)
    again = replace(fit(OLD, NEW, "backfill", whole, gone), migration=None)
    assert marks_after(again) == (whole, gone)


@pytest.mark.parametrize(
    ("was", "now", "decisions", "marked", "found"),
    [
        ("COUNT(v) AS n", "AVG(v) AS mean", "{}", "count(v)", {"avg(v).count"}),
        ("COUNT(v) AS n", "SUM(v) AS sum_of_v", "{}", "count(v)", set()),
        ("AVG(v) AS n", "COUNT(v) AS m", "{}", "avg(v).count", {"count(v)"}),
        ("MAX(v) AS n", "MAX(v) AS m", "{}", "max(v)", {"max(v)"}),
        (
            "MAX(v) AS n",
            "MAX(v + 1) AS m",
            "{rename: {max(v): max(v + 1)}}",
            "max(v)",
            {"max(v + 1)"},
        ),
        ("MAX(v) AS n", "MIN(v) AS m", "{set: {min(v): '`max(v)` + 1'}}", "max(v)", {"min(v)"}),
        ("MAX(v) AS n", "MIN(v) AS m", "{accept: {min(v): empty}}", "max(v)", {"min(v)"}),
    ],
)
def test_marks_follow_what_a_cell_is_made_of(
    was: str, now: str, decisions: str, marked: str, found: set[str]
) -> None:
    old = OLD.replace("AS total", f"AS total, {was}")
    new = old.replace("version: 1", "version: 2").replace(was, now)
    mark = Mark("spend", marked, "it begins", "2026-01-01T00:00:00+00:00", 5, None)
    way = decided(old, new, decisions, mark)
    assert {one.cell for one in marks_after(way)} == found


def test_a_mean_is_no_more_whole_than_the_count_of_all_rows() -> None:
    old = OLD.replace("v DOUBLE", "v DOUBLE NOT NULL").replace(
        "AS total", "AS total, COUNT(*) AS n"
    )
    new = old.replace("version: 1", "version: 2").replace("COUNT(*) AS n", "AVG(v) AS mean")
    mark = Mark("spend", "count(*)", "it begins", "2026-01-01T00:00:00+00:00", 5, None)
    assert {one.cell for one in marks_after(decided(old, new, "{}", mark))} == {"avg(v).count"}


@pytest.mark.parametrize("reached", [STOOD, STOOD + 90_000])
def test_status_shows_them_as_long_as_they_hold(run: Run, reached: int) -> None:
    marks = marks_after(fit(OLD, NEW, "empty"))
    generation = Path("state/generations/0002")
    generation.mkdir(parents=True)
    note = generation_note("0002", None, (), marks)
    (generation / "generation.json").write_text(seal(note.to_json()), encoding="utf-8")
    Path("state/state.json").write_text(seal({"format": 2, "id": "s", "pipeline": "cards"}))
    at = datetime.fromtimestamp(reached / 1000, UTC).isoformat()
    operator = {"id": "spend", "kind": "aggregate", "state_rows": 1, "late_rows": 0}
    rates = {"rate_in": 1.0, "rate_processed": 1.0, "lag_seconds": 0.0, "active": True}
    query = {"query": "spend", "batch": 3, "rows_in": 1, "rows_out": 1, "watermark": at}
    status = {
        **{"owner": "x", "at": at, "version": 2, "generation": "0002", "phase": "running"},
        **{"epoch": 3, "barrier": None, "next_barrier_in_seconds": 1.0},
        "queries": [{**query, **rates, "operators": [operator]}],
    }
    Path("state/control").mkdir()
    Path("state/control/status.json").write_text(seal(status), encoding="utf-8")
    out = run("status", "--state", "state").out
    line = (
        "  marked: spend: max(v), since 2026-01-01 00:00:00, until the watermark is "
        "1970-01-01 00:18:10: nothing that is kept tells it\n"
    )
    assert "generation 0002" in out
    assert (line in out) == (reached == STOOD), out

    Path("cards.stream").write_text(NEW, encoding="utf-8")
    out = run("explain", "cards.stream", "--state", "state").out
    whole = "  complete: every part is what the spec computes from all rows\n"
    assert out.endswith(f"\nState\n{line if reached == STOOD else whole}"), out


def test_a_state_is_explained_with_its_own_spec(run: Run) -> None:
    Path("cards.stream").write_text(NEW, encoding="utf-8")
    Path("state").mkdir()
    Path("state/state.json").write_text(seal({"format": 2, "id": "s", "pipeline": "other"}))
    refused = run("explain", "cards.stream", "--state", "state")
    assert (refused.code, refused.out) == (2, "")
    assert "state is of pipeline `other`, not of `cards`" in refused.err
    assert run("explain", "cards.stream", "--state", "none").code == 2
    assert "goes with a spec" in run("explain", "SC0401", "--state", "state").err
