"""What the state of a query means, and the check that it is never misread.

Spark compares the types of a state, not what was computed: a sum of another column, or a window of
another size, would be silently mixed into the old one. So the state folder keeps, for each query,
what its plan said when the state was begun, and a start with another meaning is refused.

What is above a stateful operator (a filter, a computed column) is not compared: the state then
keeps its meaning, but its rows are selected in two ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...contracts.json_records import Record
from ...contracts.notes.meaning import AggregateMeaning, OperatorMeaning, QueryMeaning
from ...contracts.plan import Column, ProgramCell, Timer
from ..base.errors import STATE_OF_OTHER_PLAN, RuntimeFault
from ..storage.notes import read_note, unreadable, write_note
from .join_columns import are_held, only_columns_differ

if TYPE_CHECKING:
    from ..state.state import GenerationFolder


def check_meaning(state: GenerationFolder, query: str, meaning: QueryMeaning) -> None:
    """Records what a query's state means, or raises RuntimeFault when it meant something else."""
    path = state.meaning_file(query)
    if not state.storage.list(f"{state.checkpoint(query)}/offsets"):
        # Nothing has been read yet, whatever was tried before.
        write_note(state.storage, path, meaning.to_json())
        return
    note = read_note(state.storage, path)
    if note is None:
        raise unreadable(path, "it is not there, and the query has a state")
    try:
        known = QueryMeaning.from_json(note)
    except ValueError as error:
        raise unreadable(path, str(error)) from None
    differences = meaning_differences(known, meaning)
    if (
        differences
        and only_columns_differ(known, meaning)
        and are_held(state, query, known, meaning)
    ):
        write_note(state.storage, path, meaning.to_json())
    elif differences:
        raise RuntimeFault(
            STATE_OF_OTHER_PLAN,
            f"the state of query `{query}` is of another version of the spec\n"
            + "\n".join(f"     {line}" for line in differences),
            "carry it over with a savepoint, or run the version that began it",
        )


def meaning_differences(old: QueryMeaning, new: QueryMeaning) -> Sequence[str]:
    """The differences between two meanings, a line each."""
    lines: list[str] = []
    if old.output_mode != new.output_mode:
        lines.append(f"output mode: {old.output_mode} -> {new.output_mode}")
    before, after = ({one.id: one for one in meaning.operators} for meaning in (old, new))
    lines.extend(f"{id}: added" for id in after if id not in before)
    lines.extend(f"{id}: removed" for id in before if id not in after)
    for id in after:
        if id in before:
            lines.extend(_parts(before[id], after[id]))
    if not lines and [*before] != [*after]:
        lines.append(f"order: {', '.join(before)} -> {', '.join(after)}")
    return lines


def _parts(old: OperatorMeaning, new: OperatorMeaning) -> Sequence[str]:
    before, after = old.parts(), new.parts()
    return [
        f"{new.id}: {part}: {_text(before.get(part))} -> {_text(after.get(part))}"
        for part in dict.fromkeys((*before, *after))
        if before.get(part) != after.get(part)
    ]


def _text(value: Any) -> str:
    """A part in readable form: names and types, without the keys of the document."""
    match value:
        case None:
            return "nothing"
        case AggregateMeaning(id=id, cells=cells):
            return f"{id} ({', '.join(str(cell) for cell in cells)})"
        case ProgramCell(id=id, kind=kind, type=type_, default=default, ttl=ttl):
            words = [id, kind, str(type_), *(["=", default] if default is not None else [])]
            return " ".join([*words, *(["for", ttl] if ttl is not None else [])])
        case Timer(id=id, time=time):
            return f"{id} of {time} time"
        case Column(name=name, type=type_):
            return f"{name} {type_}"
        case Record():
            parts = value.parts()
            return " ".join(
                f"{name} {_text(one)}" for name, one in parts.items() if one is not None
            )
        case tuple():
            return f"[{', '.join(_text(item) for item in value)}]"
    return str(value)
