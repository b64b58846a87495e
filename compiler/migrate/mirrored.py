"""Joins whose sides have changed places: `FROM b JOIN a` is the join that `FROM a JOIN b` was."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from ...dsl.format import sql
from ...dsl.parse import parse_expression
from ...dsl.source import SourceFile
from ..model.same import canonical
from .verdicts import Json
from .versions import inputs_of, origin

_OTHER = {"left": "right", "right": "left"}
_SIDE = re.compile(r"(?<![\w.`])(left|right)(?=\.)")


def turned(
    old: Json, new: Json, pairs: Mapping[str, str | None], renamed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the old joins whose left rows are the right ones of the new join, and the reverse."""
    return tuple(
        was
        for now, was in pairs.items()
        if was is not None
        and old["operators"][was]["kind"] == new["operators"][now]["kind"] == "join"
        and _is_turned(old["operators"][was], new["operators"][now], renamed)
    )


def _is_turned(old: Json, new: Json, renamed: Mapping[str, str]) -> bool:
    before = [{origin(branch, renamed) for branch in side["input"]} for side in old["sides"]]
    after = [{branch["from"] for branch in side["input"]} for side in new["sides"]]
    return before != after and before == after[::-1]


def mirrored(plan: Json, id_: str) -> Json:
    """Return a plan in which the sides of a join are the other way round, and all above it."""
    found: Any = copy.deepcopy(plan)
    entry = found["operators"][id_]
    entry["sides"].reverse()
    entry["join"] = _OTHER.get(entry["join"], entry["join"])
    if entry["bound"] is not None:
        lower, upper = entry["bound"]["lower_micros"], entry["bound"]["upper_micros"]
        entry["bound"] = {"lower_micros": _negative(upper), "upper_micros": _negative(lower)}
    entry["also"] = sorted(map(_turned, entry["also"]))
    for query in found["queries"].values():
        for use in query["operators"]:
            if use["id"] == id_:
                use["columns"].reverse()
    for other in found["operators"].values():
        for branch in inputs_of(other):
            if branch["from"] == id_:
                _turn(branch)
    return found  # type: ignore[no-any-return]


def _negative(bound: int | None) -> int | None:
    return None if bound is None else -bound


def _turn(branch: Any) -> None:
    branch["where"] = sorted(map(_turned, branch["where"]))
    for part, named in branch.items():
        if isinstance(named, dict):
            branch[part] = {name: _turned(text) for name, text in named.items()}


def _turned(text: str) -> str:
    """Return an expression over the rows of a join in terms of the other sides."""
    turned_text = _SIDE.sub(lambda found: _OTHER[found[1]], text)
    tree, diagnostics = parse_expression(SourceFile("expression", turned_text))
    return turned_text if tree is None or len(diagnostics) else sql(canonical(tree))
