"""The postgres sink: every batch in one transaction, together with its number.

    <table>              what users read; created at the first batch if it does not exist
    _streamc_batches     one row for each sink and state: the last batch that is in the table, and
                         which run of the state wrote last

A batch whose number is not above the one in its row is already in the table: it was committed
there, and the run was interrupted before Spark recorded it. So each row is written once, whatever
interrupts the job. After a fallback to a barrier the same batches run again, and are left out as
well. After a deliberate rollback they are other batches: rows that were added stay, and are added
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...base.errors import (
    FOREIGN_OUTPUT,
    OUTPUT_GONE,
    SERVER_REFUSES,
    SERVER_UNREACHABLE,
    RuntimeFault,
    first_line,
)
from ...state.home import lost_output
from ...state.state import SINK_NOTE
from ...storage.notes import read_note, write_note
from ..interface import Sink, SinkRequest
from .server import check_server, require_psycopg
from .values import as_text, type_of

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg.sql import Composed, Identifier
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from ..upserts import Upsert

_BATCHES = "_streamc_batches"
_LOCK = 0x5374726D  # of the transactions that create tables


class PostgresSink(Sink):
    """Writes the batches of one relation to one table, each exactly once.

    With an upsert, a row takes the place of the one with its key, unless that is later.
    """

    reads_batch_once = False
    runs_users_code = False

    def __init__(self, asked: SinkRequest) -> None:
        """Raises RuntimeFault without psycopg."""
        options = asked.options
        self.name = asked.name
        self.upsert = asked.upsert
        self._query = asked.query
        self._state = asked.state
        self._table = str(options.pop("table"))
        self._server = str(options.pop("url"))
        self._login = {
            name: str(options.pop(name)) for name in ("user", "password") if name in options
        }
        self._made = False
        require_psycopg(self.name)
        check_server(self.name, self._server)

    def check(self) -> None:
        """Raises RuntimeFault when this state may not write to the table; changes nothing.

        When the server does not answer, when the table has rows of another state or of a copy's
        original, and when this state's rows are missing.
        """
        with self._cursor() as cursor:
            known = _turns(cursor, self.name, self._table)
        others = set(known) - {self._state.id}
        if others if self.upsert is None else others & set(self._state.home.copy_of):
            raise self._foreign()
        self._check_turn(known.get(self._state.id))
        note = read_note(self._state.storage, self._state.sink_file(self.name), SINK_NOTE)
        wrote = None if note is None else note.get("table")
        if wrote == self._table and self._state.id not in known:
            raise RuntimeFault(
                OUTPUT_GONE,
                f"the rows of sink `{self.name}` in table {self._table} are gone, but the state "
                f"continues after the rows that were in it",
                "restore the table, or start over with another `--state`",
            )

    def claim(self) -> None:
        """Takes the state's row for this run, if it has one: see `write`."""
        with self._cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {_BATCHES} (sink text, state text, generation text,"
                " target text, batch bigint, turn text, PRIMARY KEY (sink, state))"
            )
            self._add_turns(cursor)
            cursor.execute(
                f"SELECT turn FROM {_BATCHES} WHERE sink = %s AND state = %s FOR UPDATE",
                [self.name, self._state.id],
            )
            for (turn,) in cursor.fetchall():
                self._check_turn(turn)
            cursor.execute(
                f"UPDATE {_BATCHES} SET turn = %s WHERE sink = %s AND state = %s",
                [self._state.home.turn, self.name, self._state.id],
            )

    def open(self) -> None:
        """Has batches written that have other rows than those of their number before."""
        with self._cursor() as cursor:
            self._go_back(cursor)

    def acknowledged(self) -> Mapping[str, int]:
        return {}

    def kept_rows(self) -> None:
        """They are in the table."""

    def write(self, batch: DataFrame, batch_id: int) -> None:
        with self._cursor() as cursor:
            if not self._made:
                self._make(cursor, batch.schema)
            if not self._take(cursor, batch_id):
                return
            if self.upsert is None:
                self._copy(cursor, batch, self._target())
            else:
                self._replace(cursor, batch, self.upsert)
        if not self._made:
            self._remember()
            self._made = True

    def _take(self, cursor: Cursor[Any], batch_id: int) -> bool:
        """Whether the batch is still to be written; notes that it is.

        Raises RuntimeFault when another copy of the state has opened the table meanwhile.
        """
        own, turn = [self.name, self._state.id], self._state.home.turn
        cursor.execute(
            f"SELECT turn FROM {_BATCHES} WHERE sink = %s AND state = %s FOR UPDATE", own
        )
        if any(found != turn for (found,) in cursor.fetchall()):
            raise lost_output(self._shown)
        cursor.execute(
            f"INSERT INTO {_BATCHES} AS b (sink, state, generation, target, batch, turn)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (sink, state) DO UPDATE SET"
            " batch = excluded.batch, target = excluded.target, generation = excluded.generation"
            " WHERE b.turn = excluded.turn"
            " AND (b.target <> excluded.target OR b.batch < excluded.batch)",
            [*own, self._state.generation, self._table, batch_id, turn],
        )
        return cursor.rowcount == 1

    @property
    def _shown(self) -> str:
        return f"table {self._table} of sink `{self.name}`"

    def _check_turn(self, turn: str | None) -> None:
        self._state.home.check_turn(turn, self._shown)

    def _add_turns(self, cursor: Cursor[Any]) -> None:
        """Adds the new column to a table created by an earlier version."""
        import psycopg

        if _has_turns(cursor):
            return
        try:
            cursor.execute(f"ALTER TABLE {_BATCHES} ADD COLUMN turn text")
        except psycopg.errors.InsufficientPrivilege:
            raise RuntimeFault(
                SERVER_REFUSES,
                f"table {_BATCHES} of sink `{self.name}` lacks the column `turn`, and this account "
                "may not add it",
                f"have its owner do so: ALTER TABLE {_BATCHES} ADD COLUMN turn text;",
            ) from None

    def _go_back(self, cursor: Cursor[Any]) -> None:
        """Has batches written that have other rows than those of their number before."""
        cursor.execute(
            f"UPDATE {_BATCHES} SET batch = least(batch, %s), generation = %s"
            " WHERE sink = %s AND state = %s AND generation <> %s",
            [
                self._state.repeated(self._query),
                self._state.generation,
                self.name,
                self._state.id,
                self._state.generation,
            ],
        )

    def _replace(self, cursor: Cursor[Any], rows: DataFrame, upsert: Upsert) -> None:
        from psycopg import sql

        arriving = sql.Identifier("_streamc_arriving")
        names = sql.SQL(", ").join(map(sql.Identifier, rows.columns))
        cursor.execute(
            sql.SQL("CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {} FROM {} WITH NO DATA").format(
                arriving, names, self._target()
            )
        )
        self._copy(cursor, rows, arriving)
        cursor.execute(
            sql.SQL("INSERT INTO {} AS old ({}) SELECT {} FROM {} ON CONFLICT ({}) {}").format(
                self._target(),
                names,
                names,
                arriving,
                sql.SQL(", ").join(map(sql.Identifier, upsert.key)),
                _on_conflict(rows.columns, upsert),
            )
        )

    def _copy(self, cursor: Cursor[Any], rows: DataFrame, table: Identifier) -> None:
        """Sends the rows as text, which the server converts to its columns' types."""
        from psycopg import sql

        names = sql.SQL(", ").join(map(sql.Identifier, rows.columns))
        texts = rows.select(*[as_text(field) for field in rows.schema.fields])
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(table, names)) as copy:
            for row in texts.toLocalIterator(prefetchPartitions=True):
                copy.write_row(tuple(row))

    def _make(self, cursor: Cursor[Any], schema: StructType) -> None:
        from psycopg import sql

        columns = [
            sql.SQL("{} " + type_of(field.dataType)).format(sql.Identifier(field.name))
            for field in schema.fields
        ]
        if self.upsert is not None:
            # A NULL in a key is a value like any other, on servers that support that.
            distinct = (
                "NULLS NOT DISTINCT " if cursor.connection.info.server_version >= 150000 else ""
            )
            key = sql.SQL(", ").join(map(sql.Identifier, self.upsert.key))
            columns.append(sql.SQL("UNIQUE " + distinct + "({})").format(key))
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(
            sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(
                self._target(), sql.SQL(", ").join(columns)
            )
        )

    def _target(self) -> Identifier:
        from psycopg import sql

        return sql.Identifier(*self._table.split("."))

    @contextmanager
    def _cursor(self) -> Iterator[Cursor[Any]]:
        """A cursor of a transaction that ends with the block; instants are read in UTC."""
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute("SET LOCAL timezone = 'UTC'")
            # The table already exists: nothing to report.
            cursor.execute("SET LOCAL client_min_messages = warning")
            yield cursor

    def _connect(self) -> Connection[Any]:
        import psycopg

        try:
            return psycopg.connect(self._server, **self._login)  # type: ignore[arg-type]
        except psycopg.Error as error:
            raise RuntimeFault(
                SERVER_UNREACHABLE,
                f"sink `{self.name}` can't reach its server: {first_line(error)}",
                "look at `url`, `user` and `password`, and whether the server runs",
            ) from None

    def _remember(self) -> None:
        note = {"format": 1, "table": self._table}
        write_note(self._state.storage, self._state.sink_file(self.name), note)

    def _foreign(self) -> RuntimeFault:
        return RuntimeFault(
            FOREIGN_OUTPUT,
            f"table {self._table} holds what sink `{self.name}` added with another state: its rows "
            "would be there twice",
            "continue with that state, or give the sink another table, or empty this one and\n"
            f"DELETE FROM {_BATCHES} WHERE sink = '{self.name}';",
        )


