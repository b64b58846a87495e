"""What Spark reads and writes files with.

Lines of json and csv are read by the kernel, which accepts a row as a whole or not at all. Parquet,
orc and avro have types of their own, and text has none: Spark reads them, and only NULL in a NOT
NULL column is malformed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....contracts.formats import COMPRESSIONS, FILES_READ, FILES_WRITTEN
from ...base.options import (
    KEPT_SPACES,
    choose,
    csv_options,
    instant_options,
    lenient_options,
    spark_options,
)
from ...spark.packages import Package

_KERNEL = "org.apache.spark.sql.streamc"
STRICT = {"json": f"{_KERNEL}.StrictJson", "csv": f"{_KERNEL}.StrictCsv"}
"""The formats of which the kernel reads the lines, and by what."""

_AVRO = Package(
    "avro",
    "org.apache.spark:spark-avro_2.13:4.2.0",
    "org.apache.spark.sql.v2.avro.AvroDataSourceV2",
)


def format_packages(format: str | None) -> tuple[Package, ...]:
    """What Spark needs besides for files of a format; a script without one is refused later."""
    return (_AVRO,) if format == "avro" else ()


def take_read(owner: str, options: dict[str, Any]) -> tuple[str, str]:
    """Takes format and path of files that are read out of `options`."""
    format = str(options.pop("format"))
    choose(format, dict.fromkeys(FILES_READ), owner, "format")
    return format, str(options.pop("path"))


def take_written(owner: str, options: dict[str, Any]) -> str:
    """Takes the format of files that are written out of `options`."""
    format = str(options.pop("format"))
    choose(format, dict.fromkeys(FILES_WRITTEN), owner, "format")
    return format


def reader_settings(owner: str, format: str, options: dict[str, Any]) -> dict[str, str]:
    """Takes the options of Spark and the kernel for reading a format out of `options`."""
    found = {**_format_options(format, options), **spark_options(options)}
    if format not in STRICT:
        return found
    strict = lenient_options(format, options, found)
    return found | strict | instant_options(owner, format, options, found)


def strict_settings(owner: str, required: Sequence[str]) -> Mapping[str, str]:
    """The options of the kernel's formats that name the reader and its NOT NULL columns."""
    return {"streamc.owner": owner, "streamc.required": "\n".join(required)}


def writer_settings(owner: str, format: str, options: dict[str, Any]) -> dict[str, str]:
    """Takes what Spark writes a format by out of `options`.

    Raises RuntimeFault for a compression that the format does not have.
    """
    found = spark_options(options)
    if (compression := options.pop("compression", None)) is not None:
        known = COMPRESSIONS[format]
        found["compression"] = choose(str(compression), known, owner, "compression")
    if format == "csv":
        # A quote within quotes is doubled, as readers expect.
        own = {**KEPT_SPACES, "escape": '"'}
        given = {name.lower() for name in found}
        found |= {name: value for name, value in own.items() if name.lower() not in given}
        found["header"] = str(options.pop("header", True)).lower()
        if (delimiter := options.pop("delimiter", None)) is not None:
            found["sep"] = str(delimiter)
    return found


def _format_options(format: str, options: dict[str, Any]) -> dict[str, str]:
    if format != "csv":
        return {}
    header = str(options.pop("header", True)).lower()
    return {"header": header, **csv_options(options)}
