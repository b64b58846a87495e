"""Rows that tests give to sources and tables, as lines of text."""

from __future__ import annotations

import base64
import csv
import io
import math
from collections.abc import Mapping as Names

from ...contracts.formats import GIVEN, LINES
from ...contracts.records import dataclass
from ...dsl.reports import codes
from ...dsl.yaml.diagnostics import described
from ...dsl.yaml.nodes import Mapping, Node, Scalar, Sequence
from ..connectors.registry import reader_of
from ..model import types as t
from ..model.pipeline import Endpoint, Source, Table
from .diagnostics import Teller
from .values import Misfit, Value, json_text, read_value


@dataclass(frozen=True, slots=True)
class Lines:
    """How a source reads text: its format, and the delimiter and text for NULL of csv.

    ``strict`` is whether it rejects floats such as NaN, ``patterned`` whether it reads instants by
    a pattern of its own. ``unset`` are options that need a variable without a value, each with its
    variable.
    """

    source: Source | Table
    format: str
    delimiter: str
    null: str
    header: bool
    strict: bool
    patterned: bool
    unset: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, source: Source | Table, variables: Names[str, str | None]) -> Lines:
        """Return how a source reads text with these values of variables."""
        endpoint = source.endpoint
        unset: list[tuple[str, str]] = []

        def option(name: str, default: str) -> str:
            text = endpoint.option(name) or default
            for variable, value in variables.items():
                if value is None and f"${{{variable}}}" in text:
                    unset.append((name, variable))
                text = text.replace(f"${{{variable}}}", value or "")
            return text or default

        # Rows of all other sources are given as JSON.
        written = option("format", "") if reader_of(source).reads_files else ""
        return cls(
            source,
            written if written in LINES else "json",
            option("delimiter", ","),
            option("null_value", ""),
            option("header", "true").lower() == "true",
            _is_strict(endpoint, option("lenient", "false")),
            endpoint.option("timestamp_format") is not None,
            tuple(unset),
        )

    @property
    def takes_text(self) -> bool:
        """Whether a row may be given as its line of text."""
        return self.source.endpoint.option("format") in LINES

    @property
    def first(self) -> tuple[str, ...]:
        """The lines with which every file begins."""
        if self.format != "csv" or not self.header:
            return ()
        return (self.delimiter.join(self._field(c.name) for c in self.source.columns),)

    def line(self, row: Names[str, Value]) -> str:
        """Return the line of a row with all columns."""
        if self.format == "csv":
            return self.delimiter.join(self._field(row[c.name]) for c in self.source.columns)
        if self.format == "text":
            return str(row[self.source.columns[0].name])
        return json_text({name: value for name, value in row.items() if value is not None})

    def _field(self, value: Value) -> str:
        if value is None:
            return self.null
        text = value if isinstance(value, str) else json_text(value).strip('"')
        if text != text.strip():
            return '"' + text.replace('"', '""') + '"'
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator="").writerow([text])
        return out.getvalue()


_NO_NUMBERS = {
    "json": {"allownonnumericnumbers"},
    "csv": {"nanvalue", "positiveinf", "negativeinf"},
}
"""Spark's options, in lower case, that allow NaN and infinities in the lines of a format."""


def _is_strict(endpoint: Endpoint, lenient: str) -> bool:
    named = _NO_NUMBERS.get(endpoint.option("format") or "")
    if named is None or lenient.lower() == "true":
        return False
    return named.isdisjoint(name.lower() for name, _ in endpoint.passed)


def read_rows(node: Node, lines: Lines, teller: Teller) -> tuple[str, ...]:
    """Return the lines of the rows that a step gives to a source; mistakes are reported."""
    if not isinstance(node, Sequence):
        teller.form(
            f"the rows of `{lines.source.name}` are {described(node)}, not a list",
            node,
            "write a list of rows, `[]` for none",
        )
        return ()
    found = [_row(item, lines, teller) for item in node]
    return tuple(line for line in found if line is not None)


