"""The actions of the grammar's rules: each builds the node of its rule.

An action has the name of its rule (or of the alternative's alias) and is called with the span of
the text and what the rule keeps; ``lalr`` says what that is. ``statements``, ``queries``,
``programs``, ``expressions``, ``literals`` and ``types`` are the parts of the grammar.
"""

from __future__ import annotations

from types import ModuleType

from ..syntax.lalr import Action
from . import expressions, literals, programs, queries, statements, types


def actions() -> dict[str, Action]:
    """Return all actions by the name of their rule."""
    found: dict[str, Action] = {}
    for module in (statements, queries, programs, expressions, literals, types):
        found.update(_public_functions(module))
    return found


def _public_functions(module: ModuleType) -> dict[str, Action]:
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and not name.startswith("_")
        and not isinstance(value, type)
    }
