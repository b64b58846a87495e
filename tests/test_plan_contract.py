"""The plan as its classes read and write it: nothing is lost, and nothing damaged is accepted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compiled import compiled
from streamc.contracts.json_records import Malformed
from streamc.contracts.plan import Plan

TESTS = Path(__file__).parent
WRITTEN = sorted((TESTS / "golden").glob("*/plan.json"))
SPECS = sorted(
    path
    for pattern in ("specs/**/*.stream", "tests/run/*/spec.stream")
    for path in TESTS.parent.glob(pattern)
)
DAMAGED = ["patterns", "late_rows", "window_join", "panes", "python_functions", "metadata"]
"""Goldens that have all kinds of parts among them."""

Place = tuple[str | int, ...]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_what_is_read_is_written_again(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Plan.from_json(json.loads(text)).to_text() == text


@pytest.mark.slow
def test_what_is_written_is_read_again() -> None:
    assert len(SPECS) > 50
    for path in SPECS:
        result = compiled(path, path.name)
        if result.plan is not None:
            assert Plan.from_json(json.loads(result.plan.to_text())) == result.plan, path


def test_a_plan_of_an_earlier_version_is_read() -> None:
    document = _golden("join_inner")
    del document["settings"]["max_epochs_in_flight"]
    for join in document["operators"].values():
        del join["also"]
        for side in join["sides"]:
            del side["input"]
    assert Plan.from_json(document).to_json() == document


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_found_where_it_is(name: str) -> None:
    document = _golden(name)
    for place in list(_places(document)):
        for damaged in _damaged(document, place):
            with pytest.raises(Malformed) as caught:
                Plan.from_json(damaged)
            assert _is_above(caught.value.path, place), (caught.value, place)


def test_another_format_is_refused() -> None:
    for found in (0, 2, "1", True, 1.0, None):
        with pytest.raises(Malformed, match=r"its `format` is .*, and 1 is read"):
            Plan.from_json(_golden("filter") | {"format": found})


def test_the_message_names_the_field() -> None:
    document = _golden("filter")
    document["queries"]["out"] = {"relation": "x"}
    with pytest.raises(Malformed, match=r"its `queries.out.output_mode` is missing"):
        Plan.from_json(document)
    with pytest.raises(Malformed, match="it is not an object"):
        Plan.from_json([])


def _golden(name: str) -> Any:
    return json.loads((TESTS / "golden" / name / "plan.json").read_text(encoding="utf-8"))


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the places of all values but the document's own."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value[:2])
    for key, one in pairs:
        yield (*place, key)
        yield from _places(one, (*place, key))


def _damaged(document: Any, place: Place) -> Iterator[Any]:
    """Yield the document with a value of no allowed type at a place, and with a field too many."""
    holder = document
    for part in place[:-1]:
        holder = holder[part]
    held = holder[place[-1]]
    others: list[Any] = [1.5, [[None]]]
    if isinstance(held, dict) and place[-1] not in _MAPPINGS:
        others.append({**held, "no_such_field": "x"})
    for other in others:
        holder[place[-1]] = other
        yield document
    holder[place[-1]] = held


_MAPPINGS = {
    *("functions", "sources", "tables", "operators", "queries", "sinks", "options", "columns"),
    *("variables", "spark", "profiles", "keys", "aggregates", "time", "waiting"),
}
"""What has names of the spec for its keys, where it is an object."""


def _is_above(path: Place, place: Place) -> bool:
    """Return whether a path leads to a place, or to what is below it or just above."""
    shorter = min(len(path), len(place))
    return path[:shorter] == place[:shorter] and len(path) >= len(place)
