"""The start of a run from a savepoint: first of all, a generation of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....contracts.plan import Plan
from ...dataflow.job import Job
from ...plan.settings import RunSettings
from ...state.state import State, disk_of
from ..format.model import find_savepoint
from ..migrate.state_mapping import fitted
from .restore import restore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begin_with_savepoint(
    named: str,
    spark: SparkSession,
    kernel: Any,
    state: State,
    plan: Plan,
    build: Callable[[Job], None],
    settings: RunSettings,
    folders: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    """Restores the savepoint `named`: one of the state by its name, or a folder.

    Raises RuntimeFault when it cannot be used.
    """
    disk, root = disk_of(state)
    fit = fitted(*find_savepoint(disk, root, named), plan, settings.migration)
    restore(spark, kernel, state, plan, build, settings, fit, folders, tell)
