"""Files of a folder: a source of arriving files, a table, and a sink that adds files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from ...contracts import formats
from ...contracts.readers import READERS
from ...contracts.sinks import SINKS
from ...dsl.ast import statements as st
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model import types
from ..model.pipeline import Endpoint
from ..model.schema import Field, Schema
from .columns import (
    declared,
    names_in,
    no_such_column,
    not_in_csv,
    one_text,
    one_text_written,
    unwritable_name,
)
from .instants import PARSING, check_instants
from .interface import Connector, Declares, Reader, SinkRole, SourceRole, TableRole
from .options import (
    DELIMITER,
    HEADER,
    INTEGER,
    NULL_VALUE,
    SIZE,
    TEXT,
    Concern,
    Option,
    format_of,
)
from .spark_options import SparkOptions

_NESTED = (types.Array, types.Map, types.Struct)

_PATH = Option(
    "path",
    Concern.PLACE,
    "the folder, on any file system that Hadoop's client reaches",
    kind=TEXT,
    required=True,
    spark=("path",),
)
_MOST = Option(
    "max_files_per_trigger",
    Concern.RUN,
    "how many files a batch reads at most",
    kind=INTEGER,
    spark=("maxfilespertrigger",),
)
_ROLL_SIZE = Option(
    "roll_size", Concern.RUN, "the approximate maximum size of a file", kind=SIZE, default="512 MB"
)

_COMPRESSION = Option(
    "compression",
    Concern.RUN,
    "how a file is compressed",
    kind=TEXT,
    default="that of Spark: none for lines, snappy for parquet and avro, zstd for orc",
    choices=tuple(dict.fromkeys(one for some in formats.COMPRESSIONS.values() for one in some)),
    spark=("compression",),
)

_READ = tuple("pathGlobFilter recursiveFileLookup ignoreCorruptFiles ignoreMissingFiles".split())
_STREAMED = tuple(
    "maxBytesPerTrigger latestFirst maxFileAge fileNameOnly cleanSource sourceArchiveDir "
    "maxCachedFiles discardCachedInputRatio".split()
)
_TIMES_READ = tuple("dateFormat timestampNTZFormat locale".split())
_TIMES_WRITTEN = (*_TIMES_READ, "timestampFormat", "timeZone")
_CSV_BOTH = tuple(
    "quote escape emptyValue lineSep encoding charset ignoreLeadingWhiteSpace "
    "ignoreTrailingWhiteSpace".split()
)
_READ_BY_FORMAT = {
    "json": (
        *"allowComments allowUnquotedFieldNames allowSingleQuotes allowNumericLeadingZeros".split(),
        *"allowBackslashEscapingAnyCharacter allowUnquotedControlChars".split(),
        *"allowNonNumericNumbers lineSep".split(),
        *_TIMES_READ,
    ),
    "csv": (
        *"comment nanValue positiveInf negativeInf multiLine".split(),
        *_CSV_BOTH,
        *_TIMES_READ,
    ),
    "parquet": tuple("datetimeRebaseMode int96RebaseMode".split()),
    "orc": (),
    "avro": tuple("avroSchema avroSchemaUrl positionalFieldMatching datetimeRebaseMode".split()),
    "text": tuple("lineSep wholetext".split()),
}
_WRITTEN_BY_FORMAT = {
    "json": (*"encoding lineSep ignoreNullFields".split(), *_TIMES_WRITTEN),
    "csv": (
        *"quoteAll escapeQuotes charToEscapeQuoteEscaping nullValue".split(),
        *_CSV_BOTH,
        *_TIMES_WRITTEN,
    ),
    "parquet": (),
    "orc": (),
    "avro": tuple("avroSchema recordName recordNamespace".split()),
    "text": ("lineSep",),
}
_NEUTRAL = tuple(
    "maxFileAge latestFirst maxCachedFiles cleanSource sourceArchiveDir fileNameOnly".split()
)


class _FilesReader(Reader):
    """What a source and a table of files have in common."""

    one_of = ()
    reads_files = READERS["files"].reads_files

    def check_columns(
        self, node: Declares, point: Endpoint, columns: tuple[Field, ...]
    ) -> Iterator[Diagnostic]:
        yield from check_instants(node, point, columns)
        format_ = point.option("format")
        if format_ == "text":
            yield from one_text(node, columns, "line", "line")
            return
        for field in columns:
            for name, why in _refused_names(format_, field):
                yield _no_such_name(node, field, name, why)
            nested = isinstance(field.type, _NESTED) and format_ == "csv"
            if nested or (field.type is types.VARIANT and format_ in ("csv", "orc", "avro")):
                yield _no_such_type(node, field, format_)


class FilesSource(_FilesReader, SourceRole):
    """The files of a folder as they arrive."""

    options = (
        format_of(formats.FILES_READ),
        _PATH,
        _MOST,
        HEADER,
        DELIMITER,
        NULL_VALUE,
        *PARSING,
    )
    spark = SparkOptions((*_READ, *_STREAMED), _READ_BY_FORMAT, (), _NEUTRAL, (), {})
    metadata = READERS["files"].metadata
    may_be_malformed = True


class FilesTable(_FilesReader, TableRole):
    """The files in a folder when a batch begins."""

    options = (format_of(formats.FILES_READ), _PATH, HEADER, DELIMITER, NULL_VALUE, *PARSING)
    spark = SparkOptions(_READ, _READ_BY_FORMAT, (), (), (), {})


class FilesSink(SinkRole):
    """Files added to a folder, atomically for each batch."""

    options = (format_of(formats.FILES_WRITTEN), _PATH, _ROLL_SIZE, _COMPRESSION, HEADER, DELIMITER)
    one_of = ()
    spark = SparkOptions(
        ("maxRecordsPerFile",), _WRITTEN_BY_FORMAT, ("parquet.", "orc."), (), (), {}
    )
    promise = SINKS["files"]
    takes_changes = False
    sends_key = False

    def check_columns(
        self, node: st.CreateSink, point: Endpoint, key: tuple[str, ...], schema: Schema
    ) -> Iterator[Diagnostic]:
        format_ = point.option("format") or ""
        yield from _not_compressed(node, format_)
        if format_ == "text":
            yield from one_text_written(node, schema)
        for field in schema:
            for name, why in _refused_names(format_, field):
                yield unwritable_name(node, format_, name, why)
        if format_ == "csv":
            yield from not_in_csv(node, schema)


class Files(Connector):
    """Files."""

    name = "files"
    source = FilesSource()
    table = FilesTable()
    sink = FilesSink()
    elsewhere: ClassVar[Mapping[str, str]] = {
        "filesystem": "write `connector = 'files'`",
        "file": "write `connector = 'files'`",
        "s3": "write `connector = 'files'` and a path that begins with `s3a://`",
        **{
            format_: f"write `connector = 'files', format = '{format_}'`"
            for format_ in ("json", "csv", "parquet", "orc")
        },
    }


def _not_compressed(node: st.CreateSink, format_: str) -> Iterator[Diagnostic]:
    """Yield the diagnostic for a compression that files of the format don't have."""
    known = formats.COMPRESSIONS.get(format_, {})
    for option in node.options:
        named = option.name.text == _COMPRESSION.name and "${" not in option.value
        if named and known and option.value not in known:
            yield Diagnostic(
                codes.OPTION_VALUE,
                f"files of format `{format_}` can't be compressed by `{option.value}`",
                Label(option.value_span),
                help=f"it is one of: {', '.join(known)}",
            )


def _refused_names(format_: str | None, field: Field) -> Iterator[tuple[str, str]]:
    """Yield each name of a column or field that a format does not accept, and why."""
    why = {"avro": _not_of_avro, "orc": _not_of_orc}.get(format_ or "")
    for name in names_in(field) if why is not None else ():
        if why is not None and (reason := why(name)) is not None:
            yield name, reason


def _not_of_avro(name: str) -> str | None:
    letters = name.replace("_", "a")
    if letters.isalnum() and not letters[0].isdigit():
        return None
    return "names in avro have only letters, digits and `_`"


def _not_of_orc(name: str) -> str | None:
    return "names in orc have no backticks" if "`" in name else None


def _no_such_type(node: Declares, field: Field, format_: str | None) -> Diagnostic:
    how = "parse_json" if field.type is types.VARIANT else "from_json"
    return no_such_column(
        node,
        field,
        f"files of format `{format_}` have no column of type {field.type}",
        f"declare `{field.name} STRING`, and compute another column with `{how}`",
    )


def _no_such_name(node: Declares, field: Field, name: str, why: str) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_COLUMNS,
        f"a file cannot have a column or field called `{name}`",
        Label(declared(node, field).span, why),
        help="declare the name that the files have",
    )
