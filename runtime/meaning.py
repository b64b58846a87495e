"""What the state of a query means, and that it is never read as if it meant something else.

Spark compares the types of a state, not what was computed: a sum of another column, or a window of
another size, would be mixed into the old one without a word. So the state folder keeps, for each
query, what its plan said when the state was begun, and a start with another meaning is refused.

What is above a stateful operator (a filter, a computed column) is not compared: the state stays of
one meaning then, from rows chosen in two ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import STATE_OF_OTHER_PLAN, RuntimeFault
from .join_columns import are_held, only_columns_differ
from .notes import read_note, unreadable, write_note

if TYPE_CHECKING:
    from .state import GenerationFolder

FORMAT = 1
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


def check_meaning(state: GenerationFolder, query: str, meaning: Meaning) -> None:
    """Remembers what a query's state means, or raises RuntimeFault when it meant something else."""
    path = state.meaning_file(query)
    if not state.storage.list(f"{state.checkpoint(query)}/offsets"):
        # Nothing has been read yet, whatever was tried before.
        write_note(state.storage, path, {"format": FORMAT, **meaning})
        return
    known = read_note(state.storage, path)
    if known is None:
        raise unreadable(path, "it is not there, and the query has a state")
    if known.pop("format", None) != FORMAT:
        raise unreadable(path, f"this runtime reads format {FORMAT}")
    try:
        differences = list(meaning_differences(known, meaning))
        known_better = differences and only_columns_differ(known, meaning)
        if known_better and are_held(state, query, known, meaning):
            write_note(state.storage, path, {"format": FORMAT, **meaning})
            return
    except (ValueError, KeyError, TypeError, AttributeError):
        raise unreadable(path, "it is not what a pipeline writes there") from None
    if differences:
        raise RuntimeFault(
            STATE_OF_OTHER_PLAN,
            f"the state of query `{query}` is of another version of the spec\n"
            + "\n".join(f"     {line}" for line in differences),
            "carry it over with a savepoint, or run the version that began it",
        )


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


def meaning_differences(old: Meaning, new: Meaning) -> Sequence[str]:
    """What two meanings differ in, a line each."""
    lines: list[str] = []
    if old["output_mode"] != new["output_mode"]:
        lines.append(f"output mode: {old['output_mode']} -> {new['output_mode']}")
    before, after = ({o["id"]: o for o in m["operators"]} for m in (old, new))
    lines.extend(f"{id}: added" for id in after if id not in before)
    lines.extend(f"{id}: removed" for id in before if id not in after)
    for id in after:
        if id in before:
            lines.extend(_parts(before[id], after[id]))
    order = [o["id"] for o in old["operators"]], [o["id"] for o in new["operators"]]
    if not lines and order[0] != order[1]:
        lines.append(f"order: {', '.join(order[0])} -> {', '.join(order[1])}")
    return lines


def _parts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Sequence[str]:
    parts = dict.fromkeys((*old, *new))
    return [
        f"{new['id']}: {part}: {_text(old.get(part))} -> {_text(new.get(part))}"
        for part in parts
        if old.get(part) != new.get(part)
    ]


def _text(value: Any) -> str:
    """A part as a person reads it: names and types, without the keys of the document."""
    match value:
        case None:
            return "nothing"
        case {"id": id, "cells": cells}:
            return f"{id} ({', '.join(str(cell) for cell in cells)})"
        case {"id": id, "kind": kind, "type": type_, "default": default, "ttl": ttl}:
            words = [id, kind, str(type_), *(["=", default] if default is not None else [])]
            return " ".join([*words, *(["for", ttl] if ttl is not None else [])])
        case {"id": id, "time": time}:
            return f"{id} of {time} time"
        case {"name": name, "type": type_}:
            return f"{name} {type_}"
        case dict():
            return " ".join(f"{k} {_text(v)}" for k, v in value.items() if v is not None)
        case list():
            return f"[{', '.join(_text(item) for item in value)}]"
    return str(value)
