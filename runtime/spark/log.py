"""The log of a Spark that is started here: its process's output, without secrets.

Spark, its libraries and its Python workers share one standard error. It is a pipe to this process,
which writes each line to the file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlparse

from ...contracts.redaction import scrub
from ..base.private_files import make_folders, open_to_append, secure


def log_file(state: str) -> Path:
    """The path of the log: with the state, if that is on disk."""
    url = urlparse(state)
    folder = Path(url.path if url.scheme == "file" else state) / "logs"
    if url.scheme not in ("", "file"):
        return Path(tempfile.gettempdir()) / "spark.log"
    try:
        if not folder.parent.exists():
            secure(folder.parent)
        make_folders(folder)
        open_to_append(folder / "spark.log").close()
    except OSError:
        folder = Path(tempfile.gettempdir())
    return folder / "spark.log"


@contextmanager
def logged(log: Path | None) -> Iterator[None]:
    """Gives Spark's process a pipe into the log as its inherited standard error.

    Its warnings about the machine and its stack traces are then kept, but not on the terminal.
    """
    if log is None:
        yield
        return
    sys.stderr.flush()
    terminal = os.dup(2)
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    os.close(writing)
    threading.Thread(target=_copy, args=(reading, log), name="spark-log", daemon=True).start()
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _copy(reading: int, log: Path) -> None:
    """Copies the output until all writing processes have ended.

    Output that cannot be written is read all the same: Spark must not block on a full disk.
    """
    with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
        with suppress(OSError), open(log, "a", encoding="utf-8") as file:
            for line in lines:
                with suppress(OSError):
                    file.write(scrub(line))
                    file.flush()
        for _ in lines:
            continue
