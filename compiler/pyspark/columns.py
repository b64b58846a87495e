"""Resolved expressions as PySpark.

Names as strings, Spark's own aggregates, SQL text for the rest.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl.ast import expressions as e
from ...dsl.ast.node import Name, Node
from ...dsl.ast.types import SimpleType
from ...dsl.ast.walk import rewrite
from ...dsl.format import sql
from ...dsl.reports.diagnostics import InternalError
from ..model.aggregates import CONSTANTS
from ..model.conditions import conjuncts
from ..model.functions import AggregateFunction, aggregate
from ..model.steps import WINDOW_STRUCTS, Column
from .literals import quoted

_INT_LIMIT = 2**31
"""Python's whole numbers below it become Spark's INT, as a literal in SQL does."""

_MOST_ARGUMENTS = {"count": 1, "percentile": 1}
"""Where PySpark's aggregate takes fewer columns than Spark's, or is a different one to Spark.

``F.percentile(x, 0.5)`` counts each value with an INT where SQL and MEDIAN use a BIGINT.
"""

WIDE = 60
"""Length of an expression that leaves room for the surrounding calls in a line of a hundred."""

_WINDOW_PARTS = {(struct, part) for struct in WINDOW_STRUCTS for part in ("start", "end")}


def output(column: Column) -> str:
    """Return a column of a select list.

    ``"a"``, ``F.col("a").alias("b")``, ``F.expr("…").alias("b")``.
    """
    expression = column.value.expression
    if isinstance(expression, e.ColumnRef) and expression.parts[-1].text == column.name:
        return quoted(path(expression))
    return f"{value(expression)}.alias({quoted(column.name)})"


def value(expression: e.Expression) -> str:
    """Return an expression as a PySpark column."""
    match expression:
        case e.ColumnRef():
            return f"F.col({quoted(path(expression))})"
        case e.StringLiteral(_, text):
            return f"F.lit({quoted(text)})"
        case e.BooleanLiteral(_, truth):
            return f"F.lit({truth})"
        case e.NumberLiteral(_, text) if text.isdigit() and int(text) < _INT_LIMIT:
            return f"F.lit({int(text)})"
        case e.Call(_, Name(_, "current_timestamp"), ()):
            return "F.current_timestamp()"
        case e.Call(_, Name(_, "window_time"), (e.ColumnRef() as struct,)):
            return f"F.window_time({quoted(sql(struct))})"
        case e.Call(_, Name(_, "struct"), parts) if all(isinstance(p, e.ColumnRef) for p in parts):
            return f"F.struct({', '.join(argument(part) for part in parts)})"
        case e.Call() if (native := _native_aggregate(expression)) is not None:
            return native
    return f"F.expr({_sql_text(lowered(expression))})"


def _sql_text(expression: e.Expression) -> str:
    """Return an expression as a Python literal, on lines of its own if it is long."""
    text = sql_text(expression)
    if "\n" not in text and len(text) <= WIDE:
        return text
    lines = "\n".join(f"    {line}" for line in text.split("\n"))
    return f"\n{lines}\n"


def sql_text(expression: e.Expression) -> str:
    """Return an expression as a Python literal; each WHEN of a CASE with several is a line."""
    if not isinstance(expression, e.Case) or len(expression.whens) < 2:
        return quoted(sql(expression))
    case = "CASE" if expression.operand is None else f"CASE {sql(expression.operand)}"
    lines = [case]
    for when in expression.whens:
        lines.append(f" WHEN {sql(when.condition)} THEN {sql(when.result)}")
    if expression.otherwise is not None:
        lines.append(f" ELSE {sql(expression.otherwise)}")
    return "\n".join(quoted(line) for line in [*lines, " END"])


def argument(expression: e.Expression) -> str:
    """Return an argument of a function: a plain column by its name."""
    if isinstance(expression, e.ColumnRef):
        return quoted(path(expression))
    return value(expression)


def path(expression: e.ColumnRef) -> str:
    """Return a reference in the form that DataFrame calls accept.

    The parts of a window need no backticks there.
    """
    parts = tuple(part.text for part in expression.parts)
    if parts in _WINDOW_PARTS:
        return ".".join(parts)
    if len(parts) == 3 and parts[1:] in _WINDOW_PARTS:
        return ".".join((sql(replace(expression, parts=expression.parts[:1])), *parts[1:]))
    return sql(expression)


def condition(expression: e.Expression) -> str:
    """Return the SQL text of a condition.

    Each conjunct is a line of its own.
    """
    whole = lowered(expression)
    first, *rest = [_conjunct(part) for part in conjuncts(whole)]
    if not rest:
        return quoted(sql(whole))
    return "\n".join([quoted(first), *(quoted(f" AND {part}") for part in rest)])


def on(expression: e.Expression) -> str:
    """Return the condition of a join; each conjunct is a line."""
    text = condition(expression)
    if "\n" not in text:
        return f"F.expr({text})"
    inner = "\n".join(f"    {line}" for line in text.split("\n"))
    return f"F.expr(\n{inner}\n)"


def lowered(expression: e.Expression) -> e.Expression:
    """Return an expression whose aggregates can all be computed in Spark's streams.

    ``count(DISTINCT x)`` becomes ``CAST(size(collect_set(x)) AS BIGINT)``: Spark has no distinct
    aggregates in a stream.
    """

    def change(node: Node) -> Node | None:
        if isinstance(node, e.Call) and node.distinct and node.name.text == "count":
            collected = replace(node, name=Name(node.span, "collect_set"), distinct=False)
            size = e.Call(node.span, Name(node.span, "size"), (collected,))
            return e.Cast(node.span, size, SimpleType(node.span, "BIGINT"))
        return None

    return rewrite(expression, change)


def _conjunct(part: e.Expression) -> str:
    text = sql(part)
    return f"({text})" if isinstance(part, e.Binary) and part.operator == "OR" else text


def _native_aggregate(call: e.Call) -> str | None:
    """Return an aggregate as a call of ``pyspark.sql.functions``.

    None where SQL text is clearer.
    """
    function = aggregate(call.name.text, distinct=call.distinct)
    if function is None or call.filter is not None or call.order_by or call.over is not None:
        return None
    if len(call.arguments) > _MOST_ARGUMENTS.get(function.name, len(call.arguments)):
        return None
    if call.distinct:
        if len(call.arguments) != 1:
            return None
        collected = f"F.collect_set({argument(call.arguments[0])})"
        return f'F.size({collected}).cast("bigint")'
    if function.pyspark_name is None:
        return None
    if not call.arguments or isinstance(call.arguments[0], e.Star):
        return "F.count(F.lit(1))"
    arguments = ", ".join(_argument(function, i, a) for i, a in enumerate(call.arguments))
    return f"F.{function.pyspark_name}({arguments})"


def _argument(function: AggregateFunction, index: int, node: e.Expression) -> str:
    """Return an argument of an aggregate: a constant as a Python literal."""
    kind = function.takes[index] if index < len(function.takes) else "flag"
    return _constant(node) if kind in CONSTANTS else argument(node)


def _constant(node: e.Expression) -> str:
    match node:
        case e.BooleanLiteral(_, truth):
            return str(truth)
        case e.NumberLiteral(_, text):
            return text
        case e.StringLiteral(_, text):
            return quoted(text)
        case e.Call(_, Name(_, "array"), items):
            return f"[{', '.join(_constant(item) for item in items)}]"
    raise InternalError(f"{sql(node)} is no constant")
