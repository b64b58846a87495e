"""Compiles the kernel: once for a Spark version and a state of the sources, then from the cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import KERNEL_BUILD, RuntimeFault
from ..java import find_java

SOURCES = Path(__file__).parent


def kernel_jar(tell: Callable[[str], None]) -> Path:
    """The kernel's jar for the installed PySpark, compiled now if the cache does not hold it.

    `tell` gets one line when it has to be compiled. Two processes may do so at once: each builds a
    file of its own and renames it into place. Raises RuntimeFault when Java or the build fails.
    """
    import pyspark

    sources = sorted(SOURCES.glob("*.scala"))
    target = cache_folder() / f"{pyspark.__version__}-{_digest(sources)}.jar"
    if not target.exists():
        tell("building the Spark kernel (once for this version, about ten seconds)")
        _compile(sources, Path(pyspark.__file__).parent / "jars", target)
    return target


def cache_folder() -> Path:
    """Where built kernels are kept, by the XDG convention."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "streamc" / "kernel"


def _digest(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _compile(sources: list[Path], jars: Path, target: Path) -> None:
    java = find_java()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix="build-", suffix=".jar")
    except OSError as error:
        raise RuntimeFault(
            KERNEL_BUILD,
            f"cannot write to {target.parent}: {error.strerror}",
            "set XDG_CACHE_HOME to a folder that can be written",
        ) from None
    os.close(handle)
    partial = Path(name)
    command = [
        str(java),
        "-cp",
        f"{jars}/*",
        "scala.tools.nsc.Main",
        "-usejavacp",
        "-nowarn",
    ]
    try:
        done = subprocess.run(
            [*command, "-d", str(partial), *map(str, sources)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            text = (done.stdout + done.stderr).strip()
            raise RuntimeFault(
                KERNEL_BUILD,
                f"the kernel does not compile against the Spark in {jars}\n{text}",
                "install the PySpark that this version of streamc names",
            )
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
