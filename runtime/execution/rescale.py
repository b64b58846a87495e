"""`streamc rescale`: a state in another number of partitions, by a savepoint and its restore.

The state is held from before the savepoint until the restored generation is the current one. A
savepoint that a killed rescaling has left is used by the next one. The generation before stays
until the new one has completed a barrier.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...contracts.notes.barrier import Manifest, OperatorState
from ...contracts.notes.rescaling import RescalingNote
from ...contracts.notes.run_plan import RunPlan
from ...contracts.plan import Plan
from ...contracts.plan.operators import Aggregation
from ...contracts.reserved import SHUFFLE_PARTITIONS
from ..base.errors import (
    FOREIGN_STATE,
    NO_SUCH_BARRIER,
    NOT_RESCALED,
    STATE_DAMAGED,
    STATE_IN_USE,
    RuntimeFault,
)
from ..connectors.registry import packages_of
from ..dataflow.script import load_build
from ..plan.arguments import Arguments
from ..plan.plan import load_plan, load_spec, plan_path
from ..plan.settings import AS_FAST_AS_POSSIBLE, RunSettings, resolve_settings
from ..savepoints.format.model import find_savepoint, savepoint_names
from ..savepoints.migrate.state_mapping import plan_differences
from ..savepoints.restore.begin import begin_with_savepoint
from ..savepoints.restore.restore import check_files
from ..savepoints.take.create import create_savepoint
from ..spark.failures import spark_errors, spark_refuses
from ..spark.session import spark_of
from ..state.home import check_decided
from ..state.lease import running
from ..state.partitions import recorded_partitions
from ..state.recovery_check import Examination
from ..state.state import State, current_generation
from ..storage.disk import LocalDisk
from ..storage.file_system import Storage
from ..storage.local_files import local_state
from ..storage.notes import read_note_as, write_note
from .rollback_command import undone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tell = Callable[[str], None]

MOST = 100_000
"""Each partition is a task and a store in every batch."""
_FILE = "rescaling.json"


@dataclass(frozen=True, slots=True)
class Part:
    """The state of an operator in a query; `stays` is why it can't be divided, None if it can."""

    query: str
    state: OperatorState
    stays: str | None


@dataclass(frozen=True, slots=True)
class Rescaling:
    """A possible rescaling; `last` is what the previous one cost, if that is on record.

    `again` counts the epochs after the barrier, which run again; `wish` is what the spec asks for.
    """

    script: Path
    plan: Plan
    settings: RunSettings
    shown: str
    folder: str
    barrier: Manifest
    before: int
    after: int
    parts: tuple[Part, ...]
    again: int
    wish: str | None
    last: RescalingNote | None

    @property
    def rows(self) -> int:
        """The rows of state that are rewritten, as of the barrier."""
        return sum(part.state.rows for part in self.parts if part.stays is None)

    @property
    def bytes(self) -> int:
        """The bytes of state that are rewritten, as of the barrier."""
        return sum(part.state.bytes for part in self.parts if part.stays is None)

    @property
    def seconds(self) -> float | None:
        """How long it takes if each byte takes as long as the last time; None if not known."""
        if self.last is None or self.last.bytes <= 0:
            return None
        return self.bytes * self.last.seconds / self.last.bytes


@dataclass(frozen=True, slots=True)
class Rescaled:
    """The generation that the state continues in, and the savepoint that it begins with."""

    generation: str
    savepoint: str


