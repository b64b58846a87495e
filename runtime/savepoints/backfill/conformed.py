"""Tables of a savepoint in the form of those that a replay has made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....contracts.plan import Operator
from ...base.errors import unfit
from ...base.options import quoted
from ...state_tables.types import nullable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def conformed(
    like: Mapping[str, DataFrame], given: Mapping[str, DataFrame], operator: Operator
) -> dict[str, DataFrame]:
    """Tables with the columns and types of others; missing tables are empty.

    Raises RuntimeFault for a missing column.
    """
    from pyspark.sql import functions as F

    found = {}
    for name, model in like.items():
        if name not in given:
            found[name] = model.limit(0)
            continue
        missing = [column for column in model.columns if column not in given[name].columns]
        if missing:
            raise unfit(operator.id, f"it has no `{missing[0]}`")
        columns = [
            F.col(quoted(field.name)).cast(nullable(field.dataType)).alias(field.name)
            for field in model.schema.fields
        ]
        found[name] = given[name].select(*columns)
    return found
