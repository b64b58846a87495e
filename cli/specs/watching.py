"""Files that are watched: something is repeated whenever one of them changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from ..shared.spec_files import SUFFIX

_EVERY = 0.5
"""Seconds between two looks. Files are looked at, since not every file system tells of changes."""

Seen = dict[Path, tuple[int, int, int]]
"""Files with what a change of them changes: inode, time of modification, length."""


def repeat_on_change(
    paths: Sequence[Path],
    once: Callable[[Sequence[Path]], None],
    sleep: Callable[[float], None] = time.sleep,
) -> NoReturn:
    """Call a function now, and with the files that changed whenever some have; until Ctrl-C.

    Watched are the specs of files and folders, and the Python modules next to them. A spec may
    appear and vanish meanwhile. Raises ``KeyboardInterrupt``.
    """
    seen = look(paths)
    once(())
    while True:
        sleep(_EVERY)
        found = look(paths)
        changed = sorted(path for path in seen | found if seen.get(path) != found.get(path))
        # What was written while the function ran is found at the next look.
        seen = found
        if changed:
            once(changed)


def look(paths: Sequence[Path]) -> Seen:
    """Return the files that exist."""
    found: Seen = {}
    for path in dict.fromkeys(_watched(paths)):
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_ino, status.st_mtime_ns, status.st_size)
    return found


def _watched(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        specs = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        yield from specs
        for folder in dict.fromkeys(spec.parent for spec in specs):
            yield from sorted(folder.glob("*.py"))
