"""The command line of ``spark-submit`` for a package."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Submission:
    """The parts of the line: paths as they are printed, settings, arguments of the script."""

    script: str
    files: Sequence[str]
    jars: Sequence[str]
    py_files: Sequence[str]
    packages: Sequence[str]
    settings: Mapping[str, str]
    master: str | None
    arguments: Sequence[str]

    def text(self) -> str:
        """Return the line, an option on each of its lines, ready for a shell."""
        return " \\\n".join([self._words(one) for one in self._parts()]) + "\n"

    def _parts(self) -> list[tuple[str, ...]]:
        parts: list[tuple[str, ...]] = [("spark-submit",)]
        if self.master is not None:
            parts.append(("--master", self.master))
        named = {
            "--py-files": self.py_files,
            "--jars": self.jars,
            "--files": self.files,
            "--packages": self.packages,
        }
        parts += [(option, ",".join(values)) for option, values in named.items() if values]
        parts += [("--conf", f"{name}={value}") for name, value in sorted(self.settings.items())]
        return [*parts, (self.script, *self.arguments)]

    def _words(self, part: tuple[str, ...]) -> str:
        line = " ".join(map(shlex.quote, part))
        return line if part == ("spark-submit",) else f"{_INDENT}{line}"
