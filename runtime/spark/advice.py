"""Spark's messages about failed expressions, without harmful advice, and what to write instead."""

from __future__ import annotations

import re

_REMEDIES = (
    ("DIVIDE_BY_ZERO", "write `try_divide(a, b)`, or `a / NULLIF(b, 0)`, which give NULL"),
    ("REMAINDER_BY_ZERO", "write `try_mod(a, b)`, or `a % NULLIF(b, 0)`, which give NULL"),
    ("INTERVAL_DIVIDED_BY_ZERO", "write `a / NULLIF(b, 0)`, which gives NULL"),
    ("CAST_INVALID_INPUT", "write `TRY_CAST(x AS type)`, which gives NULL"),
    ("CAST_OVERFLOW", "cast to a wider type, or write `TRY_CAST(x AS type)`, which gives NULL"),
    ("ARITHMETIC_OVERFLOW", "cast one side to a wider type first: `CAST(a AS BIGINT)`, a DECIMAL"),
    ("BINARY_ARITHMETIC_OVERFLOW", "cast one side to a wider type first: `CAST(a AS BIGINT)`"),
    ("NUMERIC_VALUE_OUT_OF_RANGE", "give the DECIMAL more digits, or write `TRY_CAST(x AS type)`"),
    ("NUMERIC_OUT_OF_SUPPORTED_RANGE", "write `TRY_CAST(x AS type)`, which gives NULL"),
    (
        "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
        "write `try_element_at(array, n)`, which gives NULL",
    ),
    ("INVALID_ARRAY_INDEX", "write `GET(array, n)` or `try_element_at`, which give NULL"),
    ("MAP_KEY_DOES_NOT_EXIST", "write `try_element_at(map, key)`, which gives NULL"),
    ("CANNOT_PARSE_TIMESTAMP", "write `try_to_timestamp(text, format)`, which gives NULL"),
    ("DATETIME_FIELD_OUT_OF_BOUNDS", "write `try_make_timestamp(…)`, which gives NULL"),
    ("DATETIME_OVERFLOW", "leave such instants out: `WHERE ts < TIMESTAMP '9999-01-01 00:00:00'`"),
    ("DUPLICATED_MAP_KEY", "make the keys distinct before the map is made"),
    ("NULL_MAP_KEY", "leave out what has no key, or write `COALESCE(key, …)`"),
    ("USER_RAISED_EXCEPTION", "see why `raise_error` was called"),
)
"""Expressions that give NULL instead, by Spark's error condition."""

_ADVICE = re.compile(
    r"spark\.[a-z]\w*(\.\w+)+|failOnDataLoss|ignore(?:Corrupt|Missing)Files|REFRESH TABLE"
    r"|SQL config|the config to|checkpoint location"
)
_CONDITION = re.compile(r"\[([A-Z0-9_]+)(?:\.[A-Z0-9_]+)*\]")


def without_advice(text: str) -> str:
    """Spark's message without the sentences that advise a setting.

    Such settings turn an error into wrong results, like sums that wrap without
    `spark.sql.ansi.enabled`, drop rows, or discard a state.

    >>> without_advice('Long overflow. If necessary set "spark.sql.ansi.enabled" to "false" to '
    ...                'bypass this error.')
    'Long overflow.'
    """
    sentences = re.split(r"(?<=[.!])\s+(?=[A-Z]|\d\))", text)
    kept = [sentence for sentence in sentences if _ADVICE.search(sentence) is None]
    return " ".join(kept) or text


def remedy(details: str) -> str | None:
    """What to write instead of the expression that failed as in `details`, None if unknown."""
    told = set(_CONDITION.findall(details))
    return next((instead for condition, instead in _REMEDIES if condition in told), None)
