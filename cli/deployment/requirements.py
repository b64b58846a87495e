"""The Python packages that a cluster needs beside a package of files, as a requirements file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires, version
from typing import TYPE_CHECKING

from ...contracts.plan import Plan, Program
from ...runtime.connectors.registry import SINKS

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def requirements(plan: Plan, installed: Iterable[str]) -> str:
    """Return the text of a requirements file.

    PySpark and what the plan's functions, operators and connectors in Python need, in the versions
    that this project allows; what the user's modules import, in the versions installed here.
    """
    allowed = _allowed()
    lines = {name: allowed[name] for name in _needed(plan)}
    distributions = packages_distributions()
    for module in installed:
        for name in distributions.get(module, ()):
            known = _normalized(name)
            lines.setdefault(known, allowed.get(known, f"{known}=={version(name)}"))
    return "".join(f"{lines[name]}\n" for name in sorted(lines))


def _needed(plan: Plan) -> Iterator[str]:
    yield "pyspark"
    programs = [one for one in plan.operators.values() if isinstance(one, Program)]
    in_python = any(one.python_class is not None for one in programs)
    if plan.functions or in_python:
        yield from ("pandas", "pyarrow")
    if in_python:
        yield "protobuf"
    for sink in plan.sinks.values():
        yield from SINKS[sink.connector].distributions


def _allowed() -> dict[str, str]:
    """What the project itself requires, by name, extras included but those of its development."""
    found = {}
    for line in requires("streamc") or ():
        requirement, _, marker = line.partition(";")
        extra = _EXTRA.search(marker)
        if extra is not None and extra[1] == "dev":
            continue
        named = _NAME.match(requirement)
        assert named is not None
        found[_normalized(named[0])] = requirement.strip()
    return found


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
