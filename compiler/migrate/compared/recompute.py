"""Parts of programs that are recomputed from retained rows."""

from __future__ import annotations

from ....contracts.plan import Operator, clock_of
from ..findings.verdicts import Finding, Verdict
from .versions import Versions

COMPUTED = "computed from retained rows"


def against_the_clock(operator: Operator) -> str | None:
    """Return why the state of an operator can't be recomputed; None if it can."""
    clock = clock_of(operator)
    if clock is None:
        return None
    return f"{clock} depends on the clock, which rereading past rows does not turn back"


def computed(versions: Versions, id_: str, part: str, name: str, old: str | None) -> Finding | None:
    """Return the finding on a part with `backfill` in the file; None for others."""
    path = ("operators", id_, "accept", name)
    if versions.decisions.values.get(path) != "backfill":
        return None
    versions.decisions.get(*path)
    why = against_the_clock(versions.new.operators[id_])
    if why is not None:
        return Finding(part, old, name, Verdict.IMPOSSIBLE, why, "leave it out of `accept`")
    return Finding(part, old, name, Verdict.BACKFILL, COMPUTED)
