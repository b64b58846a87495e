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

from ..base.errors import STATE_OF_OTHER_PLAN, RuntimeFault
from ..plan.meaning import Meaning
from ..storage.notes import read_note, unreadable, write_note
from .join_columns import are_held, only_columns_differ

if TYPE_CHECKING:
    from ..state.state import GenerationFolder

FORMAT = 1


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
