"""Savepoints from outside a run: a process of its own, with a Spark of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os.path import basename, dirname
from typing import TYPE_CHECKING

from ...contracts.savepoint import Savepoint
from ..base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from ..base.java_code import check_settings
from ..base.secrets import without_references
from ..kernel.build import kernel_jar
from ..kernel.load import load_kernel
from ..plan.retention import NO_BARRIERS
from ..plan.settings import AS_FAST_AS_POSSIBLE, RunSettings
from ..spark.failures import spark_errors, spark_refuses
from ..spark.session import run_session
from ..state.lease import running
from ..storage.disk import LocalDisk
from ..storage.file_system import Storage
from ..storage.local_files import local_state
from .format.model import FOLDER, find_savepoint, folders_of_savepoints, savepoint_folder
from .format.staging import hidden_folder, sweep
from .inspect.preview import Preview, preview
from .migrate.state_mapping import Fit
from .restore.restore import check_files, check_lengths
from .take.create import barrier_to_take, create_savepoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tell = Callable[[str], None]

_READING = {"spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false"}
"""Spark would look for each row of a log before it takes it in, to know how many there are."""


def take_savepoint(
    state: str,
    *,
    name: str | None = None,
    barrier: int | None = None,
    tell: Tell = lambda line: None,
    spark: SparkSession | None = None,
) -> Savepoint:
    """Creates a savepoint of a state folder on this machine's disk; see `create_savepoint`.

    A job may run on it. Raises RuntimeFault when it is not possible as requested, before Spark is
    started where possible.
    """
    _, folder, _ = local_state(state)
    found = barrier_to_take(LocalDisk(), folder, name, barrier)
    tell(f"barrier {found} is intact; starting Spark to read its state")
    with _spark(folder, tell, spark, _READING) as storage:
        storage.keep_private(folder)
        try:
            return create_savepoint(
                storage, LocalDisk(), folder, name=name, barrier=barrier, tell=tell
            )
        except spark_errors() as error:
            raise spark_refuses("the savepoint", error, state) from None


def job_runs(state: str) -> bool:
    """Whether a job holds a state folder on this machine's disk."""
    files, folder, _ = local_state(state)
    return running(files, folder, time.time()) is not None


@dataclass(frozen=True, slots=True)
class DamagedSavepoint:
    """The folder of an unusable savepoint, and the reason."""

    name: str
    reason: str


def savepoints_of(state: str) -> tuple[list[Savepoint], list[DamagedSavepoint]]:
    """The savepoints of a state folder, oldest first; and those that cannot be used, by name.

    Files are checked for existence and length.
    """
    files, folder, _ = local_state(state)
    found, damaged = [], []
    for name in folders_of_savepoints(files, folder):
        try:
            one, place = find_savepoint(files, folder, name)
            check_lengths(one, place)
            found.append(one)
        except RuntimeFault as fault:
            damaged.append(DamagedSavepoint(name, fault.message))
    return sorted(found, key=lambda one: (one.made_at, one.name)), damaged


def savepoint_of(state: str, name: str) -> tuple[Savepoint, str]:
    """A savepoint by its name, and its folder, with all files verified.

    Raises RuntimeFault when there is none or it is damaged.
    """
    found, place = noted_savepoint(state, name)
    check_files(LocalDisk(), found, place)
    return found, place


def noted_savepoint(state: str, name: str) -> tuple[Savepoint, str]:
    """A savepoint according to its manifest, without a check of its files, and its folder."""
    files, folder, _ = local_state(state)
    known = folders_of_savepoints(files, folder)
    if name not in known:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{state} has no savepoint `{name}`",
            f"there are: {', '.join(known) or 'none'}",
        )
    return find_savepoint(files, folder, name)


def newest_savepoint(state: str) -> tuple[Savepoint, str]:
    """The newest savepoint, and its folder.

    Raises RuntimeFault without any, and when another one can't be read: it may be newer.
    """
    found, damaged = savepoints_of(state)
    if damaged:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"which savepoint is the newest is not known: {damaged[0].reason}",
            f"name one with `--name`, or delete `{damaged[0].name}`",
        )
    if not found:
        raise RuntimeFault(
            SAVEPOINT_UNUSABLE,
            f"{state} has no savepoint",
            "take one: `streamc savepoint create --state DIR`",
        )
    return savepoint_of(state, found[-1].name)


def delete_savepoint(state: str, name: str) -> None:
    """Removes a savepoint, damaged or not: first its name, then its files."""
    files, folder, _ = local_state(state)
    if name not in folders_of_savepoints(files, folder):
        noted_savepoint(state, name)
    disk, hidden = LocalDisk(), hidden_folder(folder, name)
    sweep(disk, folder)
    disk.rename(savepoint_folder(folder, name), hidden)
    disk.delete([hidden])


def preview_savepoint(
    fit: Fit, *, tell: Tell = lambda line: None, spark: SparkSession | None = None
) -> Preview:
    """How a savepoint on this machine's disk would migrate, in numbers; nothing is changed.

    Raises RuntimeFault when it is damaged.
    """
    check_files(LocalDisk(), fit.savepoint, fit.folder)
    beside, own = dirname(fit.folder), without_references(fit.plan.settings.spark)
    place = dirname(beside) if basename(beside) == FOLDER else beside
    check_settings(own, fit.plan.settings.allow)
    with _spark(place, tell, spark, own) as storage:
        try:
            return preview(storage, fit)
        except spark_errors() as error:
            raise spark_refuses("the migration", error, place) from None


@contextmanager
def _spark(
    place: str, tell: Tell, given: SparkSession | None, own: Mapping[str, str] | None = None
) -> Iterator[Storage]:
    """A Spark with the settings of a pipeline and its log in a given place."""
    settings = RunSettings(place, AS_FAST_AS_POSSIBLE, "auto", {}, own or {})
    session, started, _ = run_session(settings, NO_BARRIERS, "streamc savepoint", given)
    try:
        yield Storage(load_kernel(session, kernel_jar(tell)), session)
    finally:
        if started:
            with suppress(*spark_errors()):
                session.stop()