def _turns(cursor: Cursor[Any], sink: str, table: str) -> dict[str, str | None]:
    """The states with which a sink has written to a table, and the turn that wrote last."""
    cursor.execute("SELECT to_regclass(%s)", [_BATCHES])
    if cursor.fetchall() == [(None,)]:
        return {}
    turn = "turn" if _has_turns(cursor) else "NULL"
    cursor.execute(
        f"SELECT state, {turn} FROM {_BATCHES} WHERE (sink, target) = (%s, %s)", [sink, table]
    )
    return dict(cursor.fetchall())


def _has_turns(cursor: Cursor[Any]) -> bool:
    cursor.execute(
        "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'turn'"
        " AND NOT attisdropped",
        [_BATCHES],
    )
    return bool(cursor.fetchall())


def _on_conflict(columns: list[str], upsert: Upsert) -> Composed:
    from psycopg import sql

    others = [name for name in columns if name not in upsert.key]
    if not others:
        return sql.SQL("DO NOTHING").format()
    changes = sql.SQL(", ").join(
        sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in others
    )
    if upsert.latest_by is None:
        return sql.SQL("DO UPDATE SET {}").format(changes)
    later = sql.SQL("old.{0} IS NULL OR excluded.{0} >= old.{0}").format(
        sql.Identifier(upsert.latest_by)
    )
    return sql.SQL("DO UPDATE SET {} WHERE {}").format(changes, later)
