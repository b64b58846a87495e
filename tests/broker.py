"""A Kafka broker for one test: one process, in a folder that is removed with the test."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from maven_jars import fetched_jars

_POM = Path(__file__).parent / "kafka" / "pom.xml"
_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"
_START = 60.0
_JAVA = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def broker_jars() -> Path | None:
    """The folder of the broker's jars, fetched at first; None if that fails."""
    return fetched_jars(_POM, "test-broker/3.9.1")


@contextmanager
def running_broker(jars: Path, folder: Path) -> Iterator[str]:
    """Start a broker and yield its address; it has stopped when this ends."""
    port, controller = _free_ports(2)
    settings = folder / "broker.properties"
    settings.write_text(
        "process.roles=broker,controller\n"
        "node.id=1\n"
        f"controller.quorum.voters=1@127.0.0.1:{controller}\n"
        f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n"
        f"advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n"
        "controller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        f"log.dirs={folder / 'data'}\n"
        "offsets.topic.replication.factor=1\n"
        "num.partitions=1\n",
        encoding="utf-8",
    )
    java = ["java", *_JAVA, "-cp", f"{jars}/*"]
    format_ = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(settings)]
    subprocess.run([*java, *format_], check=True, capture_output=True)
    with (folder / "broker.log").open("w", encoding="utf-8") as log:
        broker = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        _await(port, broker)
        yield f"127.0.0.1:{port}"
    finally:
        broker.terminate()
        broker.wait(30)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _await(port: int, broker: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START
    while time.monotonic() < end:
        assert broker.poll() is None, "the broker has ended by itself"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the broker does not answer")
