"""Rows of a savepoint that a migration can't convert: their number, the first of them, and why.

A conversion fails if it ends with an error, or if TRY_CAST or a `try_…` function gives NULL though
none of its inputs is, unless the migration accepts NULL for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.errors import unfit
from ...base.options import quoted
from ...kinds.conversion import Conversion, MadeColumn
from ...spark.failures import java_reason
from ...state_tables.tables import SIDES
from ..format.shown import shown_columns

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from .state_mapping import Fit

FIRST = 3
"""How many rows are shown for each failure."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row: the keys that identify it, and what the expression reads of it, as text."""

    keys: Mapping[str, str | None]
    reads: Mapping[str, str | None]

    def __str__(self) -> str:
        return f"({_listed(self.keys)}) has {_listed(self.reads)}"


@dataclass(frozen=True, slots=True)
class Failing:
    """Rows from which a part of the new state can't be computed: how many, and the first of them.

    `reason` is Spark's error for one of them, None where they would become NULL.
    """

    table: str
    part: str
    expression: str
    rows: int
    reason: str | None
    examples: tuple[Example, ...]


class Attempts:
    """Expressions tried on rows, so that a failure does not end the job."""

    def __init__(self, kernel: Any, spark: SparkSession) -> None:
        self._conversions = kernel.Conversions
        self._session = spark._jsparkSession

    def reads(self, expression: str) -> tuple[str, ...]:
        """The columns that an expression reads."""
        return tuple(map(str, self._conversions.reads(self._session, expression)))

    def tries(self, expression: str) -> bool:
        """Whether it gives NULL for what it can't convert."""
        return bool(self._conversions.tries(self._session, expression))

    def attempted(self, expression: str) -> Column:
        """Its result, as `value` of a struct, or why there is none, as `error`."""
        from pyspark.sql import Column

        return Column(self._conversions.attempted(self._session, expression))

    def value(self, expression: str) -> Column:
        """Its result, NULL where it fails."""
        return self.attempted(expression).getField("value")


@dataclass(frozen=True, slots=True)
class _Failure:
    """A way in which a part may fail, and the rows for which it does."""

    made: MadeColumn
    reads: tuple[str, ...]
    condition: Column
    error: Column


def failing(
    conversions: Iterable[Conversion], attempts: Attempts, nulls: Collection[str] = ()
) -> Iterator[Failing]:
    """Yields the failures of conversions; `nulls` are the parts that may become NULL.

    Each table is read once, and again only for failures.
    """
    from pyspark.sql import functions as F

    for one in conversions:
        possible = list(_possible(one.made, attempts, nulls))
        if not possible:
            continue
        counts = one.rows.select(
            *(F.count_if(failure.condition).alias(str(n)) for n, failure in enumerate(possible))
        ).head()
        assert counts is not None
        for failure, rows in zip(possible, counts, strict=True):
            if rows:
                yield _told(one, failure, int(rows))


def check_conversions(kernel: Any, spark: SparkSession, fit: Fit) -> None:
    """Raises RuntimeFault, with key and value, when a row of a savepoint can't be converted."""
    attempts = Attempts(kernel, spark)
    for operator in fit.converted:
        nulls = fit.change(operator).nulls
        for one in failing(fit.conversions(spark, operator), attempts, nulls):
            raise unfit(operator, failure_text(one), failure_help(one))


def failure_text(one: Failing) -> str:
    """The failing part and rows, with the first of them and why."""
    count = "1 row" if one.rows == 1 else f"{one.rows:,} rows"
    why = "it would become NULL" if one.reason is None else one.reason
    first = "".join(f"\n     {example}" for example in one.examples)
    return f"`{one.part}` fails for {count}: {one.expression}{first}\n     {why}"


def failure_help(one: Failing) -> str:
    """How to fix it."""
    path = one.part.split(": ")[0]
    accept = f", accept NULL by `accept: {{{path}: nulls}}`" if one.reason is None else ""
    leave = "" if one.table in SIDES else ", or leave them behind by `where`"
    return f"say in the migration file what such rows get{accept}{leave}"


def _possible(
    made: Sequence[MadeColumn], attempts: Attempts, nulls: Collection[str]
) -> Iterator[_Failure]:
    from pyspark.sql import functions as F

    for one in made:
        reads = attempts.reads(one.expression)
        if not reads or one.expression in (reads[0], quoted(reads[0])):
            continue
        attempted = attempts.attempted(one.expression)
        error = attempted.getField("error")
        yield _Failure(one, reads, error.isNotNull(), error)
        if attempts.tries(one.expression) and one.part.split(": ")[0] not in nulls:
            given = F.expr(" AND ".join(f"{quoted(name)} IS NOT NULL" for name in reads))
            became = error.isNull() & attempted.getField("value").isNull()
            yield _Failure(one, reads, given & became, error)


def _told(conversion: Conversion, failure: _Failure, rows: int) -> Failing:
    keys, reads = conversion.keys, failure.reads
    first = conversion.in_order.where(failure.condition).limit(FIRST)
    texts = shown_columns(first, (*keys, *reads))
    errors: list[str] = []
    examples = []
    for error, *row in first.select(failure.error, *texts).collect():
        errors += [] if error is None else [error]
        of_keys, of_reads = row[: len(keys)], row[len(keys) :]
        examples.append(
            Example(dict(zip(keys, of_keys, strict=True)), dict(zip(reads, of_reads, strict=True)))
        )
    made, reason = failure.made, _reason(errors[0]) if errors else None
    return Failing(conversion.table, made.part, made.expression, rows, reason, tuple(examples))


def _reason(error: str) -> str:
    """Spark's error: its class, then its text."""
    name, _, text = error.partition("\n")
    return java_reason([(name, text)])


def _listed(values: Mapping[str, str | None]) -> str:
    return ", ".join(
        f"{name} = {'NULL' if text is None else text}" for name, text in values.items()
    )
