"""Sources: what `job.read` makes of a declaration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from .errors import INPUT_MISSING, RuntimeFault
from .kafka import read_kafka
from .options import choose, refuse_rest, spark_options
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS = ("json", "csv", "parquet")


def read_source(
    spark: SparkSession,
    storage: Storage,
    name: str,
    connector: str,
    schema: str,
    options: Mapping[str, Any],
) -> DataFrame:
    """The streaming frame of a source, under its own name, with the columns of `schema`.

    A row that is malformed, or has NULL in a NOT NULL column, fails the query when it is read.
    Raises RuntimeFault for an unknown connector or option, and for a path that is not there.
    """
    from pyspark.sql.types import StructType

    declared = cast(StructType, StructType.fromDDL(schema))
    reader = choose(connector, _CONNECTORS, f"source `{name}`", "connector")
    frame = reader(spark, storage, name, declared, dict(options))
    return _require_values(frame, name, [f.name for f in declared.fields if not f.nullable])


def _files(
    spark: SparkSession,
    storage: Storage,
    name: str,
    schema: StructType,
    options: dict[str, Any],
) -> DataFrame:
    format = str(options.pop("format"))
    path = str(options.pop("path"))
    choose(format, {known: known for known in FORMATS}, f"source `{name}`", "format")
    passed = spark_options(options)
    settings = {**_format_options(format, options), **passed}
    if (most := options.pop("max_files_per_trigger", None)) is not None:
        settings["maxFilesPerTrigger"] = str(most)
    refuse_rest(f"source `{name}`", options)
    if not any(c in path for c in "*?[{") and not storage.matches(path):
        raise RuntimeFault(
            INPUT_MISSING,
            f"source `{name}` reads {path}, and there is no such folder",
            "create the folder (it may be empty), or pass the right path",
        )
    reader = spark.readStream.name(name).format(format).schema(schema)
    return reader.options(**settings).load(path)


def _format_options(format: str, options: dict[str, Any]) -> dict[str, str]:
    if format == "parquet":
        return {}
    if format == "json":
        return {"mode": "FAILFAST"}
    found = {
        "mode": "FAILFAST",
        "header": str(options.pop("header", True)).lower(),
        # Columns are matched by position: a header that says otherwise must not pass silently.
        "enforceSchema": "false",
        # A quote within quotes is doubled, as everywhere but in Spark.
        "escape": '"',
    }
    if (delimiter := options.pop("delimiter", None)) is not None:
        found["sep"] = str(delimiter)
    if (null := options.pop("null_value", None)) is not None:
        found["nullValue"] = str(null)
    return found


def _rate(
    spark: SparkSession,
    storage: Storage,
    name: str,
    schema: StructType,
    options: dict[str, Any],
) -> DataFrame:
    rows = options.pop("rows_per_second", 1)
    settings = {"rowsPerSecond": str(rows), **spark_options(options)}
    refuse_rest(f"source `{name}`", options)
    frame = spark.readStream.name(name).format("rate").options(**settings).load()
    return frame.select(*[frame[field.name] for field in schema.fields])


def _kafka(
    spark: SparkSession,
    storage: Storage,
    name: str,
    schema: StructType,
    options: dict[str, Any],
) -> DataFrame:
    return read_kafka(spark, name, schema, options)


_Reader = Callable[["SparkSession", Storage, str, "StructType", dict[str, Any]], "DataFrame"]
_CONNECTORS: dict[str, _Reader] = {"files": _files, "kafka": _kafka, "rate": _rate}


def _require_values(frame: DataFrame, source: str, columns: list[str]) -> DataFrame:
    """Fails the query on a NULL in one of the columns.

    The condition is one that Spark takes for non-deterministic (`spark_partition_id`, which costs
    nothing): a filter of the pipeline such as `k = 'x'` is then neither merged with it nor moved
    below it, where it would drop the row unseen, and the columns are read even if nothing else
    reads them. Spark goes on seeing the columns as nullable, so plans do not depend on it.
    """
    from pyspark.sql import functions as F

    if not columns:
        return frame
    fault = F.lit(None).cast("boolean")
    for column in reversed(columns):
        message = f"source `{source}` has a row with NULL in `{column}`, which is NOT NULL"
        raised = F.raise_error(F.lit(message)).cast("boolean")
        quoted = F.col(f"`{column.replace('`', '``')}`")
        fault = F.when(quoted.isNull(), raised).otherwise(fault)
    return frame.where((F.spark_partition_id() >= 0) & fault.isNull())
