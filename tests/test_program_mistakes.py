"""Mistakes in programs of operators, and what is not one."""

from __future__ import annotations

import pytest
from compiled import compiled_text
from program_texts import HANDLED, program, told


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("DECLARE n INT; EMIT n;", "`n` is already a column of the row"),
        ("DECLARE total INT; EMIT 1;", "`total` is already a cell of state"),
        ("DECLARE DUE INT; EMIT 1;", "`DUE` is already a timer"),
        ("DECLARE a INT; EMIT 1;", "`a` is already an input"),
        ("DECLARE o INT; EMIT 1;", "`o` is already the name of the operator"),
        ("DECLARE x INT; DECLARE X INT; EMIT 1;", "`X` is already declared"),
        ("DECLARE x INT; FOR x IN tags DO EMIT 1; END FOR;", "`x` is already declared"),
    ],
)
def test_a_local_hides_nothing(body: str, message: str) -> None:
    assert told(program(f"ON EVENT {body} {HANDLED}")) == [f"SC0202 {message}"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("EMIT count(*);", "SC0312 `count` is an aggregate, which a program does not allow"),
        ("EMIT row_number() OVER (ORDER BY n);",
         "SC0315 `row_number … OVER` is not allowed in a program"),
        ("EMIT scored(n);", "SC0324 Spark cannot call a Python function in a program"),
        ("EMIT watermark(1);", "SC0310 `watermark` takes no argument, not 1"),
        ("IF n THEN EMIT 1; END IF;", "SC0307 `IF` takes a condition, but `n` is INT"),
        ("WHILE n DO SET total = 1; EMIT 1; END WHILE;",
         "SC0307 `WHILE` takes a condition, but `n` is INT"),
        ("SET total = d; EMIT 1;", "SC0434 cell `total` is BIGINT, `d` is DECIMAL(10,2)"),
        ("SET small = small + 1; EMIT 1;", "SC0434 cell `small` is SMALLINT, `small + 1` is INT"),
        ("DECLARE x INT = 'x'; EMIT x;", "SC0434 local `x` is INT, `'x'` is STRING"),
        ("PUT m[n] = last; EMIT 1;", "SC0434 the key of `m` is STRING, `n` is INT"),
        ("ADD k TO seen; EMIT 1;", "SC0434 an element of `seen` is INT, `k` is STRING"),
        ("REMOVE k FROM seen; EMIT 1;", "SC0434 an element of `seen` is INT, `k` is STRING"),
        ("SET due = a.ts; EMIT 1;", "SC0430 there is no cell `due` in `o`"),
        ("FOR x IN n DO EMIT 1; END FOR;",
         "SC0448 FOR goes over the elements of an array, `n` is INT"),
        ("WHILE TRUE DO EMIT 1; END WHILE;", "SC0449 nothing in this loop changes its condition"),
        ("WHILE now() < day DO EMIT 1; END WHILE;",
         "SC0449 nothing in this loop changes its condition"),
        ("WHILE size(m) > n DO REMOVE deep['x']; EMIT 1; END WHILE;",
         "SC0449 nothing in this loop changes its condition"),
        ("EMIT m[k].q;", "SC0316 there is no field `q` in `m[k]`"),
        ("EMIT o.nothing;", "SC0430 there is no cell `nothing` in `o`"),
        ("EMIT a.nothing;", "SC0203 there is no column `nothing` in `a`"),
    ],
)  # fmt: skip
def test_mistakes(body: str, message: str) -> None:
    assert message in told(program(f"ON EVENT {body} {HANDLED}"))


@pytest.mark.parametrize(
    "body",
    [
        "WHILE rand() < 0.5 DO EMIT 1; END WHILE;",
        "WHILE size(m) > 0 DO CLEAR STATE; EMIT 1; END WHILE;",
        "WHILE contains(m, 'x') DO IF n > 1 THEN REMOVE m['x']; END IF; EMIT 1; END WHILE;",
        "WHILE x > 0 DO FOR tag IN tags DO SET x = x - 1; END FOR; EMIT 1; END WHILE;",
    ],
)
def test_loops_that_may_end(body: str) -> None:
    declared = "DECLARE x INT = n;"
    assert told(program(f"ON EVENT {declared} {body} {HANDLED}")) == []


@pytest.mark.parametrize(
    "body",
    [
        "SET total = n;",
        "SET total = NULL;",
        "SET seen = array(1, 2);",
        "SET lines = array();",
        "SET lines = filter(lines, x -> x.q > 1);",
        "SET m = map();",
        "SET o_local = tags;",
        "START TIMER due AT day;",
        "START TIMER tick AT now() + INTERVAL 1 MINUTE;",
        "START TIMER due AT '2026-01-01T00:00:00Z';",
        "PUT deep['x'] = map(1, 2);",
        "CLEAR m; CLEAR seen; CLEAR lines; CLEAR total;",
    ],
)
def test_values_that_fit(body: str) -> None:
    declared = "DECLARE o_local ARRAY<STRING>;"
    assert told(program(f"ON EVENT {declared} {body} EMIT 1; {HANDLED}")) == []


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("nothing", "SC0201 there is no stream or source `nothing`"),
        ("a, a", "SC0202 two inputs are called `a`"),
        ("a AS o", "SC0202 `o` is already the name of the operator"),
        ("timeless PARTITION BY k",
         "SC0401 timer `due` uses the watermark, but no input has one"),
        ("a PARTITION BY nothing", "SC0203 there is no column `nothing` in `a`"),
        ("a PARTITION BY by_name",
         "SC0444 a MAP<STRING, INT> can't be a key of state"),
        ("a AS total PARTITION BY k", "SC0202 `total` is already an input"),
        ("b AS due PARTITION BY id", "SC0202 `due` is already an input"),
        ("sink PARTITION BY k", "SC0201 `sink` is a sink, and a sink cannot be read"),
        ("counts PARTITION BY k", "SC0409 `counts` emits changes, which an operator can't read"),
        ("o PARTITION BY x", "SC0205 `o` reads itself"),
    ],
)  # fmt: skip
def test_inputs(head: str, message: str) -> None:
    more = (
        " CREATE SINK sink FROM a WITH (connector = 'console');"
        " CREATE STREAM counts WITH (unbounded = 'test') AS"
        " SELECT k, COUNT(*) AS c FROM a GROUP BY k EMIT CHANGES;"
    )
    text = program(f"ON EVENT EMIT 1; {HANDLED}", head=head).source.text + more
    found = told(compiled_text(text, "o.stream"))
    if message.endswith("reads itself"):
        message = "SC0205 streams read each other in a cycle: `o` → `o`"
    assert message in found


def test_a_stream_after_a_broken_operator_is_not_blamed() -> None:
    text = program(f"ON EVENT EMIT nothing; {HANDLED}").source.text
    result = compiled_text(text + " CREATE STREAM s AS SELECT y FROM o;", "o.stream")
    assert told(result) == ["SC0430 there is no `nothing` in ON EVENT a"]


def test_all_mistakes_of_a_program_are_reported_at_once() -> None:
    body = "ON EVENT SET totl = 1; EMIT; EMIT nothing; START TIMER d AT n; PUT m[1] = 2;"
    body = body.replace(" EMIT;", "")
    found = [line.split()[0] for line in told(program(f"{body} {HANDLED}"))]
    assert found == ["SC0430", "SC0430", "SC0431", "SC0434", "SC0434", "SC0434"]
