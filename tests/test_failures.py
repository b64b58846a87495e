"""What is reported of errors that calls of Spark raise, by their kind."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compiled import compiled_text, written
from py4j.protocol import Py4JNetworkError
from streamc.runtime.base.errors import FILE_FAILS, SPARK_LOST
from streamc.runtime.spark.advice import remedy
from streamc.runtime.spark.failures import java_reason, spark_refuses


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


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "[ARITHMETIC_OVERFLOW] long overflow. Use 'try_add' to tolerate overflow and return "
            "NULL "
            'instead. If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error. '
            "SQLSTATE: 22003",
            "long overflow. Use 'try_add' to tolerate overflow and return NULL instead.",
        ),
        (
            "[DUPLICATED_MAP_KEY] Duplicate map key a was found, please check the input data. "
            "If you "
            'want to remove the duplicated keys, you can set "spark.sql.mapKeyDedupPolicy" to '
            '"LAST_WIN" so that the key inserted at last takes precedence. SQLSTATE: 23505',
            "Duplicate map key a was found, please check the input data.",
        ),
        (
            "[INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION] You may get a "
            "different result due to the upgrading to Spark >= 3.0: Fail to recognize 'YY' "
            "pattern. "
            '1) You can set "spark.sql.legacy.timeParserPolicy" to "LEGACY" to restore the '
            "behavior "
            "before Spark 3.0. 2) You can form a valid datetime pattern with the guide. "
            "SQLSTATE: 42K0B",
            "You may get a different result due to the upgrading to Spark >= 3.0: Fail to "
            "recognize "
            "'YY' pattern. 2) You can form a valid datetime pattern with the guide.",
        ),
        (
            "[CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE] Error reading streaming "
            "state "
            "file of /s/1.delta does not exist. If the stream job is restarted with a new or "
            "updated "
            "state operation, please create a new checkpoint location or clear the existing "
            "checkpoint location. SQLSTATE: 58030",
            "Error reading streaming state file of /s/1.delta does not exist.",
        ),
        (
            "Some data may have been lost because they are not available in Kafka any more. If you "
            "don't want your streaming query to fail on such cases, set the source option "
            '"failOnDataLoss" to "false".',
            "Some data may have been lost because they are not available in Kafka any more.",
        ),
    ],
    ids=["overflow", "map", "pattern", "state", "kafka"],
)
def test_advice_that_hides_an_error_is_left_out(said: str, told: str) -> None:
    assert java_reason([("SparkException", said)]) == told


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        ("DIVIDE_BY_ZERO", "try_divide"),
        ("CAST_INVALID_INPUT", "TRY_CAST"),
        ("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "try_element_at"),
        ("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "DECIMAL more digits"),
        ("CANNOT_PARSE_TIMESTAMP", "try_to_timestamp"),
    ],
)
def test_what_to_write_instead(condition: str, instead: str) -> None:
    assert instead in str(remedy(f"org.apache.spark.SparkDateTimeException: [{condition}] no"))
    assert remedy("java.io.IOException: [x] No space left on device") is None


SPEC = """
CREATE SOURCE orders (id INT) WITH (connector = 'files', path = 'in', format = 'json');
CREATE SINK shown FROM orders WITH (connector = 'console');
"""


@pytest.mark.spark
@pytest.mark.parametrize("submitted", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_spark_that_does_not_start_says_why(tmp_path: Path, submitted: bool) -> None:
    """Its workers have less memory than an executor asks for."""
    asked = {"spark.master": "local-cluster[1,1,512]", "spark.executor.memory": "4g"}
    head = "" if submitted else f"---\nspark: {json.dumps(asked)}\n---\n"
    script = written(compiled_text(head + SPEC, "orders.stream"), tmp_path)
    command = [sys.executable, str(script)]
    if submitted:
        settings = [word for pair in asked.items() for word in ("--conf", "=".join(pair))]
        command = [str(Path(sys.executable).with_name("spark-submit")), *settings, str(script)]
    done = subprocess.run(
        [*command, "--until-caught-up", "--state", "state"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 2
    said = f"{done.stdout}{done.stderr}".partition("error[SR0204] spark-start: ")[2]
    assert said.startswith("Spark did not start: "), done.stderr
    assert "512" in said and "An error occurred" not in said
    where = "what `spark-submit` prints" if submitted else "state/logs/spark.log"
    assert f"its log is {where}" in said
