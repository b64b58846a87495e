"""Declared functions that a running job must register: those in Python. SQL calls them by name."""

from __future__ import annotations

from ..model.declared import PythonFunction
from ..pyspark.layout import Call
from ..pyspark.literals import quoted


def emit_function(function: PythonFunction) -> list[str]:
    """Return the paragraph that registers a Python function for SQL."""
    arguments = (
        quoted(function.name),
        quoted(function.target),
        f"returns={quoted(str(function.returns.type))}",
    )
    call = Call("job.function", arguments)
    return [f"    # {function.name}: Python function, vectorised", *call.lines("", "    ")]
