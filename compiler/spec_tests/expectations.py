"""What a test expects of a sink."""

from __future__ import annotations

from ...dsl.reports import codes
from ...dsl.reports.source import Span
from ...dsl.yaml.diagnostics import described
from ...dsl.yaml.nodes import Mapping, Node, Scalar, Sequence
from .diagnostics import Teller
from .model import Column, Expect, Row
from .values import Misfit, Value, read_value

_OPTIONS = ("rows", "ordered", "contains", "tolerance")


def read_expect(
    sink: str, columns: tuple[Column, ...], node: Node, teller: Teller
) -> Expect | None:
    """Return what is expected of a sink; None for an unknown form, which is reported."""
    rows: Node | None = node
    ordered = contains = False
    tolerance: float | None = None
    if isinstance(node, Mapping):
        rows = node.get("rows")
        if rows is None:
            teller.form(f"what is expected of `{sink}` has no `rows`", node, "write `rows: […]`")
        for key, value in node:
            match key.text:
                case "ordered":
                    ordered = _switch(key, value, teller)
                case "contains":
                    contains = _switch(key, value, teller)
                case "tolerance":
                    tolerance = _tolerance(value, teller)
                case "rows":
                    pass
                case _:
                    teller.unknown("part of what is expected", key, _OPTIONS, codes.TEST_FORM)
    if rows is None:
        return None
    if not isinstance(rows, Sequence):
        teller.form(
            f"what is expected of `{sink}` is {described(rows)}, not a list of rows",
            rows,
            "write a list of rows, `[]` for none",
        )
        return None
    read = [_row(sink, columns, item, contains, teller) for item in rows]
    found = tuple(row for row in read if row is not None)
    return Expect(sink, columns, found, rows, ordered, contains, tolerance)


def _row(
    sink: str, columns: tuple[Column, ...], node: Node, contains: bool, teller: Teller
) -> Row | None:
    if not isinstance(node, Mapping):
        teller.form(f"a row of `{sink}` is {described(node)}, not a mapping", node)
        return None
    known = {column.name.lower(): column for column in columns}
    values: dict[str, Value] = {}
    fits = True
    for key, value in node:
        column = known.get(key.text.lower())
        if column is None:
            names = [c.name for c in columns]
            teller.unknown(f"column of `{sink}`", key, names, codes.TEST_COLUMN)
            fits = False
            continue
        try:
            values[column.name] = read_value(value, column.type)
        except Misfit as error:
            teller.misfit(key.text, error)
            fits = False
    if not fits:
        return None
    missing = [c.name for c in columns if c.name not in values]
    if missing and not contains:
        _incomplete(sink, missing, node.span, teller)
        return None
    return Row({c.name: values[c.name] for c in columns if c.name in values}, node.span)


def _incomplete(sink: str, missing: list[str], span: Span, teller: Teller) -> None:
    listed = ", ".join(f"`{name}`" for name in missing)
    teller.tell(
        codes.TEST_COLUMN,
        f"the row has no {listed}, which `{sink}` has",
        span,
        "give every column, `null` where it has none; or write "
        f"`{sink}: {{contains: true, rows: […]}}`",
    )


def _switch(key: Scalar, node: Node, teller: Teller) -> bool:
    if isinstance(node, Scalar) and node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    teller.form(f"`{key.text}` is {described(node)}, not true or false", node)
    return False


def _tolerance(node: Node, teller: Teller) -> float | None:
    try:
        found = float(node.text) if isinstance(node, Scalar) else -1.0
    except ValueError:
        found = -1.0
    if found >= 0:
        return found
    teller.form(f"`tolerance` is {described(node)}, not a number of zero or more", node)
    return None
