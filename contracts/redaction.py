"""Removes secrets from what is written or printed: known ones, and what looks like one.

Values that a run has read from the environment or a file, and values of options with the name of a
secret, are passed to ``remember``. From then on no text of this process shows them, in any message
of any library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

from .secrets import MASK, secret_parts

_known: dict[str, re.Pattern[str]] = {}
_SHORT = 4
"""Shorter secrets are matched as whole words only: a digit is in every text."""

_PLACEHOLDER = re.compile(r"[*…$<{]")


def remember(secret: str) -> None:
    """Redact a secret in all texts, as it is and as URLs, JSON and Python write it."""
    for line in {secret, *secret.splitlines()}:
        line = line.strip()
        if line and line not in _known and not set(line) <= {"*"}:
            _known[line] = _pattern(line)


def _pattern(secret: str) -> re.Pattern[str]:
    written = {
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        secret.replace("'", "''"),
    }
    longest = "|".join(map(re.escape, sorted(written, key=lambda t: (-len(t), t))))
    if len(secret) < _SHORT:
        return re.compile(rf"(?<![\w.-])(?:{longest})(?![\w.-])")
    return re.compile(longest)


def scrub(text: str) -> str:
    """Return a text with ``***`` in place of each secret.

    >>> scrub("could not connect to postgresql://u:hunter2@db")
    'could not connect to postgresql://u:***@db'
    """
    for pattern in sorted(_known.values(), key=lambda p: -len(p.pattern)):
        text = pattern.sub(MASK, text)
    return _replaced(text, lambda secret: MASK)


def without_forms(text: str) -> str:
    """Return a text with ``***`` for what looks like a secret, known to this process or not."""
    return _replaced(text, lambda secret: MASK)


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text in which each character of a secret is ``*``: columns stay where they are.

    >>> masked("password = 'abc', x = 'def'", ["def"])
    "password = '***', x = '***'"
    """
    for secret in secrets:
        text = _pattern(secret).sub(lambda found: "*" * len(found[0]), text)
    return _replaced(text, lambda secret: "*" * len(secret))


def forget() -> None:
    """Forget all secrets; for a process that handles more than one pipeline."""
    _known.clear()


def _replaced(text: str, mask: Callable[[str], str]) -> str:
    for start, end in reversed(secret_parts(text)):
        secret = text[start:end]
        if _PLACEHOLDER.match(secret) is None:
            text = text[:start] + mask(secret) + text[end:]
    return text
