"""Programs of operators: what names, reads and statements of them become."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from compiled import compiled
from golden_extension import cases
from program_texts import HANDLED, emitted, operator, program, told, value
from streamc.compiler.graph import build
from streamc.compiler.model import reads
from streamc.compiler.model.pipeline import Pipeline
from streamc.compiler.model.programs import IfBranch, columns_used, expressions, statements
from streamc.compiler.model.typed import Typed
from streamc.compiler.plan.lower import lower
from streamc.compiler.views.flow import flow
from streamc.compiler.views.model_text import pipeline_text
from streamc.contracts.plan import Column, Use
from streamc.dsl.ast.expressions import ColumnRef
from streamc.dsl.ast.walk import walk
from streamc.dsl.format import sql
from streamc.dsl.layout import format_source

CASES = [case for case in cases("golden") if case.name.startswith("operator_")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_specs_are_laid_out(case: Path) -> None:
    source = compiled(case / "spec.stream", f"{case.name}.stream").source
    assert format_source(source).text == source.text


def test_the_plan_has_cells_and_timers_by_name() -> None:
    graph = build(model("rate_limit"))
    plan = lower(graph)
    entry = plan.operators["alerts"].to_json()
    handlers = entry.pop("statements")
    assert handlers[0] == "on event requests" and "on timer idle" in handlers
    assert entry == {
        "kind": "operator",
        "stream": "alerts",
        "keys": [{"name": "key", "type": "STRING"}],
        "inputs": [
            {
                **{"alias": "requests", "relation": "requests", "event_time": "ts"},
                "input": [{"from": "requests", "where": [], "columns": {"ts": "ts", "key": "key"}}],
            }
        ],
        "ordered": True,
        "declared": True,
        "cells": [
            *[
                cell("recent", "list", "ARRAY<TIMESTAMP>") | {"entry": "TIMESTAMP"},
                cell("quiet_until", "value", "TIMESTAMP"),
            ],
            cell("suppressed", "value", "INT") | {"default": "0"},
        ],
        "timers": [{"id": "idle", "time": "event"}],
        "returns": [
            {"name": name, "type": type_}
            for name, type_ in (
                *(("key", "STRING"), ("ts", "TIMESTAMP")),
                *(("count", "INT"), ("suppressed_before", "INT")),
            )
        ],
    }
    columns = (Column("ts", "TIMESTAMP"), Column("key", "STRING"))
    assert plan.queries["alerts"].operators == (Use("alerts", waiting={"requests": columns}),)


def cell(name: str, kind: str, type_: str) -> dict[str, str | None]:
    return {"id": name, "kind": kind, "type": type_, "default": None, "ttl": None}


def test_the_flow_has_a_box_for_an_operator() -> None:
    graph = build(model("temp_then_smoke"))
    picture = flow(graph, lower(graph))
    box = next(box for box in picture.boxes if box.name == "alerts")
    texts = [line.text for line in box.lines]
    words = "program for each room, in event-time order"
    assert texts == [words, "state alerts by room", "cells hot", "timers cooled"]
    arrows = [(arrow.start, arrow.end) for arrow in picture.arrows]
    assert arrows == [("smoke", "alerts"), ("temp", "alerts"), ("alerts", "out")]


def model(name: str) -> Pipeline:
    path = Path(__file__).parent / "golden" / f"operator_{name}" / "spec.stream"
    found = compiled(path, f"{name}.stream").model
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "printed", "kinds"),
    [
        ("n", "n", ["ColumnRef"]),
        ("a.n", "n", ["ColumnRef"]),
        ("A.N", "n", ["ColumnRef"]),
        ("s.x", "s.x", ["ColumnRef"]),
        ("last.q", "last.q", ["CellRef"]),
        ("o.last.q", "last.q", ["CellRef"]),
        ("LAST.Q", "last.q", ["CellRef"]),
        ("m[a.k].n", "m[k].n", ["EntryRef", "CellRef", "ColumnRef"]),
        ("element_at(m, 'x').n", "m['x'].n", ["EntryRef", "CellRef"]),
        ("size(m)", "size(m)", ["SizeCall", "CellRef"]),
        ("cardinality(seen)", "size(seen)", ["SizeCall", "CellRef"]),
        ("size(lines) + size(tags)", None, ["SizeCall", "CellRef", "Call", "ColumnRef"]),
        ("deep['x'][n]", "deep['x'][n]", ["Index", "EntryRef", "CellRef", "ColumnRef"]),
        ("by_name['x']", "by_name['x']", ["Index", "ColumnRef"]),
        ("lines[0].q", "lines[0].q", ["Index", "CellRef"]),
        (
            "deep[m['x'].at::STRING][1]",
            None,
            ["Index", "EntryRef", "CellRef", "EntryRef", "CellRef"],
        ),
        ("twice(n)", "n * 2", ["ColumnRef"]),
        ("size(map_keys(m))", None, ["Call", "Call", "CellRef"]),
        ("reduce(tags, 0, (total, n) -> total + 1)", None, ["Call", "ColumnRef", "ColumnRef"]),
    ],
)
def test_reads(text: str, printed: str | None, kinds: list[str]) -> None:
    found = value(text)
    names = {"ColumnRef", "Call", "Index", *dir(reads)}
    assert [n for one in walk(found) if (n := type(one).__name__) in names] == kinds
    if printed is not None:
        assert sql(found) == printed


@pytest.mark.parametrize(
    ("text", "printed", "kind"),
    [
        ("contains(m, a.k)", "contains(m, k)", reads.ContainsCall),
        ("map_contains_key(m, 'x')", "contains(m, 'x')", reads.ContainsCall),
        ("contains(seen, n)", "contains(seen, n)", reads.ContainsCall),
        ("array_contains(seen, n)", "contains(seen, n)", reads.ContainsCall),
        ("contains(seen, small)", "contains(seen, CAST(small AS INT))", reads.ContainsCall),
        ("contains(tags, 'x')", "array_contains(tags, 'x')", ColumnRef),
        ("contains(by_name, 'x')", "map_contains_key(by_name, 'x')", ColumnRef),
        ("contains(k, 'x')", "contains(k, 'x')", ColumnRef),
    ],
)
def test_contains(text: str, printed: str, kind: type) -> None:
    found = value(text, "BOOLEAN")
    assert sql(found) == printed
    assert any(type(one) is kind for one in walk(found))


@pytest.mark.parametrize(
    ("text", "type_", "printed"),
    [
        ("now()", "TIMESTAMP", "now()"),
        ("current_timestamp", "TIMESTAMP", "now()"),
        ("CURRENT_DATE", "DATE", "CAST(now() AS DATE)"),
        ("watermark()", "TIMESTAMP", "watermark()"),
        ("age(a.ts)", "INTERVAL DAY TO SECOND", "now() - a.ts"),
    ],
)
def test_clocks(text: str, type_: str, printed: str) -> None:
    found = value(text, type_)
    assert sql(found) == printed
    assert any(isinstance(one, reads.NowCall | reads.WatermarkCall) for one in walk(found))


def test_a_column_with_the_name_of_a_cell_is_qualified() -> None:
    assert sql(value("a.ts", "TIMESTAMP")) == "a.ts"
    assert type(value("a.ts", "TIMESTAMP")) is ColumnRef
    assert isinstance(value("o.ts", "TIMESTAMP"), reads.CellRef)
    assert sql(value("o.ts", "TIMESTAMP")) == "ts"
    assert told(program(f"ON EVENT EMIT hour(ts); {HANDLED}")) == [
        "SC0443 `ts` is a column of `a` and a cell of `o`"
    ]


def test_a_timer_handler_has_keys_and_its_instant_and_no_row() -> None:
    assert isinstance(value("k", "STRING", "ON TIMER due"), reads.KeyRef)
    assert isinstance(value("due", "TIMESTAMP", "ON TIMER due"), reads.InstantRef)
    assert isinstance(value("ts", "TIMESTAMP", "ON TIMER due"), reads.CellRef)
    for name, message in (
        ("n", "SC0430 ON TIMER due has no row of `a`"),
        ("a.n", "SC0430 ON TIMER due has no row of `a`"),
        ("hour(tick)", "SC0430 there is no `tick` in ON TIMER due"),
    ):
        body = f"ON EVENT EMIT 1; ON TIMER due EMIT {name}; ON TIMER tick EMIT 1;"
        assert told(program(body)) == [message]


def test_keys_have_the_names_of_the_first_input() -> None:
    head = "a PARTITION BY s.k, n, b PARTITION BY id, k"
    body = f"ON EVENT a EMIT 1; ON EVENT b EMIT {{}}; {HANDLED}"
    step = operator(program(body.format("n + b.k"), head=head))
    assert [(key.name, str(key.type)) for key in step.keys] == [("k", "STRING"), ("n", "INT")]
    (found,) = emitted(step.handlers[1])
    assert sql(found) == "n + b.k"
    kinds = [type(one) for one in walk(found) if isinstance(one, ColumnRef)]
    assert kinds == [reads.KeyRef, ColumnRef]
    assert told(program(body.format("k"), head=head)) == [
        "SC0443 `k` is a column of `b` and a key of `o`"
    ]


def test_only_what_a_program_reads_is_needed_of_its_inputs() -> None:
    head = "a PARTITION BY k ORDER BY ts, b PARTITION BY id ORDER BY at"
    body = f"ON EVENT a IF s.x > 1 THEN EMIT n; END IF; ON EVENT b EMIT 1; {HANDLED}"
    step = operator(program(body, head=head))
    assert [columns_used(step, given) for given in step.inputs] == [
        ("k", "n", "s", "ts"),
        ("id", "at"),
    ]


def test_locals_end_with_their_block() -> None:
    body = """ON EVENT
      IF n > 1 THEN DECLARE x INT = 1; EMIT x; ELSE DECLARE x INT = 2; EMIT x; END IF;
      FOR x IN tags DO EMIT size(array(x)); END FOR;
      {}
    """
    assert told(program(body.format("") + HANDLED)) == []
    assert told(program(body.format("EMIT x;") + HANDLED)) == [
        "SC0430 there is no `x` in ON EVENT a"
    ]


@pytest.mark.parametrize(
    ("returns", "event", "due", "tick", "watermarks"),
    [
        ("x TIMESTAMP", "a.ts", "due", None, {"x": "1 minute"}),
        ("y INT, x TIMESTAMP", "n, a.ts", "1, due", None, {"x": "1 minute"}),
        ("x TIMESTAMP, y TIMESTAMP", "a.ts, a.ts", "due, due", None, {"x": "1 minute"}),
        ("x TIMESTAMP", "a.ts + INTERVAL 1 SECOND", "due", None, {}),
        ("x TIMESTAMP", "o.ts", "due", None, {}),
        ("x TIMESTAMP", "a.ts", "o.ts", None, {}),
        ("x TIMESTAMP", "a.ts", "due", "tick", {}),
        ("x TIMESTAMP", "day", "due", None, {}),
    ],
)
def test_event_time_of_the_output(
    returns: str, event: str, due: str, tick: str | None, watermarks: dict[str, str]
) -> None:
    last = f"EMIT {tick};" if tick else "CLEAR total;"
    body = f"ON EVENT EMIT {event}; ON TIMER due EMIT {due}; ON TIMER tick {last}"
    step = operator(program(body, returns=returns))
    assert {f.name: str(f.watermark) for f in step.returns if f.watermark} == watermarks


def test_the_slowest_input_gives_the_watermark() -> None:
    body = f"ON EVENT a EMIT a.ts; ON EVENT b EMIT at; {HANDLED}".replace("1;", "NULL;")
    head = "a PARTITION BY k ORDER BY ts, b PARTITION BY id ORDER BY at"
    body = body.replace("ON TIMER due EMIT NULL", "ON TIMER due EMIT due")
    body = body.replace("ON TIMER tick EMIT NULL", "ON TIMER tick CLEAR total")
    step = operator(program(body, head=head, returns="x TIMESTAMP"))
    assert [str(f.watermark) for f in step.returns] == ["5 minutes"]


EVERY_STATEMENT = """ON EVENT DECLARE x INT; SET x = 1; SET total = 1;
  IF n > 1 THEN CLEAR total; ELSEIF n > 2 THEN CLEAR STATE; ELSE STOP TIMER due; END IF;
  WHILE x > 0 DO SET x = x - 1; END WHILE; FOR y IN tags DO EMIT 1; END FOR;
  PUT m['x'] = named_struct('at', day, 'n', n); REMOVE m['x']; ADD 1 TO seen; REMOVE 1 FROM seen;
  APPEND last TO lines; START TIMER due AT day; EMIT n;
    """


def test_every_statement_of_a_model_has_a_text() -> None:
    result = program(EVERY_STATEMENT + HANDLED)
    assert result.model is not None
    text = pipeline_text(result.model).split("  operator o\n")[1].split("\n  x INT")[0]
    assert text.splitlines()[13:35] == [
        "      declare x INT = CAST(NULL AS INT)",
        "      set local x = 1",
        "      set total = CAST(1 AS BIGINT)",
        "      if n > 1",
        "        clear total",
        "      else if n > 2",
        "        clear state",
        "      else",
        "        stop timer due",
        "      while x > 0",
        "        set local x = x - 1",
        "      for y STRING in tags",
        "        emit 1",
        "      put m['x'] = CAST(named_struct('at', day, 'n', n) AS STRUCT<at TIMESTAMP, n INT>)",
        "      remove 'x' from m",
        "      add 1 to seen",
        "      remove 1 from seen",
        "      append last to lines",
        "      start timer due at CAST(day AS TIMESTAMP)",
        "      emit n",
        "    on timer due",
        "      emit 1",
    ]


def test_no_expression_of_a_statement_is_forgotten() -> None:
    for handler in operator(program(EVERY_STATEMENT + HANDLED)).handlers:
        for statement in statements(handler.body):
            held: list[object] = []
            for one in fields(statement):
                part = getattr(statement, one.name)
                held += part if isinstance(part, tuple) else [part]
            held = [one.condition if isinstance(one, IfBranch) else one for one in held]
            assert [one for one in held if isinstance(one, Typed)] == [*expressions(statement)]
