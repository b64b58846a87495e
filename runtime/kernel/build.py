"""Compiles the kernel once per Spark version and content of the sources; the cache keeps it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..base.errors import KERNEL_BUILD, RuntimeFault
from ..base.java import find_java
from .cache import cached, is_whole, mark_used, no_space, only_builder, remove_old, unwritable
from .sources import kernel_sources, source_files

_COMPILER = "scala.tools.nsc.Main"


def kernel_jar(tell: Callable[[str], None]) -> Path:
    """The kernel's jar for the installed PySpark, compiled now if the cache lacks it.

    `tell` gets a line when there is something to wait for. Raises RuntimeFault when Java or the
    build fails.
    """
    if not is_whole(kernel_path()):
        build_kernel(tell)
    target = kernel_path()
    mark_used(target)
    return target


def kernel_path() -> Path:
    """The path of the kernel's jar for the installed PySpark, built or not."""
    return cached(kernel_name())


def kernel_name() -> str:
    """The name of that jar: the version of the installed PySpark and a digest of the sources."""
    digest = hashlib.sha256()
    for path, content in kernel_sources().items():
        digest.update(path.rpartition("/")[2].encode() + b"\0" + content + b"\0")
    return f"{spark_version()}-{digest.hexdigest()[:16]}.jar"


def spark_version() -> str:
    """The version of the installed PySpark, against which the kernel is compiled."""
    import pyspark

    return str(pyspark.__version__)


def build_kernel(tell: Callable[[str], None], *, anew: bool = False) -> float | None:
    """Compiles the kernel, with `anew` even if it exists; returns the seconds that it took.

    None when it exists, perhaps because another process has built it meanwhile. Kernels that have
    not been used for long are removed.
    """
    import pyspark

    with only_builder(tell) as folder:
        target = folder / kernel_name()
        if not anew and is_whole(kernel_path()):
            return None
        java = find_java()
        jars = Path(pyspark.__file__).parent / "jars"
        _check_compiler(jars)
        tell(
            f"building the Spark kernel for Spark {spark_version()} from {len(kernel_sources())} "
            "Scala files (once for this version, about ten seconds)"
        )
        begun = time.monotonic()
        _compile(java, jars, target)
        remove_old(target)
    return time.monotonic() - begun


def _check_compiler(jars: Path) -> None:
    if any(jars.glob("scala-compiler*.jar")):
        return
    raise RuntimeFault(
        KERNEL_BUILD,
        f"there is no Scala compiler among Spark's jars in {jars}",
        f"pip install --force-reinstall pyspark=={spark_version()}",
    )


def _compile(java: Path, jars: Path, target: Path) -> None:
    """Compiles into a temporary file and renames it into place when it is on the disk."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix="build-", suffix=".jar")
    except OSError as error:
        raise unwritable(target.parent, error) from None
    os.close(handle)
    partial = Path(name)
    try:
        _run_compiler(java, jars, partial)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
    except OSError as error:
        raise unwritable(target.parent, error) from None
    finally:
        partial.unlink(missing_ok=True)


def _run_compiler(java: Path, jars: Path, partial: Path) -> None:
    options = ["-usejavacp", "-nowarn", "-d", str(partial)]
    with source_files() as sources:
        done = subprocess.run(
            [str(java), "-cp", f"{jars}/*", _COMPILER, *options, *map(str, sources)],
            capture_output=True,
            text=True,
            check=False,
        )
    text = (done.stdout + done.stderr).strip()
    if done.returncode == 0 and is_whole(partial):
        return
    if "No space left" in text or "quota exceeded" in text.lower():
        raise no_space(partial.parent)
    raise RuntimeFault(
        KERNEL_BUILD,
        f"the kernel does not compile against the Spark in {jars}\n{text}".rstrip(),
        "install the PySpark that this version of streamc names",
    )
