"""The postgres sink against a real server: each row once, the latest of each key."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled, written
from server import PASSWORD, USER, running_server, server_programs
from streamc.runtime import Arguments, Result, RuntimeFault, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.postgres]
psycopg = pytest.importorskip("psycopg")
SPEC = Path(__file__).parent / "postgres" / "payments.stream"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    programs = server_programs()
    if programs is None:
        pytest.skip("PostgreSQL's programs are not installed")
    with running_server(programs) as url:
        yield url


@pytest.fixture
def database(server: str, request: pytest.FixtureRequest) -> str:
    """The URL of a database of the test's own."""
    name = f"test_{abs(hash(request.node.name))}"
    with connected(server) as connection:
        connection.autocommit = True
        connection.execute(f"CREATE DATABASE {name}")
    return server.removesuffix("/postgres") + f"/{name}"


def connected(url: str) -> Any:
    return psycopg.connect(url, user=USER, password=PASSWORD)


def rows_of(url: str, query: str) -> list[tuple[Any, ...]]:
    with connected(url) as connection:
        connection.execute("SET timezone = 'UTC'")
        return list(connection.execute(query).fetchall())


def arrive(root: Path, number: int, *rows: dict[str, Any]) -> None:
    path = root / "in" / f"{number}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    os.utime(path, (1_700_000_000 + number,) * 2)


def run(
    spark: SparkSession, root: Path, url: str, state: str = "state", password: str = PASSWORD
) -> Result:
    script = written(compiled(SPEC, SPEC.name), root)
    text = script.read_text("utf-8") + script.with_suffix(".plan.json").read_text("utf-8")
    assert PASSWORD not in text
    variables = {"in": str(root / "in"), "server": url, "password": password}
    asked = Arguments(until_caught_up=True, variables=variables, state=str(root / state))
    return run_script(script, asked, spark=spark, folders=[str(SPEC.parent)])


def payment(number: int, card: str | None, amount: str, minute: int, **more: Any) -> dict[str, Any]:
    at = f"2026-01-01T10:{minute:02d}:00Z"
    return {"id": number, "card": card, "amount": amount, "paid_at": at, **more}


def stumble(**failures: int) -> None:
    sys.modules.pop("stumbling", None)
    sys.path.insert(0, str(SPEC.parent))
    try:
        import stumbling  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    stumbling.FAILURES.update({int(batch.removeprefix("b")): n for batch, n in failures.items()})


def test_every_row_once_and_the_latest_of_each_key(
    spark: SparkSession, tmp_path: Path, database: str
) -> None:
    full = {"rate": 0.1, "ok": True, "tags": ["a", 'b"\\']}
    arrive(tmp_path, 1, payment(1, "a", "1.50", 1, **full), payment(2, None, "2.00", 2))
    arrive(tmp_path, 2, payment(3, "a", "4.00", 9), payment(4, "a", "8.00", 5))
    arrive(tmp_path, 3, payment(5, "a", "16.00", 8), payment(6, "b\t\\N", "32.00", 8))
    # The second batch is written to both tables but never committed by Spark: it is repeated.
    stumble(b1=2)
    assert run(spark, tmp_path, database).exit_code == 1
    assert run(spark, tmp_path, database).exit_code == 1
    assert run(spark, tmp_path, database).exit_code == 0

    assert [row[0] for row in rows_of(database, "SELECT id FROM payments ORDER BY id")] == [
        1, 2, 3, 4, 5, 6,
    ]  # fmt: skip
    columns = "id, card, amount, rate, ok, tags, paid_at, bytes, day"
    first = rows_of(database, f"SELECT {columns} FROM payments WHERE id = 1")
    at = datetime(2026, 1, 1, 10, 1, tzinfo=UTC)
    assert first == [
        (1, "a", Decimal("1.50"), 0.1, True, ["a", 'b"\\'], at, b"a", date(2026, 1, 1))
    ]
    latest = 'SELECT card, id FROM "Latest Payments" ORDER BY id'
    assert rows_of(database, latest) == [(None, 2), ("a", 3), ("b\t\\N", 6)]
    totals = "SELECT card, total, n, since FROM totals ORDER BY total"
    since = datetime(2026, 1, 1, tzinfo=UTC)
    assert rows_of(database, totals) == [
        (None, Decimal("2.00"), 1, since),
        ("a", Decimal("29.50"), 4, since),
        ("b\t\\N", Decimal("32.00"), 1, since),
    ]


def test_tables_belong_to_one_state(spark: SparkSession, tmp_path: Path, database: str) -> None:
    stumble()
    arrive(tmp_path, 1, payment(1, "a", "1.50", 1))
    assert run(spark, tmp_path, database).exit_code == 0
    with pytest.raises(RuntimeFault, match="would be there twice"):
        run(spark, tmp_path, database, state="another")
    with connected(database) as connection:
        connection.execute("DELETE FROM _streamc_batches")
    with pytest.raises(RuntimeFault, match="are gone"):
        run(spark, tmp_path, database)


def test_a_server_that_refuses(spark: SparkSession, tmp_path: Path, database: str) -> None:
    stumble()
    arrive(tmp_path, 1, payment(1, "a", "1.50", 1))
    with pytest.raises(RuntimeFault) as found:
        run(spark, tmp_path, database, password="wrong secret")
    assert found.value.code.number == "SR0322"
    assert "wrong secret" not in found.value.render()
    # A table that lacks a column stops the query with a message.
    with connected(database) as connection:
        connection.execute("CREATE TABLE payments (id bigint)")
    result = run(spark, tmp_path, database)
    assert result.exit_code == 1
    assert any("sink `every_payment`" in failure.render() for failure in result.failures)
