"""SQL over the Parquet of savepoints, by DuckDB: any query, without a JVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....contracts.savepoint import SavedTable, Savepoint
from ...base.errors import MODULE_MISSING, SAVEPOINT_UNUSABLE, RuntimeFault

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query, under the names of its columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a Parquet file: its columns by name with DuckDB's types, and its rows."""

    types: dict[str, str]
    rows: int


@dataclass(frozen=True, slots=True)
class TableDifference:
    """The differences in a table of two savepoints: keys, and how many changes by cell."""

    operator: str
    table: str
    added: int
    removed: int
    changed: dict[str, int]


def describe(path: str) -> Content:
    """The content of a Parquet file; raises RuntimeFault for any other file."""
    file = "read_parquet('" + path.replace("'", "''") + "')"
    with _connected() as connection:
        columns = _answer(connection, f"DESCRIBE SELECT * FROM {file}").rows
        # Each value is read: the footer may be right where pages are not.
        ((rows, _),) = _answer(connection, f"SELECT count(*), max(hash(f)) FROM {file} AS f").rows
    return Content({str(column[0]): str(column[1]) for column in columns}, rows)


def ask(savepoint: Savepoint, folder: str, query: str) -> Answer:
    """The result of a query over the tables of a savepoint.

    An operator is a table of its name; its other tables are `<operator>__<table>`: `sla__waiting`.
    Raises RuntimeFault when DuckDB is missing or refuses the query.
    """
    with _connected() as connection:
        for name, table in views(savepoint):
            _view(connection, name, table, folder)
        return _answer(connection, query)


def views(savepoint: Savepoint) -> Iterator[tuple[str, SavedTable]]:
    """The tables by their names in SQL."""
    for operator in savepoint.operators:
        for number, (name, table) in enumerate(operator.tables.items()):
            yield (f"{operator.id}__{name}" if number else operator.id), table


def differences(
    old: Savepoint, old_folder: str, new: Savepoint, new_folder: str
) -> Iterator[TableDifference]:
    """The differences between two savepoints, in their common tables."""
    before, after = dict(views(old)), dict(views(new))
    keys = {operator.id: operator.keys for operator in new.operators}
    with _connected() as connection:
        for name, table in after.items():
            if name not in before:
                continue
            operator = name.split("__", 1)[0] if name not in keys else name
            own = [c for c in table.columns if c in keys.get(operator, ())]
            own += [c for c in ("key", "position", "at", "number") if c in table.columns]
            _view(connection, "old", before[name], old_folder)
            _view(connection, "new", table, new_folder)
            both = [c for c in table.columns if c in before[name].columns and c not in own]
            yield _difference(connection, name, table, own, both)


def _difference(
    connection: DuckDBPyConnection,
    name: str,
    table: SavedTable,
    keys: Sequence[str],
    cells: Sequence[str],
) -> TableDifference:
    same = " AND ".join(f"o.{_quoted(k)} IS NOT DISTINCT FROM n.{_quoted(k)}" for k in keys)
    joined = f"(SELECT *, 1 AS {_HERE} FROM {{}}) AS {{}}"
    changed = [
        f"count(*) FILTER (WHERE o.{_HERE} = 1 AND n.{_HERE} = 1 AND "
        f"o.{_quoted(c)} IS DISTINCT FROM n.{_quoted(c)})"
        for c in cells
    ]
    counts = [
        f"count(*) FILTER (WHERE o.{_HERE} IS NULL)",
        f"count(*) FILTER (WHERE n.{_HERE} IS NULL)",
        *changed,
    ]
    found = _answer(
        connection,
        f"SELECT {', '.join(counts)} FROM {joined.format('old', 'o')} "
        f"FULL JOIN {joined.format('new', 'n')} ON {same or 'TRUE'}",
    )
    added, removed, *numbers = found.rows[0]
    told = {c: n for c, n in zip(cells, numbers, strict=True) if n}
    return TableDifference(name, table.name, added, removed, told)


_HERE = '"..here"'


def _view(connection: DuckDBPyConnection, name: str, table: SavedTable, folder: str) -> None:
    files = [f"{folder}/{path}" for path in table.files]
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in files)
    rows = f"SELECT * FROM read_parquet([{listed}])"
    if not files:
        columns = (f"NULL AS {_quoted(column)}" for column in table.columns)
        rows = f"SELECT {', '.join(columns) or 'NULL'} WHERE FALSE"
    _answer(connection, f"CREATE OR REPLACE VIEW {_quoted(name)} AS {rows}")


def _answer(connection: DuckDBPyConnection, query: str) -> Answer:
    import duckdb

    try:
        found = connection.execute(query)
        columns = tuple(str(column[0]) for column in found.description or ())
        return Answer(columns, tuple(map(tuple, found.fetchall())))
    except duckdb.Error as error:
        raise RuntimeFault(SAVEPOINT_UNUSABLE, f"DuckDB: {error}", None) from None


def _connected() -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise RuntimeFault(
            MODULE_MISSING,
            "SQL on savepoints needs DuckDB",
            "pip install 'streamc[sql]'",
        ) from None
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
