"""A program begins with a state: what one query has kept is read, and another continues with it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from streamc.runtime import program
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.python_operator.frame import python_frame

pytestmark = pytest.mark.spark

SCHEMA = "k STRING, s STRING, n INT, at TIMESTAMP"
BATCHES = [
    [("a", "x", 1, "10:00"), ("a", "y", 2, "10:03"), ("b", "x", 5, "10:01")],
    [("a", "x", 3, "10:06"), ("b", "z", 1, "10:09"), ("c", "x", 7, "10:08")],
    [("a", "z", 1, "10:14"), ("b", "x", 2, "10:13"), ("c", "x", 1, "10:12")],
    [("d", "x", 0, "11:00")],
]
CUT = 2
FORGOTTEN = [("z", "x", 9, "00:00")]
PARTITIONS = 2
CLASSES = str(Path(__file__).parent / "python_operators")


def built(
    kernel: Any, rows: DataFrame, initial: DataFrame | None, target: str | None = None
) -> DataFrame:
    """The program; with a `target` its handlers are that class."""
    inputs = [
        program.rows(
            "e",
            rows.withWatermark("at", "3 minutes"),
            keys=["k"],
            event_time="at",
            columns=["s", "n", "at"],
        )
    ]
    whole = program.document(
        "p",
        {"k": "STRING"},
        inputs,
        [
            program.value("total", "INT", default="0"),
            program.map("sums", "STRING", "INT"),
            program.set("seen", "STRING"),
            program.list("ns", "INT", ttl="30 days"),
        ],
        [program.event_timer("due")],
        [
            program.on_event(
                "e",
                program.assign("total", "total + n"),
                program.put("sums", "s", "coalesce(sums[s], 0) + n"),
                program.add("seen", "s"),
                program.append("ns", "n"),
                program.start_timer("due", "at + INTERVAL 5 MINUTES"),
                program.emit("k", "at", "total", "sums[s]", "array_join(seen, '')", "ns"),
            ),
            program.on_timer(
                "due", program.emit("k", "due", "-total", "size(sums)", "'due'", "ns")
            ),
        ],
        {
            "k": "STRING",
            "at": "TIMESTAMP",
            "t": "INT",
            "m": "INT",
            "s": "STRING",
            "l": "ARRAY<INT>",
        },
        ordered=True,
        event_time="at",
        wakes=True,
    )
    if target is None:
        return program.frame_of(kernel, whole, inputs)
    given = {**whole, "handlers": []}
    return python_frame(kernel, given, inputs, target, [CLASSES], lambda name, schema: initial)


def ran(
    spark: SparkSession,
    kernel: Any,
    root: Path,
    batches: list[Any],
    initial: DataFrame | None,
    target: str | None = None,
) -> list[tuple[Any, ...]]:
    """What comes out of the batches, one after the other.

    A program in the kernel gets its state in place of what the first batch has left.
    """
    found: list[tuple[Any, ...]] = []
    (root / "in").mkdir(parents=True)
    placed = initial is not None and target is None
    for number, batch in enumerate([FORGOTTEN, *batches] if placed else batches):
        rows = [{"k": k, "s": s, "n": n, "at": f"2026-01-01T{at}:00Z"} for k, s, n, at in batch]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (root / "in" / f"{number}.json").write_text(text, encoding="utf-8")
        read = spark.readStream.schema(SCHEMA).json(str(root / "in"))
        frame = built(kernel, read, initial, target)
        first = placed and number == 0
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", not first)
        query = (
            frame.writeStream.option("checkpointLocation", str(root / "checkpoint"))
            .foreachBatch(lambda rows, _: found.extend(map(tuple, rows.collect())))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        if first:
            pieces = spark._jvm.java.util.ArrayList()
            pieces.add(initial.repartition(PARTITIONS, "k")._jdf)
            checkpoint = str(root / "checkpoint")
            written = kernel.StateWriter.begin(
                spark._jsparkSession, checkpoint, 0, frame._jdf, pieces
            )
            assert written == initial.count()
    return found


def kept(spark: SparkSession, checkpoint: Path, schema: Any) -> DataFrame:
    """The state of a checkpoint as the initial state of a program."""

    def read(variable: str) -> list[Row]:
        reader = spark.read.format("statestore").option("stateVarName", variable)
        return reader.load(str(checkpoint)).collect()

    def piece(key: Row, name: str, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return (key.k, *(value if field.name == name else None for field in schema.fields[1:]))

    def pieces() -> Iterator[tuple[Any, ...]]:
        for row in read("record"):
            yield piece(row.key, "record", tuple(row.value))
        for row in read("waiting"):
            at, number = (plain(n) for n in row.user_map_key)
            yield piece(row.key, "waiting", (at, number, tuple(row.user_map_value)))
        for name in ("cell_sums", "cell_seen"):
            for row in read(name):
                yield piece(row.key, name, (*row.user_map_key, *row.user_map_value))
        for row in read("cell_ns"):
            yield piece(row.key, "cell_ns", tuple(row.list_element))

    return spark.createDataFrame(list(pieces()), schema)


def plain(written: int) -> int:
    """A number as it was before its bytes were put in the order of numbers."""
    (found,) = struct.unpack(">q", struct.pack("<q", written))
    return found - 2**63 if found >= 0 else found + 2**63


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """A session with state in RocksDB."""
    own = spark.newSession()
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    own.conf.set("spark.sql.streaming.stateStore.providerClass", store)
    own.conf.set("spark.sql.shuffle.partitions", str(PARTITIONS))
    own.conf.set("spark.sql.session.timeZone", "UTC")
    return own


@pytest.mark.long
def test_another_query_continues_with_what_one_has_kept(own: SparkSession, tmp_path: Path) -> None:
    kernel = load_kernel(own, kernel_jar(print))
    whole = ran(own, kernel, tmp_path / "whole", BATCHES, None)
    # Nine rows have been passed, and the timers of a and b twice, of c once.
    assert len(whole) == 9 + 5

    first = ran(own, kernel, tmp_path / "first", BATCHES[:CUT], None)
    schema = state_schema(own, kernel, tmp_path / "first" / "in")
    state = kept(own, tmp_path / "first" / "checkpoint", schema)
    assert state.where(F.col("waiting").isNotNull()).count() > 0
    rest = ran(own, kernel, tmp_path / "rest", BATCHES[CUT:], state)
    assert sorted(first + rest, key=by_key) == sorted(whole, key=by_key)

    # A class has the state of a program, and continues with it.
    target = "totals_in_python:Totals"
    assert state_schema(own, kernel, tmp_path / "first" / "in", target) == schema
    rest = ran(own, kernel, tmp_path / "python", BATCHES[CUT:], state, target)
    assert sorted(first + rest, key=by_key) == sorted(whole, key=by_key)


@pytest.mark.long
def test_a_class_continues_with_what_a_class_has_kept(own: SparkSession, tmp_path: Path) -> None:
    kernel, target = load_kernel(own, kernel_jar(print)), "totals_in_python:Totals"
    first = ran(own, kernel, tmp_path / "first", BATCHES[:CUT], None, target)
    schema = state_schema(own, kernel, tmp_path / "first" / "in")
    state = kept(own, tmp_path / "first" / "checkpoint", schema)
    assert {row.k for row in state.where("waiting IS NOT NULL").collect()} == {"b", "c"}
    rest = ran(own, kernel, tmp_path / "rest", BATCHES[CUT:], state, target)
    whole = ran(own, kernel, tmp_path / "whole", BATCHES, None)
    assert sorted(first + rest, key=by_key) == sorted(whole, key=by_key)


@pytest.mark.long
def test_timers_that_a_state_has_earlier_fire_in_time(own: SparkSession, tmp_path: Path) -> None:
    kernel, target = load_kernel(own, kernel_jar(print)), "totals_in_python:Totals"
    ran(own, kernel, tmp_path / "first", BATCHES[:CUT], None)
    schema = state_schema(own, kernel, tmp_path / "first" / "in")
    state = kept(own, tmp_path / "first" / "checkpoint", schema)
    earlier = F.expr("timestamp'2026-01-01 10:07:00'")
    moved = F.when(F.col("record.timer_due").isNotNull(), earlier)
    record = F.when(
        F.col("record").isNotNull(), F.col("record").withField("timer_due", moved)
    ).otherwise(F.lit(None))
    state = state.withColumn("record", record.cast(schema["record"].dataType))
    # A row of another key moves the watermark to 10:08; those that have a timer get none.
    rest = [[("e", "x", 0, "10:11")], []]
    by_kernel, by_class = (
        sorted(ran(own, kernel, tmp_path / name, rest, state, given), key=by_key)
        for name, given in (("kernel", None), ("class", target))
    )
    assert {row[0] for row in by_kernel} == {"a", "c"}
    assert by_class == by_kernel


def state_schema(spark: SparkSession, kernel: Any, folder: Path, target: str | None = None) -> Any:
    from pyspark.sql.types import StructType

    frame = built(kernel, spark.readStream.schema(SCHEMA).json(str(folder)), None, target)
    return StructType.fromJson(json.loads(kernel.Keyed.stateSchema(frame._jdf)))


def by_key(row: tuple[Any, ...]) -> tuple[str, datetime, str]:
    return (row[0], row[1], row[4])
