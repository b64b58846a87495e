"""A standalone cluster on this machine, whose executors are killed one by one."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from . import lives
from .kills import Killed
from .lives import QUICK, Life
from .series import Report
from .shop import QUERIES, Shop

SPARK = Path(pyspark.__file__).parent
_CLASSES = "org.apache.spark.deploy"
_EXECUTOR = "CoarseGrainedExecutorBackend"
_START = 60.0


@contextmanager
def running_cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core each; yields the master's address."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    master = f"spark://127.0.0.1:{port}"
    host = ["--host", "127.0.0.1"]
    commands = [["master.Master", *host, "--port", str(port), "--webui-port", "0"]]
    for number in range(workers):
        limits = ["--cores", "1", "--memory", "1g", "--webui-port", "0"]
        work = ["--work-dir", str(folder / f"worker-{number}")]
        commands.append(["worker.Worker", *host, *limits, *work, master])
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, *arguments in commands:
            started.append(_start(folder, name, arguments))
            if name == "master.Master":
                _await(port)
        yield master
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def kill_executors(
    shop: Shop, folder: Path, kills: int, seed: int, tell: Callable[[str], None]
) -> Report:
    """Kills executors of a running job; it must continue, in one life, to the end of its input."""
    rng = random.Random(seed)
    report = Report()
    with running_cluster(folder) as master:
        # `spark-submit` would run the script with whatever `python3` is on the path.
        own = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        life = lives.start(shop, submit=_submit(master), environment=own)
        try:
            shop.writer.add(shop.files_per_epoch)
            if not lives.await_commit(shop, life, 180):
                report.killed.append(Killed("executor", fault=f"no batch:\n{life.said()}"))
            for number in range(kills):
                if report.faults:
                    break
                report.killed.append(_kill_one(shop, life, folder, rng))
                tell(f"{number + 1:4} executor")
            shop.writer.close()
            _finish(shop, life)
        finally:
            life.kill_all()
    lives.catch_up(shop)
    report.checks.append(shop.differences())
    return report


def executors(folder: Path) -> list[int]:
    """The executors that the cluster's workers have started, identified by their folder."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                command = Path(entry.path, "cmdline").read_bytes().decode(errors="replace")
                where = os.readlink(f"{entry.path}/cwd")
                if _EXECUTOR in command and where.startswith(f"{folder}/worker-"):
                    found.append(int(entry.name))
    return found


def _kill_one(shop: Shop, life: Life, folder: Path, rng: random.Random) -> Killed:
    """Kills one executor during a batch; the recovery time is that until the next batch."""
    lives.watch(life, _START, lambda: bool(executors(folder)))
    shop.writer.add(3 * shop.files_per_epoch)
    life.wait(rng.uniform(0, 3))
    victims = executors(folder)
    if victims:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(victims), signal.SIGKILL)
    begin = time.monotonic()
    if not lives.await_commit(shop, life, 120):
        return Killed("executor", fault=f"the job did not continue:\n{life.said()}")
    return Killed("executor", time.monotonic() - begin)


def _finish(shop: Shop, life: Life) -> None:
    """Waits until the job has read all of its input, and stops it."""
    batches = -(-shop.writer.written // shop.files_per_epoch)
    lives.watch(life, 180, lambda: min(map(shop.commits, QUERIES)) > batches)
    life.process.terminate()
    life.wait(60)


def _submit(master: str) -> list[str]:
    options = {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        # # A worker abandons an application whose executors keep dying: here they do so on purpose.
        "spark.task.maxFailures": "20",
    }
    pairs = [part for pair in options.items() for part in ("--conf", "{}={}".format(*pair))]
    return [str(SPARK / "bin" / "spark-submit"), "--master", master, *pairs]


def _start(folder: Path, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    own = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        # # Otherwise the master removes an application after ten dead executors.
        "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (folder / "cluster.log").open("ab") as log:
        return subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), f"{_CLASSES}.{name}", *arguments],
            cwd=folder,
            stdout=log,
            stderr=log,
            env=own,
            start_new_session=True,
        )


def _await(port: int) -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.2)
    raise RuntimeError("the master does not answer")
