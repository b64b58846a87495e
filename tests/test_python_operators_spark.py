"""Operators whose handlers are a class, against the answers of the same operators in SQL."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from compiled import compiled_text, written
from pyspark.sql import SparkSession
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from test_spec_tests_spark import check, outcomes

pytestmark = pytest.mark.spark
HERE = Path(__file__).parent
CLASSES = HERE / "python_operators"
CASES = ("timers", "cells", "arrivals", "merged", "forgets", "loops")
OFTEN = ("timers",)
# Each of their batches restarts Python, and the cases above cover these.
MORE_CASES = ("chain", "sla_timeout", "rate_limit", "attribution")
_HANDLERS = re.compile(r"^CREATE OPERATOR (\w+)(.*?)^AS$.*?^END;$", re.DOTALL | re.MULTILINE)


def in_python(spec: str, module: str) -> str:
    """The spec with a class in place of the handlers of each operator."""

    def replaced(found: re.Match[str]) -> str:
        name = "".join(word.capitalize() for word in found[1].split("_"))
        # A class has the name of its operator, where that is not the name of something else.
        name = {"Timers": "Timers_"}.get(name, name)
        head = f"CREATE OPERATOR {found[1]}{found[2]}AS"
        return f"{head}\nON EVENT USING PYTHON '{module}:{name}'\nEND;"

    return _HANDLERS.sub(replaced, spec)


def folder_of(case: str) -> Path:
    """Where the operator is written in SQL."""
    inside = HERE / "operators" / case
    return inside if inside.is_dir() else HERE.parent / "specs" / case


def written_as_a_class(case: str, folder: Path) -> Path:
    """The tests of an operator beside its spec with a class in it, in a folder."""
    source = folder_of(case)
    spec = (source / f"{case}.stream").read_text(encoding="utf-8")
    changed = in_python(spec, f"{case}_in_python")
    assert "ON EVENT\n" not in changed
    assert "USING PYTHON" in changed
    (folder / f"{case}.stream").write_text(changed, encoding="utf-8")
    shutil.copytree(source / "tests", folder / "tests")
    for file in CLASSES.glob("*.py"):
        shutil.copy(file, folder)
    return folder / "tests"


@pytest.mark.parametrize("case", OFTEN)
def test_what_a_class_gives(case: str, spark: SparkSession, tmp_path: Path) -> None:
    check(outcomes([written_as_a_class(case, tmp_path)], spark, once=True))


@pytest.mark.long
@pytest.mark.parametrize("case", [*CASES, *MORE_CASES])
def test_what_a_class_gives_in_every_way(case: str, spark: SparkSession, tmp_path: Path) -> None:
    check(outcomes([written_as_a_class(case, tmp_path)], spark))


SPEC = """---
pipeline: totals
variables: {in: null}
---
CREATE SOURCE a (k STRING NOT NULL, n INT, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at)
  WITH (connector = 'files', path = '${in}', format = 'json');

CREATE OPERATOR totals ON a PARTITION BY k ORDER BY at
  STATE (total INT DEFAULT 0) TTL (total INTERVAL 1 DAY)
  RETURNS (k STRING, total INT, at TIMESTAMP)
AS
ON EVENT USING PYTHON 'class_of_totals:Totals'
END;

CREATE STREAM per_hour AS SELECT window_start, MAX(total) AS total
  FROM TUMBLE(totals, at, INTERVAL 1 HOUR) GROUP BY window_start;

