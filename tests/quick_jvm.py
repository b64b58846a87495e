"""JVMs for short jobs: with options for a fast start, and classes from an archive.

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
import zipfile
from contextlib import suppress
from pathlib import Path

import pyspark
from streamc.runtime import RuntimeFault
from streamc.runtime.base.java import find_java

_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m -Xms1g -Xmn512m "
    "-Xlog:disable -Dspark.ui.enabled=false -Dspark.ui.showConsoleProgress=false "
    "-Djdk.lang.Process.launchMechanism=VFORK"
)
"""Many short jobs, so that the JVM's second compiler never earns back what it costs; with the code
cache of the first one alone it would throw code away and compile it again. Spark takes folders away
by an `rm` of its own each, which Java starts by a helper that it starts first, unless it forks."""

_UNUSED = "yarn-default.xml"
"""Spark packs all of Hadoop's defaults, each by itself, into whatever it sends to tasks; half of
them are for a cluster that nobody has here. What stands before Spark's own jars is read instead."""

_SPEC = Path(__file__).parents[1] / "specs" / "card_fraud"


def options(folder: Path) -> str:
    """The value of `SPARK_SUBMIT_OPTS`, with the files in a folder that it refers to."""
    archive = _class_archive(folder)
    own = _own_options(folder)
    # Java ignores an archive that it cannot use.
    return own if archive is None else f"{own} -XX:SharedArchiveFile={archive}"


def _own_options(folder: Path) -> str:
    defaults = folder / "defaults.jar"
    if not defaults.exists():
        written = folder / f"{os.getpid()}.tmp"
        with zipfile.ZipFile(written, "w") as jar:
            jar.writestr(_UNUSED, "<configuration/>")
        with suppress(FileExistsError):
            defaults.hardlink_to(written)  # once: an archive knows it by its time
        written.unlink()
    return f"{_OPTIONS} -Xbootclasspath/a:{defaults}"


def _class_archive(folder: Path) -> Path | None:
    """The archive for this Java and this Spark in a folder, made by the first process that asks.

    Others that ask meanwhile do not wait: their JVMs start without it until it is there. None when
    it cannot be had.
    """
    try:
        java = find_java()
    except RuntimeFault:
        return None
    version = subprocess.run([java, "-version"], capture_output=True, check=True).stderr
    own = _own_options(folder)
    known = hashlib.sha256(version + pyspark.__version__.encode() + own.encode())
    archive = folder / f"{known.hexdigest()[:16]}.jsa"
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return archive
        if not archive.exists():
            for old in folder.glob("*.jsa"):
                old.unlink()
            _make(archive, own)
    return archive if archive.exists() else None


def _make(archive: Path, own: str) -> None:
    written = archive.with_suffix(".tmp")
    main = "from streamc.cli.app import main; main()"
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-c", main, "run", str(_SPEC / "card_fraud.stream")]
        command += ["--until-caught-up", "--state", f"{place}/state"]
        command += ["--var", f"input={_SPEC}/data", "--var", f"out={place}/out"]
        making = f"{own} -XX:ArchiveClassesAtExit={written}"
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
