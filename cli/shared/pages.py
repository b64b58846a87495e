"""The pages of codes: what a diagnostic or a fault means, and how to fix it.

A page is Markdown shipped beside its code: ``dsl/explanations/SC0104.md``,
``runtime/explanations/SR0101.md``. Paragraphs follow its heading; the page of a diagnostic ends
with a failing spec and the same spec fixed, which a test compiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

_ROOT = Path(__file__).parents[2]
FOLDERS = (_ROOT / "dsl" / "explanations", _ROOT / "runtime" / "explanations")


class AnyCode(Protocol):
    """What the codes of diagnostics and of faults have in common."""

    @property
    def number(self) -> str: ...
    @property
    def slug(self) -> str: ...
    @property
    def summary(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its heading without ``#``, and the lines below it."""

    heading: str
    body: str

    @property
    def specs(self) -> tuple[str, ...]:
        """The specs of the page: the failing one and the fixed one, or none."""
        parts = f"\n{self.body}".split("\n```")
        return tuple(part.split("\n", 1)[1] + "\n" for part in parts[1::2])

    def text(self) -> str:
        """Return the page for a terminal: specs are indented instead of fenced."""
        lines = [self.heading]
        inside = False
        for line in self.body.splitlines():
            if line.startswith("```"):
                inside = not inside
            else:
                lines.append(f"    {line}".rstrip() if inside else line)
        return "\n".join(lines).rstrip() + "\n"


def known_codes() -> tuple[AnyCode, ...]:
    """Return the codes of diagnostics, then those of faults, each in the order of its number."""
    from ...dsl.reports.codes import all_codes
    from ...runtime.base.errors import CODES

    faults: Iterable[AnyCode] = sorted(CODES, key=lambda code: code.number)
    return (*all_codes(), *faults)


def find_codes(word: str, codes: Iterable[AnyCode]) -> list[AnyCode]:
    """Return the codes that a number or a slug names, in any case; two codes may share a slug."""
    wanted = word.lower().replace("_", "-")
    return [code for code in codes if wanted in (code.number.lower(), code.slug)]


@cache
def pages() -> Mapping[str, Path]:
    """Return the file of each page by the number that is its name."""
    return {path.stem: path for folder in FOLDERS for path in sorted(folder.glob("*.md"))}


def read_page(number: str) -> Page:
    """Read the page of a code; every code has one."""
    heading, body = pages()[number].read_text(encoding="utf-8").split("\n", 1)
    return Page(heading.removeprefix("# "), body)
