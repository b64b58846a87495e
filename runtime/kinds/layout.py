"""The plan's state compared with Spark's: a query starts only when the two agree.

Ids of operators and cells are matched to Spark's state by position, so a difference would give
every savepoint of the pipeline wrong names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Plan, Query
from ..base.errors import LAYOUT_DIFFERS, RuntimeFault
from ..plan.plan import OperatorUse, uses_of
from .layout_lines import NOTHING, Line, SparkOperator
from .registry import kind_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def spark_layout(kernel: Any, frame: DataFrame, output_mode: str) -> list[SparkOperator]:
    """The stateful operators of a streaming frame as Spark plans them, from the sink up."""
    return list(map(SparkOperator.from_json, json.loads(kernel.Layout.of(frame._jdf, output_mode))))


def checked_frame(kernel: Any, frame: DataFrame, plan: Plan, query: Query) -> DataFrame:
    """The frame of a query ready to start: the reads of one source have distinct names.

    No instant at the ends of time ends it.

    Raises RuntimeFault when Spark would keep other state than planned.
    """
    from pyspark.sql import DataFrame

    own = kernel.Ends.within(kernel.Sources.distinct(frame._jdf))
    distinct = DataFrame(own, frame.sparkSession)
    check_layout(query.id, uses_of(plan, query), spark_layout(kernel, distinct, query.output_mode))
    return distinct


def check_layout(query: str, uses: Sequence[OperatorUse], found: Sequence[SparkOperator]) -> None:
    """Raises RuntimeFault with both layouts side by side unless Spark keeps the planned state.

    Operators, aggregates and the types of their buffers must be the same, in the same order. Spark
    may keep less than planned in two places, which depend on its optimizer: a key that is constant
    or a duplicate, and a column of a join that is only filtered on.
    """
    if not all(line.agrees for _, line in _lines(uses, found)):
        raise RuntimeFault(
            LAYOUT_DIFFERS,
            f"query `{query}` would not keep the state that the plan says\n"
            + comparison(uses, found),
            "compile the spec again; if the script was edited by hand, edit the spec instead",
        )


def comparison(uses: Sequence[OperatorUse], found: Sequence[SparkOperator]) -> str:
    """The two layouts as a table, with a mark on the lines that differ."""
    lines = list(_lines(uses, found))
    width = max([len(line.planned) for _, line in lines] + [len("the plan")])
    rows = [f"     #  {'the plan':<{width}}  Spark"]
    for number, line in lines:
        mark = " " if line.agrees else "!"
        rows.append(f"  {mark} {number:>2}  {line.planned:<{width}}  {line.actual}")
    return "\n".join(rows)


def _lines(
    uses: Sequence[OperatorUse], found: Sequence[SparkOperator]
) -> Iterator[tuple[int, Line]]:
    """Yields all lines, each with the number of its operator."""
    for number, (use, operator) in enumerate(zip_longest(uses, found)):
        for line in _of_operator(use, operator):
            yield number, line


def _of_operator(use: OperatorUse | None, operator: SparkOperator | None) -> Iterator[Line]:
    planned = NOTHING if use is None else kind_of(use.operator).spark_name
    actual = NOTHING if operator is None else operator.kind
    yield Line(planned, actual, planned == actual)
    if use is not None and operator is not None and planned == actual:
        yield from kind_of(use.operator).layout(use, operator)
