"""The plan's state against Spark's own: a query starts only when the two agree.

Ids of operators and cells are matched to Spark's state by position, so a difference would give
every savepoint of the pipeline wrong names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ...contracts.plan import (
    Aggregation,
    Column,
    Deduplication,
    Join,
    Operator,
    Plan,
    Program,
    Query,
    TopN,
)
from ..base.errors import LAYOUT_DIFFERS, RuntimeFault
from ..plan.plan import OperatorUse, uses_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NOTHING = "nothing"
_PART = "_extract_"
"""How Spark names a field that it keeps in place of its struct."""
_WINDOW = ("window", "STRUCT<START TIMESTAMP, END TIMESTAMP>")


def spark_layout(kernel: Any, frame: DataFrame, output_mode: str) -> list[dict[str, Any]]:
    """The stateful operators of a streaming frame as Spark plans them, from the sink up."""
    found: list[dict[str, Any]] = json.loads(kernel.Layout.of(frame._jdf, output_mode))
    return found


def checked_frame(kernel: Any, frame: DataFrame, plan: Plan, query: Query) -> DataFrame:
    """The frame of a query as it may start: the reads of one source have names of their own.

    No instant at the ends of time ends it.

    Raises RuntimeFault when Spark would keep another state than the plan says.
    """
    from pyspark.sql import DataFrame

    own = kernel.Ends.within(kernel.Sources.distinct(frame._jdf))
    distinct = DataFrame(own, frame.sparkSession)
    check_layout(query.id, uses_of(plan, query), spark_layout(kernel, distinct, query.output_mode))
    return distinct


def check_layout(query: str, uses: Sequence[OperatorUse], found: Sequence[dict[str, Any]]) -> None:
    """Raises RuntimeFault with both layouts side by side unless Spark keeps what the plan says.

    Operators, aggregates and the types of their buffers must be the same, in the same order. Spark
    may keep less than the plan says in two places, which depend on its optimizer: a key that turned
    out to be constant or double, and a column of a join that is only filtered by.
    """
    if not all(line.agrees for line in _layout_lines(uses, found)):
        raise RuntimeFault(
            LAYOUT_DIFFERS,
            f"query `{query}` would not keep the state that the plan says\n"
            + comparison(uses, found),
            "compile the spec again; if the script was edited by hand, edit the spec instead",
        )


def comparison(uses: Sequence[OperatorUse], found: Sequence[dict[str, Any]]) -> str:
    """The two layouts as a table, with a mark on the lines that differ."""
    lines = _layout_lines(uses, found)
    width = max([len(line.planned) for line in lines] + [len("the plan")])
    rows = [f"     #  {'the plan':<{width}}  Spark"]
    for line in lines:
        mark = " " if line.agrees else "!"
        rows.append(f"  {mark} {line.operator:>2}  {line.planned:<{width}}  {line.actual}")
    return "\n".join(rows)


@dataclass(frozen=True, slots=True)
class _Line:
    operator: int
    planned: str
    actual: str
    agrees: bool


def _layout_lines(uses: Sequence[OperatorUse], found: Sequence[dict[str, Any]]) -> list[_Line]:
    return [
        line
        for number, (use, operator) in enumerate(zip_longest(uses, found))
        for line in _operator_lines(number, use, operator)
    ]


def _operator_lines(
    number: int, use: OperatorUse | None, operator: dict[str, Any] | None
) -> Iterator[_Line]:
    kind = _spark_kind(use.operator) if use else _NOTHING
    spark_kind = operator["kind"] if operator else _NOTHING
    yield _Line(number, kind, spark_kind, kind == spark_kind)
    if use is None or operator is None or kind != spark_kind:
        return
    facts = _facts(operator)
    if isinstance(use.operator, Join):
        keys_of_sides = (side.keys for side in use.operator.sides)
        for side, (keys, columns) in enumerate(zip_longest(keys_of_sides, use.sides, fillvalue=())):
            yield _keys_line(number, keys, facts[f"keys{side}"], exact=True)
            yield _side_line(number, columns, facts[f"side{side}"])
        return
    own_keys = [key for key in use.operator.keys if (key.name, _type(key)) != _WINDOW]
    exact = isinstance(use.operator, Deduplication | Program)
    yield _keys_line(number, own_keys, facts["keys"], exact=exact)
    if isinstance(use.operator, Program):
        yield from _program_lines(number, use.operator, operator)
        return
    names = [a["function"] for a in operator.get("aggregates", [])]
    for planned, name, buffers in zip_longest(use.aggregates, names, facts["aggregates"]):
        kept = [Column(cell.buffer, cell.type) for cell in planned.cells] if planned else []
        left = _show(planned.function, _filled(kept, buffers or [])) if planned else None
        right = _show(name, buffers) if name is not None else None
        yield _Line(number, left or _NOTHING, right or _NOTHING, left == right)


def _spark_kind(operator: Operator) -> str:
    """What Spark's layout calls an operator: to it a top is an aggregate."""
    return Aggregation.KIND if isinstance(operator, TopN) else operator.KIND


