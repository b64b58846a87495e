"""What other engines allow among the columns of CREATE, and their types."""

from __future__ import annotations

from collections.abc import Callable

from ..reports import codes
from ..reports.diagnostics import Diagnostic
from ..syntax.place import Place

_AFTER_TYPE = {
    "COMMENT": "use a comment: `-- …`",
    "DEFAULT": "compute it: `name AS COALESCE(column, …)`",
    "UNIQUE": "keep the first row of each value: `SELECT DISTINCT ON (column) … FROM …`",
    "CHECK": "filter in a stream: `SELECT … FROM … WHERE …`",
    "REFERENCES": "leave it out",
    "GENERATED": "compute it: `name AS expression`",
    "NULL": "leave it out: a column may be NULL unless it is NOT NULL",
    "FROM": "metadata is `name TYPE METADATA FROM 'key'`",
    "VIRTUAL": "leave it out: metadata is only ever read",
    "NOT": "write `NOT NULL` directly after the type",
}

_COLLECTIONS = {
    "ROW": "`STRUCT<name TYPE, …>`",
    "STRUCT": "`STRUCT<name TYPE, …>`",
    "MULTISET": "`ARRAY<TYPE>`",
    "ARRAY": "`ARRAY<TYPE>`",
    "SET": "`SET<TYPE>`",
    "LIST": "`LIST<TYPE>`",
    "MAP": "`MAP<KEY, VALUE>`",
}
_SCALARS = {"VARCHAR": "STRING", "TEXT": "STRING", "CHAR": "STRING", "INT64": "BIGINT"}


def watermark_place(place: Place) -> Diagnostic | None:
    """A watermark outside the columns of a source."""
    message = "a watermark is declared among the columns of its source"
    if place.creates("TABLE"):
        for offset in (0, -1, -2):
            if place.words("WATERMARK", "FOR", offset=offset):
                return place.report(
                    codes.WATERMARK_PLACE,
                    "a TABLE is reference data, read as a whole: it has no watermark",
                    help=f"use a source for incoming data: `CREATE SOURCE {place.created} (…)`",
                    offset=offset,
                )
    if place.creates("SOURCE") and place.word() == "WATERMARK" and place.open_bracket() is None:
        column = place.text(2) if place.word(1) == "FOR" else "ts"
        form = f"WATERMARK FOR {column} AS {column} - INTERVAL 30 SECONDS"
        help_ = f"write it after the last column: `(…, {form})`"
        return place.report(codes.WATERMARK_PLACE, message, help=help_)
    if place.creates("STREAM") and place.word(-1) == "WATERMARK" and place.kind() == "NAME":
        column = place.text()
        help_ = f"`WATERMARK FOR {column} AS {column} - INTERVAL …` in CREATE SOURCE"
        return place.report(codes.WATERMARK_PLACE, message, help=help_, offset=-1)
    return None


def primary_key(place: Place) -> Diagnostic | None:
    """``PRIMARY KEY (a) NOT ENFORCED`` among the columns, ``a STRING PRIMARY KEY``."""
    if not place.creates("SOURCE", "TABLE") or place.open_bracket() is None:
        return None
    offset = -3 if place.words("PRIMARY", "KEY", "(", offset=-3) else 0
    if offset == 0 and not place.words("PRIMARY", "KEY") and place.word() != "KEY":
        return None
    column = place.text() if offset else _column_before(place)
    return place.report(
        codes.PRIMARY_KEY,
        "no key of input rows is enforced",
        help="leave it out: a sink that replaces rows names its key, `WITH (…, mode = 'upsert', "
        f"key = '{column}')`; to keep the first row of each key, `SELECT DISTINCT ON "
        f"({column}) …`",
        offset=offset,
    )


def _column_before(place: Place) -> str:
    """Return the name of the column that the failing token belongs to."""
    offset = -1
    while place.text(offset) not in ("(", ",", "") or place.kind(offset + 1) == "INTEGER":
        offset -= 1
    return place.text(offset + 1)


def column_words(place: Place) -> Diagnostic | None:
    """``a STRING COMMENT 'x'``, ``a INT DEFAULT 3``, ``a TIMESTAMP AS f(b)``."""
    word = place.word()
    if not place.creates("SOURCE", "TABLE") or place.open_bracket() is None:
        return None
    if place.word(-1) == "METADATA":
        message = "metadata is identified by its key"
        name = _column_before(place)
        help_ = f"`{name} {place.text(-2)} METADATA FROM '{name}'`"
        return place.report(codes.COLUMN_WORDS, message, help=help_, offset=-1)
    if word == "AS" and "METADATA" in place.expected:
        message = "a computed column has no type of its own"
        name = _column_before(place)
        help_ = f"`{name} AS …`, or `{name} AS CAST(… AS {place.text(-1)})`"
        return place.report(codes.COLUMN_WORDS, message, help=help_)
    if word in _AFTER_TYPE and {",", ")"} <= place.expected:
        message = f"a column does not support `{word}`"
        return place.report(codes.COLUMN_WORDS, message, help=_AFTER_TYPE[word])
    return None


def types(place: Place) -> Diagnostic | None:
    """``ROW<…>``, ``STRING[]``, ``INT ARRAY``, ``DOUBLE PRECISION``, ``… WITH TIME ZONE``."""
    found = _type_form(place)
    if found is None:
        return None
    written, help_, offset = found
    message = f"`{written}` is another engine's syntax for a type"
    return place.report(codes.FOREIGN_TYPE, message, help=f"write {help_}", offset=offset)


def _type_form(place: Place) -> tuple[str, str, int] | None:
    """Return what was written, what to write instead, and where it begins."""
    word, before = place.word(), place.word(-1)
    if place.text() == "<" and before in ("ROW", "MULTISET"):
        return f"{before}<…>", _COLLECTIONS[before], -1
    if before == "(" and place.word(-2) == "ROW" and "INTEGER" in place.expected:
        return "ROW(…)", _COLLECTIONS["ROW"], -2
    if place.text() == "(" and place.expected == {"<"}:
        return f"{before}(…)", _COLLECTIONS[before], -1
    if "METADATA" not in place.expected and ")" not in place.expected:
        return None
    element = _SCALARS.get(before, before) if before.isidentifier() else "TYPE"
    if place.text() == "[" and place.text(1) == "]":
        return f"{before}[]", f"`ARRAY<{element}>`", -1
    if word == "ARRAY" and before.isidentifier():
        return f"{before} ARRAY", f"`ARRAY<{element}>`", -1
    if place.words("DOUBLE", "PRECISION", offset=-1):
        return "DOUBLE PRECISION", "`DOUBLE`", -1
    if before in ("CHARACTER", "CHAR") and word == "VARYING":
        return f"{before} VARYING", "`STRING`", -1
    if word in ("WITH", "WITHOUT") and place.word(1) in ("LOCAL", "TIME"):
        better = "`TIMESTAMP`, which is an instant" if word == "WITH" else "`TIMESTAMP_NTZ`"
        zone = "LOCAL TIME ZONE" if place.word(1) == "LOCAL" else "TIME ZONE"
        return f"TIMESTAMP {word} {zone}", better, 0
    return None


HINTS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    watermark_place,
    primary_key,
    types,
    column_words,
)
