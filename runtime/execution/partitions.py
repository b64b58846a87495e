"""The partitions of a state: decided at its first start, and kept at every other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...contracts.plan import Plan
from ...contracts.reserved import SHUFFLE_PARTITIONS
from ..plan.settings import RunSettings
from ..state.partitions import recorded_partitions
from ..state.state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def settle_partitions(
    session: SparkSession,
    state: State,
    plan: Plan,
    settings: RunSettings,
    tell: Callable[[str], None],
) -> None:
    """Gives the session the number of the state, so that new queries get it, too.

    It is what was asked for, by the spec or where Spark was started, if the state begins now, with
    or without a savepoint; without such a wish, a savepoint keeps the number of its state. A wish
    that comes too late is reported.
    """
    recorded = recorded_partitions(state.storage, state.generation_folder)
    context = session.sparkContext
    asked = settings.spark.get(SHUFFLE_PARTITIONS) or context.getConf().get(SHUFFLE_PARTITIONS)
    if recorded is None or (settings.savepoint is not None and asked is not None):
        if plan.operators and not str(context.master).startswith("local"):
            tell(
                first_start(int(session.conf.get(SHUFFLE_PARTITIONS) or 0), asked=asked is not None)
            )
        return
    session.conf.set(SHUFFLE_PARTITIONS, str(recorded))
    wish = settings.spark.get(SHUFFLE_PARTITIONS)
    if plan.operators and wish is not None and wish != str(recorded):
        tell(too_late(recorded, wish, state.shown))


def first_start(number: int, *, asked: bool) -> str:
    """The line for a number that is decided now."""
    why = f"as `{SHUFFLE_PARTITIONS}` says" if asked else "as many as the job has cores"
    return f"the state begins in {number} partitions, {why}"


def too_late(recorded: int, wish: str, state: str) -> str:
    """The line for a wish that the state does not follow."""
    return (
        f"the state {state} stays in {recorded} partitions: `{SHUFFLE_PARTITIONS}` is {wish}, "
        "which takes effect with `--from-savepoint`"
    )
