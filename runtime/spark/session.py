"""The Spark session of a run, and the settings that its guarantees need."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Checkpoint, Plan
from ...contracts.reserved import SHUFFLE_PARTITIONS, reserved
from ...contracts.secrets import SPARK_PATTERN
from ..base.errors import RESERVED_SETTING, SPARK_START, SPARK_VERSION, RuntimeFault, first_line
from ..base.java import find_java
from ..base.submitted import is_submitted
from ..kernel.build import kernel_jar
from ..kernel.load import load_kernel
from ..kernel.shipped import shipped_kernel
from ..plan.retention import batches_to_retain
from ..plan.settings import RunSettings
from .cores import cores_of
from .failures import spark_errors
from .log import log_file, logged
from .packages import Package, check_packages, fetching

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATE = "org.apache.spark.sql.execution.streaming.state"
_STREAMING = "spark.sql.streaming"
PROVIDERS = {
    "rocksdb": f"{_STATE}.RocksDBStateStoreProvider",
    "memory": f"{_STATE}.HDFSBackedStateStoreProvider",
}
_PRUNED_STRUCTS = "spark.sql.optimizer.serializer.nestedSchemaPruning.enabled"
_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
_ELIMINATE_OUTER_JOIN = "org.apache.spark.sql.catalyst.optimizer.EliminateOuterJoin"
"""Removes an outer join that makes no difference to the aggregate above, and its state with it."""

_LOOPBACK = "127.0.0.1"
_ADDRESS = "SPARK_LOCAL_IP"
_HIDDEN = {"spark.redaction.regex": SPARK_PATTERN}
_AT_HOME = {"spark.driver.bindAddress": _LOOPBACK, "spark.driver.host": _LOOPBACK}
"""A Spark on one machine talks to itself: nobody else needs its ports, which have no passwords."""

_DEFAULTS = {
    # Spark's default, INT96, shows other readers neither the zone nor that it is an instant.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Spark caches what it knows about each file of a folder that it reads, for the next query over
    # it. Each batch has its own files: 250 MB of entries would pile up, none of which is used
    # again.
    "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
    # Every ten epochs a files source writes all files that it has ever seen. As many as barriers
    # need are kept in any case; with Spark's default of ten minutes, gigabytes pile up.
    f"{_STREAMING}.fileSource.log.cleanupDelay": "60s",
}

CODE_KEPT = ("spark.sql.codegen.cache.maxEntries", "1000")
"""Spark keeps the classes of the last hundred compiled expressions and stages. The queries of one
pipeline alternate and have more of them: each batch would recompile all."""


def check_spark_settings(settings: Mapping[str, str]) -> None:
    """Refuses settings that the runtime sets itself."""
    for name in settings:
        if (reason := reserved(name)) is not None:
            raise RuntimeFault(
                RESERVED_SETTING,
                f"`{name}` cannot be set by a pipeline",
                f"leave it out: {reason}",
            )


def sql_settings(settings: RunSettings, checkpoint: Checkpoint) -> dict[str, str]:
    """The settings of every run, whoever started Spark.

    The backend `auto` is RocksDB: state may outgrow memory, and its checkpoints are increments.
    """
    backend = "rocksdb" if settings.state_backend == "auto" else settings.state_backend
    return {
        f"{_STREAMING}.stateStore.providerClass": PROVIDERS[backend],
        f"{_STREAMING}.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # In format 2 the files of a version have names that are only in Spark's commit log.
        f"{_STREAMING}.stateStore.checkpointFormatVersion": "1",
        f"{_STREAMING}.queryEvolution.enableSourceEvolution": "true",
        f"{_STREAMING}.offsetLog.formatVersion": "2",
        f"{_STREAMING}.minBatchesToRetain": str(batches_to_retain(settings, checkpoint)),
        # Below a reused shuffle Spark finds no watermark: the operator above it would never evict a
        # row.
        "spark.sql.exchange.reuse": "false",
        "spark.sql.session.timeZone": "UTC",
        # Spark would substitute settings and the environment for `${…}` in names and texts.
        "spark.sql.variable.substitute": "false",
        # Spark would prune unread fields of a struct from its schema, while a program emits all of
        # them.
        _PRUNED_STRUCTS: "false",
        _EXCLUDED_RULES: _excluded_rules(settings.spark.get(_EXCLUDED_RULES, "")),
    }


def _excluded_rules(wanted: str) -> str:
    """The rules that a pipeline excludes, and the one whose effect the plan does not know."""
    rules = [rule.strip() for rule in wanted.split(",") if rule.strip()]
    return ",".join(dict.fromkeys([*rules, _ELIMINATE_OUTER_JOIN]))


def run_session(
    settings: RunSettings,
    checkpoint: Checkpoint,
    name: str,
    given: SparkSession | None,
    packages: Sequence[Package] = (),
) -> tuple[SparkSession, bool, list[str]]:
    """A session of this run's own, so that jobs in one process do not share settings.

    A Spark that is started here fetches the packages.

    It is based on `given`, on the one that `spark-submit` started, or on a new local Spark. Returns
    it, whether Spark was started here, and lines about settings that came too late. Raises
    RuntimeFault when Java or Spark are missing or of the wrong version.
    """
    check_spark_settings(settings.spark)
    _quiet_pyspark()
    base, started = (given, False) if given is not None else _start(settings, name, packages)
    _check_version(base)
    spark = base.newSession()
    # In increasing precedence: a pipeline may change anything that is not reserved.
    values = {**_DEFAULTS, **_partitions(spark), **settings.spark}
    notes = []
    for key, value in {**values, **sql_settings(settings, checkpoint)}.items():
        if not _set(spark, key, value):
            notes.append(f"{key} cannot change in a running Spark: {value} is not used")
    return spark, started, notes


def _set(spark: SparkSession, key: str, value: str) -> bool:
    from pyspark.errors import PySparkException

    if spark.conf.get(key, None) == value:
        return True
    try:
        spark.conf.set(key, value)
    except PySparkException:
        return False
    return True


def _partitions(spark: SparkSession) -> dict[str, str]:
    """As many state partitions as cores, unless Spark was started with a number of its own.

    Spark's 200 would be files and tasks without rows. Spark records the number in a query's first
    batch and keeps it from then on.
    """
    context = spark.sparkContext
    conf = dict(context.getConf().getAll())
    if SHUFFLE_PARTITIONS in conf:
        return {}
    return {
        SHUFFLE_PARTITIONS: str(cores_of(str(context.master), conf, context.defaultParallelism))
    }


def _quiet_pyspark() -> None:
    """PySpark also logs what it raises, as a JSON line of many kilobytes, or as tracebacks.

    The runtime reports it in a few lines itself, and keeps the full text in the logs of the state.
    """
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _check_version(spark: SparkSession) -> None:
    import pyspark

    if spark.version != pyspark.__version__:
        raise RuntimeFault(
            SPARK_VERSION,
            f"this session is Spark {spark.version}, the installed PySpark {pyspark.__version__}",
            "use one version for both",
        )
    if not hasattr(spark, "_jsparkSession"):
        raise RuntimeFault(
            SPARK_VERSION,
            "this is a Spark Connect session, and the runtime needs the driver itself",
            "run the script with `python` or `spark-submit`",
        )


def _start(
    settings: RunSettings, name: str, packages: Sequence[Package]
) -> tuple[SparkSession, bool]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    submitted = is_submitted()
    if SparkContext._active_spark_context is not None:
        return builder.getOrCreate(), False
    builder = builder.appName(name)
    if not submitted:
        find_java()
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        builder = builder.master("local[*]")
        builder = builder.config(*CODE_KEPT)
    wanted = fetching(settings.spark, packages)
    local = not submitted and wanted.get("spark.master", "local").startswith("local")
    for key, value in {**_HIDDEN, **(_AT_HOME if local else {}), **wanted}.items():
        builder = builder.config(key, value)
    log = log_file(settings.state)
    try:
        with logged(None if submitted else log), _at_home(wanted) if local else nullcontext():
            spark = builder.getOrCreate()
    except Exception as error:
        raise RuntimeFault(
            SPARK_START,
            f"Spark did not start: {_why(error)}",
            _where_its_log_is(log, submitted) + _about_fetching(packages),
        ) from None
    if submitted and "spark.log.level" not in settings.spark:
        # Spark reports a failed query with pages of Java; the run reports it in a few lines itself.
        spark.sparkContext.setLogLevel("FATAL")
    return spark, not submitted


@contextmanager
def _at_home(settings: Mapping[str, str]) -> Iterator[None]:
    """Binds all ports of a local Spark to the loopback address.

    Its web UI reads the environment, not the settings. An address named by the pipeline takes
    precedence.
    """
    before = os.environ.get(_ADDRESS)
    os.environ[_ADDRESS] = settings.get("spark.driver.bindAddress", _LOOPBACK)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ADDRESS]
        else:
            os.environ[_ADDRESS] = before


def _why(error: Exception) -> str:
    """The cause named by Spark; py4j itself says only which class it tried to create."""
    from .failures import java_exception, reason_of

    java = java_exception(error)
    return first_line(error) if java is None else reason_of(java)


def _where_its_log_is(log: Path, submitted: bool) -> str:
    """Under `spark-submit` the process was there before, and decides where its log goes."""
    return "its log is what `spark-submit` prints" if submitted else f"its log is {log}"


def _about_fetching(packages: Sequence[Package]) -> str:
    if not packages:
        return ""
    return f"; at its first start it fetches {', '.join(p.coordinates for p in packages)}"


@contextmanager
def spark_of(
    plan: Plan,
    packages: Sequence[Package],
    settings: RunSettings,
    tell: Callable[[str], None],
    given: SparkSession | None,
) -> Iterator[tuple[SparkSession, Any]]:
    """The session of a run, and the kernel in it; a Spark that is started for it ends with it."""
    jar = shipped_kernel(given) or kernel_jar(tell)
    session, started, notes = run_session(settings, plan.checkpoint, plan.pipeline, given, packages)
    try:
        check_packages(session, packages)
        for note in notes:
            tell(note)
        yield session, load_kernel(session, jar)
    finally:
        if started:
            with suppress(*spark_errors()):
                session.stop()
