"""How messages are read as rows, without a Kafka: frames of the shape that Spark's reader gives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from streamc.runtime.connectors.kafka.sink import as_message
from streamc.runtime.connectors.kafka.source import read_messages
from streamc.runtime.connectors.reading import Declaration, Reading
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
SHAPE = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "headers ARRAY<STRUCT<key STRING, value BINARY>>"
)
AT = datetime(2026, 1, 1)


@pytest.fixture(scope="module", autouse=True)
def kernel(spark: SparkSession) -> None:
    load_kernel(spark, kernel_jar(lambda line: None))


def messages(spark: SparkSession, values: Sequence[bytes | None]) -> DataFrame:
    rows = [
        (b"k%d" % n, value, "payments", n % 2, 40 + n, AT, [("h", b"x")])
        for n, value in enumerate(values)
    ]
    return spark.createDataFrame(rows, SHAPE)


def read(
    spark: SparkSession,
    format: str,
    schema: str,
    values: Sequence[bytes | None],
    policy: str = "send",
    **metadata: str,
) -> Reading:
    from pyspark.sql.types import StructType

    columns = StructType.fromDDL(schema)
    source = Declaration("payments", "kafka", columns, metadata, policy, {})
    written = {"escape": '"', "sep": ";"} if format == "csv" else {}
    return read_messages(lambda: messages(spark, values), source, format, written)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


def rejected(reading: Reading) -> list[tuple[Any, ...]]:
    assert reading.malformed is not None
    return rows(reading.malformed().select("raw", "reason", "source", "position"))


def test_json(spark: SparkSession) -> None:
    values = [
        b'{"id": 1, "amount": "1.50", "more": true}',
        b'{"id": 2, "amount": "much"}',
        b'{"id": 3} {"id": 4}',
        b'{"amount": "1.00"}',
        None,
        b" ",
    ]
    reading = read(spark, "json", "id INT NOT NULL, amount DECIMAL(6,2)", values)
    assert [(id, str(amount)) for id, amount in rows(reading.rows)] == [(1, "1.50")]
    told = rejected(reading)
    assert [(raw, position) for raw, _, _, position in told] == [
        ('{"id": 2, "amount": "much"}', "payments-1@41"),
        ('{"id": 3} {"id": 4}', "payments-0@42"),
        ('{"amount": "1.00"}', "payments-1@43"),
    ]
    assert "amount" in told[0][1] and "second value" in told[1][1]
    assert told[2][1] == "NULL in `id`, which is NOT NULL"


def test_csv_and_text(spark: SparkSession) -> None:
    reading = read(spark, "csv", "a INT, b STRING", [b'1;"x;""y"""', b"2", b";z"])
    assert rows(reading.rows) == [(1, 'x;"y"'), (None, "z")]
    assert [(raw, position) for raw, _, _, position in rejected(reading)] == [
        ("2", "payments-1@41")
    ]
    reading = read(spark, "text", "line STRING", ["æ".encode(), b"\xff", b""])
    assert rows(reading.rows) == [("æ",), ("",)]
    assert [reason for _, reason, _, _ in rejected(reading)] == ["not UTF-8"]


def test_what_kafka_knows(spark: SparkSession) -> None:
    known = {"k": "key", "t": "topic", "p": "partition", "o": "offset", "h": "headers"}
    reading = read(spark, "json", "topic STRING", [b'{"topic": "mine"}'], "fail", **known)
    assert reading.malformed is None
    ((topic, key, of, partition, offset, headers),) = rows(reading.rows)
    assert (topic, bytes(key), of, partition, offset) == ("mine", b"k0", "payments", 0, 40)
    assert [(header.key, bytes(header.value)) for header in headers] == [("h", b"x")]
    raw = read(spark, "raw", "value BINARY, key BINARY", [b"v", None], "fail", at="timestamp")
    assert [(v and bytes(v), bytes(k)) for v, k, _ in rows(raw.rows)] == [
        (b"v", b"k0"),
        (None, b"k1"),
    ]


@pytest.mark.parametrize("used", ["id", "1"], ids=["the column", "no column"])
def test_a_malformed_message_ends_the_query(spark: SparkSession, used: str) -> None:
    reading = read(spark, "json", "id INT, n INT", [b'{"id": 1}', b'{"id": 1, "n": "x"}'], "fail")
    with pytest.raises((PySparkException, Py4JJavaError)) as found:
        # Neither a filter nor a query that reads nothing of a message may let it pass.
        reading.rows.where("id = 1").selectExpr(f"count({used})").collect()
    assert "payments-1@41" in str(found.value)


def test_skipped_messages(spark: SparkSession) -> None:
    reading = read(spark, "json", "id INT", [b'{"id": 1}', b"{"], "skip")
    assert reading.malformed is None
    assert rows(reading.rows) == [(1,)]


def test_rows_as_messages(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 'a' AS k, CAST(NULL AS INT) AS n, TIMESTAMP'2026-01-01' AS at")
    value = '{"k":"a","at":"2026-01-01T00:00:00.000Z"}'
    assert rows(frame.select(*as_message(frame, "json", (), {}))) == [(value,)]
    assert rows(frame.select(*as_message(frame, "json", ("k",), {}))) == [("a", value)]
    both = '{"k":"a","n":null}'
    assert rows(frame.select(*as_message(frame, "json", ("k", "n"), {}))) == [(both, value)]
    narrow = frame.select("k", "n")
    assert rows(narrow.select(*as_message(narrow, "csv", (), {"sep": ";"}))) == [("a;",)]
    spaced = frame.selectExpr("' a ' AS k", "n")
    assert rows(spaced.select(*as_message(spaced, "csv", (), {}))) == [(" a ,",)]
    text = frame.selectExpr("n", "k")
    assert rows(text.select(*as_message(text, "text", ("n",), {}))) == [(None, "a")]
