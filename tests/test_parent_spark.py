"""A JVM ends with the process that started it, however that ends."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

STARTED = """
import sys, time
from pyspark.sql import SparkSession
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.getOrCreate()
load_kernel(spark, kernel_jar(lambda line: None))
print(spark._jvm.java.lang.ProcessHandle.current().pid(), flush=True)
# A task that holds the JVM up: it would be waited for when its input ends.
spark.sparkContext.range(1, numSlices=1).map(lambda _: time.sleep(600)).count()
"""


def test_a_killed_process_leaves_no_jvm() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    jvm = int(process.stdout.readline())
    assert Path(f"/proc/{jvm}").exists()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while _runs(jvm) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(jvm)


def _runs(pid: int) -> bool:
    """Whether a process runs, and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split(") ")[-1][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
