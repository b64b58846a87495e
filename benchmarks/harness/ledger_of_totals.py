"""The function of a python sink: every batch of totals in SQLite, once.

It writes a batch in one transaction with the batch's number, and skips one that it has. A repeated
batch must have the same rows as before.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TABLES = """
CREATE TABLE IF NOT EXISTS batches (batch INTEGER PRIMARY KEY, repeated INTEGER);
CREATE TABLE IF NOT EXISTS totals (batch INTEGER, shop TEXT, hour INTEGER, n INTEGER,
                                   amount INTEGER, PRIMARY KEY (batch, shop, hour));
"""


def write(batch: DataFrame, batch_id: int) -> None:
    """Adds the totals of a batch to the earlier ones."""
    time.sleep(float(os.environ.get("SHOP_SLEEP", "0")))
    columns = ["shop", "unix_millis(hour)", "n", "amount"]
    rows = sorted((batch_id, *row) for row in batch.selectExpr(*columns).collect())
    with closing(sqlite3.connect(os.environ["SHOP_TOTALS"], isolation_level=None)) as database:
        database.executescript(_TABLES)
        database.execute("BEGIN IMMEDIATE")
        if database.execute("SELECT 1 FROM batches WHERE batch = ?", [batch_id]).fetchone():
            known = "SELECT * FROM totals WHERE batch = ? ORDER BY batch, shop, hour"
            if database.execute(known, [batch_id]).fetchall() != rows:
                raise ValueError(f"batch {batch_id} came again with other rows")
            repeated = "UPDATE batches SET repeated = repeated + 1 WHERE batch = ?"
            database.execute(repeated, [batch_id])
        else:
            database.execute("INSERT INTO batches VALUES (?, 0)", [batch_id])
            database.executemany("INSERT INTO totals VALUES (?, ?, ?, ?, ?)", rows)
        database.execute("COMMIT")
