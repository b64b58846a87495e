"""Texts of plans, read by the tokens and the parser of the language: statements, other names."""

from __future__ import annotations

import pytest
from compiled import compiled_text, plan_in
from streamc.compiler.migrate.files.read import read_migration
from streamc.compiler.migrate.findings.verdicts import MigrationPlan
from streamc.compiler.migrate.plan import plan_migration
from streamc.compiler.migrate.texts.lines import expressions_in, renamed, words_in
from streamc.dsl.format import sql
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile


@pytest.mark.parametrize(
    ("line", "expressions"),
    [
        ("  set total = coalesce(total + v, v)", ["coalesce(total + v, v)"]),
        ("set local decided = run.rows = 2", ["run.rows = 2"]),
        ("set my col = `my col` + 1", ["`my col` + 1"]),
        ("declare page STRUCT<a: INT> = goal.url", ["goal.url"]),
        ("put seen[f(a = 1)] = b = c", ["b = c", "seen[f(a = 1)]"]),
        ("add named_struct('to', id) to goals", ["named_struct('to', id)"]),
        ("append 'a to b' to texts", ["'a to b'"]),
        ("remove seen[id] from goals", ["seen[id]"]),
        ("start timer due at at + INTERVAL 1 DAY", ["at + INTERVAL 1 DAY"]),
        ("for goal STRUCT<at: TIMESTAMP> in filter(g, x -> x IN (1, 2))", None),
        ("if n > 2", ["n > 2"]),
        ("else if n > 3 AND f(a, b)", ["n > 3 AND f(a, b)"]),
        ("emit k, f(a, b), array(1, 2)[0]", ["k", "f(a, b)", "array(1, 2)[0]"]),
        ("else", []),
        ("on event orders", []),
        ("clear state", []),
        ("set total = ", None),
        ("sum total = 1", None),
    ],
)
def test_expressions_of_a_statement(line: str, expressions: list[str] | None) -> None:
    found = expressions_in(line)
    if line.startswith("for "):
        assert found is not None and sql(found[0]) == line.partition(" in ")[2]
    else:
        assert (None if found is None else [sql(tree) for tree in found]) == expressions


@pytest.mark.parametrize(
    ("line", "names", "fields", "right"),
    [
        ("  set v = v + row.v", {"v": "w"}, False, "  set w = w + row.v"),
        ("set v = v + row.v", {"v": "w"}, True, "set w = w + row.w"),
        ("add struct(v AS v, 'a v')", {"v": "w"}, True, "add struct(w AS w, 'a v')"),
        ("put s[1] = f('v', 'a v')", {"v": "w"}, True, "put s[1] = f('w', 'a v')"),
        ("set s = concat('v', v)", {"v": "w"}, False, "set s = concat('v', w)"),
        ("set s = v + vv + `v` + `a v`", {"v": "a b"}, False, "set s = `a b` + vv + `a b` + `a v`"),
        ("set a b = `a b` + t.`a b`", {"a b": "c"}, False, "set c = c + t.`a b`"),
        ("declare it's INT = `it's`", {"it's": "x"}, False, "declare x INT = x"),
        ("set local v = 1", {"v": "w"}, False, "set local w = 1"),
        ("emit v, x", {}, False, "emit v, x"),
    ],
)  # fmt: skip
def test_names_of_a_statement(line: str, names: dict[str, str], fields: bool, right: str) -> None:
    assert renamed(line, names, fields=fields) == right


def test_words_are_names_of_fields_too() -> None:
    assert {"a", "b c", "d"} <= words_in("f(a.`b c`, 'd')")
    assert "c" not in words_in("f(a.`b c`, 'd')")


