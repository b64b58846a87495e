"""Sources: what `job.read` makes of a declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..base.options import choose, refuse_rest, spark_options
from ..storage.file_system import Storage
from .files import read_files
from .kafka import read_kafka
from .reading import POLICIES, Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_source(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    """The rows of a source as a streaming frame, under its own name, and its malformed rows.

    Raises RuntimeFault for an unknown connector or option, and for a path that is not there.
    """
    choose(source.malformed_rows, dict.fromkeys(POLICIES), source.owner, "malformed_rows")
    reader = choose(source.connector, _CONNECTORS, source.owner, "connector")
    return reader(spark, storage, source)


def _rate(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    options = dict(source.options)
    rows = options.pop("rows_per_second", 1)
    settings = {"rowsPerSecond": str(rows), **spark_options(options)}
    refuse_rest(source.owner, options)
    frame = spark.readStream.name(source.name).format("rate").options(**settings).load()
    return Reading(frame.select(*[frame[field.name] for field in source.columns.fields]))


_Reader = Callable[["SparkSession", Storage, Declaration], Reading]
_CONNECTORS: dict[str, _Reader] = {"files": read_files, "kafka": read_kafka, "rate": _rate}
