"""Values that, once variables are filled in, would run code that the spec does not show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ...contracts.java import ALLOW, option_runs_java, setting_runs_java
from .errors import JAVA_NOT_ALLOWED, RuntimeFault


def check_settings(settings: Mapping[str, str], allow: Collection[str]) -> None:
    """Raises RuntimeFault for a setting of Spark that could, unless the spec allows it."""
    for name, value in settings.items():
        if ALLOW not in allow and setting_runs_java(name, value):
            raise _fault(f"setting `{name}`")


def check_options(owner: str, options: Mapping[str, Any], allow: Collection[str]) -> None:
    """Raises RuntimeFault for an option of Spark that could, unless the spec allows it."""
    for name, value in options.items():
        if ALLOW not in allow and option_runs_java(name, str(value)):
            raise _fault(f"option `{name}` of {owner}")


def _fault(what: str) -> RuntimeFault:
    return RuntimeFault(
        JAVA_NOT_ALLOWED,
        f"{what} can make Spark run code that is not in the spec",
        f"declare `allow: [{ALLOW}]` in the front matter if that is meant, and compile it again",
    )
