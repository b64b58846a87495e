"""Fixtures that several test files share: one Spark for all of them, and files of expectations."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from golden_extension import extension_for
from quick_jvm import options
from syrupy.assertion import SnapshotAssertion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)

# The time of an example depends more on the machine than on the code: none has a deadline.
for profile, examples in (("few examples", 25), ("many examples", 300)):
    hypothesis.settings.register_profile(profile, deadline=None, max_examples=examples)
hypothesis.settings.load_profile("few examples")


_MEMORY, _ROOM = Path("/dev/shm"), 4 << 30


def pytest_configure() -> None:
    """Keep what tests write in memory if there is room, and let Ctrl-C reach what they start.

    In every batch a job waits for its notes to be synced to disk, and RocksDB for its files.
    """
    # What a shell runs in the background starts with Ctrl-C ignored, and so would its children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


def pytest_collection_finish() -> None:
    """Leave what is imported and collected out of the search for garbage: it stays to the end."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a server as starting Spark too: it runs jobs against the server."""
    for item in items:
        if any(map(item.get_closest_marker, ("kafka", "postgres", "cluster"))):
            item.add_marker("spark")


@pytest.fixture(scope="session", autouse=True)
def quick_jvms(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """How JVMs start in which tests run Spark, here or in a process."""
    marks = ("spark", "slow")
    if not any(item.get_closest_marker(mark) for item in request.session.items for mark in marks):
        yield
        return
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPARK_SUBMIT_OPTS", options(request.config.cache.mkdir("jvm")))
        patched.setenv("SPARK_LOCAL_DIRS", str(tmp_path_factory.mktemp("local")))
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_made_once() -> Iterator[None]:
    """Typer rebuilds all commands at each call, which takes longer than most of them."""
    import typer.main
    import typer.testing

    once = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.main, "get_command", once)
        patched.setattr(typer.testing, "_get_command", once)
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local Spark with two cores, started by the first test that requests it."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("streamc-tests")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        # As in the runtime: twelve queries would be recompiled in each batch.
        .config("spark.sql.codegen.cache.maxEntries", "1000")
        # A sketch of each kind for each window of hundreds of streams: 2.5 GB were seen in use.
        .config("spark.driver.memory", "4g")
        # Each task that aggregates or sorts takes a page, which of this memory would be 64 MB.
        .config("spark.buffer.pageSize", "1m")
        # Spark would keep a thousand plans, jobs and stages for a UI that nobody opens.
        .config("spark.sql.ui.retainedExecutions", "20")
        .config("spark.ui.retainedJobs", "100")
        .config("spark.ui.retainedStages", "100")
        .config("spark.ui.retainedTasks", "1000")
        # Spark's own choice writes its logs without checksums; with them, reading what is damaged
        # is told with the file's name.
        .config("spark.sql.streaming.checkpointFileManagerClass", _FILE_MANAGER)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def guarded_job(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a job as `guarded` leaves it, in `job` and `kept`, and one that ran `whole`."""
    from guarded import make, whole

    folder = tmp_path_factory.mktemp("guarded")
    make(spark, folder / "job")
    shutil.copytree(folder / "job", folder / "kept", copy_function=shutil.copy2)
    whole(spark, folder / "whole")
    return folder


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> Callable[[str, str], None]:
    """Return a function that compares a text with a file of the case (``pipeline.py``)."""

    def compare(name: str, text: str) -> None:
        stem, suffix = name.rsplit(".", 1)
        expected = snapshot(name=stem, extension_class=extension_for(suffix))
        assert text == expected, f"{name} differs; `make golden` writes it, git diff shows it"

    return compare
