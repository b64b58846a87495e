"""The kernel is built once, whoever asks and how often, and failures are reported.

Java is a script here that notes each compilation; that the Scala compiles is what every test on
Spark shows.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.kernel import build, cache
from streamc.runtime.kernel.build import build_kernel, kernel_jar, kernel_path

EMPTY_JAR = "PK\\005\\006" + "\\000" * 18
COMPILES = f"""
echo compiled >> "$COMPILATIONS"
sleep "$PAUSE"
while [ "$1" != -d ]; do shift; done
printf '{EMPTY_JAR}' > "$2"
"""


class Machine:
    """An empty cache, and a Java that does what a test says."""

    def __init__(self, root: Path, environment: pytest.MonkeyPatch) -> None:
        self.home = root / "java"
        self.cache = root / "cache"
        self._noted = root / "compilations"
        self._noted.touch()
        self.java(COMPILES)
        environment.setenv("JAVA_HOME", str(self.home))
        environment.setenv("XDG_CACHE_HOME", str(self.cache))
        environment.setenv("COMPILATIONS", str(self._noted))
        environment.setenv("PAUSE", "0")

    def java(self, compiles: str, version: str = "17.0.1") -> None:
        command = self.home / "bin" / "java"
        command.parent.mkdir(parents=True, exist_ok=True)
        answer = f"""[ "$1" = -version ] && echo 'openjdk version "{version}"' && exit 0"""
        command.write_text(f"#!/bin/sh\n{answer}\n{compiles}", encoding="utf-8")
        command.chmod(0o755)

    @property
    def compilations(self) -> int:
        return len(self._noted.read_text(encoding="utf-8").splitlines())

    @property
    def folder(self) -> Path:
        return self.cache / "streamc" / "kernel"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def streamc(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "streamc", "kernel", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def fault(told: list[str] | None = None) -> RuntimeFault:
    with pytest.raises(RuntimeFault) as caught:
        build_kernel((told if told is not None else []).append)
    return caught.value


def test_it_is_built_once(machine: Machine) -> None:
    told: list[str] = []
    first, second = kernel_jar(told.append), kernel_jar(told.append)
    assert first == second == kernel_path()
    assert len(told) == machine.compilations == 1
    assert build_kernel(told.append) is None
    assert build_kernel(told.append, anew=True) is not None
    assert machine.compilations == 2


@pytest.mark.slow
def test_of_two_processes_one_builds_and_the_other_waits(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAUSE", "1.5")
    both = [streamc("build") for _ in range(2)]
    ended = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert machine.compilations == 1
    out, err = ("".join(texts) for texts in zip(*ended, strict=True))
    assert out.count("built in ") == out.count(" is already built: ") == 1
    assert err.count("building the Spark kernel for Spark") == 1
    assert err.count("another process is building the Spark kernel: waiting for it") == 1


@pytest.mark.slow
def test_a_builder_that_is_killed_leaves_no_lock(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAUSE", "1")
    with streamc("build") as killed:
        while not machine.compilations:
            time.sleep(0.02)
        killed.kill()
    monkeypatch.setenv("PAUSE", "0")
    told: list[str] = []
    assert build_kernel(told.append) is not None
    assert cache.is_whole(kernel_path())


def test_where_files_cannot_be_locked_it_is_built_all_the_same(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(handle: int, operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert build_kernel(lambda line: None) is not None


def test_a_stump_in_the_cache_is_built_again(machine: Machine) -> None:
    machine.folder.mkdir(parents=True)
    kernel_path().write_bytes(b"PK")
    kernel_jar(lambda line: None)
    assert machine.compilations == 1 and cache.is_whole(kernel_path())


def test_the_last_used_stay_and_what_was_broken_off_goes(machine: Machine) -> None:
    machine.folder.mkdir(parents=True)
    long_ago = time.time() - 100_000
    for age in range(8):
        old = machine.folder / f"4.2.1-{age}.jar"
        old.touch()
        os.utime(old, (long_ago, long_ago - age))
    abandoned, building = machine.folder / "build-old.jar", machine.folder / "build-new.jar"
    abandoned.touch()
    os.utime(abandoned, (long_ago, long_ago))
    building.touch()
    built = kernel_jar(lambda line: None)
    assert {path.name for path in machine.folder.iterdir()} == {
        *(f"4.2.1-{age}.jar" for age in range(cache.KEPT - 1)),
        built.name,
        building.name,
        "lock",
    }


@pytest.mark.slow
def test_path(machine: Machine) -> None:
    process = streamc("path")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err.endswith(" is not built\n  = help: run `streamc kernel build`\n")
    jar = kernel_jar(lambda line: None)
    assert streamc("path").communicate(timeout=60) == (f"{jar}\n", "")


@pytest.mark.slow
def test_a_fault_ends_the_command_with_its_code(machine: Machine) -> None:
    machine.java(COMPILES, version="1.8.0_402")
    process = streamc("build")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("error[SR0202] java-too-old: ") and "is Java 8" in err


def test_java_is_missing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    found = fault()
    assert (found.code.number, found.message) == (
        "SR0201",
        "Spark needs Java 17 or newer, JAVA_HOME is /nowhere, which has no bin/java",
    )
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "/nowhere")
    assert fault().message == "Spark needs Java 17 or newer, none is on the PATH"


def test_java_does_not_run(machine: Machine) -> None:
    (machine.home / "bin" / "java").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    found = fault()
    assert found.code.number == "SR0201" and found.message.endswith("java -version` does not work")


def test_the_cache_cannot_be_written(machine: Machine) -> None:
    machine.cache.write_text("a file", encoding="utf-8")
    found = fault()
    assert found.code.number == "SR0203" and "cannot write to" in found.message
    assert found.help == "set XDG_CACHE_HOME to a folder that can be written"


@pytest.fixture
def read_only(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that cannot be written, whoever the tests run as; the temporary folder instead."""
    whole, temporary = Path.mkdir, tmp_path / "temporary"
    temporary.mkdir()

    def mkdir(path: Path, *given: Any, **named: Any) -> None:
        if path.is_relative_to(machine.cache):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        whole(path, *given, **named)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary / f"streamc-kernel-{os.getuid()}"


