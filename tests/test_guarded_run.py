"""A job with secrets, on a machine with others: what it listens on, writes and prints."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATIENCE = 240
KEY, PASSWORD = "hunter2-Hexerei", "öffne dich/9"

SPEC = """---
pipeline: guarded
variables: {password: '${file:pw}'}
spark:
  spark.ui.enabled: true
  spark.sql.shuffle.partitions: 1
  spark.hadoop.fs.s3a.secret.key: ${env:GUARDED_KEY}
---
-- before: password = 'in-a-comment'
CHECKPOINT EVERY INTERVAL 2 SECONDS;
CREATE SOURCE ticks (timestamp TIMESTAMP, value BIGINT)
  WITH (connector = 'rate', rows_per_second = '5');
CREATE STREAM parts AS SELECT value % 3 AS part, 1 / (value % 3 + 1) AS share FROM ticks;
CREATE SINK seen FROM parts WITH (connector = 'python', function = 'seen:write');
"""

SINK = """import os
from pathlib import Path

def write(rows, batch_id):
    rows.collect()
    assert rows.sparkSession.conf.get("spark.sql.codegen.cache.maxEntries") == "1000"
    if batch_id >= 1:
        Path("begun").touch()
    if Path("now").exists():
        key = os.environ["GUARDED_KEY"]
        rows.sparkSession.sparkContext._jvm.java.lang.System.err.println("said on stderr: " + key)
        held = rows.sparkSession.sparkContext._jsc.hadoopConfiguration()
        assert held.get("fs.s3a.secret.key") == key
        raise ValueError(f"refused {key}, {Path('pw').read_text().strip()} by postgresql://me:x1y2z3@db/x")
"""


def tree(pid: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from tree(int(child))


def listening(pid: int) -> set[str]:
    """The addresses, as the kernel writes them, that a process and those below it listen on."""
    held = set()
    for one in tree(pid):
        for handle in Path(f"/proc/{one}/fd").glob("*"):
            try:
                held.add(os.readlink(handle))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in held:
                found.add(fields[1].partition(":")[0])
    return found


OWN = {
    "0100007F",  # 127.0.0.1
    "0000000000000000FFFF00000100007F",  # ::ffff:127.0.0.1
    "00000000000000000000000001000000",  # ::1
}


def wait_for(process: subprocess.Popen[str], what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system has no /proc")
def test_a_job_shows_no_secret_and_no_port(tmp_path: Path) -> None:
    (tmp_path / "guarded.stream").write_text(SPEC, encoding="utf-8")
    (tmp_path / "seen.py").write_text(SINK, encoding="utf-8")
    (tmp_path / "pw").write_text(f"{PASSWORD}\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamc", "run", "guarded.stream", "--state", "state"],
        cwd=tmp_path,
        env={**os.environ, "GUARDED_KEY": KEY, "SPARK_LOCAL_IP": "0.0.0.0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(process, (tmp_path / "begun").exists)
        addresses = listening(process.pid)
        # Its interface, its driver, blocks of data, both ways between Python and Java.
        assert addresses and addresses <= OWN
        taken = subprocess.run(
            [sys.executable, "-m", "streamc", "status", "--state", "state", "--format", "json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        (tmp_path / "now").touch()
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 1, err
    assert "refused ***, *** by postgresql://me:***@db/x" in err
    log = (tmp_path / "state/logs/spark.log").read_text(encoding="utf-8")
    assert "said on stderr: ***" in log
    # The module of the pipeline names a secret itself, and so does its byte code.
    paths = [path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts]
    texts = {path: path.read_bytes() for path in paths if path.is_file()}
    for own in ("guarded.stream", "pw", "seen.py"):
        del texts[tmp_path / own]
    for secret in (KEY, PASSWORD, "x1y2z3", "in-a-comment"):
        assert secret not in out + err + taken.stdout + taken.stderr
        assert [path for path, held in texts.items() if secret.encode() in held] == []


def test_spark_is_started_in_one_place() -> None:
    """Savepoints, tests and backfills use the same function, so that all of them bind alike."""
    sources = [
        path for part in ("cli", "compiler", "runtime") for path in (ROOT / part).rglob("*.py")
    ]
    starting = [path.name for path in sources if "getOrCreate" in path.read_text(encoding="utf-8")]
    assert starting == ["session.py"]
