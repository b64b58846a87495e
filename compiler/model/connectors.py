"""The connectors and their options: one table, from which options are checked and documented."""

from __future__ import annotations

from ...dsl.records import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a connector.

    ``kind`` is ``text``, ``integer`` (at least one), ``boolean``, ``character`` or ``function``
    (``module:name``). ``choices`` limits a text; ``formats`` are those for which the option means
    something (empty: all).
    """

    name: str
    kind: str = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector of sources or of sinks.

    ``takes_changes``: a sink can be given rows that replace earlier ones. ``passes_spark``: options
    prefixed ``spark.`` go to Spark as they are. ``promise`` is what a sink promises of each row,
    in a sentence.
    """

    name: str
    options: tuple[Option, ...]
    takes_changes: bool = False
    passes_spark: bool = False
    promise: str = ""


_FILE_FORMATS = ("json", "csv", "parquet")
_CSV = (
    Option("header", kind="boolean", formats=("csv",)),
    Option("delimiter", kind="character", formats=("csv",)),
)

SOURCES: dict[str, Connector] = {
    "files": Connector(
        "files",
        (
            Option("format", required=True, choices=_FILE_FORMATS),
            Option("path", required=True),
            Option("max_files_per_trigger", kind="integer"),
            *_CSV,
            Option("null_value", formats=("csv",)),
        ),
        passes_spark=True,
    ),
    "rate": Connector("rate", (Option("rows_per_second", kind="integer"),), passes_spark=True),
}

SINKS: dict[str, Connector] = {
    "files": Connector(
        "files",
        (
            Option("format", required=True, choices=_FILE_FORMATS),
            Option("path", required=True),
            *_CSV,
        ),
        passes_spark=True,
        promise="exactly once: a batch's files are published together, and never a second time",
    ),
    "console": Connector(
        "console",
        (Option("rows", kind="integer"),),
        takes_changes=True,
        promise="at least once: a batch that was not committed is printed again after a restart",
    ),
    "memory": Connector(
        "memory",
        (),
        takes_changes=True,
        promise="exactly once in a run: the rows are gone with the process",
    ),
    "python": Connector(
        "python",
        (Option("function", kind="function", required=True),),
        takes_changes=True,
        promise="at least once: after a restart a batch may come again, with its id and its rows",
    ),
}

NOT_BUILT_SOURCES = ("kafka", "table")
NOT_BUILT_SINKS = ("kafka", "postgres", "table")
NOT_BUILT_FORMATS = ("orc", "avro", "text")
NOT_BUILT_OPTIONS = ("mode", "key")

RATE_COLUMNS = {"timestamp": "TIMESTAMP", "value": "BIGINT"}
"""What a rate source gives: the instant of a row and its number from zero."""
