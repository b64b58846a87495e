"""The connectors and their options: one table, from which options are checked and documented."""

from __future__ import annotations

from ...contracts import sinks
from ...dsl.records import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a connector.

    ``kind`` is ``text``, ``integer`` (at least one), ``boolean``, ``character``, ``function``
    (``module:name``), ``columns`` (names with commas between them), ``size`` (``128 MB``) or
    ``offsets`` (``earliest``, ``latest`` or Kafka offsets by topic and partition, as JSON).
    ``choices`` limits a text; ``formats`` are those for which the option means something (empty:
    all). ``fixed``: a variable may not stand in it.
    """

    name: str
    kind: str = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector of sources or of sinks.

    ``one_of`` are options of which exactly one is given. ``takes_changes``: a sink can be given
    rows that replace earlier ones. ``may_be_malformed``: rows of a source can be.
    ``passes_spark``: options prefixed ``spark.`` go to Spark as they are. ``sends_key``: a key has
    a meaning without upserts too, being sent along with each row. A sink that can replace the rows
    of a key has ``upsert`` among the choices of ``mode``.
    """

    name: str
    options: tuple[Option, ...]
    one_of: tuple[str, ...] = ()
    takes_changes: bool = False
    may_be_malformed: bool = True
    passes_spark: bool = False
    sends_key: bool = False

    @property
    def upserts(self) -> bool:
        """Whether a sink can replace the row that it has of a key."""
        return sinks.SINKS[self.name].upserts


APPEND, UPSERT = "append", "upsert"
"""The modes of a sink: add each row, or replace the row of its key."""

_FILE_FORMATS = ("json", "csv", "parquet", "orc", "avro")
_CSV = (
    Option("header", kind="boolean", formats=("csv",)),
    Option("delimiter", kind="character", formats=("csv",)),
)

_READING = (
    Option("lenient", kind="boolean", formats=("json", "csv")),
    Option("timestamp_unit", choices=("seconds", "millis", "micros", "nanos"), formats=("json",)),
)
"""How what stands in lines and messages is taken."""

_ONLY_APPEND = (Option("mode", choices=(APPEND,), fixed=True),)
_UPSERTS = (
    Option("mode", choices=(APPEND, UPSERT), fixed=True),
    Option("key", kind="columns", fixed=True),
)

SOURCES: dict[str, Connector] = {
    "files": Connector(
        "files",
        (
            Option("format", required=True, choices=(*_FILE_FORMATS, "text")),
            Option("path", required=True),
            Option("max_files_per_trigger", kind="integer"),
            *_CSV,
            Option("null_value", formats=("csv",)),
            *_READING,
        ),
        passes_spark=True,
    ),
    "kafka": Connector(
        "kafka",
        (
            Option("bootstrap_servers", required=True),
            Option("topic"),
            Option("topics"),
            Option("topic_pattern"),
            Option("format", required=True, choices=("json", "csv", "text", "raw")),
            Option("starting_offsets", kind="offsets"),
            Option("max_offsets_per_trigger", kind="integer"),
            Option("delimiter", kind="character", formats=("csv",)),
            Option("null_value", formats=("csv",)),
            *_READING,
        ),
        one_of=("topic", "topics", "topic_pattern"),
        passes_spark=True,
    ),
    "rate": Connector(
        "rate",
        (Option("rows_per_second", kind="integer"),),
        may_be_malformed=False,
        passes_spark=True,
    ),
}

TABLES: dict[str, Connector] = {
    "files": Connector(
        "files",
        (
            Option("format", required=True, choices=(*_FILE_FORMATS, "text")),
            Option("path", required=True),
            *_CSV,
            Option("null_value", formats=("csv",)),
            *_READING,
            Option("refresh", fixed=True),
        ),
        passes_spark=True,
    ),
}
"""What reference data is read from, as a batch."""

SINKS: dict[str, Connector] = {
    "files": Connector(
        "files",
        (
            Option("format", required=True, choices=_FILE_FORMATS),
            Option("path", required=True),
            Option("roll_size", kind="size"),
            *_CSV,
            *_ONLY_APPEND,
        ),
        passes_spark=True,
    ),
    "kafka": Connector(
        "kafka",
        (
            Option("bootstrap_servers", required=True),
            Option("topic", required=True),
            Option("format", required=True, choices=("json", "csv", "text")),
            Option("delimiter", kind="character", formats=("csv",)),
            *_UPSERTS,
        ),
        passes_spark=True,
        sends_key=True,
    ),
    "postgres": Connector(
        "postgres",
        (
            Option("url", required=True),
            Option("table", required=True),
            Option("user"),
            Option("password"),
            *_UPSERTS,
        ),
    ),
    "console": Connector(
        "console",
        (Option("rows", kind="integer"), *_ONLY_APPEND),
        takes_changes=True,
    ),
    "memory": Connector(
        "memory",
        _UPSERTS,
        takes_changes=True,
    ),
    "python": Connector(
        "python",
        (Option("function", kind="function", required=True), *_UPSERTS),
        takes_changes=True,
    ),
}

NOT_BUILT_SOURCES = ("table",)
NOT_BUILT_TABLES = ("table",)
NOT_BUILT_SINKS = ("table",)

METADATA: dict[str, dict[str, str]] = {
    "files": {"path": "STRING", "modified_at": "TIMESTAMP"},
    "kafka": {
        "key": "BINARY",
        "topic": "STRING",
        "partition": "INT",
        "offset": "BIGINT",
        "timestamp": "TIMESTAMP",
        "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
    },
}
"""What a connector knows of each row besides its columns, by key, with the type."""

RATE_COLUMNS = {"timestamp": "TIMESTAMP", "value": "BIGINT"}
"""What a rate source gives: the instant of a row and its number from zero."""

KAFKA_RAW_COLUMNS = {"key": "BINARY", "value": "BINARY"}
"""What a message is made of, for the format ``raw``."""
