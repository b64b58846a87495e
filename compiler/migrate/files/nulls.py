"""Conversions in a file that give NULL where they fail, if the file accepts that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....dsl.ast.expressions import Call, Cast
from ....dsl.ast.walk import walk
from ..findings.decisions import Decisions
from ..findings.verdicts import Outcome
from .expressions import parsed

NULLS = "nulls"
"""The word with which the file accepts NULL for values that can't be converted."""


def with_nulls(decisions: Decisions, outcome: Outcome) -> Outcome:
    """Return an outcome whose change names the parts that may become NULL, if there are any."""
    if outcome.change is None or outcome.new is None:
        return outcome
    names = tuple(_accepted(decisions, outcome.new))
    return replace(outcome, change=replace(outcome.change, nulls=names))


def _accepted(decisions: Decisions, id_: str) -> Iterator[str]:
    for name, word in decisions.below("operators", id_, "accept").items():
        if word == NULLS and any(map(_tries, _expressions(decisions, id_, name))):
            decisions.get("operators", id_, "accept", name)
            yield name


def _expressions(decisions: Decisions, id_: str, name: str) -> Iterator[str]:
    """Yield the expressions that compute a part; entries have one for each of theirs."""
    for part in ("set", "key", "timers"):
        own = decisions.below("operators", id_, part).get(name)
        yield from [] if own is None else [own]
        yield from decisions.below("operators", id_, part, name).values()


def _tries(text: str) -> bool:
    """Whether an expression gives NULL for values that it can't convert."""
    return any(
        (isinstance(node, Cast) and node.is_try)
        or (isinstance(node, Call) and node.name.text.lower().startswith("try_"))
        for node in walk(parsed(text))
    )