def possible_rescaling(script: Path, arguments: Arguments, partitions: int) -> Rescaling:
    """What a rescaling would do, from notes and the newest barrier; nothing is changed.

    Raises RuntimeFault when it is not possible.
    """
    if not 0 < partitions <= MOST:
        raise RuntimeFault(
            NOT_RESCALED,
            f"{partitions} is not a number of partitions",
            f"pass a number from 1 to {MOST}; as many as the job has cores is a good one",
        )
    plan = load_plan(plan_path(script))
    settings = resolve_settings(plan, arguments, os.environ)
    disk, shown = LocalDisk(), settings.state
    files, folder, identity = local_state(shown)
    if identity.pipeline != plan.pipeline:
        raise RuntimeFault(
            FOREIGN_STATE,
            f"{shown} is the state of pipeline `{identity.pipeline}`, not of `{plan.pipeline}`",
            "pass another folder with `--state`",
        )
    holder = running(files, folder, time.time())
    if holder is not None:
        raise RuntimeFault(
            STATE_IN_USE,
            f"{holder.shown} runs on the state {shown}, which can't be rescaled meanwhile",
            f"stop it with its last barrier, `streamc stop --state {shown}`, rescale, start it",
        )
    check_decided(disk, folder, shown, local=True, decision=arguments.copied)
    note = current_generation(disk, folder)
    place = f"{folder}/generations/{'' if note is None else note.number}"
    before = None if note is None else recorded_partitions(disk, place)
    examined = Examination(disk, place)
    barrier = examined.newest
    if before is not None:
        _check_other(plan, shown, before, partitions)
    if before is None or barrier is None:
        raise _no_barrier(shown, partitions, begun=before is not None)
    _check_plan(disk, place, plan, shown)
    parts = tuple(_parts(plan, barrier, before))
    again = max(examined.epochs.last - barrier.epoch, 0)
    _check_divisible(plan, parts)
    _check_sinks(barrier, again, shown)
    last = None
    with suppress(RuntimeFault):
        last = read_note_as(disk, f"{place}/{_FILE}", RescalingNote.from_json)
    return Rescaling(
        script=script,
        plan=plan,
        settings=settings,
        shown=shown,
        folder=folder,
        barrier=barrier,
        before=before,
        after=partitions,
        parts=parts,
        again=again,
        wish=settings.spark.get(SHUFFLE_PARTITIONS),
        last=last,
    )


def rescale(
    asked: Rescaling,
    *,
    copied: str | None = None,
    folders: Sequence[str] = (),
    tell: Tell = lambda line: None,
    spark: SparkSession | None = None,
) -> Rescaled:
    """Writes the state of the newest barrier anew, in the partitions asked for.

    `copied` says what a copied state is to become, see `home`. Raises RuntimeFault when it is not
    possible; the state is then as it was, but for a savepoint that may be in it.
    """
    begun, plan = time.monotonic(), asked.plan
    own = {**asked.settings.spark, SHUFFLE_PARTITIONS: str(asked.after)}
    settings = replace(asked.settings, trigger=AS_FAST_AS_POSSIBLE, spark=own)
    modules = (*folders, str(asked.script.resolve().parent), os.getcwd())
    try:
        with spark_of(plan, packages_of(plan), settings, tell, spark) as (session, kernel):
            storage = Storage(kernel, session)
            held = State(storage, settings.state, plan.pipeline, decision=copied, tell=tell)
            with closing(held) as state:
                named = _savepoint(storage, state, asked, tell)
                build = load_build(asked.script)
                begin_with_savepoint(
                    *(named, session, kernel, state, plan, build, settings, modules, tell)
                )
                took = round(time.monotonic() - begun, 3)
                place, spec = state.generation_folder, load_spec(asked.script)
                write_note(storage, state.plan_file, RunPlan(plan, spec).to_json())
                cost = RescalingNote(asked.before, asked.after, asked.bytes, took)
                write_note(storage, f"{place}/{_FILE}", cost.to_json())
                return Rescaled(state.generation, named)
    except spark_errors() as error:
        raise spark_refuses("the rescaling", error, settings.state) from None


def _no_barrier(shown: str, partitions: int, *, begun: bool) -> RuntimeFault:
    if not begun:
        return RuntimeFault(
            NOT_RESCALED,
            f"the state {shown} has no partitions yet: no batch has run on it",
            f"set `{SHUFFLE_PARTITIONS}` to {partitions} in the spec, and start the job",
        )
    return RuntimeFault(
        NO_SUCH_BARRIER,
        f"the state {shown} has no barrier to rescale from in its current generation",
        "run the job until its first barrier, or stop it with one: `streamc stop`",
    )


