"""Files as a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.errors import INPUT_MISSING, RuntimeFault
from ...base.options import choose, quoted, refuse_rest
from ...storage.file_system import Storage
from ..instants import check_instants
from ..malformed import apply_policy, side_columns
from ..reading import FAIL, SEND, Declaration, Reading
from .formats import STRICT, reader_settings, strict_settings, take_read

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_METADATA = {
    "path": "_metadata.file_path",
    "modified_at": "_metadata.file_modification_time",
}
_REJECTED = ("__raw", "__reason", "__position")
"""What the kernel adds to the columns of malformed rows."""


def read_files(spark: SparkSession, storage: Storage, source: Declaration) -> Reading:
    """The files of a source, as they arrive; raises RuntimeFault when they can't be read."""
    options = dict(source.options)
    format, path = take_read(source.owner, options)
    settings = reader_settings(source.owner, format, options)
    check_instants(spark, source.owner, settings)
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

    if format not in STRICT:
        reading = apply_policy(source, load(format, source.columns), _place())
        return Reading(reading.rows.select(*_columns(source)), reading.malformed)
    strict = strict_settings(source.owner, source.required())
    kept = FAIL if source.malformed_rows == FAIL else "good"
    rows = load(STRICT[format], source.columns, **strict, **{"streamc.rows": kept})
    reading = Reading(rows.select(*_columns(source)))
    if source.malformed_rows != SEND:
        return reading

    def rejected() -> DataFrame:
        from pyspark.sql import functions as F

        schema = _with_rejected(source.columns)
        found = load(STRICT[format], schema, **strict, **{"streamc.rows": "malformed"})
        raw, reason, position = (F.col(name) for name in _REJECTED)
        return found.select(*side_columns(source.name, raw, reason, position))

    return Reading(reading.rows, rejected)


def _columns(source: Declaration) -> list[Column]:
    """The declared columns and no others: folders named `day=1` would add theirs."""
    from pyspark.sql import functions as F

    known = _metadata_columns(source)
    return [F.col(quoted(field.name)) for field in source.columns.fields] + [
        F.col(path).alias(name) for name, path in known.items()
    ]


def _metadata_columns(source: Declaration) -> dict[str, str]:
    """The metadata columns by name, each with Spark's expression."""
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