CREATE SINK out FROM per_hour WITH (connector = 'memory');
"""
ROWS = [
    '{"k": "x", "n": 2, "at": "2026-01-01T10:00:00Z"}',
    '{"k": "x", "n": 3, "at": "2026-01-01T10:30:00Z"}',
    '{"k": "y", "n": 4, "at": "2026-01-01T12:00:00Z"}',
]


def run(root: Path, spark: SparkSession, spec: str, body: str) -> Result:
    """A run over the rows, a file each time it is called."""
    (root / "in").mkdir(exist_ok=True)
    number = len([*(root / "in").iterdir()])
    (root / "in" / f"{number}.json").write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    handler = f"    def on_event(self, row, state, timers):\n        {body}\n"
    (root / "class_of_totals.py").write_text(f"class Totals:\n{handler}", encoding="utf-8")
    sys.modules.pop("class_of_totals", None)
    script = written(compiled_text(spec, "totals.stream"), root)
    settings = {"in": str(root / "in")}
    return run_script(script, Arguments(True, settings, None, str(root / "state")), spark=spark)


ADD = "state.total += row.n; yield row.k, state.total, row.at"
IN_SQL = ("USING PYTHON 'class_of_totals:Totals'", "SET total = total + n; EMIT k, total, at;")


def test_the_state_of_a_class_is_no_state_of_statements(
    tmp_path: Path, spark: SparkSession
) -> None:
    result = run(tmp_path, spark, SPEC, ADD)
    assert result.exit_code == 0
    assert [row.total for row in result.rows["out"]] == [5]
    with pytest.raises(RuntimeFault) as caught:
        run(tmp_path, spark, SPEC.replace(*IN_SQL), ADD)
    assert caught.value.code.number == "SR0405"
    assert "totals: handlers: python -> nothing" in caught.value.message


def test_a_mistake_of_a_class_ends_the_query_and_is_reported(
    tmp_path: Path, spark: SparkSession
) -> None:
    result = run(tmp_path, spark, SPEC, "yield row.k, 12 // (row.n - 3), row.at")
    assert result.exit_code == 1
    (failure,) = result.failures
    told = (
        "query `per_hour` failed: operator `totals` (class_of_totals:Totals), ON EVENT a, "
        "key (k = x), row (k = x, n = 3, at = 2026-01-01 10:30:00+00:00) raised\n"
        f'  File "{tmp_path}/class_of_totals.py", line 3, in on_event\n'
        "    yield row.k, 12 // (row.n - 3), row.at\n"
        "                 ~~~^^~~~~~~~~~~~~\n"
        "ZeroDivisionError: integer division or modulo by zero\n"
    )
    assert told in f"{failure.render()}\n"


def test_a_class_without_its_methods_is_reported_before_a_query_starts(
    tmp_path: Path, spark: SparkSession
) -> None:
    spec = SPEC.replace("RETURNS (k", "TIMERS (due EVENT TIME) RETURNS (k")
    with pytest.raises(RuntimeFault) as caught:
        run(tmp_path, spark, spec, ADD)
    assert caught.value.render() == (
        "error[SR0313] operator-class: operator `totals`: `class_of_totals:Totals` has no "
        "`on_timer_due`\n  = help: write:\n"
        "          def on_timer_due(self, at, state, timers): …"
    )
    assert not [*(tmp_path / "state").glob("generations/*/queries")]


TYPED = {
    "yes": ("BOOLEAN", "n > 0"),
    "tiny": ("TINYINT", "CAST(-n AS TINYINT)"),
    "big": ("BIGINT", "9223372036854775807 - n"),
    "float": ("FLOAT", "CAST(n AS FLOAT) / 4"),
    "double": ("DOUBLE", "CAST(n AS DOUBLE) / 3"),
    "exact": ("DECIMAL(38, 10)", "CAST(n AS DECIMAL(38, 10)) / 8"),
    "text": ("STRING", "concat('ü', n)"),
    "bytes": ("BINARY", "CAST(concat('ü', n) AS BINARY)"),
    "day": ("DATE", "DATE '1582-10-15'"),
    "instant": ("TIMESTAMP", "TIMESTAMP '2026-10-25 00:30:00.123456Z'"),
    "local": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ '2026-10-25 02:30:00'"),
    "many": ("ARRAY<TIMESTAMP>", "array(TIMESTAMP '2026-01-01 00:00:00Z', NULL)"),
    "by_name": (
        "MAP<STRING, STRUCT<at: TIMESTAMP, ns: ARRAY<INT>>>",
        "map('x', named_struct('at', at, 'ns', array(n, NULL)), 'y', NULL)",
    ),
    "deep": (
        "STRUCT<a: STRUCT<b: DECIMAL(4, 2), c: BINARY>, d: MAP<STRING, DATE>>",
        "named_struct('a', named_struct('b', CAST(1.25 AS DECIMAL(4, 2)), "
        "'c', CAST(NULL AS BINARY)), 'd', map('x', DATE '2026-01-01'))",
    ),
    "nothing": ("DOUBLE", "CAST(NULL AS DOUBLE)"),
}
STRUCT = f"STRUCT<{', '.join(f'{name}: {type_}' for name, (type_, _) in TYPED.items())}>"
KINDS = f"""---
pipeline: kinds
variables: {{in: null}}
---
CREATE SOURCE a (k STRING NOT NULL, n INT, at TIMESTAMP NOT NULL, WATERMARK FOR at AS at)
  WITH (connector = 'files', path = '${{in}}', format = 'json');
