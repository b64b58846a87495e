"""What the plan says of the meaning of a query's state: the parts of operators that it hangs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COMPARED = (
    *("kind", "window", "keys", "join", "condition", "bound", "within", "rows"),
    *("ordered", "cells", "timers", "handlers"),
)
"""The parts of an operator in the plan that say what its state holds."""


Meaning = dict[str, Any]
"""A query's output mode, and its operators from the sink up, each by the parts that matter."""


def meaning_of(query: Mapping[str, Any], operators: Mapping[str, Any]) -> Meaning:
    """What a query of the plan keeps; ready for JSON."""
    return {
        "output_mode": query["output_mode"],
        "operators": [_operator(use, operators[use["id"]]) for use in query["operators"]],
    }


def _operator(use: Mapping[str, Any], operator: Mapping[str, Any]) -> dict[str, Any]:
    alive = use.get("aggregates")
    found = {a["id"]: a for a in operator.get("aggregates", ())}
    parts = {part: operator[part] for part in _COMPARED if operator.get(part) is not None}
    if alive is not None:
        parts["aggregates"] = [
            {"id": id, "cells": [cell["type"] for cell in found[id]["cells"]]} for id in alive
        ]
    if "columns" in use:
        parts["columns"] = use["columns"]
    if "waiting" in use:
        # An input is known by its place: what it is called is no part of a row that waits.
        parts["waiting"] = list(use["waiting"].values())
    return {"id": use["id"], **parts}