def _check_plan(disk: LocalDisk, place: str, plan: Plan, shown: str) -> None:
    """Raises RuntimeFault when the state is that of another version of the spec."""
    ran = read_note_as(disk, f"{place}/plan.json", RunPlan.from_json)
    lines = [] if ran is None else list(plan_differences(ran.plan, plan))
    if lines:
        told = "".join(f"\n     {line}" for line in lines)
        raise RuntimeFault(
            NOT_RESCALED,
            f"the state {shown} is of another version of the spec{told}",
            "rescale with the spec that it ran with, or do both at once: `streamc savepoint "
            f"create`, then `streamc run --from-savepoint` with `{SHUFFLE_PARTITIONS}` set",
        )


def _parts(plan: Plan, barrier: Manifest, before: int) -> Iterator[Part]:
    for query, cut in barrier.queries.items():
        for state in cut.operators:
            stays = None
            operator = plan.operators.get(state.id)
            if isinstance(operator, Aggregation) and not operator.keys and not operator.window:
                stays = "it has no key, so that all its rows are in one group"
            elif state.partitions not in (0, before):
                stays = f"Spark keeps it in {state.partitions} whatever the setting says"
            yield Part(query, state, stays)


def _check_other(plan: Plan, shown: str, before: int, partitions: int) -> None:
    """Raises RuntimeFault when there is no state, or in as many partitions already."""
    if not plan.operators:
        raise RuntimeFault(
            NOT_RESCALED,
            f"`{plan.pipeline}` keeps no state: its tasks are as many as the partitions of its "
            "sources",
            "divide the sources: more partitions of a topic, more and smaller files",
        )
    if before == partitions:
        raise RuntimeFault(
            NOT_RESCALED,
            f"the state {shown} is in {before} partition{'' if before == 1 else 's'} already",
            "pass another number with `--partitions`",
        )


def _check_divisible(plan: Plan, parts: Sequence[Part]) -> None:
    """Raises RuntimeFault when no operator would be in other partitions."""
    if parts and all(part.stays is not None for part in parts):
        told = "".join(f"\n     {part.state.id}: {part.stays}" for part in parts)
        raise RuntimeFault(
            NOT_RESCALED,
            f"no operator of `{plan.pipeline}` can be in other partitions{told}",
            "aggregate by a key first, and then what that gives",
        )


def _check_sinks(barrier: Manifest, again: int, shown: str) -> None:
    """Raises RuntimeFault when epochs after the barrier reach a sink that can't take them back."""
    staying = [one for one in undone(barrier, (), again) if one.stays]
    if staying:
        names = ", ".join(f"`{one.sink}`" for one in staying)
        raise RuntimeFault(
            NOT_RESCALED,
            f"{again} epoch{'' if again == 1 else 's'} after barrier {barrier.barrier} would run "
            f"again, in other batches, and {names} can't take back what it has received",
            f"start the job, and end it with a barrier: `streamc stop --state {shown}`",
        )


def _savepoint(storage: Storage, state: State, asked: Rescaling, tell: Tell) -> str:
    """The name of a savepoint of the barrier: what a killed rescaling has left, or a new one."""
    disk, number = LocalDisk(), asked.barrier.barrier
    stem, taken = f"before-rescale-{number}", savepoint_names(disk, asked.folder)
    for name in (one for one in taken if one == stem or one.startswith(f"{stem}-")):
        with suppress(RuntimeFault):
            found, place = find_savepoint(disk, asked.folder, name)
            cut = (found.state_id, found.barrier, found.generation)
            if cut == (state.id, number, asked.barrier.generation):
                check_files(disk, found, place)
                tell(f"savepoint {name} is of barrier {number}, and whole: it is used")
                return name
    names = set(disk.list(f"{asked.folder}/savepoints"))
    new = next(n for i in range(10**6) if (n := f"{stem}-{i}" if i else stem) not in names)
    try:
        return create_savepoint(storage, disk, asked.folder, name=new, tell=tell).name
    except RuntimeFault as fault:
        if fault.code is not STATE_DAMAGED:
            raise
        help = "start the job, which falls back to an intact barrier, stop it, then rescale"
        raise RuntimeFault(fault.code, fault.message, help) from None
