"""A JVM with Spark's jars and the kernel, without a session: for files that only Hadoop reaches."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from ...contracts.redaction import scrub
from ...contracts.secrets import is_secret_name
from ..base.errors import SPARK_START, RuntimeFault
from ..base.java import find_java
from ..base.submitted import is_submitted
from .build import kernel_jar
from .load import add_to_class_path, java_map, kernel_class

_HADOOP = "spark.hadoop."
_QUICK = {
    # A server that does not answer is reported in seconds; a job's own Spark waits for minutes.
    "spark.hadoop.ipc.client.connect.max.retries": "3",
    "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "2",
    "spark.hadoop.ipc.client.connect.timeout": "10000",
    "spark.hadoop.fs.s3a.attempts.maximum": "3",
    "spark.hadoop.fs.s3a.retry.limit": "3",
    "spark.hadoop.fs.s3a.connection.establish.timeout": "10s",
}


def start_jvm(
    given: Mapping[str, str], known: Mapping[str, str], tell: Callable[[str], None]
) -> tuple[Any, Any]:
    """A JVM that ends with this process, and Hadoop's settings in it; the kernel is loaded.

    `given` are settings of Spark besides those that it finds itself, which are among `known`.
    Raises RuntimeFault when there is no Java, or it does not start.
    """
    find_java()
    jar = kernel_jar(tell)
    # On a command line all users of the machine could read them.
    jvm = _launched({name: value for name, value in given.items() if not _comes_later(name)})
    add_to_class_path(jvm, jar)
    if not is_submitted():
        kernel_class(jvm, "Parent").watch(os.getpid())
    late = {name: value for name, value in _QUICK.items() if name not in known}
    late |= {name: value for name, value in given.items() if _comes_later(name)}
    return jvm, kernel_class(jvm, "Settings").hadoop(java_map(jvm, late))


def _comes_later(name: str) -> bool:
    return name.startswith(_HADOOP) or is_secret_name(name)


def _launched(settings: Mapping[str, str]) -> Any:
    from pyspark import SparkConf, java_gateway
    from pyspark.errors import PySparkException

    # py4j logs what it raises.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    start: Any = java_gateway.launch_gateway
    conf: Any = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    with tempfile.TemporaryFile() as log:
        try:
            gateway: Any = start(conf, {"stdout": log, "stderr": log})
        except (PySparkException, OSError):
            log.seek(0)
            lines = log.read().decode("utf-8", errors="replace").strip().splitlines()
            raise RuntimeFault(
                SPARK_START,
                f"the JVM that is to read the state did not start: {scrub(_told(lines))}",
                "try `spark-submit --version` with the same settings",
            ) from None
    return gateway.jvm


def _told(lines: list[str]) -> str:
    """The lines of a log that say why, as far as any do."""
    first = next((n for n, line in enumerate(lines) if "xception" in line or "rror" in line), 0)
    return ": ".join(line.strip() for line in lines[first : first + 2]) or "it has said nothing"
