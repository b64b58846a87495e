"""Digests of the code of Python functions and classes: of the text of their modules.

A module is looked for next to the spec. Its imports are not included.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...contracts.targets import target_parts

_DIGITS = 16


def module_code(folder: Path | None, target: str) -> str | None:
    """Return a short digest of the module of ``module:name``; None where it is not found.

    Whole-line comments, empty lines and trailing spaces are ignored.
    """
    parts = target_parts(target)
    if folder is None or parts is None:
        return None
    path = folder.joinpath(*parts[0].split("."))
    for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        lines = (line.rstrip() for line in text.splitlines())
        code = "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
        return hashlib.sha256(code.encode()).hexdigest()[:_DIGITS]
    return None
