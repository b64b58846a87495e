"""Clauses and expressions of other engines' queries, with the form used here."""

from __future__ import annotations

from collections.abc import Callable

from ..reports import codes
from ..reports.diagnostics import Diagnostic
from ..syntax.mistakes import ARRAYS_IN_PLACE, WINDOW_FORMS
from ..syntax.place import Place, is_plain_name

_KSQL_WINDOWS = {"TUMBLING": "TUMBLE", "HOPPING": "HOP", "SESSION": "SESSION"}
_INTERVAL_JOIN = "`a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 10 MINUTES`"
_JOINS = {
    "NATURAL": f"name the keys: {_INTERVAL_JOIN}",
    "ASOF": (
        "for the version of a row at an instant, write `JOIN b FOR SYSTEM_TIME AS OF a.ts "
        "AS b ON …`"
    ),
    "SEMI": "join, then keep one row per id: `SELECT DISTINCT ON (id) …` over the join",
    "ANTI": "LEFT JOIN with a time bound, then `WHERE right_column IS NULL` in a separate stream",
    "GLOBAL": "leave out GLOBAL",
    "ANY": f"join with a time bound: {_INTERVAL_JOIN}",
}


def window_words(place: Place) -> Diagnostic | None:
    """``TUMBLE(TABLE t, …)``, ``TABLE(TUMBLE(…))``, ``TUMBLE(DATA => TABLE t, …)``."""
    if place.word(-1) == "TABLE" and place.text(-2) == "(" and place.kind(-3) == "WINDOWING":
        kind = place.word(-3)
        help_ = f"`{kind}({place.text()}, ts, INTERVAL …)`"
        message = f"`{kind}` takes a plain name, without `TABLE`"
        return place.report(codes.WINDOW_WORDS, message, help=help_, offset=-1)
    if place.text() == "(" and place.word(-1) == "TABLE" and place.kind(1) == "WINDOWING":
        message = "a window function is written directly in FROM, without `TABLE(…)`"
        help_ = f"`FROM {WINDOW_FORMS.get(place.word(1), '')}`"
        return place.report(codes.WINDOW_WORDS, message, help=help_, offset=-1)
    if place.text() == "=>" and place.text(-2) == "(" and place.kind(-3) == "WINDOWING":
        kind = place.word(-3)
        message = f"`{kind}` takes its arguments by position"
        return place.report(codes.WINDOW_WORDS, message, help=f"`{WINDOW_FORMS[kind]}`", offset=-1)
    return None


def window_clause(place: Place) -> Diagnostic | None:
    """``FROM t WINDOW TUMBLING (SIZE 1 MINUTE)``."""
    if place.text() != "(" or place.word(-2) != "WINDOW" or place.word(-1) not in _KSQL_WINDOWS:
        return None
    kind = _KSQL_WINDOWS[place.word(-1)]
    form = WINDOW_FORMS[kind]
    if place.kind(-4) in ("FROM", "JOIN") and kind == "TUMBLE" and place.word(1) == "SIZE":
        form = f"TUMBLE({place.text(-3)}, ts, INTERVAL {place.text(2)} {place.word(3)})"
    return place.report(
        codes.WINDOW_CLAUSE,
        "a window is opened in FROM, not in a clause after it",
        help=f"`FROM {form} … GROUP BY …, window_start`",
        offset=-2,
    )


def join_within(place: Place) -> Diagnostic | None:
    """``a JOIN b WITHIN 10 MINUTES ON a.k = b.k``."""
    offset = 0 if place.word() == "WITHIN" else -1
    if place.word(offset) != "WITHIN" or not {"ON", "USING"} <= place.expected:
        return None
    return place.report(
        codes.JOIN_WITHIN,
        "the time bound of a join is a condition on the event times of both sides",
        help=f"{_INTERVAL_JOIN}; `- INTERVAL …` allows the other order too",
        offset=offset,
    )


def join_words(place: Place) -> Diagnostic | None:
    """``NATURAL JOIN``, ``LEFT SEMI JOIN``, ``ASOF JOIN``."""
    word = place.word()
    if word not in _JOINS or place.word(1) not in ("JOIN", "LEFT", "INNER"):
        return None
    if not {"JOIN", "OUTER"} & place.expected:
        return None
    message = f"streams do not support `{word} {place.word(1)}`"
    return place.report(codes.JOIN_WORDS, message, help=_JOINS[word])


