"""Write the catalogue of Spark's functions from the PySpark that is installed.

    python scripts/make_catalogue.py            # writes compiler/model/catalogue.json

A function's group comes from its ``ExpressionInfo``, the numbers of arguments that it takes from
Spark's own analyzer, which is called with zero to twelve NULLs. Run it after a change of the
PySpark version.
"""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

CATALOGUE = Path(__file__).parents[1] / "compiler" / "model" / "catalogue.json"
MANY = 12
"""A function that takes this many arguments takes any number."""
SYNTAX = frozenset(
    "and between case cast div ilike in like not or rlike regexp when "
    "input_file_block_length input_file_block_start".split()
)
"""Names that SHOW FUNCTIONS lists and that are operators, or are meaningless in a stream."""
REFUSALS = ("WRONG_NUM_ARGS", "REQUIRED_PARAMETER_NOT_FOUND")
"""Spark's errors about a wrong number of arguments; any other is caused by the NULLs."""
GROUPS = {"agg_funcs": "aggregate", "window_funcs": "window", "generator_funcs": "generator"}


def main() -> None:
    """Ask Spark for every built-in function and write the file."""
    logging.disable(logging.ERROR)  # PySpark logs the trace of every refused call
    builder: Any = SparkSession.builder
    spark = (
        builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    rows = spark.sql("SHOW SYSTEM FUNCTIONS").collect()
    names = sorted(row[0] for row in rows if re.fullmatch(r"[a-z_][a-z0-9_]*", row[0]))
    entries = {name: _entry(spark, name) for name in names if name not in SYNTAX}
    lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(e)}" for name, e in entries.items())
    CATALOGUE.write_text(
        f'{{"spark":{json.dumps(pyspark.__version__)},"functions":{{\n{lines}\n}}}}\n'
    )
    print(f"{len(entries)} functions of Spark {pyspark.__version__} -> {CATALOGUE.name}")
    spark.stop()


def _entry(spark: Any, name: str) -> list[Any]:
    """Return group, least and most arguments (None for any number)."""
    identifier = spark._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(name)
    catalog = spark._jsparkSession.sessionState().catalog()
    group = GROUPS.get(catalog.lookupFunctionInfo(identifier).getGroup(), "scalar")
    taken = [n for n in range(MANY + 1) if _takes(spark, name, n)]
    if not taken:
        return [group, 0, None]
    return [group, taken[0], None if taken[-1] == MANY else taken[-1]]


def _takes(spark: Any, name: str, count: int) -> bool:
    arguments = ", ".join(["NULL"] * count)
    try:
        spark.sql(f"SELECT {name}({arguments})")
    except PySparkException as error:
        return not (error.getCondition() or "").startswith(REFUSALS)
    return True


if __name__ == "__main__":
    main()
