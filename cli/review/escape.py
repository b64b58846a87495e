"""Texts of others in Markdown: names and expressions may contain anything.

A text that is not code is escaped so that it is shown as it is: no emphasis, link, HTML, mention or
reference to an issue comes of it.
"""

from __future__ import annotations

import re
from html import escape

from ...contracts.terminal import one_line, printable

_SPECIAL = re.compile(r"([\\`*_\[\]|~$]|:(?=//)|(?<=www)\.)")
_REFERS = re.compile("([@#])")
_QUOTED = re.compile(r"`([^`]*)`")
_TICKS = re.compile("`+")


def plain(text: str) -> str:
    r"""Return a text as a part of a line or of a cell of a table.

    >>> print(plain("a|b <i> @me *x*"))
    a\|b &lt;i&gt; @<!-- -->me \*x\*
    """
    line = _SPECIAL.sub(r"\\\1", escape(one_line(text), quote=False))
    return _REFERS.sub(r"\1<!-- -->", line)


def code(text: str) -> str:
    r"""Return a text as code in a line or in a cell of a table.

    >>> print(code("a|b"), code("a`b"))
    `a\|b` `` a`b ``
    """
    line = one_line(text)
    if not line.strip():
        return plain(line)
    # A backslash before a bar belongs to the table; there is no code with one in a cell.
    if "\\|" in line or ("|" in line and line.endswith("\\")):
        return f"<code>{plain(line)}</code>"
    ticks = _fence(line, 1)
    space = " " if line[0] in "` " or line[-1] in "` " or "`" in line else ""
    return f"{ticks}{space}{line}{space}{ticks}".replace("|", "\\|")


def prose(text: str) -> str:
    r"""Return a text in which names stand between backticks, with these as code.

    >>> print(prose("no `a|b` in <x>"))
    no `a\|b` in &lt;x&gt;
    """
    pieces = _QUOTED.split(text)
    return "".join(code(one) if at % 2 and one else plain(one) for at, one in enumerate(pieces))


def block(text: str, language: str) -> str:
    """Return lines as a block of code, which no line of them ends."""
    fence = _fence(text, 3)
    lines = printable(text)
    return f"{fence}{language}\n{lines}{'' if lines.endswith(chr(10)) else chr(10)}{fence}\n"


def _fence(text: str, least: int) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)
