"""Tables while a pipeline runs: which rows are seen when the files behind them change.

A sink changes the files behind the table after each batch.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from pyspark.sql.types import IntegerType, StructField, StructType
from run_case import FIRST_ARRIVAL
from streamc.runtime import Arguments, Result, RuntimeFault, run_script
from streamc.runtime.connectors.tables import Tables
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SPEC = """\
---
pipeline: lookups
variables: {in: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE TABLE prices (sku STRING NOT NULL, price INT)
WITH (connector = 'files', path = '${in}/prices', format = 'json'@refresh@);

CREATE SOURCE orders (id INT, sku STRING, at TIMESTAMP, WATERMARK FOR at AS at)
WITH (connector = 'files', path = '${in}/orders', format = 'json', max_files_per_trigger = 1);

CREATE STREAM priced AS
  SELECT o.id, p.price FROM orders AS o LEFT JOIN prices AS p ON p.sku = o.sku;

CREATE STREAM twice AS
  SELECT o.id, p.price, q.price AS again
  FROM orders AS o LEFT JOIN prices AS p ON p.sku = o.sku LEFT JOIN prices AS q ON q.sku = o.sku;

CREATE SINK rows_out FROM priced WITH (connector = 'memory');

CREATE SINK changes FROM priced WITH (connector = 'python', function = 'changes_of_prices:after');

CREATE SINK twice_out FROM twice WITH (connector = 'memory');
"""

CHANGES = """\
from pathlib import Path

PRICES = Path({folder!r})


def put(name, sku, price):
    hidden = PRICES / f"_{{name}}"
    hidden.write_text(f'{{{{"sku": "{{sku}}", "price": {{price}}}}}}\\n')
    hidden.rename(PRICES / name)


def after(batch, batch_id):
    if not batch.isEmpty():
        {change}
"""

NEW_FILE = "put(f'{batch_id}.json', 'y', 7)"
REWRITTEN = "put('first.json', 'x', batch_id + 9)"
TURNED_BAD = "put('first.json', 'x', 'true')"
GONE = "(PRICES / 'first.json').unlink(missing_ok=True)"


class Shop:
    """A pipeline that stops when it has caught up, three orders in three batches per run."""

    def __init__(self, root: Path, spark: SparkSession, refresh: str, change: str) -> None:
        self.root = root
        self._spark = spark
        self._orders = 0
        for folder in ("prices", "orders", "code"):
            (root / folder).mkdir()
        self.write("prices", "first", [{"sku": "x", "price": 1}])
        result = compiled_text(SPEC.replace("@refresh@", refresh), "lookups.stream")
        assert not len(result.diagnostics)
        self._script = written(result, root)
        code = CHANGES.format(folder=str(root / "prices"), change=change)
        (root / "code" / "changes_of_prices.py").write_text(code, encoding="utf-8")

    def write(self, folder: str, name: str, rows: list[dict[str, object]]) -> None:
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        path = self.root / folder / f"{name}.json"
        path.write_text(text, encoding="utf-8")
        # Spark takes files in the order of their times.
        os.utime(path, (FIRST_ARRIVAL + self._orders, FIRST_ARRIVAL + self._orders))

    def run(self) -> Result:
        for _ in range(3):
            self._orders += 1
            rows = [{"id": self._orders, "sku": sku} for sku in ("x", "y")]
            self.write("orders", f"{self._orders:03d}", rows)
        sys.modules.pop("changes_of_prices", None)
        return run_script(
            self._script,
            Arguments(
                until_caught_up=True,
                variables={"in": str(self.root)},
                state=str(self.root / "state"),
            ),
            spark=self._spark,
            folders=[str(self.root / "code")],
        )


def prices(result: Result) -> list[tuple[int | None, ...]]:
    """The prices that each batch found for x and for y."""
    assert result.exit_code == 0, [failure.render() for failure in result.failures]
    found: dict[int, list[int | None]] = {}
    for row in sorted(result.rows["rows_out"], key=lambda row: row["id"]):
        found.setdefault(row["id"], []).append(row["price"])
    return [tuple(sorted(row, key=lambda price: (price is None, price))) for row in found.values()]


CHANGES_BEHIND = [NEW_FILE, pytest.param(GONE, marks=pytest.mark.long)]


@pytest.mark.parametrize("change", CHANGES_BEHIND, ids=["new", "gone"])
def test_without_refresh_a_run_sees_what_it_began_with(
    change: str, tmp_path: Path, spark: SparkSession
) -> None:
    shop = Shop(tmp_path, spark, "", change)
    assert prices(shop.run()) == [(1, None)] * 3


def test_without_refresh_the_next_run_reads_the_table_again(
    tmp_path: Path, spark: SparkSession
) -> None:
    shop = Shop(tmp_path, spark, "", REWRITTEN)
    assert prices(shop.run()) == [(1, None)] * 3
    assert prices(shop.run()) == [(12, None)] * 3


def test_with_refresh_the_next_batch_sees_new_rows(tmp_path: Path, spark: SparkSession) -> None:
    """A batch, however often it looks them up, and an epoch see a single version of the table."""
    shop = Shop(tmp_path, spark, ", refresh = '1 millisecond'", REWRITTEN)
    result = shop.run()
    assert prices(result) == [(1, None), (10, None), (11, None)]
    assert result.rows["twice_out"]
    assert all(row["price"] == row["again"] for row in result.rows["twice_out"])
    found = {
        sink: sorted((row["id"], row["price"] or 0) for row in result.rows[sink])
        for sink in ("rows_out", "twice_out")
    }
    assert found["rows_out"] == found["twice_out"]


@pytest.mark.long
def test_new_files_are_found(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, ", refresh = '1 millisecond'", NEW_FILE.replace("{batch_id}", "1"))
    assert prices(shop.run()) == [(1, None), (1, 7), (1, 7)]


@pytest.mark.long
def test_until_it_is_read_again_the_table_stays(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, ", refresh = '1 hour'", REWRITTEN)
    assert prices(shop.run()) == [(1, None)] * 3


def test_a_table_that_turns_bad_ends_its_queries(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, ", refresh = '1 millisecond'", TURNED_BAD)
    result = shop.run()
    assert result.exit_code == 1
    text = result.failures[0].render()
    assert "table `prices` has a malformed row: `price` is true, which is not a valid INT" in text


def test_a_bad_table_is_reported_before_a_query_starts(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, "", GONE)
    shop.write("prices", "second", [{"price": 3}])
    with pytest.raises(RuntimeFault) as caught:
        shop.run()
    text = caught.value.render()
    assert text.startswith("error[SR0312] table-unreadable: table `prices` has a malformed row: ")
    assert "NULL in `sku`, which is NOT NULL" in text and "second.json:1" in text


def test_a_table_without_files(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, "", GONE)
    (tmp_path / "prices" / "first.json").unlink()
    assert prices(shop.run()) == [(None, None)] * 3
    (tmp_path / "prices").rmdir()
    with pytest.raises(RuntimeFault, match="there is no such file or folder"):
        shop.run()


def test_queries_that_are_many_epochs_apart(tmp_path: Path, spark: SparkSession) -> None:
    """A query sees at an epoch what others saw that reached it long before."""
    kernel = load_kernel(spark, kernel_jar(lambda line: None))
    tables = Tables(spark, Storage(kernel, spark))
    path = tmp_path / "prices.json"
    path.write_text('{"price": 0}\n', encoding="utf-8")
    columns = StructType([StructField("price", IntegerType())])
    options = {"path": str(path), "format": "json"}
    rows = tables.add("prices", "files", columns, "0 seconds", options)

    def seen(epoch: int, finished: int) -> int:
        spark.sparkContext.setLocalProperty("streamc.epoch", str(epoch))
        spark.sparkContext.setLocalProperty("streamc.epochs.finished", str(finished))
        return int(rows.select("price").collect()[0]["price"])

    try:
        for epoch in range(40):
            path.write_text(f'{{"price": {epoch}}}\n', encoding="utf-8")
            # Every other epoch is one in which the fast query does not look the table up.
            if epoch % 2 == 0:
                assert seen(epoch, finished=-1) == epoch
        assert [seen(epoch, finished=epoch - 1) for epoch in (0, 2, 3, 20, 21)] == [0, 2, 2, 20, 20]
        assert seen(39, finished=38) == 39
    finally:
        spark.sparkContext.setLocalProperty("streamc.epoch", None)
        spark.sparkContext.setLocalProperty("streamc.epochs.finished", None)
