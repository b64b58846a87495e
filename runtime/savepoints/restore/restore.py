"""A new generation of a state that starts from a savepoint.

It is built under a hidden name. The queries run for one batch without input, which creates their
stores; Python programs take their state in it. Then the state of all other operators is written
into their stores, the logs of that batch get the positions of sources and watermarks, and one
rename makes it the current generation. Until then the previous one is current, so an interruption
at any point leaves a state that starts as if nothing had been tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ....contracts.json_records import instant_text
from ....contracts.notes.epoch import EpochNote
from ....contracts.notes.generation import CountedGeneration, Generation, Origin
from ....contracts.notes.meaning import meaning_of
from ....contracts.plan import Plan, Query
from ....contracts.savepoint import Savepoint
from ...base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from ...dataflow.job import Job
from ...plan.settings import RunSettings
from ...state.rollback import next_generation
from ...state.state import State, disk_of, generation_note
from ...state_tables.meaning import check_meaning
from ...storage.disk import Disk
from ...storage.notes import create_note, seal
from ..format.model import unusable
from ..migrate.failing import check_conversions
from ..migrate.incompleteness import marks_after
from ..migrate.state_mapping import Fit
from .generation_draft import Draft, gated, run_to
from .state_bootstrap import begin_query, initial_state

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def restore(
    spark: SparkSession,
    kernel: Any,
    state: State,
    plan: Plan,
    build: Callable[[Job], None],
    settings: RunSettings,
    fit: Fit,
    folders: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    """Creates a generation that starts from a savepoint, and makes it the current one.

    Raises RuntimeFault when the savepoint is damaged or the state does not fit the plan; the state
    is then unchanged.
    """
    disk, root = disk_of(state)
    check_files(disk, fit.savepoint, fit.folder)
    check_lineage(state, fit.savepoint)
    check_conversions(kernel, spark, fit)
    number = next_generation(disk, root)
    made = f"{root}/generations/.{number}.tmp"
    disk.delete([made])
    draft = Draft(state.storage, state.storage.qualified(made), state.shown)
    try:
        link_sources(disk, fit, made)
        _link_notes(disk, state, root, plan, made)
        epoch = _epoch(fit)
        disk.create(f"{made}/epochs/{fit.savepoint.epoch:09d}.json", seal(epoch.to_json()))
        job = _first_batch(spark, kernel, draft, plan, build, settings, fit, folders)
        for query in plan.queries.values():
            checkpoint = f"{made}/queries/{query.id}"
            begin_query(spark, kernel, disk, checkpoint, query, job, fit, epoch, tell)
        note = _note(state, number, plan, fit)
        create_note(disk, f"{made}/generation.json", note.to_json())
        disk.rename(made, f"{root}/generations/{number}")
    except BaseException:
        disk.delete([made])
        raise
    state.refresh()
    tell(f"restored from savepoint {fit.savepoint.name} as generation {number}")


def check_files(disk: Disk, savepoint: Savepoint, folder: str) -> None:
    """Raises RuntimeFault unless all files of a savepoint match its manifest."""
    files = savepoint.files()
    found = disk.sums(f"{folder}/{path}" for path in files)
    for path, held in files.items():
        there = found.get(f"{folder}/{path}")
        if there is None or (there.bytes, there.crc32) != held:
            what = "is missing" if there is None else "is not as it was written"
            raise RuntimeFault(
                SAVEPOINT_UNUSABLE,
                f"{folder.removeprefix('file:')}/{path} {what}",
                "use another savepoint; `streamc savepoint seal` accepts files that you changed",
            )


def check_lengths(savepoint: Savepoint, folder: str) -> None:
    """Raises RuntimeFault unless all files of a savepoint on this disk have the right lengths."""
    for path, (length, _) in savepoint.files().items():
        try:
            found = os.stat(f"{folder}/{path}").st_size
        except OSError as error:
            raise unusable(f"{folder}/{path}: {error.strerror}") from None
        if found != length:
            raise unusable(f"{folder}/{path} has {found} bytes, and was written with {length}")


def check_lineage(state: State, savepoint: Savepoint) -> None:
    """Raises RuntimeFault when output that belongs to a savepoint has been rolled back since."""
    if savepoint.state_id != state.id:
        return
    lines = {one.generation: one.batches for one in state.note.lineage}
    for one in savepoint.lineage:
        if one.generation == state.generation:
            continue
        held = lines.get(one.generation, {})
        if any(held.get(query, -1) < last for query, last in one.batches.items()):
            raise RuntimeFault(
                SAVEPOINT_UNUSABLE,
                f"savepoint {savepoint.name} is of barrier {savepoint.barrier} of generation "
                f"{savepoint.generation}, and the output has been taken back to before it",
                "restore it with another `--state` and other outputs",
            )


def link_sources(disk: Disk, fit: Fit, made: str) -> list[str]:
    """Links the logs of sources that keep their own, and returns the new paths."""
    found = []
    for source, origin in fit.sources.items():
        prefix = f"sources/{origin}/"
        for path in fit.savepoint.logs:
            if path.startswith(prefix):
                found.append(f"sources/{source}/{path.removeprefix(prefix)}")
                disk.link(f"{fit.folder}/{path}", f"{made}/{found[-1]}")
    return found


def _link_notes(disk: Disk, state: State, root: str, plan: Plan, made: str) -> None:
    """Where the sinks write, from the previous generation."""
    folder = f"{root}/generations/{state.generation}/sinks"
    for name in disk.list(folder):
        if name.removesuffix(".json") in plan.sinks:
            disk.link(f"{folder}/{name}", f"{made}/sinks/{name}")


def _epoch(fit: Fit) -> EpochNote:
    """The epoch of the savepoint, with the positions of the new plan's sources."""
    savepoint = fit.savepoint
    return EpochNote(savepoint.epoch, fit.cuts, opened_at=instant_text(savepoint.made_at))


