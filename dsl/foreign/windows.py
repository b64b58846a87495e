"""Windows in GROUP BY, as in Flink and Spark, with the window of FROM that is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..ast.expressions import Call, Expression, StringLiteral
from ..format import sql
from ..reports import codes
from ..syntax.mistakes import WINDOW_FORMS, Mistake


def window_in_group_by(call: Call, relation: str, others: Sequence[Expression]) -> Mistake:
    """``FROM t GROUP BY TUMBLE(ts, …)``, possibly with further keys."""
    window = _window_in_from(call, relation, others)
    keys = ", ".join([*(sql(key) for key in others), "window_start"])
    return Mistake(
        codes.WINDOW_IN_GROUP_BY,
        f"`{call.name}` is not a key: a window is opened in `FROM`",
        call.span,
        help=f"`FROM {window} GROUP BY {keys}`",
    )


def _window_in_from(call: Call, relation: str, others: Sequence[Expression]) -> str:
    """Return the window of FROM that a call means: Flink's older form, or Spark's function."""
    name = call.name.text.upper()
    column, *lengths = [_length(argument) for argument in call.arguments] or ["ts"]
    if name == "WINDOW":
        name = "TUMBLE" if len(lengths) < 2 else "HOP"
        # Spark's function has the size before the slide.
        lengths = lengths[:2][::-1]
    if name == "SESSION_WINDOW":
        name = "SESSION"
    if not lengths:
        return WINDOW_FORMS.get(name, WINDOW_FORMS["TUMBLE"])
    if name == "SESSION" and others:
        relation += f" PARTITION BY {', '.join(sql(key) for key in others[:1])}"
    return f"{name}({', '.join([relation, column, *lengths])})"


def _length(argument: Expression) -> str:
    """Return an argument as text; of ``'10 minutes'`` the interval that it is."""
    if isinstance(argument, StringLiteral):
        found = re.fullmatch(r"(\d+) ([a-z]+)", argument.value.strip().lower())
        if found is not None:
            return f"INTERVAL {found[1]} {found[2].upper()}"
    return sql(argument)
