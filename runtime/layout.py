"""The plan's state against Spark's own: a query starts only when the two agree.

Ids of operators and cells are matched to Spark's state by position, so a difference would give
every savepoint of the pipeline wrong names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from .errors import LAYOUT_DIFFERS, RuntimeFault
from .plan import Column, Query, Use

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SPARK_KIND = {"topn": "aggregate"}
_WINDOW = ("window", "STRUCT<START TIMESTAMP, END TIMESTAMP>")


def spark_layout(kernel: Any, frame: DataFrame, output_mode: str) -> list[dict[str, Any]]:
    """The stateful operators of a streaming frame as Spark plans them, from the sink up."""
    found: list[dict[str, Any]] = json.loads(kernel.Layout.of(frame._jdf, output_mode))
    return found


def check_layout(query: Query, found: Sequence[dict[str, Any]]) -> None:
    """Raises RuntimeFault with both layouts side by side unless Spark keeps what the plan says."""
    if any(
        use is None or operator is None or _expected(use, operator) != _actual(use, operator)
        for use, operator in zip_longest(query.uses, found)
    ):
        raise RuntimeFault(
            LAYOUT_DIFFERS,
            f"query `{query.id}` would not keep the state that the plan says\n"
            + comparison(query, found),
            "compile the spec again; if the script was edited by hand, edit the spec instead",
        )


def comparison(query: Query, found: Sequence[dict[str, Any]]) -> str:
    """The two layouts as a table, with a mark on the lines that differ."""
    rows = []
    for number, (use, operator) in enumerate(zip_longest(query.uses, found)):
        planned = _expected(use, operator) if use else []
        actual = _actual(use, operator) if operator else []
        for left, right in zip_longest(planned, actual):
            mark = " " if left == right else "!"
            rows.append((mark, str(number), left or "nothing", right or "nothing"))
    rows.insert(0, (" ", "#", "the plan", "Spark"))
    width = max(len(row[2]) for row in rows)
    return "\n".join(f"  {m} {n:>2}  {left:<{width}}  {right}" for m, n, left, right in rows)


def _expected(use: Use, operator: dict[str, Any] | None) -> list[str]:
    """The plan's operator in lines; a type it does not know reads as Spark's at that place."""
    kind = _SPARK_KIND.get(use.operator.kind, use.operator.kind)
    other = _facts(operator) if operator else {}
    lines = [kind]
    if kind == "join":
        for side, (keys, columns) in enumerate(zip_longest(use.side_keys, use.sides, fillvalue=())):
            lines.append(_line("keys", keys, other.get(f"keys{side}", []), named=False))
            lines.append(_line("side", columns, other.get(f"side{side}", []), named=True))
        return lines
    own_keys = [key for key in use.operator.keys if key.name != _WINDOW[0]]
    lines.append(_line("keys", own_keys, other.get("keys", []), named=False))
    buffers = other.get("aggregates", [])
    for number, aggregate in enumerate(use.aggregates):
        seen = buffers[number] if number < len(buffers) else []
        lines.append(_line(aggregate.function, aggregate.cells, seen, named=False))
    return lines


def _actual(use: Use | None, operator: dict[str, Any]) -> list[str]:
    facts = _facts(operator)
    lines = [operator["kind"]]
    if operator["kind"] == "join":
        for side in range(2):
            lines.append(_show("keys", facts[f"keys{side}"], named=False))
            lines.append(_show("side", facts[f"side{side}"], named=True))
        return lines
    lines.append(_show("keys", facts.get("keys", []), named=False))
    for aggregate in operator.get("aggregates", []):
        lines.append(_show(aggregate["function"], _pairs(aggregate["buffers"]), named=False))
    return lines


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


def _line(label: str, planned: Sequence[Column], seen: _Pairs, *, named: bool) -> str:
    columns = []
    for number, column in enumerate(planned):
        if column.type is not None:
            columns.append((column.name, normal_type(column.type)))
        else:
            columns.append((column.name, seen[number][1] if number < len(seen) else "?"))
    return _show(label, columns, named=named)


def _show(label: str, columns: _Pairs, *, named: bool) -> str:
    shown = (f"{name} {type}" if named else type for name, type in columns)
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
