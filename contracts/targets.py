"""``module:name``: how a function or class in Python is named."""

from __future__ import annotations

import re

_TARGET = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


def target_parts(target: str) -> tuple[str, str] | None:
    """Return the module and the name that a target has; None if it is none.

    >>> target_parts("models.risk:score")
    ('models.risk', 'score')
    >>> target_parts("models.risk") is None
    True
    """
    found = _TARGET.fullmatch(target)
    return None if found is None else (found[1], found[2])
