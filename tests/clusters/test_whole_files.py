"""Small files on S3 and HDFS, made by processes and threads at the same moment: one wins."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from clusters.servers import Store
from streamc.runtime.base.java import find_java
from streamc.runtime.kernel.build import kernel_jar

pytestmark = pytest.mark.cluster
PROCESSES, THREADS = 2, 4
ROUNDS = int(os.environ.get("STREAMC_RACES", "625"))
"""Of each kind on each store: 10,000 attempts in total."""
_SPARK = Path(pyspark.__file__).parent / "jars"
_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of the race, compiled against the kernel."""
    jar = tmp_path_factory.mktemp("race") / "race.jar"
    kernel = kernel_jar(print)
    command = [str(find_java()), "-cp", f"{_SPARK}/*", "scala.tools.nsc.Main", "-nowarn"]
    command += ["-cp", f"{kernel}:{_SPARK}/*", "-d", str(jar)]
    subprocess.run([*command, *map(str, sorted(_HERE.glob("*.scala")))], check=True)
    return f"{jar}:{kernel}"


class Racers:
    def __init__(self, processes: list[subprocess.Popen[str]]) -> None:
        self._processes = processes

    def run(self, line: str) -> dict[str, str]:
        """Who succeeded, in any process, each with the version that it exchanged."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        answers = []
        for process in self._processes:
            assert process.stdout is not None
            answers += process.stdout.readline().split()
        assert all(":" in answer and answer[0] != "!" for answer in answers), answers
        return dict(answer.split(":", 1) for answer in answers)


@contextmanager
def racing(race: str, store: Store, folder: str) -> Iterator[Racers]:
    settings = [f"{key}={value}" for key, value in store.settings.items()]
    java = [str(find_java()), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    java += ["-Dlog4j2.level=OFF"]  # It logs to the output.
    with ExitStack() as stack:
        processes = []
        for number in range(PROCESSES):
            command = [*java, "-cp", f"{race}:{store.class_path}", "Race", f"{store.url}/{folder}"]
            process = subprocess.Popen(
                [*command, str(number), str(THREADS), *settings],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield Racers(processes)


def test_a_file_is_created_once(race: str, store: Store) -> None:
    with racing(race, store, "created") as racers:
        winners = [racers.run(f"create f{number}") for number in range(ROUNDS)]
    assert [len(one) for one in winners] == [1] * ROUNDS
    assert len({name for one in winners for name in one}) > 1, "it was a race"


def test_a_version_is_exchanged_once(race: str, store: Store) -> None:
    """A process may read the version that another one has just written: each has one successor."""
    with racing(race, store, "exchanged") as racers:
        winners = [racers.run("exchange f") for _ in range(ROUNDS)]
    exchanged = [version for one in winners for version in one.values()]
    assert all(winners), "one of them always succeeds"
    assert len(exchanged) == len(set(exchanged))
    assert "null" in winners[0].values(), "the first file is made where none is"
