"""An S3 server and an HDFS of a test run's own, and what Spark needs to reach them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark
from maven_jars import fetched_jars

_HERE = Path(__file__).parent
_SPARK = Path(pyspark.__file__).parent / "jars"
_START = 600.0
_JAVA = ("java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
BUCKET = "bucket"


@dataclass(frozen=True)
class Store:
    """A store: the URL of a folder in it, the settings of Hadoop, and the jars that it needs."""

    url: str
    settings: Mapping[str, str]
    jars: Path | None = None

    @property
    def class_path(self) -> str:
        """Before Spark's own jars, which have some of the same, and newer."""
        return f"{_SPARK}/*" + (f":{self.jars}/*" if self.jars else "")

    def spark_settings(self, folder: Path) -> Path:
        """A folder with what `SPARK_CONF_DIR` is to have for a Spark that reaches the store."""
        lines = [f"spark.hadoop.{key} {value}" for key, value in self.settings.items()]
        if self.jars:
            lines.append(f"spark.driver.extraClassPath {_SPARK}/*:{self.jars}/*")
        (folder / "spark-defaults.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder


def cluster_jars(name: str) -> Path | None:
    """The folder of a store's jars, fetched at first; None when they can't be had."""
    return fetched_jars(_HERE / name / "pom.xml", f"test-{name}")


@contextmanager
def running_s3(jars: Path, folder: Path) -> Iterator[Store]:
    """A server with an empty bucket; it has stopped when this ends."""
    with (
        (folder / "s3.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, str(_HERE / "s3_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as server,
    ):
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            made = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
            urllib.request.urlopen(made, timeout=60).close()
            yield Store(f"s3a://{BUCKET}", _s3a(port), jars)
        finally:
            server.kill()


def _s3a(port: int) -> dict[str, str]:
    return {
        "fs.s3a.endpoint": f"http://127.0.0.1:{port}",
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.access.key": "key-of-the-tests",
        "fs.s3a.secret.key": "secret-of-the-tests",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
    }


@contextmanager
def running_hdfs(jars: Path, folder: Path) -> Iterator[Store]:
    """A name node and a data node in one process; it has ended when this ends."""
    details = folder / "hdfs.json"
    command = [*_JAVA, f"-Dtest.build.data={folder}", "-cp", f"{jars}/*:{_SPARK}/*"]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-datanodes", "1"]
    command += ["-writeDetails", str(details), "-D", "dfs.permissions.enabled=false"]
    with (folder / "hdfs.log").open("wb") as log:
        # It writes to a folder `target` where it runs.
        cluster = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        until = time.monotonic() + _START
        while not (details.exists() and details.read_text(encoding="utf-8").endswith("}")):
            assert cluster.poll() is None, (folder / "hdfs.log").read_text(encoding="utf-8")
            assert time.monotonic() < until, "HDFS does not start"
            time.sleep(0.2)
        port = int(json.loads(details.read_text(encoding="utf-8"))["namenode_port"])
        yield Store(f"hdfs://127.0.0.1:{port}", {})
    finally:
        cluster.kill()
        cluster.wait(30)