def _row(node: Node, lines: Lines, teller: Teller) -> str | None:
    source = lines.source
    if isinstance(node, Mapping):
        return _mapped(node, lines, teller)
    if not isinstance(node, Scalar) or node.kind == "null":
        teller.form(f"a row of `{source.name}` is {described(node)}, not a mapping", node)
        return None
    if not lines.takes_text:
        written = source.endpoint.option("format") or source.endpoint.connector
        teller.form(
            f"`{source.name}` reads {written}, and a line of text is no row of it",
            node,
            "write a mapping of columns",
        )
        return None
    if "\n" in node.text.rstrip("\n"):
        teller.form("a row is given as more than one line", node, "write a line an item")
        return None
    return node.text.rstrip("\n")


def _mapped(node: Mapping, lines: Lines, teller: Teller) -> str | None:
    source = lines.source
    row: dict[str, Value] = {column.name: None for column in source.columns}
    types = {column.name.lower(): column for column in source.columns}
    fits = True
    for key, value in node:
        column = types.get(key.text.lower())
        if column is None:
            _unknown(key, source, teller)
            fits = False
            continue
        try:
            row[column.name] = _given(value, column.type, lines)
        except Misfit as error:
            teller.misfit(key.text, error)
            fits = False
    missing = [c.name for c in source.columns if not c.nullable and row[c.name] is None]
    if fits and missing:
        teller.tell(
            codes.TEST_VALUE,
            f"the row has no `{missing[0]}`, which is NOT NULL in `{source.name}`",
            node.span,
            "give it a value; a malformed row is given as the line of text that it is"
            if lines.takes_text
            else "give it a value",
        )
    return lines.line(row) if fits and not missing else None


def _given(node: Node, type_: t.Type, lines: Lines) -> Value:
    if lines.format == "text":
        value = read_value(node, t.STRING)
        if value is None or "\n" in value:
            raise Misfit(node, "one line of text")
        return value
    value = read_value(node, type_)
    if lines.strict and _holds_no_number(value):
        raise Misfit(
            node, "of finite numbers, and without `lenient = true` the source takes no others"
        )
    if lines.patterned:
        value = _marked(value, type_)
    if lines.format == "csv" and value is not None:
        if value == lines.null:
            raise Misfit(node, "something that csv can tell from NULL")
        if isinstance(type_, t.Array | t.Map | t.Struct):
            raise Misfit(node, "something that csv can hold")
        if type_ == t.BINARY:
            try:
                return base64.b64decode(value).decode()
            except UnicodeDecodeError:
                raise Misfit(node, "base64 of text, which is what csv can hold") from None
    return value


def _marked(value: Value, type_: t.Type) -> Value:
    """Return a value whose instants are told from texts that have the source's pattern."""
    match type_:
        case t.Array(element) if isinstance(value, list):
            return [_marked(item, element) for item in value]
        case t.Map(_, inner) if isinstance(value, dict):
            return {key: _marked(item, inner) for key, item in value.items()}
        case t.Struct(fields) if isinstance(value, dict):
            return {f.name: _marked(value.get(f.name), f.type) for f in fields}
    instant = type_ in (t.TIMESTAMP, t.TIMESTAMP_NTZ)
    return f"{GIVEN}{value}" if instant and value is not None else value


def _holds_no_number(value: Value) -> bool:
    match value:
        case float():
            return not math.isfinite(value)
        case list():
            return any(map(_holds_no_number, value))
        case dict():
            return any(map(_holds_no_number, value.values()))
    return False


def _unknown(key: Scalar, source: Source | Table, teller: Teller) -> None:
    if any(column.name.lower() == key.text.lower() for column in source.schema):
        teller.tell(
            codes.TEST_COLUMN,
            f"`{key.text}` of `{source.name}` is computed, and can't be given",
            key.span,
        )
    else:
        names = [column.name for column in source.columns]
        teller.unknown(f"column of `{source.name}`", key, names, codes.TEST_COLUMN)
