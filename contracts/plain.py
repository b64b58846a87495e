"""Values of settings that are neither a text nor a name."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"(?i)true|false|[-+]?\d[\d.]*\s*[a-z]{0,12}")


def is_switch_or_amount(value: str) -> bool:
    """Return whether a value is true, false or a number, with a unit or without.

    >>> [is_switch_or_amount(value) for value in ("TRUE", "10 seconds", "64m", "org.x.Y", "")]
    [True, True, True, False, False]
    """
    return _PLAIN.fullmatch(value) is not None
