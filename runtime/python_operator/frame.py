"""The frame with the rows that an operator's class emits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from ..accounting.python_counts import keep_counts
from ..kernel.load import java_list
from ..python.functions import use_own_python
from .counts import ByBatch
from .loading import ON_EVENT, ON_TIMER, load_class
from .plan import CellPlan, InputPlan, OperatorPlan, TimerPlan
from .processor import Processor
from .values import reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..keyed.program import Rows

Document = Mapping[str, Any]


def python_frame(
    kernel: Any,
    whole: Document,
    inputs: Sequence[Rows],
    target: str,
    folders: Sequence[str],
    initial: Callable[[str, StructType], DataFrame | None] | None = None,
) -> DataFrame:
    """The rows that the class `target` emits for the program in `whole`.

    With `initial` it begins with a state, which that returns for the program's name and the
    columns: rows as in `kernel/keyed`. Raises RuntimeFault when the class cannot be loaded or lacks
    handlers.
    """
    handlers = load_class(target, whole["id"], folders, _methods(whole))
    spark = inputs[0].frame.sparkSession
    use_own_python(spark)
    counts = spark.sparkContext.accumulator({}, ByBatch())
    number = keep_counts(counts)
    document = json.dumps({**whole, "counts": number})
    frames = java_list(spark._jvm, [one.frame._jdf for one in inputs])
    handed = DataFrame(kernel.InPython.input(document, frames), spark)
    state = StructType.fromJson(json.loads(kernel.InPython.stateSchema(document, handed._jdf)))
    plan = _plan(spark, whole, target, handlers, handed.schema, state, counts)
    begins = None if initial is None else initial(whole["id"], state)
    keys = plan.keys.names
    made = handed.groupBy(*keys).transformWithState(
        Processor(plan),
        plan.returns,
        "Append",
        "ProcessingTime" if plan.by_clock else "EventTime",
        None if begins is None else begins.groupBy(*keys),
    )
    return DataFrame(kernel.InPython.output(document, made._jdf, frames), spark)


def _methods(whole: Document) -> dict[str, Sequence[str]]:
    """The methods that a class must have, with their parameters."""
    names = [one["alias"] for one in whole["inputs"]]
    events = ["on_event"] if len(names) == 1 else [f"on_event_{name}" for name in names]
    timers = [f"on_timer_{timer['name']}" for timer in whole["timers"]]
    return {**dict.fromkeys(events, ON_EVENT), **dict.fromkeys(timers, ON_TIMER)}


def _plan(
    spark: SparkSession,
    whole: Document,
    target: str,
    handlers: type,
    handed: StructType,
    state: StructType,
    counts: Any,
) -> OperatorPlan:
    inputs = whole["inputs"]
    timed = any(one["event_time"] is not None for one in inputs)
    returns = _schema(whole["returns"])
    cells = _cells(spark, whole["state"], state)
    forgets = any(cell.ttl for cell in cells)
    names = [key["name"] for key in whole["keys"]]
    event_time = whole["event_time"]
    return OperatorPlan(
        id=whole["id"],
        target=target,
        handlers=handlers,
        key_names=names,
        keys=StructType(handed.fields[: max(len(names), 1)]),
        row=_nullable(cast(StructType, handed["__row"].dataType)),
        inputs=_inputs(inputs, int(timed) + int(len(inputs) > 1)),
        timed=timed,
        ordered=whole["ordered"],
        # Spark's own timers use processing time where no event time moves a watermark.
        by_clock=whole["wakes"] and not timed and forgets,
        record=cast(StructType, state["record"].dataType),
        values=[cell for cell in cells if cell.kind == "value"],
        entries=[cell for cell in cells if cell.kind != "value"],
        timers=[TimerPlan(timer["name"], timer["processing"]) for timer in whole["timers"]],
        returns=returns,
        event_time=None if event_time is None else returns.names.index(event_time),
        counts=counts,
    )


def _inputs(inputs: Sequence[Document], first: int) -> list[InputPlan]:
    """Inputs, whose columns follow each other after the event time and the input."""
    found = []
    for one in inputs:
        found.append(InputPlan(one["alias"], one["columns"], first))
        first += len(one["columns"])
    return found


def _cells(spark: SparkSession, cells: Sequence[Document], state: StructType) -> list[CellPlan]:
    """Cells; those with entries are the last fields of the state, in their order."""
    entries = [cell for cell in cells if cell["kind"] != "value"]
    fields = dict(zip((c["name"] for c in entries), state.fields[-len(entries) :], strict=False))
    defaults = _defaults(spark, [cell for cell in cells if cell["default"] is not None])
    return [
        CellPlan(
            cell["name"],
            cell["kind"],
            defaults.get(cell["name"]),
            cell["ttl_micros"] or 0,
            fields[cell["name"]].name if cell["name"] in fields else "record",
            cast(StructType, fields[cell["name"]].dataType)
            if cell["name"] in fields
            else StructType(),
        )
        for cell in cells
    ]


def _defaults(spark: SparkSession, cells: Sequence[Document]) -> dict[str, Any]:
    """The values of defaults, which are constants in Spark SQL."""
    if not cells:
        return {}
    made = [f"CAST(({cell['default']}) AS {cell['value']})" for cell in cells]
    found = spark.sql(f"SELECT {', '.join(made)}")
    (row,) = found.collect()
    kinds = [field.dataType for field in found.schema]
    values = [reader(kind)(value) for kind, value in zip(kinds, row, strict=True)]
    return dict(zip((cell["name"] for cell in cells), values, strict=True))


def _schema(columns: Sequence[Document]) -> StructType:
    kinds = [cast(StructType, StructType.fromDDL(f"c {column['type']}")) for column in columns]
    names = [column["name"] for column in columns]
    return StructType(
        [StructField(name, kind[0].dataType) for name, kind in zip(names, kinds, strict=True)]
    )


def _nullable(row: StructType) -> StructType:
    return StructType([StructField(field.name, field.dataType) for field in row])
