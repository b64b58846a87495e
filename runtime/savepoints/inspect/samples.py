"""A few rows of a savepoint before and after a migration, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ...base.options import quoted
from ...kinds.conversion import Conversion, MadeColumn
from ...state_tables.tables import WINDOW
from ..format.shown import shown, shown_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

    from ..migrate.failing import Attempts

Texts = Mapping[str, str | None]
"""The columns of a row as text, by their names."""

SAMPLES = 2
"""How many rows of the new state are shown for each table."""
BEFORE = 3
"""How many of the old rows that become one are shown."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of a table that become one, and what they become; `rows` is their number.

    `before` has the first of many.
    """

    table: str
    rows: int
    before: tuple[Texts, ...]
    after: Texts


def samples(conversion: Conversion, attempts: Attempts) -> Iterator[Sample]:
    """Yields the first fully convertible rows of a table, one by one."""
    from functools import reduce
    from operator import and_

    if not conversion.made:
        return
    tried = [attempts.attempted(one.expression) for one in conversion.made]
    whole = reduce(and_, (one.getField("error").isNull() for one in tried))
    rows = conversion.in_order.where(whole).limit(SAMPLES)
    names = (*conversion.keys, *conversion.columns)
    kinds = rows.select(*tried).schema.fields
    after = [
        shown(one.getField("value"), field.dataType["value"].dataType)  # type: ignore[index]
        for one, field in zip(tried, kinds, strict=True)
    ]
    for row in rows.select(*shown_columns(rows, names), *after).collect():
        before, texts = row[: len(names)], row[len(names) :]
        yield Sample(
            conversion.table,
            1,
            (dict(zip(names, before, strict=True)),),
            {one.name: text for one, text in zip(conversion.made, texts, strict=True)},
        )


def merged_samples(
    conversion: Conversion, merged: DataFrame, *, sessions: bool
) -> Iterator[Sample]:
    """Yields the first groups of the new state, and the old ones merged into each.

    For `sessions` these are the ones whose windows are within that of the new one.
    """
    keys = [one for one in conversion.made if one.is_key]
    names = (*conversion.keys, *conversion.columns)
    pairs = _paired(conversion, merged, keys, sessions)
    count = len(names)

    def of(row: Row) -> int:
        return int(row[0])

    for _, found in groupby(pairs, key=of):
        rows = list(found)
        after = dict(zip(merged.columns, rows[0][2 + count :], strict=True))
        before = tuple(dict(zip(names, row[2 : 2 + count], strict=True)) for row in rows)
        yield Sample(conversion.table, int(rows[0][1]), before, after)


def _paired(
    conversion: Conversion, merged: DataFrame, keys: Sequence[MadeColumn], sessions: bool
) -> list[Row]:
    """The number of a new group, the number of its old groups, an old one, and the new one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    first = merged.orderBy(*(quoted(one.name) for one in keys)).limit(SAMPLES)
    numbered = first.select(
        F.row_number().over(Window.orderBy(*(quoted(one.name) for one in keys))).alias(".group"),
        *(F.col(quoted(one.name)).alias(f".new {n}") for n, one in enumerate(keys)),
        *(text.alias(f".after {n}") for n, text in enumerate(shown_columns(first, _names(merged)))),
    )
    names = (*conversion.keys, *conversion.columns)
    old = conversion.rows.select(
        *(F.expr(one.expression).alias(f".old {n}") for n, one in enumerate(keys)),
        *(F.col(quoted(name)).alias(f".key {n}") for n, name in enumerate(conversion.keys)),
        *(
            text.alias(f".before {n}")
            for n, text in enumerate(shown_columns(conversion.rows, names))
        ),
    )
    own = Window.partitionBy(quoted(".group"))
    order = own.orderBy(*(quoted(f".key {n}") for n in range(len(conversion.keys))))
    found = (
        old.join(F.broadcast(numbered), _together(keys, sessions))
        .withColumn(".count", F.count(F.lit(1)).over(own))
        .withColumn(".number", F.row_number().over(order))
        .where(F.col("`.number`") <= BEFORE)
        .orderBy("`.group`", "`.number`")
    )
    return found.select(
        F.col("`.group`"),
        F.col("`.count`"),
        *(F.col(f"`.before {n}`") for n in range(len(names))),
        *(F.col(f"`.after {n}`") for n in range(len(merged.columns))),
    ).collect()


def _names(frame: DataFrame) -> tuple[str, ...]:
    return tuple(frame.columns)


def _together(keys: Sequence[MadeColumn], sessions: bool) -> Column:
    from pyspark.sql import functions as F

    same = []
    for n, one in enumerate(keys):
        old, new = quoted(f".old {n}"), quoted(f".new {n}")
        if sessions and one.name == WINDOW:
            same.append(f"{new}.start <= {old}.start AND {old}.`end` <= {new}.`end`")
        elif one.several:
            same.append(f"array_contains({old}, {new})")
        else:
            same.append(f"{old} <=> {new}")
    return F.expr(" AND ".join(same))
