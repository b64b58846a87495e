"""Files as a source.

Lines of json and csv are read by the kernel, which takes a row as a whole or not at all. Parquet,
orc and avro have types of their own, and text has none: Spark reads them, and only NULL in a
NOT NULL column is malformed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.errors import INPUT_MISSING, RuntimeFault
from ..base.options import (
    choose,
    csv_options,
    instant_options,
    lenient_options,
    quoted,
    refuse_rest,
    spark_options,
)
from ..storage.file_system import Storage
from .malformed import apply_policy, side_columns
from .reading import FAIL, SEND, Declaration, Reading

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_KERNEL = "org.apache.spark.sql.streamc"
_STRICT = {"json": f"{_KERNEL}.StrictJson", "csv": f"{_KERNEL}.StrictCsv"}
FORMATS = ("json", "csv", "parquet", "orc", "avro", "text")
_METADATA = {
    "path": "_metadata.file_path",
    "modified_at": "_metadata.file_modification_time",
}
_REJECTED = ("__raw", "__reason", "__position")
"""What the kernel adds to the columns of malformed rows."""


def read_files(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    """The files of a source, as they arrive; raises RuntimeFault for what can't be had."""
    options = dict(source.options)
    format = str(options.pop("format"))
    path = str(options.pop("path"))
    choose(format, dict.fromkeys(FORMATS), source.owner, "format")
    settings = _settings(source.owner, format, options)
    if (most := options.pop("max_files_per_trigger", None)) is not None:
        settings["maxFilesPerTrigger"] = str(most)
    refuse_rest(source.owner, options)
    if not any(c in path for c in "*?[{") and not storage.matches(path):
        raise RuntimeFault(
            INPUT_MISSING,
            f"{source.owner} reads {path}, and there is no such folder",
            "create the folder (it may be empty), or pass the right path",
        )

    def load(format: str, schema: StructType, **more: str) -> DataFrame:
        reader = spark.readStream.name(source.name).format(format).schema(schema)
        return reader.options(**settings, **more).load(path)

    if format not in _STRICT:
        reading = apply_policy(source, load(format, source.columns), _place())
        return Reading(reading.rows.select(*_columns(source)), reading.malformed)
    strict = _strict(source.owner, source.required())
    kept = FAIL if source.malformed_rows == FAIL else "good"
    rows = load(_STRICT[format], source.columns, **strict, **{"streamc.rows": kept})
    reading = Reading(rows.select(*_columns(source)))
    if source.malformed_rows != SEND:
        return reading

    def rejected() -> DataFrame:
        from pyspark.sql import functions as F

        schema = _with_rejected(source.columns)
        found = load(_STRICT[format], schema, **strict, **{"streamc.rows": "malformed"})
        raw, reason, position = (F.col(name) for name in _REJECTED)
        return found.select(*side_columns(source.name, raw, reason, position))

    return Reading(reading.rows, rejected)


@dataclass(frozen=True, slots=True)
class BatchReading:
    """How files are read as a batch: Spark's format, its options, the path."""

    format: str
    settings: Mapping[str, str]
    path: str


def batch_reading(owner: str, given: Mapping[str, Any], required: Sequence[str]) -> BatchReading:
    """How the files of a table are read; a malformed row of lines fails, and so does a NULL there.

    Raises RuntimeFault for options that mean nothing.
    """
    options = dict(given)
    format = str(options.pop("format"))
    path = str(options.pop("path"))
    choose(format, dict.fromkeys(FORMATS), owner, "format")
    settings = _settings(owner, format, options)
    refuse_rest(owner, options)
    if format in _STRICT:
        settings |= {**_strict(owner, required), "streamc.rows": FAIL}
    return BatchReading(_STRICT.get(format, format), settings, path)


def _columns(source: Declaration) -> list[Column]:
    """The declared columns and no others: folders named `day=1` would add theirs."""
    from pyspark.sql import functions as F

    known = _metadata_columns(source)
    return [F.col(quoted(field.name)) for field in source.columns.fields] + [
        F.col(path).alias(name) for name, path in known.items()
    ]


def _metadata_columns(source: Declaration) -> dict[str, str]:
    """The metadata columns by name, each as Spark calls what it asks for."""
    return {
        name: choose(key, _METADATA, source.owner, "metadata")
        for name, key in source.metadata.items()
    }


def _place() -> Column:
    from pyspark.sql import functions as F

    return F.col(_METADATA["path"])


def _with_rejected(columns: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    added = [StructField(name, StringType()) for name in _REJECTED]
    return StructType([*columns.fields, *added])


def _settings(owner: str, format: str, options: dict[str, Any]) -> dict[str, str]:
    """Takes what Spark and the kernel read a format by out of `options`."""
    found = {**_format_options(format, options), **spark_options(options)}
    if format not in _STRICT:
        return found
    strict = lenient_options(format, options, found)
    return found | strict | instant_options(owner, format, options)


def _format_options(format: str, options: dict[str, Any]) -> dict[str, str]:
    """Takes what a format is set by out of `options`."""
    if format != "csv":
        return {}
    header = str(options.pop("header", True)).lower()
    return {"header": header, **csv_options(options)}


def _strict(owner: str, required: Sequence[str]) -> dict[str, str]:
    """The options of the kernel's formats that name the source and its NOT NULL columns."""
    return {"streamc.owner": owner, "streamc.required": "\n".join(required)}
