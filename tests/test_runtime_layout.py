"""Spark's own state against the plan's, for every stateful operator; sources read twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streamc.contracts.plan import (
    Aggregate,
    AggregateCell,
    Aggregation,
    Column,
    Deduplication,
    Join,
    Plan,
    Query,
    Side,
    TopN,
    Window,
)
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.dataflow.job import Job
from streamc.runtime.execution.run import run_pipeline
from streamc.runtime.execution.views import SilentView
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.kinds.layout import check_layout, spark_layout
from streamc.runtime.plan.arguments import Arguments
from streamc.runtime.plan.plan import OperatorUse, UseOf, load_plan
from streamc.runtime.storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
FIXTURES = Path(__file__).parent / "runtime_fixtures"
SCHEMA = "k STRING NOT NULL, i INT, d DOUBLE, m DECIMAL(12,2), ts TIMESTAMP"
BUFFERS = {
    "sum(i)": ("sum", ["BIGINT"]),
    "sum(m)": ("sum", ["DECIMAL(22,2)", "BOOLEAN"]),
    "avg(m)": ("avg", ["DECIMAL(22,2)", "BIGINT"]),
    "avg(d)": ("avg", ["DOUBLE", "BIGINT"]),
    "stddev_samp(d)": ("stddev_samp", ["DOUBLE", "DOUBLE", "DOUBLE"]),
    "count(i)": ("count", ["BIGINT"]),
    "min(k)": ("min", ["STRING"]),
    "bool_and(i > 0)": ("min", ["BOOLEAN"]),
    "collect_set(k)": ("collect_set", ["BINARY"]),
    "max_by(k, ts)": ("max_by", ["STRING", "TIMESTAMP"]),
    "sum(i) FILTER (WHERE d > 0)": ("sum", ["BIGINT"]),
}


@pytest.fixture(scope="module")
def kernel(spark: SparkSession) -> Any:
    return load_kernel(spark, kernel_jar(print))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("input")
    rows = [
        '{"k": "a", "i": 1, "d": 0.5, "m": 1.25, "ts": "2026-01-01T00:00:10Z"}',
        '{"k": "b", "i": 2, "d": 1.5, "m": 2.25, "ts": "2026-01-01T00:00:20Z"}',
    ]
    (path / "1.json").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def events(spark: SparkSession, kernel: Any, folder: Path) -> Any:
    plan = load_plan(FIXTURES / "spending.plan.json")
    source = plan.sources["payments"]
    plan = replace(plan, sources={"events": source, "others": source})
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    job = Job(plan, session, Storage(kernel, session), {})

    def read(name: str) -> DataFrame:
        return job.read(
            name, connector="files", schema=SCHEMA, format="json", path=str(folder)
        ).withWatermark("ts", "10 seconds")

    return read


def columns(*types: str | None) -> tuple[Column, ...]:
    return tuple(Column(f"c{number}", type) for number, type in enumerate(types))


def function(id: str, name: str, *types: str) -> Aggregate:
    cells = (AggregateCell(f"{id}.{n}", f"b{n}", type) for n, type in enumerate(types))
    return Aggregate(id, name, None, tuple(cells))


def aggregate(*ids: str, window: str | None = "tumble", keys: tuple[Column, ...]) -> OperatorUse:
    functions = tuple(function(id, BUFFERS[id][0], *BUFFERS[id][1]) for id in ids)
    over = None if window is None else Window(window, "ts", "1 minute", None, None)
    return UseOf(Aggregation("o", "o", over, keys, "on window close", functions), functions)


def without_state(plan: Plan, query: str, sink: str) -> Plan:
    """The plan with one query alone, which keeps nothing."""
    return replace(
        plan,
        sources={"events": plan.sources["payments"]},
        operators={},
        queries={query: Query(query, query, "append", (sink,), ("events",), operators=())},
        sinks={sink: plan.sinks["seen"]},
    )


def check(kernel: Any, frame: DataFrame, *planned: OperatorUse, mode: str = "append") -> None:
    check_layout("q", planned, spark_layout(kernel, frame, mode))


def minutes(frame: DataFrame, *ids: str) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.groupBy(F.window("ts", "1 minute"), "k").agg(
        *[F.expr(id).alias(f"a{number}") for number, id in enumerate(ids)]
    )


def test_every_function(kernel: Any, events: Any) -> None:
    planned = aggregate(*BUFFERS, keys=columns("STRING"))
    check(kernel, minutes(events("events"), *BUFFERS), planned)


def test_pruned_and_equal_functions_are_not_kept(kernel: Any, events: Any) -> None:
    frame = minutes(events("events"), "sum(i)", "avg(d)", "sum(i)", "count(i)").select("a2", "a3")
    check(kernel, frame, aggregate("sum(i)", "count(i)", keys=columns("STRING")))


def test_session_unwindowed_and_stacked(kernel: Any, events: Any) -> None:
    from pyspark.sql import functions as F

    frame = events("events")
    session = frame.groupBy(F.session_window("ts", "6 hours"), "k").agg(F.expr("avg(m)"))
    check(kernel, session, aggregate("avg(m)", window="session", keys=columns("STRING")))
    changes = frame.groupBy("k", "i").agg(F.expr("avg(m)"))
    unwindowed = aggregate("avg(m)", window=None, keys=columns("STRING", "INT"))
    check(kernel, changes, unwindowed, mode="update")
    inner = minutes(frame, "sum(i)", "avg(d)")
    stacked = inner.groupBy("window").agg(F.expr("collect_list(struct(a0, k))"))
    top = function("top", "collect_list", "BINARY")
    outer = UseOf(TopN("t", "t", (), ("a0", "k"), ("a0",), 1, (top,)), (top,))
    check(kernel, stacked, outer, aggregate("sum(i)", keys=columns("STRING")))


def test_dedup_and_join(kernel: Any, events: Any) -> None:
    from pyspark.sql import functions as F

    left, right = events("events").alias("a"), events("others").alias("b")
    dedup = UseOf(Deduplication("d", "d", columns("STRING"), "1 hour"))
    check(kernel, left.dropDuplicatesWithinWatermark(["k"]), dedup)
    near = "a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR AND b.d > 0"
    for how in ("inner", "left"):
        joined = left.join(right, F.expr(near), how).select("a.k", "a.i", "b.m")
        sides = (
            (Column("k", "STRING"), Column("i", "INT"), Column("ts", "TIMESTAMP")),
            (Column("k", "STRING"), Column("m", None), Column("ts", "TIMESTAMP")),
        )
        waiting = [
            Side(relation=one, keys=columns("STRING"), columns=(), event_time="ts")
            for one in ("a", "b")
        ]
        operator = Join("j", "j", how, near, None, tuple(waiting))
        join = UseOf(operator, sides=sides)
        check(kernel, joined, join)
        wrong = replace(join, sides=(sides[0][:2], sides[1]))
        with pytest.raises(RuntimeFault) as caught:
            check(kernel, joined, wrong)
        assert "!  0  side (k STRING, i INT)" in caught.value.message


@pytest.mark.parametrize(
    "planned",
    [
        [aggregate("sum(i)", keys=columns("BIGINT"))],
        [aggregate("sum(m)", keys=columns("STRING"))],
        [aggregate("sum(i)", "count(i)", keys=columns("STRING"))],
        [],
        [aggregate("sum(i)", keys=columns("STRING"))] * 2,
    ],
)
def test_differences_are_refused(kernel: Any, events: Any, planned: list[OperatorUse]) -> None:
    with pytest.raises(RuntimeFault) as caught:
        check(kernel, minutes(events("events"), "sum(i)"), *planned)
    assert caught.value.code.number == "SR0404" and "\n  !" in caught.value.message


def test_source_that_one_query_reads_twice(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    plan = without_state(load_plan(FIXTURES / "spending.plan.json"), "both", "seen")

    def build(job: Job) -> None:
        events = job.read(
            "events", connector="files", schema=SCHEMA, format="json", path=str(folder)
        )
        both = events.where("i = 1").unionByName(events.where("i >= 1"))
        job.sink("seen", both, connector="memory", output_mode="append")

    arguments = Arguments(True, {"root": "x"}, state=str(tmp_path / "state"))
    first = run_pipeline(plan, build, arguments, view=SilentView(), spark=spark)
    again = run_pipeline(plan, build, arguments, view=SilentView(), spark=spark)
    assert sorted(row.k for row in first.rows["seen"]) == ["a", "a", "b"]
    assert again.rows["seen"] == ()
    generation = tmp_path / "state/generations/0001"
    assert [path.name for path in (generation / "sources").iterdir()] == ["events"]
    logged = (generation / "queries/both/offsets/1").read_text("utf-8")
    assert logged.count('"epoch":1') == 2 and "events__2" in logged


@pytest.mark.parametrize("filter", ["k = 'a'", "i = 1", "i IS NULL", "TRUE"])
def test_null_in_a_required_column_fails_whatever_is_read(
    spark: SparkSession, tmp_path: Path, filter: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": "a", "i": 1}\n{"i": 2}\n', encoding="utf-8")
    plan = without_state(load_plan(FIXTURES / "spending.plan.json"), "some", "seen")

    def build(job: Job) -> None:
        events = job.read(
            "events", connector="files", schema=SCHEMA, format="json", path=f"{tmp_path}/in"
        )
        job.sink("seen", events.where(filter).select("d"), connector="memory", output_mode="append")

    arguments = Arguments(True, {"root": "x"}, state=str(tmp_path / "state"))
    result = run_pipeline(plan, build, arguments, view=SilentView(), spark=spark)
    assert result.exit_code == 1 and result.rows["seen"] == ()
    (failure,) = result.failures
    assert "source `events` has a malformed row: NULL in `k`, which is NOT NULL" in failure.message
    assert "in/1.json:2" in failure.message
    logs = list((tmp_path / "state/logs").glob("*-some.txt"))
    assert len(logs) == 1 and str(logs[0]) in (failure.help or "")
