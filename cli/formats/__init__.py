"""Diagnostics in the formats of other tools.

- ``github``: workflow commands, which GitHub shows beside the lines of a pull request.
- ``sarif``: SARIF 2.1.0, which code scanning reads.
- ``junit``: JUnit XML, which CI servers show as tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...dsl.reports.diagnostics import Diagnostics
from .github import render_github
from .junit import render_junit
from .sarif import render_sarif

RENDERERS: Mapping[str, Callable[[Sequence[Diagnostics]], str]] = {
    "github": render_github,
    "sarif": render_sarif,
    "junit": render_junit,
}
"""The text of the diagnostics of some files, which may have none, by the name of its format."""
