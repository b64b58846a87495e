"""Spark settings that could run code from outside the spec: only where the spec allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...contracts.java import ALLOW, setting_runs_java
from ..reports import codes
from ..reports.diagnostics import Diagnostic, Label
from .spark import meant

if TYPE_CHECKING:
    from ..yaml.tree import Path, Value, YamlTree

ALLOWING = f"declare `allow: [{ALLOW}]` in the front matter if that is intended"


def check_java_settings(
    root: dict[str, Value], tree: YamlTree
) -> Iterator[tuple[Path, Diagnostic]]:
    """Report settings that could run such code, unless the front matter allows it."""
    allowed = root.get("allow")
    if isinstance(allowed, list) and ALLOW in allowed:
        return
    for path, value in list(_spark(root)):
        # A misspelt setting of Spark is reported as such.
        if setting_runs_java(path[-1], value) and meant(path[-1]) is None:
            yield (
                path,
                Diagnostic(
                    codes.RUNS_JAVA,
                    f"`{path[-1]}` can make Spark run code that is not in the spec",
                    Label(tree.keys[path]),
                    help=ALLOWING,
                ),
            )


def _spark(root: dict[str, Value]) -> Iterator[tuple[Path, str]]:
    profiles = root.get("profiles")
    places: list[tuple[Path, Value]] = [((), root)]
    if isinstance(profiles, dict):
        places += [(("profiles", name), profile) for name, profile in profiles.items()]
    for place, settings in places:
        spark = settings.get("spark") if isinstance(settings, dict) else None
        for name, value in spark.items() if isinstance(spark, dict) else ():
            if isinstance(value, str) and name.startswith("spark."):
                yield (*place, "spark", name), value
