"""The text of a spec stored with the script and savepoints: without secrets in comments.

Options and settings have none in a spec that compiles; a line that is commented out may.
"""

from __future__ import annotations

import re

from ...contracts.redaction import without_forms

_FRONT_MATTER = re.compile(r"\s*---[^\n]*\n.*?^---[^\n]*$", re.DOTALL | re.MULTILINE)
_OF_YAML = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_OF_SQL = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)


def spec_copy(text: str) -> str:
    """Return a spec with ``***`` for what looks like a secret in its comments.

    >>> print(spec_copy("SELECT 'password=x' -- was password=x"))
    SELECT 'password=x' -- was password=***
    """
    head = _FRONT_MATTER.match(text)
    end = head.end() if head is not None else 0
    settings = _OF_YAML.sub(lambda found: without_forms(found[0]), text[:end])
    return settings + _OF_SQL.sub(_comment, text[end:])


def _comment(found: re.Match[str]) -> str:
    return found[0] if found[0][0] in "'\"`" else without_forms(found[0])