def _first_batch(
    spark: SparkSession,
    kernel: Any,
    draft: Draft,
    plan: Plan,
    build: Callable[[Job], None],
    settings: RunSettings,
    fit: Fit,
    folders: Sequence[str],
) -> Job:
    """One batch of every query, without input, which creates the stores."""
    initial = partial(initial_state, spark, fit)
    job = Job(plan, spark, draft.storage, settings.variables, folders, initial)
    build(job)
    queries = tuple(plan.queries.values())
    for query in queries:
        check_meaning(draft, query.id, meaning_of(plan, query))
    with gated(spark, kernel, draft, plan, settings, job, queries) as frames:
        for query, frame in frames:
            run_to(draft, query, frame, 0, partial(_take, query))
    return job


def _take(query: Query, batch: DataFrame, batch_id: int) -> None:
    # Only what is read is computed, including the state.
    given = batch.count()
    if given:
        raise AssertionError(f"{query.id} has given {given} rows of no input")


def _note(state: State, number: str, plan: Plan, fit: Fit) -> Generation:
    savepoint = fit.savepoint
    origin = Origin(
        generation=savepoint.generation,
        barrier=savepoint.barrier,
        epoch=savepoint.epoch,
        same_to=savepoint.epoch,
        savepoint=savepoint.name,
    )
    lineage = tuple(_lineage(plan, fit)) if savepoint.state_id == state.id else ()
    return generation_note(number, origin, lineage, marks_after(fit))


def _lineage(plan: Plan, fit: Fit) -> Iterator[CountedGeneration]:
    """The generations whose output counts: batches by the queries that now feed the same sinks."""
    for one in fit.savepoint.lineage:
        batches = {}
        for query in plan.queries.values():
            counted = fit.counted_as(query)
            if counted is not None and counted in one.batches:
                batches[query.id] = one.batches[counted]
        yield CountedGeneration(one.generation, batches, apart=True)