SPEC = """\
---
pipeline: cards
version: 1
---
CREATE SOURCE paid (card STRING, cents INT, `at shop` INT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'in', format = 'json');
CREATE SOURCE back (card STRING, cents INT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
WITH (connector = 'files', path = 'back', format = 'json');
CREATE TABLE shops (id INT, city STRING) WITH (connector = 'files', path = 'ref', format = 'json');
CREATE STREAM counted WITH (unbounded = 'few') AS
  SELECT card, window_start, SUM(cents) AS `in all`
  FROM COUNT_WINDOW(paid PARTITION BY card, 3) GROUP BY card, window_start;
CREATE STREAM lately AS
  SELECT card, SUM(`at shop`) OVER (PARTITION BY card ORDER BY ts RANGE INTERVAL 2 HOURS PRECEDING)
    AS `my sum` FROM paid;
CREATE STREAM pairs AS
  SELECT p.card, p.ts, p.`at shop` AS shop, b.cents FROM paid AS p
  JOIN back AS b ON p.card = b.card AND b.ts BETWEEN p.ts - INTERVAL 1 HOUR AND p.ts;
CREATE STREAM cities AS
  SELECT s.city, window_start, COUNT(*) AS n
  FROM TUMBLE(pairs, ts, INTERVAL 1 HOUR) AS x JOIN shops AS s ON s.id = x.shop
  GROUP BY s.city, window_start;
CREATE STREAM towns AS
  SELECT s.city, window_start, COUNT(*) AS n FROM TUMBLE(paid, ts, INTERVAL 1 HOUR) AS x
  JOIN shops AS s ON s.id = x.`at shop` AND s.city <> x.card GROUP BY s.city, window_start;
CREATE SINK a FROM counted WITH (connector = 'memory');
CREATE SINK b FROM lately WITH (connector = 'memory');
CREATE SINK d FROM towns WITH (connector = 'memory');
CREATE SINK c FROM cities WITH (connector = 'memory');
"""


def planned(*edits: tuple[str, str], decisions: str = "") -> MigrationPlan:
    new = SPEC.replace("version: 1", "version: 2")
    for was, now in edits:
        assert was in new
        new = new.replace(was, now)
    plans = [plan_in(compiled_text(text, "cards.stream")) for text in (SPEC, new)]
    diagnostics = Diagnostics(SourceFile("1-to-2.yaml", f"from: 1\nto: 2\n{decisions}"))
    plan = plan_migration(plans[0], plans[1], read_migration(plans[0], plans[1], diagnostics))
    assert not len(diagnostics)
    return plan


@pytest.mark.parametrize(
    "edits",
    [
        [("`in all`", "`all of it`")],
        [("`in all`", "total")],
        [("`my sum`", "`our sum`")],
        [("`my sum`", "total")],
        [("RANGE INTERVAL 2 HOURS", "RANGE INTERVAL 90 MINUTES")],
        [
            ("p.card, p.ts, p.`at shop` AS shop, b.cents FROM paid AS p\n  JOIN back AS b ON",
             "p.card, p.ts, p.`at shop` AS shop, b.cents FROM back AS b\n  JOIN paid AS p ON"),
        ],
    ],
    ids=["spaced", "plain", "frame", "frame plain", "shorter", "turned"],
)  # fmt: skip
def test_the_same_in_other_words_is_not_asked_about(edits: list[tuple[str, str]]) -> None:
    plan = planned(*edits)
    assert [f.why for f in plan.findings() if f.open is not None] == []
    assert not any(f.verdict.value in ("dropped", "starts empty") for f in plan.findings())


def test_a_column_that_is_renamed_is_so_where_rows_are_looked_up() -> None:
    plan = planned(
        *[("`at shop` INT", "store INT"), ("SUM(`at shop`)", "SUM(store)")],
        *[("p.`at shop` AS", "p.store AS"), ("x.`at shop`", "x.store")],
        decisions="sources: {paid: {rename: {at shop: store}}}\n",
    )
    assert [f.why for f in plan.findings() if f.open is not None] == []


def test_a_longer_frame_is_asked_about() -> None:
    plan = planned(("RANGE INTERVAL 2 HOURS", "RANGE INTERVAL 150 MINUTES"))
    assert [f.part for f in plan.findings() if f.open is not None] == ["query"]
