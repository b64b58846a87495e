"""JVMs for short jobs: soon there, with classes from an archive, and not asked twice for one.

Most of what a JVM does until Spark's first rows are out is reading classes from 300 jars. Java can
keep them as it has them in memory; a job of the project writes that archive once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
import pytest
from py4j.java_gateway import JavaClass, JVMView
from streamc.runtime import RuntimeFault
from streamc.runtime.java import find_java

_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -Xms1g -Xlog:disable "
    "-Dspark.ui.enabled=false -Dspark.ui.showConsoleProgress=false"
)
"""Many short jobs, so that the JVM's second compiler never earns back what it costs; with the code
cache of the first one alone it would throw code away and compile it again."""

_SPEC = Path(__file__).parents[1] / "specs" / "card_fraud"


def options(archive: Path | None) -> str:
    """What `SPARK_SUBMIT_OPTS` has to be; Java passes over an archive that it cannot use."""
    return _OPTIONS if archive is None else f"{_OPTIONS} -XX:SharedArchiveFile={archive}"


def class_archive(folder: Path) -> Path | None:
    """The archive for this Java and this Spark in a folder, made by the first process that asks.

    None when it cannot be had.
    """
    try:
        java = find_java()
    except RuntimeFault:
        return None
    version = subprocess.run([java, "-version"], capture_output=True, check=True).stderr
    known = hashlib.sha256(version + pyspark.__version__.encode() + _OPTIONS.encode())
    archive = folder / f"{known.hexdigest()[:16]}.jsa"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            for old in folder.glob("*.jsa"):
                old.unlink()
            _make(archive)
    return archive if archive.exists() else None


def remember_classes(patched: pytest.MonkeyPatch) -> None:
    """Asks a JVM for each class once a process.

    PySpark looks up the class of the session and that of the functions for each column, and Java
    goes through its jars for names that are imported.
    """
    ask = JVMView.__getattr__

    def asked_once(view: Any, name: str) -> Any:
        found = ask(view, name)
        if isinstance(found, JavaClass):
            view.__dict__[name] = found
        return found

    patched.setattr(JVMView, "__getattr__", asked_once)


def _make(archive: Path) -> None:
    written = archive.with_suffix(".tmp")
    main = "from streamc.cli.app import main; main()"
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-c", main, "run", str(_SPEC / "card_fraud.stream")]
        command += ["--until-caught-up", "--state", f"{place}/state"]
        command += ["--var", f"input={_SPEC}/data", "--var", f"out={place}/out"]
        making = f"{_OPTIONS} -XX:ArchiveClassesAtExit={written}"
        # Its output ends with the JVM, which writes the archive when the job is over.
        subprocess.run(
            command,
            capture_output=True,
            check=False,
            cwd=place,
            env={**os.environ, "SPARK_SUBMIT_OPTS": making},
        )
    if written.exists():
        written.rename(archive)
