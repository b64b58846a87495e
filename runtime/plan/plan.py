"""The plan next to a script: the compiler's description of operators, state and queries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from ...contracts.plan import Aggregate, Column, Operator, Plan, Program, Query, aggregates_of
from ..base.errors import PLAN_MISSING, PLAN_UNREADABLE, RuntimeFault
from ..base.submitted import distributed_folders

Kind = TypeVar("Kind", bound=Operator, covariant=True)


@dataclass(frozen=True, slots=True)
class UseOf(Generic[Kind]):
    """An operator in a query, and its live parts there: aggregates, columns of a join."""

    operator: Kind
    aggregates: tuple[Aggregate, ...] = ()
    sides: tuple[tuple[Column, ...], ...] = ()


OperatorUse: TypeAlias = UseOf[Operator]
"""An operator of any kind in a query."""


def uses_of(plan: Plan, query: Query) -> tuple[OperatorUse, ...]:
    """The operators of a query from the sink up, in the order of Spark's numbers."""
    found = []
    for use in query.operators:
        operator = plan.operators[use.id]
        known = {one.id: one for one in aggregates_of(operator)}
        alive = tuple(known[id] for id in use.aggregates or ())
        found.append(UseOf(operator, alive, use.columns or ()))
    return tuple(found)


def has_programs(plan: Plan) -> bool:
    """Whether a plan has keyed programs, whose state Spark keeps in RocksDB only."""
    return any(isinstance(operator, Program) for operator in plan.operators.values())


def plan_path(script: Path) -> Path:
    """`build/card_fraud.plan.json` for `build/card_fraud.py`; see `_companion`."""
    return _companion(script, ".plan.json")


def load_plan(path: Path) -> Plan:
    """Reads a plan; raises RuntimeFault when it is missing, corrupt or of another format."""
    text = _text(path)
    if text is None:
        raise RuntimeFault(
            PLAN_MISSING,
            f"there is no {path}",
            "compile the spec again, and keep both files together; `--files` of spark-submit sends "
            "the plan to a driver elsewhere",
        )
    try:
        return Plan.from_json(json.loads(text))
    except json.JSONDecodeError as error:
        raise _unreadable(path, f"line {error.lineno} is not JSON") from None
    except ValueError as error:
        raise _unreadable(path, str(error)) from None


def load_spec(script: Path) -> str | None:
    """The text that a script was compiled from, None without it; see `_companion`.

    Raises RuntimeFault when it cannot be read.
    """
    return _text(_companion(script, ".spec"))


def _companion(script: Path, suffix: str) -> Path:
    """A file that belongs to a script: next to it, or where `--files` of `spark-submit` are.

    A driver on the cluster has the script in one folder and the files in another.
    """
    beside = script.with_suffix(suffix)
    if beside.is_file():
        return beside
    found = (folder / beside.name for folder in distributed_folders())
    return next((path for path in found if path.is_file()), beside)


def _text(path: Path) -> str | None:
    """The content of a file, None if there is none; raises RuntimeFault when it cannot be read."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from None


def _unreadable(path: Path, reason: str) -> RuntimeFault:
    return RuntimeFault(
        PLAN_UNREADABLE, f"{path} cannot be read: {reason}", "compile the spec again"
    )
