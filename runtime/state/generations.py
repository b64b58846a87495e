"""The validation of a generation's note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.fields import Fields
from .incompleteness import read_marks


def check_generation(note: Mapping[str, Any]) -> None:
    """Raises ValueError, which says why, for a note that is not a generation's."""
    found = Fields(note)
    number = found.text("generation")
    if not (number.isascii() and number.isdigit()):
        raise found.wrong("generation", "number of a generation")
    read_lineage(found)
    read_marks(found)
    if found.value("from") is None:
        return
    origin = found.within("from")
    origin.text("generation"), origin.whole("barrier"), origin.whole("epoch")
    origin.maybe("same_to", origin.whole), origin.maybe("savepoint", origin.text)


def read_lineage(note: Fields) -> tuple[Mapping[str, Any], ...]:
    """The generations whose batches count, each with the last batch of each query."""
    return tuple(map(_ancestor, note.items("lineage")))


def _ancestor(found: Fields) -> Mapping[str, Any]:
    batches = found.within("batches")
    last = {query: batches.whole(query, least=-1) for query in found.mapping("batches")}
    apart = {"apart": True} if found.flag("apart", default=False) else {}
    return {"generation": found.text("generation"), "batches": last, **apart}
