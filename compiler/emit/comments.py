"""The spec's own comments: those above a statement are put above its paragraph.

What a paragraph does, the script can say; why, only the spec knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contracts.redaction import without_forms
from ...dsl.ast.node import Name
from ...dsl.ast.statements import Spec

_SIGN = "--"


def comments_above(spec: Spec, text: str) -> dict[str, tuple[str, ...]]:
    """Return the lines of comment right above each statement, by the name that it declares.

    An empty line ends them: what is above it is about the file, or outdated. They contain no
    secret, no invisible character, and nothing that would end a comment in Python.
    """
    settings = -1 if spec.front_matter is None else spec.front_matter.span.end
    found: dict[str, tuple[str, ...]] = {}
    for statement in spec.statements:
        name = getattr(statement, "name", None)
        lines = tuple(_above(text, statement.span.start, settings))[::-1]
        if isinstance(name, Name) and lines:
            found.setdefault(name.text, lines)
    return found


def _above(text: str, start: int, settings: int) -> Iterator[str]:
    """Yield the lines of comment above an offset, from the last to the first.

    ``settings`` is where the front matter ends: its `---` is no comment.
    """
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip():
        return
    while line > 0:
        end = line - 1
        line = text.rfind("\n", 0, end) + 1
        above = text[line:end].strip()
        if line <= settings or not above.startswith(_SIGN):
            return
        yield _shown(above.removeprefix(_SIGN).removeprefix(" "))


def _shown(line: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in line.expandtabs(4))
    return without_forms(plain).rstrip()
