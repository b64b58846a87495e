"""A run that is to begin with a savepoint makes a generation of it, before anything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..disk import disk_of
from ..job import Job
from ..plan import Plan
from ..settings import RunSettings
from ..state import State
from .fit import fitted
from .model import FOLDER, load_savepoint
from .restore import restore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begin_with_savepoint(
    spark: SparkSession,
    kernel: Any,
    state: State,
    plan: Plan,
    build: Callable[[Job], None],
    settings: RunSettings,
    folders: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    """Restores the savepoint that the settings name, if they do.

    It is one of the state by its name, or a folder. Raises RuntimeFault when it cannot be used.
    """
    named = settings.savepoint
    if named is None:
        return
    disk, root = disk_of(state)
    folder = f"{root}/{FOLDER}/{named}" if "/" not in named else named.rstrip("/")
    fit = fitted(load_savepoint(disk, folder), folder, plan, settings.migration)
    restore(spark, kernel, state, plan, build, settings, fit, folders, tell)
