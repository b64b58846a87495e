"""Spark's functions: a catalogue of all names, rules for the common ones.

A function has a group and a number of arguments from the catalogue. One that has a signature (see
``signatures``) also has typed arguments and a result; one without has a result that is UNKNOWN.
"""

from __future__ import annotations

from functools import cache

from ...contracts.records import dataclass
from .aggregates import AggregateFunction, Cell, aggregate, aggregate_names
from .catalogue import names, shape
from .signatures import Signature, signature

__all__ = [
    "AggregateFunction",
    "Cell",
    "Function",
    "aggregate",
    "aggregate_names",
    "function",
    "function_names",
]


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function; ``group`` is ``scalar``, ``aggregate``, ``window`` or ``generator``.

    ``most`` is None for any number of arguments, ``signature`` None when no rule types it.
    """

    name: str
    group: str
    least: int
    most: int | None
    signature: Signature | None


@cache
def function(name: str) -> Function | None:
    """Return the built-in function of a name in any case, or None."""
    folded = name.lower()
    found = shape(folded)
    if found is None:
        return None
    rule = signature(folded)
    if rule is None:
        return Function(folded, found.group, found.least, found.most, None)
    # Spark accepts more arguments than some functions use; the signature has the meaningful ones.
    most = found.most if rule.most is None else rule.most
    return Function(folded, found.group, max(found.least, rule.least), most, rule)


def function_names() -> tuple[str, ...]:
    """Return the names of all built-in functions, in order."""
    return names()
