"""Small operators for tests: a spec around a few statements, and its diagnostics."""

from __future__ import annotations

from compiled import compiled_text
from streamc.compiler.driver import CompileResult
from streamc.compiler.model.programs import Emit, Handler, Operator, statements
from streamc.dsl.ast.expressions import Expression
from streamc.dsl.reports.render import render

BASE = """
CREATE SOURCE a (
  k STRING, n INT, d DECIMAL(10, 2), s STRUCT<x: INT, k: STRING>, tags ARRAY<STRING>,
  by_name MAP<STRING, INT>, ts TIMESTAMP, day DATE, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 'a', format = 'json');
CREATE SOURCE b (
  id STRING, k INT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL 5 MINUTES
) WITH (connector = 'files', path = 'b', format = 'json');
CREATE SOURCE timeless (k STRING, n INT) WITH (connector = 'files', path = 'c', format = 'json');
CREATE FUNCTION twice(x INT) RETURNS INT RETURN x * 2;
CREATE FUNCTION age(x TIMESTAMP) RETURNS INTERVAL DAY TO SECOND RETURN now() - x;
CREATE FUNCTION scored(x INT) RETURNS INT AS 'scores:scored';
"""

STATE = """(
  total BIGINT, ts TIMESTAMP, m MAP<STRING, STRUCT<at TIMESTAMP, n INT>>,
  deep MAP<STRING, MAP<INT, INT>>, seen SET<INT>, lines LIST<STRUCT<q INT>>, last STRUCT<q INT>,
  small SMALLINT
)"""


def program(body: str, *, head: str = "a PARTITION BY k", returns: str = "x INT") -> CompileResult:
    """Compile an operator `o` of two timers and cells of all kinds."""
    return compiled_text(
        f"{BASE} CREATE OPERATOR o WITH (unbounded = 'test') ON {head} STATE {STATE}"
        f" TIMERS (due EVENT TIME, tick PROCESSING TIME) RETURNS ({returns}) AS {body} END;",
        "o.stream",
    )


HANDLED = "ON TIMER due EMIT 1; ON TIMER tick EMIT 1;"

QUIET = {"SC0209", "SC0437", "SC0438", "SC0439", "SC0447"}
"""Warnings that do not matter here: the programs use little of what they declare."""


def told(result: CompileResult) -> list[str]:
    return [
        f"{one.code.number} {one.message}"
        for one in result.diagnostics
        if one.code.number not in QUIET
    ]


def operator(result: CompileResult) -> Operator:
    assert result.model is not None, render([result.diagnostics])
    (relation,) = [r for r in result.model.relations if r.name == "o"]
    (step,) = relation.steps
    assert isinstance(step, Operator)
    return step


def emitted(handler: Handler) -> list[Expression]:
    rows = [one for one in statements(handler.body) if isinstance(one, Emit)]
    return [value.expression for row in rows for value in row.values]


def value(text: str, type_: str = "INT", where: str = "ON EVENT") -> Expression:
    """Return the resolved form of an expression that is emitted."""
    returns = f"x {type_}"
    null = f"EMIT CAST(NULL AS {type_});"
    others = "".join(f" ON TIMER {t} {null}" for t in ("due", "tick") if t not in where)
    events = "" if where == "ON EVENT" else f"ON EVENT {null} "
    result = program(f"{events}{where} EMIT {text};{others}", returns=returns)
    assert told(result) == []
    handlers = operator(result).handlers
    wanted = [h for h in handlers if h.name in (where.split()[-1], "a")]
    return emitted(wanted[-1] if where != "ON EVENT" else wanted[0])[0]
