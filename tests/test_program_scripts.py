"""Programs in scripts and plans: inside a chain, at its ends, and how runs use a plan."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from compiled import compiled_text, plan_in, written
from program_texts import HANDLED, program
from streamc.compiler.emit import emit
from streamc.compiler.graph import build
from streamc.compiler.graph.text import graph_text
from streamc.compiler.model.graph import OperatorGraph
from streamc.contracts.notes.meaning import QueryMeaning, meaning_of
from streamc.contracts.plan import Plan
from streamc.runtime.plan.plan import has_programs, load_plan, plan_path
from streamc.runtime.stepping.runs import step_settings

SOURCE = """
CREATE SOURCE a (
  k STRING, n INT, m INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'a', format = 'json');
"""
OPERATOR = """
CREATE OPERATOR o ON {relation} PARTITION BY k ORDER BY {time}
  STATE (total BIGINT DEFAULT 0)
  TTL (total INTERVAL 1 DAY)
  TIMERS (due EVENT TIME)
  RETURNS (k STRING, total BIGINT, at TIMESTAMP)
AS
ON EVENT
  SET total = total + n;
  START TIMER due AT {time} + INTERVAL 1 HOUR;

ON TIMER due
  EMIT k, total, due;
END;

CREATE SINK out FROM {read} WITH (connector = 'memory');
"""
SPEC = SOURCE + OPERATOR.format(relation="a", time="ts", read="o")


def plan_of(spec: str) -> Plan:
    return plan_in(compiled_text(spec, "p.stream"))


# Scripts.


def in_one_chain() -> OperatorGraph:
    """Return a pipeline whose operator stands between two SELECTs of one relation."""
    before = "CREATE STREAM b AS SELECT k, n, m, ts FROM a WHERE m > 1;"
    after = "CREATE STREAM c AS SELECT k, total FROM o WHERE total > 2;"
    spec = SOURCE + before + after + OPERATOR.format(relation="b", time="ts", read="c")
    model = compiled_text(spec, "p.stream").model
    assert model is not None
    parts = {relation.name: relation for relation in model.relations}
    steps = tuple(step for name in ("b", "o", "c") for step in parts[name].steps)
    whole = replace(parts["c"], inputs=parts["b"].inputs, steps=steps)
    return build(replace(model, relations=(whole,)))


def test_an_operator_reads_the_steps_before_it() -> None:
    script = emit(in_one_chain())
    ast.parse(script)
    calls = script[script.index("    c = (") : script.index("    # out")]
    assert calls.startswith(
        "    c = (\n"
        "        job.operator(\n"
        '            "o",\n'
        '            keys={"k": "STRING"},\n'
        "            inputs=[\n"
        "                program.rows(\n"
        '                    "b",\n'
        '                    a.where("m > 1")\n'
        "                    .select(\n"
        '                        "k",\n'
        '                        "n",\n'
        '                        "m",\n'
        '                        "ts",\n'
        "                    ),\n"
        '                    keys=["k"],\n'
    )
    assert calls.endswith(
        '            event_time="at",\n'
        "        )\n"
        '        .where("total > 2")\n'
        "        .select(\n"
        '            "k",\n'
        '            "total",\n'
        "        )\n"
        "    )\n\n"
    )


def test_an_operator_in_a_chain_has_its_state_in_the_query() -> None:
    graph = in_one_chain()
    assert [use.step.id for query in graph.queries for use in query.states] == ["o"]
    assert "    waiting rows of b: k, n, ts\n" in graph_text(graph)
    (relation,) = graph.pipeline.relations
    kinds = [type(step).__name__ for step in relation.steps]
    assert kinds == ["Filter", "Project", "Operator", "Filter", "Project"]


def test_an_aggregate_keeps_what_the_operator_below_reads() -> None:
    counts = """CREATE STREAM s AS SELECT k, window_time, COUNT(*) AS n, MAX(m) AS top
      FROM TUMBLE(a, ts, INTERVAL 1 MINUTE) GROUP BY k, window_time;"""
    spec = SOURCE + counts + OPERATOR.format(relation="s", time="window_time", read="o")
    uses = plan_of(spec).queries["o"].operators
    assert [(use.id, use.aggregates) for use in uses] == [("o", None), ("s", ("count(*)",))]


def test_the_script_imports_what_it_uses() -> None:
    assert "import Job, program\n" in (compiled_text(SPEC, "p.stream").script or "")
    without = f"{SOURCE} CREATE SINK out FROM a WITH (connector = 'memory');"
    assert "import Job\n" in (compiled_text(without, "p.stream").script or "")


def test_texts_and_comments_import_nothing() -> None:
    spec = (
        f"{SOURCE}\n-- F.sum(x), program(x), transform(cumulate, x)\n"
        "CREATE SINK out FROM a WITH (connector = 'files', format = 'json', "
        "path = 'F.sum(x), program(x), transform(cumulate, x)');"
    )
    script = compiled_text(spec, "p.stream").script or ""
    assert script.count("F.sum(x), program(x), transform(cumulate, x)") == 2
    assert "import Job\n" in script and "import functions as F" not in script


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ("IF n > 1 THEN END IF; EMIT 1;", 'program.when(\n"n > 1",\n),\nprogram.emit("1"),'),
        ("EMIT size(map_keys(m));", 'program.emit("size(map_keys(m))"),'),
        ("EMIT n; EMIT n;", 'program.emit("n"),\nprogram.emit("n"),'),
        ("IF TRUE THEN EMIT 1; ELSE EMIT 2; END IF;", '.otherwise(\nprogram.emit("2"),\n),'),
        ("FOR x IN tags DO SET last = NULL; END FOR; EMIT 1;",
         'program.each(\n"x",\n"STRING",\n"tags",\nprogram.assign("last", '
         '"CAST(NULL AS STRUCT<q INT>)"),\n),'),
        ("START TIMER due AT a.ts; EMIT 1;", 'program.start_timer("due", "a.ts"),'),
        ("""EMIT length('"');""", """program.emit("length('\\"')"),"""),
    ],
)  # fmt: skip
def test_steps(body: str, step: str) -> None:
    script = program(f"ON EVENT {body} {HANDLED}").source.text
    script += " CREATE SINK out FROM o WITH (connector = 'memory');"
    emitted = compiled_text(script, "p.stream").script
    assert emitted is not None
    ast.parse(emitted)
    lines = [line.strip() for line in emitted.splitlines()]
    assert step in "\n".join(lines), emitted[emitted.index("handlers") :]


