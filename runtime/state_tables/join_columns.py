"""The columns of a join's waiting rows, from Spark's schema of the existing state.

Earlier versions of the compiler also listed columns that are read only in a condition on a single
side. Spark evaluates those before a row waits, and keeps none of them: that the plan now lists
fewer is not another state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...contracts.notes.meaning import QueryMeaning
from ..storage.notes import unreadable
from .tables import JOINED, MATCHED, SIDES

if TYPE_CHECKING:
    from ..state.state import GenerationFolder


def only_columns_differ(old: QueryMeaning, new: QueryMeaning) -> bool:
    """Whether two meanings of a query are the same except for the columns of joins."""
    return old.without_columns() == new.without_columns()


def are_held(state: GenerationFolder, query: str, old: QueryMeaning, new: QueryMeaning) -> bool:
    """Whether the waiting rows of a query's joins have the columns of the new meaning."""
    held = {side: list(_held(state, query, side)) for side in SIDES}
    before = {one.id: one.columns for one in old.operators}
    return all(
        [column.name for column in columns] in held[side]
        for one in new.operators
        if before[one.id] != one.columns
        for side, columns in zip(SIDES, one.columns or (), strict=True)
    )


def _held(state: GenerationFolder, query: str, side: str) -> Iterator[Sequence[str]]:
    """Yield the columns of a side of each join of a query that has a state."""
    folder = f"{state.checkpoint(query)}/state"
    for operator in state.storage.list(folder):
        path = f"{folder}/{operator}/0/{JOINED.format(side=side)}/_metadata/schema"
        text = state.storage.read(path)
        if text is not None:
            try:
                _, value = _schemas(text)
                names = [field["name"] for field in value["fields"]]
            except (ValueError, KeyError, TypeError):
                raise unreadable(path, "it is not a schema of Spark's") from None
            yield [name for name in names if name != MATCHED]


def _schemas(text: str) -> list[Any]:
    """Return the schemas of keys and values in a file of Spark's, each preceded by its length."""
    decoder, found, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        schema, end = decoder.raw_decode(text, at)
        found.append(schema)
        at = text.find("{", end)
    return found
