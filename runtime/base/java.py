"""The Java for Spark: where it is, and whether it is new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import JAVA_MISSING, JAVA_TOO_OLD, RuntimeFault

LEAST = 17
_INSTALL = "apt-get install -y openjdk-17-jre-headless    # or set JAVA_HOME to a Java 17 or newer"


def find_java() -> Path:
    """The `java` command that Spark would use: JAVA_HOME's, else the first on the PATH.

    Raises RuntimeFault when there is none, or when it is older than Java 17.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None or not os.access(found, os.X_OK):
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "none is on the PATH"
        raise RuntimeFault(JAVA_MISSING, f"Spark needs Java {LEAST} or newer, {where}", _INSTALL)
    version = _major_version(found)
    if version is None:
        raise RuntimeFault(JAVA_MISSING, f"`{found} -version` does not work", _INSTALL)
    if version < LEAST:
        raise RuntimeFault(
            JAVA_TOO_OLD,
            f"{found} is Java {version}, Spark needs {LEAST} or newer",
            _INSTALL,
        )
    return Path(found)


def _major_version(java: str) -> int | None:
    """17 for `version "17.0.15"`, 8 for the old style `version "1.8.0_402"`."""
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None
