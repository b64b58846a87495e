"""What is told of errors that calls of Spark raise, by their kind."""

from __future__ import annotations

import errno

import pytest
from py4j.protocol import Py4JNetworkError
from streamc.runtime.errors import FILE_FAILS, SPARK_LOST
from streamc.runtime.failures import spark_refuses


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
        ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"),
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
        Py4JNetworkError("Answer from Java side is empty"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_spark_that_does_not_answer_is_lost(error: Exception) -> None:
    fault = spark_refuses("the pipeline", error, "state")
    assert fault.code is SPARK_LOST
    assert str(error) in fault.message
    assert "state/logs/spark.log" in str(fault.help)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "out/x"),
        OSError(errno.EMFILE, "Too many open files", "out/x"),
        OSError(errno.ENOTEMPTY, "Directory not empty", "out/x"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "out/x"),
        PermissionError(errno.EACCES, "Permission denied", "out/x"),
    ],
    ids=lambda error: str(error.strerror),
)
def test_a_file_that_fails_is_not_taken_for_a_lost_spark(error: OSError) -> None:
    fault = spark_refuses("the pipeline", error, "state")
    assert fault.code is FILE_FAILS
    assert str(error.strerror) in fault.message and "out/x" in fault.message
