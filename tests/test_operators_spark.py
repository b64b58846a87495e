"""What docs/language.md says of keyed operators, sentence by sentence, against rows by hand."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from compiled import compiled_text, written
from pyspark.sql import SparkSession
from streamc.contracts.notes.status import QueryProgress
from streamc.runtime import Arguments, SilentView, Stop, run_script
from test_spec_tests_spark import check, outcomes

pytestmark = pytest.mark.spark

CASES = sorted((Path(__file__).parent / "operators").glob("*/tests/*.yaml"))


MANY_STEPS = ("late_rows", "panes")
"""Dozens of batches; `test_run` has late rows in fewer, `test_panes_spark` panes."""
OFTEN = [
    pytest.param(case, id=case.stem, marks=pytest.mark.long if case.stem in MANY_STEPS else ())
    for case in CASES
]


@pytest.mark.parametrize("case", OFTEN)
def test_operators(case: Path, spark: SparkSession) -> None:
    check(outcomes([case], spark, once=True))


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_operators_in_every_way(case: Path, spark: SparkSession) -> None:
    check(outcomes([case], spark))


IDLE = """
CREATE SOURCE a (k STRING NOT NULL, n INT)
  WITH (connector = 'files', path = '${in}', format = 'json');

CREATE OPERATOR idle ON a PARTITION BY k
  STATE (share DOUBLE)
  TTL (share INTERVAL 30 DAYS)
  TIMERS (silence PROCESSING TIME)
  RETURNS (k STRING, said STRING, share DOUBLE)
AS
ON EVENT
  SET share = 12 / n;
  START TIMER silence AT now() + INTERVAL 2 SECONDS;
  EMIT k, 'row', share;
ON TIMER silence
  EMIT k, 'silent', share;
END;

CREATE SINK out FROM idle WITH (connector = 'memory');
"""


@pytest.fixture
def idle(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    text = "---\npipeline: idle\nvariables: {in: null}\n---\n" + IDLE
    return written(compiled_text(text, "idle.stream"), tmp_path)


class UntilSilent(SilentView):
    """Requests a stop once a second row has come out, which only the clock can cause."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop

    def update(self, queries: Sequence[QueryProgress]) -> None:
        if all(query.rows_out == 2 for query in queries):
            self.stop.request()


def test_a_clock_continues_without_rows(idle: Path, spark: SparkSession) -> None:
    (idle.parent / "in" / "1.json").write_text('{"k": "a", "n": 3}\n', encoding="utf-8")
    stop = Stop()
    threading.Timer(120, stop.request).start()
    arguments = Arguments(variables={"in": f"{idle.parent}/in"}, state=f"{idle.parent}/state")
    result = run_script(idle, arguments, spark=spark, stop=stop, view=UntilSilent(stop))
    assert (result.exit_code, result.failures) == (0, ())
    assert [tuple(row) for row in result.rows["out"]] == [("a", "row", 4), ("a", "silent", 4)]


def test_a_mistake_of_a_program_is_reported_with_its_location(
    idle: Path, spark: SparkSession
) -> None:
    (idle.parent / "in" / "1.json").write_text('{"k": "a", "n": 0}\n', encoding="utf-8")
    arguments = Arguments(True, {"in": f"{idle.parent}/in"}, state=f"{idle.parent}/state")
    result = run_script(idle, arguments, spark=spark)
    assert result.exit_code == 1
    (failure,) = result.failures
    assert failure.message.startswith("query `idle` failed: Division by zero.")
    place = "  in operator `idle`, ON EVENT a, key (k = a), row (k = a, n = 0)"
    assert place in failure.message.splitlines()
