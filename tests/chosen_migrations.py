"""Which cases of migrations `make test` restores: enough to cover all that the runtime does.

The verdicts of all cases are compared without Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

Kind = tuple[str, ...]

ALWAYS = frozenset(
    "other_rows_of_an_open_window count_window_of_another_aggregate drop_key_of_sets "
    "frame_of_another_name".split()
)
"""Cases whose verdicts are like those of others, but whose rows can be wrong for their own reasons.

Rows below an open window; an aggregate by the name of another; sets that become one; odd names.
"""


def covering(cases: Sequence[Path]) -> frozenset[Path]:
    """The cases that together do all that there is to do, chosen greedily in order."""
    kinds = {case: {*_done(case)} for case in cases}
    missing = set().union(*kinds.values())
    chosen = {case for case in cases if case.name in ALWAYS}
    missing -= set().union(*(kinds[case] for case in chosen))
    while missing:
        best = max(cases, key=lambda case: len(kinds[case] & missing))
        chosen.add(best)
        missing -= kinds[best]
    return frozenset(chosen)


def _done(case: Path) -> Iterator[Kind]:
    """What the runtime does with an operator of a kind, without names and expressions."""
    document = case / "migration.json"
    if document.exists():
        told = json.loads(document.read_text(encoding="utf-8"))
        for operator in told["operators"].values():
            yield from ((operator["kind"], *path) for path in _paths(operator))


def _paths(value: Any) -> Iterable[Kind]:
    match value:
        case dict():
            return [(name, *path) for name, one in value.items() for path in _paths(one)]
        case list():
            return [path for one in value for path in _paths(one)] or [("none",)]
        case bool() | None:
            return [(str(value),)]
    return [()]
