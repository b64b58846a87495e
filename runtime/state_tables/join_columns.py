"""The columns with which rows wait in a join, as Spark says it of the state that is there.

Earlier versions of the compiler named columns, too, that are read in a condition on one side alone.
Spark asks those before a row waits, and keeps none of them: that the plan says less now is no other
state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..state.state import GenerationFolder


def only_columns_differ(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two meanings of a query say the same but for the columns of joins."""
    return _without_columns(old) == _without_columns(new)


def _without_columns(meaning: Mapping[str, Any]) -> Mapping[str, Any]:
    operators = [{**one, "columns": None} for one in meaning["operators"]]
    return {**meaning, "operators": operators}


def are_held(
    state: GenerationFolder, query: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> bool:
    """Whether the rows that wait in a query's joins have the columns that the new meaning says."""
    # What reads tables of state needs plans, and plans need meanings.
    from .tables import SIDES

    held = {side: list(_held(state, query, side)) for side in SIDES}
    before = {one["id"]: one.get("columns") for one in old["operators"]}
    return all(
        [column["name"] for column in columns] in held[side]
        for one in new["operators"]
        if before[one["id"]] != one.get("columns")
        for side, columns in zip(SIDES, one["columns"], strict=True)
    )


def _held(state: GenerationFolder, query: str, side: str) -> Iterator[Sequence[str]]:
    """Yield the columns of a side of each join of a query that has a state."""
    from .tables import JOINED, MATCHED

    folder = f"{state.checkpoint(query)}/state"
    for operator in state.storage.list(folder):
        path = f"{folder}/{operator}/0/{JOINED.format(side=side)}/_metadata/schema"
        text = state.storage.read(path)
        if text is not None:
            _, value = _schemas(text)
            yield [f["name"] for f in value["fields"] if f["name"] != MATCHED]


def _schemas(text: str) -> list[Any]:
    """Return the schemas of keys and values in a file of Spark's, each behind its length."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        schema, end = decoder.raw_decode(text, at)
        found.append(schema)
        at = text.find("{", end)
    return found