def _program_lines(number: int, program: Program, operator: dict[str, Any]) -> Iterator[_Line]:
    """Cells by their names, whatever their order, and timers."""
    planned = {cell.id: cell.type or "?" for cell in program.cells}
    seen = {c["name"]: c["type"] for c in operator["cells"]}
    for name in dict.fromkeys([*planned, *seen]):
        left, right = (
            f"cell {name} {normal_type(side[name])}" if name in side else _NOTHING
            for side in (planned, seen)
        )
        yield _Line(number, left, right, left == right)
    timers = [timer.id for timer in program.timers]
    left, right = (f"timers ({', '.join(names)})" for names in (timers, operator["timers"]))
    yield _Line(number, left, right, left == right)


def _keys_line(number: int, planned: Sequence[Column], seen: _Pairs, *, exact: bool) -> _Line:
    expected = _filled(planned, seen)
    types, rest = [t for _, t in seen], iter([t for _, t in expected])
    agrees = len(types) == len(expected) or not exact
    # Each of Spark's keys stands in the plan, in the plan's order.
    agrees = agrees and all(any(t == other for other in rest) for t in types)
    return _Line(number, _show("keys", expected), _show("keys", seen), agrees)


def _side_line(number: int, planned: Sequence[Column], seen: _Pairs) -> _Line:
    types = {c.name: c.type and normal_type(c.type) for c in planned}
    nested = any(t is None or "STRUCT" in t for t in types.values())
    agrees = all(
        (name in types and types[name] in (None, type_)) or (nested and name.startswith(_PART))
        for name, type_ in seen
    )
    expected = [(name, type_ or "?") for name, type_ in types.items()]
    left, right = (_show("side", side, named=True) for side in (expected, seen))
    return _Line(number, left, right, agrees)


def _type(column: Column) -> str | None:
    return None if column.type is None else normal_type(column.type)


def _filled(planned: Sequence[Column], seen: _Pairs) -> _Pairs:
    """The plan's columns; a type that it does not know reads as Spark's at that place."""
    found = [type_ for _, type_ in seen]
    return [
        (
            column.name,
            normal_type(column.type)
            if column.type is not None
            else (found[i] if i < len(found) else "?"),
        )
        for i, column in enumerate(planned)
    ]


_Pairs = list[tuple[str, str]]


def _facts(operator: dict[str, Any]) -> dict[str, Any]:
    """Spark's columns by place; a window is the plan's own matter and no key."""
    facts: dict[str, Any] = {
        "keys": [p for p in _pairs(operator.get("keys", [])) if p != _WINDOW],
        "aggregates": [_pairs(a["buffers"]) for a in operator.get("aggregates", [])],
    }
    for number, side in enumerate(operator.get("sides", [])):
        facts[f"keys{number}"] = _pairs(side["keys"])
        facts[f"side{number}"] = _pairs(side["columns"])
    return facts


def _pairs(columns: Sequence[dict[str, str]]) -> _Pairs:
    return [(c["name"], normal_type(c["type"])) for c in columns]


def _show(label: str, columns: _Pairs, *, named: bool = False) -> str:
    shown = (f"{name} {type_}" if named else type_ for name, type_ in columns)
    return f"{label} ({', '.join(shown)})"


def normal_type(text: str) -> str:
    """One spelling for a type, whether the plan or Spark wrote it.

    >>> normal_type("struct<a: int, b: decimal(12, 2)>") == normal_type("STRUCT<a INT,b DEC(12,2)>")
    True
    """
    text = re.sub(r"\s+", " ", text.upper().replace(" NOT NULL", ""))
    text = re.sub(r"\s*:\s*", " ", text)
    text = re.sub(r"\s*([<>()])\s*", r"\1", text)
    text = re.sub(r"\s*,\s*", ", ", text)
    text = re.sub(r"\((\d+), (\d+)\)", r"(\1,\2)", text)
    for long, short in _SYNONYMS:
        text = re.sub(rf"\b{long}\b", short, text)
    return text.strip()


_SYNONYMS = (
    ("INTEGER", "INT"),
    ("LONG", "BIGINT"),
    ("SHORT", "SMALLINT"),
    ("BYTE", "TINYINT"),
    ("REAL", "FLOAT"),
    ("DEC", "DECIMAL"),
    ("NUMERIC", "DECIMAL"),
    ("TIMESTAMP_LTZ", "TIMESTAMP"),
)