def table_function(place: Place) -> Diagnostic | None:
    """``LATERAL TABLE(f(x))``, ``FROM t, UNNEST(x)``, ``LATERAL VIEW explode(x)``."""
    if place.text() == "," and place.word(1) in ("LATERAL", "UNNEST") and "JOIN" in place.expected:
        offset = 1
    elif place.words("LATERAL", "VIEW") and "JOIN" in place.expected:
        offset = 0
    elif place.text() == "(" and place.words("LATERAL", "TABLE", offset=-2):
        offset = -2
    elif place.text() == "(" and place.kind(-2) in ("FROM", "JOIN") and place.is_word(-1):
        offset = -1
    else:
        return None
    shown = place.text(offset)
    message = f"`{shown}` generates rows, and FROM does not support such functions"
    help_ = ARRAYS_IN_PLACE
    if place.word(offset) == "UNNEST":
        message = "UNNEST is joined with CROSS JOIN, not with a comma"
    if place.word(offset) in ("STREAM", "LIVE"):
        message = f"`{shown}(…)` is unnecessary: a source is already a stream"
        help_ = f"write `FROM {place.text(offset + 2)}`"
    return place.report(codes.TABLE_FUNCTION, message, help=help_, offset=offset)


def emit_words(place: Place) -> Diagnostic | None:
    """``EMIT FINAL``, ``EMIT WITHOUT DELAY``."""
    if place.word(-1) != "EMIT" or "CHANGES" not in place.expected:
        return None
    help_ = "EMIT is `ON WINDOW CLOSE` (the default), `CHANGES` or `EARLY EVERY INTERVAL …`"
    if place.word() == "FINAL":
        help_ = "leave it out: a window's rows come out once, when it closes"
    return place.report(codes.EMIT_WORDS, f"there is no `EMIT {place.word()}`", help=help_)


def partition_by(place: Place) -> Diagnostic | None:
    """``SELECT … FROM t PARTITION BY k``."""
    at_by = place.word() == "BY" and place.word(-1) == "PARTITION"
    at_partition = place.words("PARTITION", "BY")
    if not (at_by or at_partition) or "WHERE" not in place.expected:
        return None
    message = "rows need no explicit partitioning"
    help_ = "leave it out: Spark brings rows together by the keys of each step"
    return place.report(codes.PARTITION_BY, message, help=help_, offset=-1 if at_by else 0)


def select_into(place: Place) -> Diagnostic | None:
    """``SELECT a INTO t FROM s``, where INTO was read as an alias."""
    at_name = place.word(-1) == "INTO" and place.kind() == "NAME" and place.word(1) == "FROM"
    at_into = place.word() == "INTO" and place.kind(1) == "NAME" and "FROM" in place.expected
    if not (at_name or at_into) or "FROM" not in place.expected:
        return None
    sink = place.text(0 if at_name else 1)
    help_ = f"`CREATE SINK {sink} FROM {place.created} WITH (connector = …)`"
    message = "a query has no target; a sink reads the stream"
    return place.report(codes.SELECT_INTO, message, help=help_, offset=-1 if at_name else 0)


def expressions(place: Place) -> Diagnostic | None:
    """``ARRAY[1, 2]``, ``FLOOR(ts TO HOUR)``, ``a->b``, ``* EXCEPT (a)`` and others."""
    opened = _open_index(place)
    if opened is not None and place.word(opened - 1) in ("ARRAY", "MAP") and place.text() == ",":
        kind = place.word(opened - 1)
        message = f"`{kind}[…]` is another engine's syntax for {kind.lower()}s"
        help_ = f"write `{kind}(…)`"
        return place.report(codes.FOREIGN_EXPRESSION, message, help=help_, offset=opened - 1)
    bracket = place.open_bracket()
    if place.word() == "TO" and place.kind(1) == "UNIT" and bracket is not None:
        function = place.text(bracket - 1)
        if function.upper() in ("FLOOR", "CEIL"):
            message = (
                f"`{function}(… TO {place.word(1)})` is another engine's syntax for "
                "truncating a time"
            )
            help_ = f"write `DATE_TRUNC('{place.word(1)}', …)`"
            return place.report(codes.FOREIGN_EXPRESSION, message, help=help_)
    if found := _json(place):
        return found
    if place.text() == "->" and place.is_word(-1) and place.is_word(1):
        path = f"{place.text(-1)}.{place.text(1)}"
        message = "`->` makes a lambda; a field follows a dot"
        return place.report(codes.FOREIGN_EXPRESSION, message, help=f"write `{path}`")
    if place.text(-1) == "*" and place.word() in ("EXCEPT", "EXCLUDE", "REPLACE", "RENAME"):
        message = f"`* {place.word()}` is not supported"
        help_ = "list the columns"
        return place.report(codes.FOREIGN_EXPRESSION, message, help=help_)
    return _at_time_zone(place)