CREATE STREAM typed AS SELECT k, at,
  {", ".join(f"{value} AS {name}" for name, (_, value) in TYPED.items())} FROM a;
CREATE OPERATOR kept ON typed PARTITION BY k, at ORDER BY at
  STATE ({", ".join(f"c_{name} {type_}" for name, (type_, _) in TYPED.items())},
    m MAP<STRING, {STRUCT}>, l LIST<{STRUCT}>, s SET<STRUCT<t: TIMESTAMP, i: BINARY>>)
  TTL (m INTERVAL 1 DAY)
  TIMERS (later EVENT TIME)
  RETURNS (origin STRING, {", ".join(f"{name} {type_}" for name, (type_, _) in TYPED.items())})
AS
ON EVENT USING PYTHON 'class_of_kinds:Kinds'
END;
CREATE SINK out FROM kept WITH (connector = 'memory');
CREATE SINK plain FROM typed WITH (connector = 'memory');
"""
KEEPS = """
from datetime import timedelta

class Kinds:
    def on_event(self, row, state, timers):
        held = {name: row[name] for name in row.__fields__ if name not in ("k", "at")}
        for name, value in held.items():
            state["c_" + name] = value
        state.m["x"] = held
        state.l.append(held)
        state.s.add((row.instant, row.bytes))
        timers.later.start(row.at + timedelta(minutes=1))
        yield {"origin": "row", **held}

    def on_timer_later(self, at, state, timers):
        assert at == state.key.at + timedelta(minutes=1)
        assert (state.c_instant, state.c_bytes) in state.s
        assert list(state.s) == [(state.c_instant, state.c_bytes)]
        names = state.m["x"].__fields__
        yield {"origin": "cells", **{name: state["c_" + name] for name in names}}
        yield {"origin": "map", **state.m["x"].asDict()}
        yield "list", *list(state.l)[0]
"""


def test_values_of_all_types_go_through_rows_cells_and_output(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where clocks go back, an hour occurs twice in the local time of workers.
    monkeypatch.setitem(spark.sparkContext.environment, "TZ", "Europe/Berlin")
    (tmp_path / "class_of_kinds.py").write_text(KEEPS, encoding="utf-8")
    sys.modules.pop("class_of_kinds", None)
    result = run(tmp_path, spark, KINDS, "pass")
    assert result.exit_code == 0, [failure.render() for failure in result.failures]
    plain = [tuple(row)[2:] for row in result.rows["plain"]]
    assert len(plain) == len(ROWS)
    # The watermark has passed all rows, and a minute after the first two.
    first, second, third = plain
    found = [tuple(row) for row in result.rows["out"]]
    expected = [(origin, *first) for origin in ("row", "cells", "map", "list")]
    expected += [(origin, *second) for origin in ("row", "cells", "map", "list")]
    expected += [("row", *third)]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
