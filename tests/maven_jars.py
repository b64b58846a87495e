"""Jars that tests need besides Spark's, fetched by Maven at first and kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def fetched_jars(pom: Path, name: str) -> Path | None:
    """The folder of the jars that a `pom.xml` names; None when they can't be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "streamc" / name
    maven = shutil.which("mvn")
    if folder.is_dir() or maven is None:
        return folder if folder.is_dir() else None
    partial = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    if subprocess.run([*command, f"-DoutputDirectory={partial}"], check=False).returncode == 0:
        partial.rename(folder)
    return folder if folder.is_dir() else None