def _json(place: Place) -> Diagnostic | None:
    """``text->>'a'``, ``text->'a'->>'b'``, ``text->0``, ``value @> '…'``, ``value ? 'a'``."""
    if place.text() == "->" and "(" not in place.text(1):
        return _json_arrow(place)
    if place.text() == "?" and place.kind(1) == "STRING" and place.text(-1):
        value, key = place.text(-1), place.text(1)[1:-1]
        message = "`?` is another engine's operator for whether JSON has a key"
        help_ = f"write `GET_JSON_OBJECT({value}, '$.{key}') IS NOT NULL`"
        return place.report(codes.FOREIGN_EXPRESSION, message, help=help_)
    return None


def _json_arrow(place: Place) -> Diagnostic | None:
    steps, offset = "", 0
    while place.text(offset) == "->":
        arrow = 2 if place.text(offset + 1) == ">" else 1
        step = place.text(offset + arrow)
        kind = place.kind(offset + arrow)
        if kind == "INTEGER":
            steps += f"[{step}]"
        elif kind == "STRING":
            key = step[1:-1]
            steps += f".{key}" if is_plain_name(key) else f"['{key}']"
        else:
            break
        offset += arrow + 1
    if not steps:
        return None
    value, before = place.text(-1) if place.is_word(-1) else "value", -2
    while place.text(before) == "." and place.is_word(before - 1):
        value, before = f"{place.text(before - 1)}.{value}", before - 2
    path = steps.replace("'", "\\'")
    message = "`->` makes a lambda here; it does not extract from JSON"
    help_ = f"for a string, write `GET_JSON_OBJECT({value}, '${path}')`; for a VARIANT " + (
        f"`{value}:{steps[1:]}::STRING`"
        if steps.startswith(".")
        else f"`VARIANT_GET({value}, '${path}', 'STRING')`"
    )
    return place.report(codes.FOREIGN_EXPRESSION, message, help=help_)


def _at_time_zone(place: Place) -> Diagnostic | None:
    """``ts AT TIME ZONE 'z'``, where AT may have been read as an alias."""
    offset = 0 if place.word() == "AT" else -1
    if not place.words("AT", "TIME", "ZONE", offset=offset):
        return None
    time = place.text(offset - 1) if place.is_word(offset - 1) else "ts"
    zone = place.text(offset + 3) if place.kind(offset + 3) == "STRING" else "'Europe/Berlin'"
    help_ = f"write `FROM_UTC_TIMESTAMP({time}, {zone})`"
    message = "`AT TIME ZONE` is another engine's syntax for converting a time to a zone"
    return place.report(codes.FOREIGN_EXPRESSION, message, help=help_, offset=offset)


def _open_index(place: Place) -> int | None:
    """Return the innermost open ``[`` of the statement, as an offset."""
    depth = 0
    for offset in range(-1, place.first - place.at, -1):
        if place.text(offset) in ("]", ")"):
            depth += 1
        elif place.text(offset) in ("[", "("):
            if depth == 0:
                return offset if place.text(offset) == "[" else None
            depth -= 1
    return None


def grouping_sets(place: Place) -> Diagnostic | None:
    """``GROUP BY GROUPING SETS (…)``."""
    if not place.words("GROUPING", "SETS", offset=-1) or "," not in place.expected:
        return None
    message = "a stream has one grouping"
    help_ = "write a stream for each grouping, and UNION ALL over them to combine them"
    return place.report(codes.GROUP_BY_FORM, message, help=help_, offset=-1)


def column_list(place: Place) -> Diagnostic | None:
    """``WITH a (x, y) AS (…)`` and ``FROM … AS a (x, y)``."""
    if place.text() != "(" or not place.is_word(-1):
        return None
    in_with = place.expected == {"AS"} and place.kind(-2) in ("WITH", ",")
    if not in_with and not (place.kind(-2) == "AS" and "WHERE" in place.expected):
        return None
    message = f"`{place.text(-1)}` takes no list of columns"
    help_ = "name the columns in its select list, with AS"
    return place.report(codes.NOT_A_NAME, message, help=help_)


def qualified_relation(place: Place) -> Diagnostic | None:
    """``FROM db.orders``."""
    if place.text() != "." or place.kind(-2) not in ("FROM", "JOIN") or place.kind(-1) != "NAME":
        return None
    message = "a relation has a plain name, declared in this file"
    help_ = f"write `{place.text(1)}`, and declare it with CREATE SOURCE or CREATE TABLE"
    return place.report(codes.NOT_A_NAME, message, help=help_, offset=-1)


HINTS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    window_words,
    window_clause,
    join_within,
    join_words,
    table_function,
    emit_words,
    partition_by,
    select_into,
    expressions,
    grouping_sets,
    column_list,
    qualified_relation,
)
