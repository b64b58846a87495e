"""Functions of other engines, with replacements."""

from __future__ import annotations

import re

from ....dsl.ast import expressions as e
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ....dsl.syntax.mistakes import WINDOW_FORMS

_OF_WINDOW = re.compile(
    r"(?P<kind>tumble|hop|session|cumulate)(_(?P<part>start|end|rowtime|proctime))?"
    r"|(?P<spark>window|session_window|window_time|count_window)"
)
_COLUMNS = {
    "start": "window_start",
    "end": "window_end",
    "rowtime": "window_time",
    "proctime": "window_time",
}

OTHER_WAYS = {
    # Flink SQL
    "json_value": "write `GET_JSON_OBJECT(text, '$.path')`",
    "json_query": "write `GET_JSON_OBJECT(text, '$.path')`",
    "json_exists": "write `GET_JSON_OBJECT(text, '$.path') IS NOT NULL`",
    "json_string": "write `TO_JSON(value)`",
    "split_index": "write `SPLIT_PART(text, ',', n)`, which counts from 1",
    "convert_tz": "write `FROM_UTC_TIMESTAMP(ts, 'Europe/Berlin')`",
    "proctime": "declare it in the source, `arrived AS PROCTIME()`, and select `arrived`",
    "current_watermark": "leave it out: late rows are dropped and counted",
    "current_row_timestamp": "write `CURRENT_TIMESTAMP`",
    "row": "write `NAMED_STRUCT('name', value, …)`",
    "jsonb_object_agg": "write `MAP_FROM_ENTRIES(ARRAY_AGG(STRUCT(k, v)))`",
    # ksqlDB
    "latest_by_offset": "write `LAST_VALUE(x)`, the last by event time",
    "earliest_by_offset": "write `FIRST_VALUE(x)`, the first by event time",
    "topk": "keep the top rows of a window with QUALIFY ROW_NUMBER()",
    "topkdistinct": "keep the top rows of a window with QUALIFY ROW_NUMBER()",
    "histogram": "group by the value and count",
    "stringtotimestamp": "write `TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')`",
    "timestamptostring": "write `DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')`",
    "parse_timestamp": "write `TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')`",
    "format_timestamp": "write `DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')`",
    "parse_date": "write `TO_DATE(text, 'yyyy-MM-dd')`",
    "format_date": "write `DATE_FORMAT(day, 'yyyy-MM-dd')`",
    "extractjsonfield": "write `GET_JSON_OBJECT(text, '$.path')`",
    "as_value": "write just the column",
    "unix_timestamp_ms": "write `UNIX_MILLIS(ts)`",
    # RisingWave, PostgreSQL
    "to_jsonb": "write `TO_JSON(value)`",
    "jsonb_build_object": "write `TO_JSON(NAMED_STRUCT('name', value, …))`",
    "string_to_array": "write `SPLIT(text, ',')`",
    "approx_distinct": "write `APPROX_COUNT_DISTINCT(x)`",
    "date_bin": "open a window in FROM, as in `FROM TUMBLE(t, ts, INTERVAL 15 MINUTES)`",
    "generate_series": "write `SEQUENCE(first, last)`, which is an array",
}
"""Replacements for calls that other engines have and Spark lacks, by name in lower case."""

PSEUDO_COLUMNS = {
    "rowtime": "the event time is the column of the source's WATERMARK",
    "proctime": "declare it in the source: `proctime AS PROCTIME()`",
    "localtimestamp": "write `CURRENT_TIMESTAMP`",
    "localtime": "write `CURRENT_TIMESTAMP`",
    "windowstart": "write `window_start`, of `FROM TUMBLE(…)`",
    "windowend": "write `window_end`, of `FROM TUMBLE(…)`",
    "rownum": "number rows by `ROW_NUMBER() OVER (…)` in QUALIFY",
}
"""Replacements for names that other engines add to every relation."""


def is_window_function(node: e.Call) -> bool:
    """Return whether a call opens a window, or reads one, in other engines."""
    return _OF_WINDOW.fullmatch(node.name.text.lower()) is not None


def window_function(node: e.Call) -> Diagnostic:
    """Return the diagnostic for ``TUMBLE_START(ts, …)``, ``window(ts, '1 minute')``."""
    found = _OF_WINDOW.fullmatch(node.name.text.lower())
    assert found is not None
    column = _COLUMNS.get(found["part"] or "")
    form = WINDOW_FORMS[(found["kind"] or "tumble").upper()]
    if found["spark"] == "session_window":
        form = WINDOW_FORMS["SESSION"]
    elif found["spark"] == "count_window":
        form = WINDOW_FORMS["COUNT_WINDOW"]
    elif found["spark"] == "window_time":
        column = "window_time"
    read = f"select `{column}`" if column else "select `window_start` and `window_end`"
    return Diagnostic(
        codes.WINDOW_FUNCTION,
        f"`{node.name}` is not a function of a row: a window is opened in FROM",
        Label(node.span),
        help=f"open it, `FROM {form}`, and {read}",
    )
