"""Cases of ``tests/run``: a spec, its input, the right rows; compiled and run in three ways.

A folder holds ``spec.stream`` and

- ``input.yaml``: the rows of each source in the order of their arrival; a text is a line as it is,
- ``rows.yaml``: the right rows of each sink, worked out by hand, or
- ``oracle.py`` instead of both: ``inputs()`` makes the input, ``expected(inputs)`` the right rows,
- ``rows.<way>.yaml``: what is right for one way of arrival, where the way matters by design,
- ``tables.yaml``: the rows of each table, there from the start,
- ``case.yaml``: ``groups``, how many starts the way ``restarted`` makes (default 3; 0: one a row);
  ``batch``, how many rows a batch has in the way ``row_by_row`` (default 1); ``keys``, the columns
  that say which rows of a sink replace which.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import importlib.util
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from compiled import compiled
from pyarrow import orc
from streamc.dsl.reports.render import render

if TYPE_CHECKING:
    from streamc.compiler.driver import CompileResult

Rows = list[dict[str, Any]]
Way = Literal["whole", "row_by_row", "restarted"]
WAYS: tuple[Way, ...] = ("whole", "row_by_row", "restarted")
LONG = pytest.mark.long


def each_way(often: Way, ways: Sequence[Way] = WAYS) -> list[Any]:
    """The ways as parameters of a test, of which `make test` runs only one."""
    return [pytest.param(way, marks=[] if way == often else LONG) for way in ways]


FIRST_ARRIVAL = 1_700_000_000
"""The modification time of the first input file; Spark reads files in this order."""


class _Loader(yaml.SafeLoader):
    """YAML with ``!decimal 1.50`` and ``!seconds 90``, an interval."""


_Loader.add_constructor("!decimal", lambda loader, node: Decimal(str(node.value)))
_Loader.add_constructor("!seconds", lambda loader, node: timedelta(seconds=float(node.value)))


@dataclass(frozen=True, slots=True)
class Case:
    """One folder, read."""

    folder: Path
    inputs: Mapping[str, Rows]
    right: Mapping[Way, Mapping[str, Rows]]
    tables: Mapping[str, Rows] = field(default_factory=dict)
    groups: int = 3
    batch: int = 1
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def arrivals(self, way: Way) -> dict[str, list[Rows]]:
        """Return the rows of each source file by file."""
        if way == "whole":
            return {source: [rows] for source, rows in self.inputs.items()}
        if way == "row_by_row":
            return {source: _chunks(rows, self.batch) for source, rows in self.inputs.items()}
        most = self.groups or max(len(rows) for rows in self.inputs.values())
        return {
            source: _chunks(rows, -(-len(rows) // most)) for source, rows in self.inputs.items()
        }


@cache
def read_case(folder: Path) -> Case:
    """Read a folder; ``expected`` of an oracle is run once."""
    settings = _yaml(folder / "case.yaml") or {}
    if (folder / "oracle.py").exists():
        oracle = _module(folder / "oracle.py")
        inputs = oracle.inputs()
        right = oracle.expected(inputs)
    else:
        inputs, right = _yaml(folder / "input.yaml"), _yaml(folder / "rows.yaml")
    own = {way: _yaml(folder / f"rows.{way}.yaml") for way in WAYS}
    tables = _yaml(folder / "tables.yaml") or {}
    return Case(folder, inputs, {way: own[way] or right for way in WAYS}, tables, **settings)


@cache
def compile_case(folder: Path) -> CompileResult:
    """Compile the spec of a folder, which must have no diagnostics."""
    result = compiled(folder / "spec.stream", f"{folder.name}.stream")
    assert not len(result.diagnostics), render([result.diagnostics])
    return result


def _yaml(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), _Loader) if path.exists() else None


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _chunks(rows: Rows, size: int) -> list[Rows]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


# Input files.


def write_input(path: Path, number: int, rows: Rows, source: Mapping[str, Any]) -> None:
    """Write one file of a source in its format; ``number`` is its place in the order of arrival."""
    options = source["options"]
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f"_{path.name}")
    match options["format"]:
        case "json":
            lines = [
                row if isinstance(row, str) else json.dumps(_plain(row), ensure_ascii=False)
                for row in rows
            ]
            hidden.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        case "csv":
            hidden.write_text(_csv(rows, source), encoding="utf-8")
        case "parquet":
            pq.write_table(_table(rows, source), hidden)
        case "orc":
            orc.write_table(_table(rows, source), hidden)
        case "text":
            hidden.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    os.utime(hidden, (FIRST_ARRIVAL + number, FIRST_ARRIVAL + number))
    hidden.rename(path)


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date() | Decimal():
            return str(value)
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
    return value


def _csv(rows: Rows, source: Mapping[str, Any]) -> str:
    options = source["options"]
    null = options.get("null_value", "")
    names = [column["name"] for column in source["columns"]]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=options.get("delimiter", ","), lineterminator="\n")
    if options.get("header", "true") == "true":
        writer.writerow(names)
    for row in rows:
        if isinstance(row, str):
            out.write(f"{row}\n")
            continue
        values = [_plain(row.get(name)) for name in names]
        writer.writerow([null if value is None else value for value in values])
    return out.getvalue()


_ARROW = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def _table(rows: Rows, source: Mapping[str, Any]) -> Any:
    fields = [pa.field(c["name"], _arrow(c["type"])) for c in source["columns"]]
    return pa.Table.from_pylist(rows, pa.schema(fields))


def _arrow(type_: str) -> Any:
    if type_.startswith("DECIMAL"):
        precision, scale = type_.removeprefix("DECIMAL(").removesuffix(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    return _ARROW[type_]


# Rows.


def read_output(folder: Path, format_: str) -> Rows:
    """Read what a files sink wrote with plain readers; all values of csv are text."""
    rows: Rows = []
    ending = {"text": "txt"}.get(format_, format_)
    for path in sorted({*folder.glob(f"*.{ending}"), *folder.glob(f"*.{ending}.*")}):
        match format_:
            case "json":
                rows += [json.loads(line) for line in _lines(path)]
            case "csv":
                rows += [dict(row) for row in csv.DictReader(_lines(path))]
            case "text":
                rows += [{"line": line.removesuffix("\n")} for line in _lines(path)]
            case "parquet":
                rows += pq.read_table(path).to_pylist()
            case "orc":
                rows += _zoned(orc.read_table(path)).to_pylist()
    return rows


def _lines(path: Path) -> list[str]:
    """The lines of a file with their ends, which may be compressed."""
    opened: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open}
    with opened.get(path.suffix, open)(path, "rt", encoding="utf-8", newline="") as file:
        return list(file)


def _zoned(table: Any) -> Any:
    """Name the zone of the instants of an orc file, which has none: it is UTC."""
    zoned = [
        field.with_type(pa.timestamp("us", tz="UTC")) if field.type == pa.timestamp("ns") else field
        for field in table.schema
    ]
    return table.cast(pa.schema(zoned))


def comparable(rows: Rows) -> list[str]:
    """Return rows as sorted lines: instants in UTC, decimals as scaled, floats to 9 digits."""
    return sorted(
        ", ".join(f"{name}={_text(value)}" for name, value in row.items()) for row in rows
    )


def _text(value: Any) -> str:
    match value:
        case None | bool() | int():
            return str(value)
        case float():
            return f"{value:.9g}f"
        case Decimal():
            return f"{value}d"
        case datetime():
            # PySpark returns instants in the zone of the machine, without naming it.
            return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").replace(".000000Z", "Z")
        case date():
            return value.isoformat()
        case timedelta():
            return f"{value.total_seconds():g}s"
        case dict():
            return "{" + ", ".join(f"{name}: {_text(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)


def last_of_each(rows: Rows, keys: Sequence[str]) -> Rows:
    """Return what is left when a row replaces the earlier one with its keys."""
    return list({tuple(_text(row[key]) for key in keys): row for row in rows}.values())