@pytest.mark.slow
def test_a_line_with_its_comma_is_no_longer_than_a_hundred() -> None:
    for length in range(20, 60):
        text = f"ON EVENT IF n > 1 THEN EMIT length('{'x' * length}'); END IF; {HANDLED}"
        spec = program(text).source.text + " CREATE SINK out FROM o WITH (connector = 'memory');"
        script = compiled_text(spec, "p.stream").script or ""
        line = next(one for one in script.splitlines() if "xxx" in one)
        assert len(line) <= 100
        whole = f"{' ' * 20}program.emit(\"length('{'x' * length}')\"),"
        assert (line == whole) == (len(whole) <= 100)


# Plans.


def meaning(spec: str) -> QueryMeaning:
    plan = plan_of(spec)
    return meaning_of(plan, plan.queries["o"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total + n", "total + 2 * n"),
        ("EMIT k, total, due", "EMIT k, -total, due"),
        ("INTERVAL 1 HOUR", "INTERVAL 2 HOURS"),
        ("RETURNS (k STRING, total BIGINT,", "RETURNS (k STRING, sum BIGINT,"),
        ("ON a PARTITION", "ON a AS rows_of_a PARTITION"),
    ],
)
def test_a_state_means_the_same(old: str, new: str) -> None:
    assert old in SPEC
    assert meaning(SPEC.replace(old, new)) == meaning(SPEC)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(total BIGINT DEFAULT 0)", "(total INT DEFAULT 0)"),
        ("(total BIGINT DEFAULT 0)", "(total BIGINT DEFAULT 1)"),
        ("(total INTERVAL 1 DAY)", "(total INTERVAL 2 DAYS)"),
        ("(due EVENT TIME)", "(due PROCESSING TIME)"),
        ("PARTITION BY k ORDER", "PARTITION BY k, m ORDER"),
        ("PARTITION BY k ORDER BY ts", "PARTITION BY k"),
        ("total + n", "total + n + m"),
    ],
)
def test_a_state_means_something_else(old: str, new: str) -> None:
    assert old in SPEC
    assert meaning(SPEC.replace(old, new)) != meaning(SPEC)


@pytest.mark.parametrize(("spec", "backend"), [(SPEC, "rocksdb"), (SOURCE, "memory")])
def test_steps_keep_programs_in_rocksdb(spec: str, backend: str, tmp_path: Path) -> None:
    if spec is SOURCE:
        spec += "CREATE SINK out FROM a WITH (connector = 'memory');"
    plan = load_plan(plan_path(written(compiled_text(spec, "p.stream"), tmp_path)))
    assert (has_programs(plan), "o" in plan.operators) == (backend == "rocksdb",) * 2
    assert step_settings(plan, tmp_path, {}, None).state_backend == backend
