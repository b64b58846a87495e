"""Faults for the planner: each removes a rule by which state is kept without a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from streamc.compiler.migrate.columns import keys
from streamc.compiler.migrate.compared.versions import Versions
from streamc.compiler.migrate.findings.verdicts import Finding, Verdict
from streamc.compiler.migrate.inputs import reading, upstream
from streamc.compiler.migrate.inputs import rows as inputs
from streamc.compiler.migrate.operators import cells, programs

Fault = Callable[[pytest.MonkeyPatch], None]


def _nothing(module: Any, name: str) -> Fault:
    """A function that finds nothing."""
    return lambda patch: patch.setattr(module, name, lambda *given, **named: ())


def _always(module: Any, name: str, value: Any) -> Fault:
    return lambda patch: patch.setattr(module, name, lambda *given, **named: value)


def _not_compared(kind: str, part: str) -> Fault:
    """A part of an operator below another one is assumed to change no row."""
    return lambda patch: patch.setitem(
        upstream.NO_ROWS,
        kind,
        upstream.NO_ROWS[kind] | {part},
    )


def _policies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(upstream, "_OF_THE_SOURCE", upstream._OF_THE_SOURCE | {"future_rows"})


def _by_alias(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(programs, "is_another", lambda *given: False)
    patch.setattr(programs, "same_statements", lambda *given: True)


def _keys_by_name(patch: pytest.MonkeyPatch) -> None:
    def same(id_: str, key: keys.Key, old: keys.Key, *others: Any) -> Finding:
        return Finding("key", old.name, key.name, Verdict.KEPT)

    patch.setattr(keys, "_same", same)


FAULTS: Mapping[str, Fault] = {
    "what is below is not compared": _nothing(inputs, "changes_below"),
    "conditions are not compared": _nothing(inputs, "_differences"),
    "aggregates are known by name": lambda patch: patch.setattr(
        cells, "meaning", lambda given, name: (name,)
    ),
    "cells of queries are known by name": _by_alias,
    "what a query asks is not compared": _nothing(programs, "_handlers"),
    "keys are known by name": _keys_by_name,
    "another function is no matter": _always(Versions, "changed_functions", ()),
    "another policy is no matter": _policies,
    "another type is no matter": _nothing(reading, "_columns"),
    "other malformed rows are no matter": _always(reading, "_takes_more", False),
    "the kind of a join below is not compared": _not_compared("join", "join"),
    "no value is NULL": _always(cells, "never_null", True),
}
