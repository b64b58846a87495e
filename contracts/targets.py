"""``module:name``, which names a function or class in Python."""

from __future__ import annotations

import re

_TARGET = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)")


def target_parts(target: str) -> tuple[str, str] | None:
    """Return the module and the name of a target; None if the text is not one.

    >>> target_parts("models.risk:score")
    ('models.risk', 'score')
    >>> target_parts("models.risk") is None
    True
    """
    found = _TARGET.fullmatch(target)
    return None if found is None else (found[1], found[2])
