"""Windows that Spark has no function for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DELAY = "spark.watermarkDelayMs"
_IS_WINDOW = "spark.timeWindow"


def cumulate(
    frame: DataFrame, column: str, *, step: str, size: str, offset: str = "0 seconds"
) -> DataFrame:
    """The rows, once for each of their cumulating windows, with a new column `window`.

    Each stretch of `size`, shifted by `offset`, has the windows [start, start + step),
    [start, start + 2 * step), and so on up to the whole of it. The column is like that of
    `F.window`: a struct of `start` and `end` with the watermark of `column`, so that a group of it
    closes when the watermark has passed its end, and `F.window_time` is its event time. Rows
    without an instant belong to no window.
    """
    from pyspark.sql import functions as F

    start, length = F.col("window.start"), F.expr(f"INTERVAL '{step}'")
    ends = F.sequence(start + length, F.col("window.end"), length)
    windows = F.transform(
        F.filter(ends, lambda end: end > F.col(column)),
        lambda end: F.struct(start.alias("start"), end.alias("end")),
    )
    delay = frame.select(column).schema[0].metadata[_DELAY]
    return (
        frame.withColumn("window", F.window(column, size, size, offset))
        .withColumn("window", F.explode(windows))
        .withMetadata("window", {_DELAY: delay, _IS_WINDOW: True})
    )