def test_in_a_read_only_home_it_is_kept_in_a_temporary_folder(
    machine: Machine, read_only: Path
) -> None:
    first, second = kernel_jar(lambda line: None), kernel_jar(lambda line: None)
    assert first == second == kernel_path() == read_only / build.kernel_name()
    assert machine.compilations == 1 and stat.S_IMODE(read_only.stat().st_mode) == 0o700
    assert not machine.cache.exists()


def test_a_kernel_in_a_read_only_home_is_used(machine: Machine, read_only: Path) -> None:
    os.makedirs(machine.folder)
    with zipfile.ZipFile(machine.folder / build.kernel_name(), "w"):
        pass
    assert kernel_jar(lambda line: None).parent == machine.folder
    assert machine.compilations == 0 and not read_only.exists()


@pytest.mark.parametrize("how", ["writable by others", "a link"])
def test_a_temporary_folder_that_others_may_write_is_not_trusted(
    machine: Machine, read_only: Path, tmp_path: Path, how: str
) -> None:
    """A jar in it would run as this user."""
    place = read_only if how == "writable by others" else tmp_path / "elsewhere"
    os.mkdir(place)
    if place != read_only:
        read_only.symlink_to(place)
    else:
        place.chmod(0o777)
    with zipfile.ZipFile(place / build.kernel_name(), "w"):
        pass
    assert kernel_path().parent == machine.folder
    found = fault()
    assert found.code.number == "SR0203" and str(machine.folder) in found.message
    assert found.help == "set XDG_CACHE_HOME to a folder that can be written"
    assert machine.compilations == 0


def test_pyspark_without_the_compiler(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    monkeypatch.setattr(pyspark, "__file__", str(machine.home / "__init__.py"))
    found = fault()
    assert found.code.number == "SR0203" and "there is no Scala compiler among" in found.message
    assert found.help == f"pip install --force-reinstall pyspark=={build.spark_version()}"


@pytest.mark.parametrize(
    ("compiles", "said"),
    [
        ("echo 'error: No space left on device' >&2; exit 1", "there is no space left for"),
        ("echo 'Gate.scala:1: error: not found' >&2; exit 1", "Gate.scala:1: error: not found"),
        ("exit 0", "the kernel does not compile against the Spark in"),
    ],
)
def test_the_compiler_fails(machine: Machine, compiles: str, said: str) -> None:
    machine.java(compiles)
    told: list[str] = []
    found = fault(told)
    assert found.code.number == "SR0203" and said in found.message
    assert len(told) == 1
    # Nothing is left of it that a later run would mistake for a kernel.
    assert [path.name for path in machine.folder.iterdir()] == ["lock"]
