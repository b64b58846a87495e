"""The user's Python modules that a plan needs: those it names, and what they import beside them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...compiler.connectors.options import FUNCTION
from ...compiler.connectors.registry import SINKS
from ...contracts.plan import Plan, Program
from ...contracts.targets import target_parts
from ..shared.report import UserError

_SKIPPED = ("__pycache__",)


@dataclass(slots=True)
class Modules:
    """Files by their path on Python's path; top-level names of modules that are installed."""

    files: dict[str, bytes] = field(default_factory=dict)
    installed: set[str] = field(default_factory=set)


def targets_of(plan: Plan) -> dict[str, str]:
    """Return what a plan calls in Python: ``module:name`` by its owner in messages."""
    found = {f"function `{name}`": one.target for name, one in plan.functions.items()}
    for name, sink in plan.sinks.items():
        for option in SINKS[sink.connector].options:
            if option.kind is FUNCTION:
                found[f"sink `{name}`"] = sink.options[option.name]
    for id_, operator in plan.operators.items():
        if isinstance(operator, Program) and operator.python_class is not None:
            found[f"operator `{id_}`"] = operator.python_class
    return found


def modules_of(plan: Plan, folders: Sequence[Path]) -> Modules:
    """Return the modules of a plan, looked for in the folders as a run does.

    A module of a package brings the whole package, with its files of data. Raises ``UserError`` for
    one that is neither there nor installed.
    """
    found = Modules()
    wanted = []
    for owner, target in targets_of(plan).items():
        parts = target_parts(target)
        if parts is None:
            raise UserError(f"{owner}: `{target}` is not `module:name`")
        top = parts[0].partition(".")[0]
        if _located(top, folders) is None and not _is_installed(top):
            listed = ", ".join(str(folder) for folder in folders)
            raise UserError(
                f"{owner}: there is no module `{parts[0]}`",
                f"put {parts[0].replace('.', '/')}.py into one of: {listed}",
            )
        wanted.append(top)
    _collect(wanted, folders, found)
    return found


def _collect(names: Iterable[str], folders: Sequence[Path], found: Modules) -> None:
    left, seen = list(names), set(found.installed)
    while left:
        name = left.pop()
        if name in seen or name in sys.stdlib_module_names or name in ("pyspark", "streamc"):
            continue
        seen.add(name)
        place = _located(name, folders)
        if place is None:
            if _is_installed(name):
                found.installed.add(name)
            continue
        for path in _files(place):
            content = _read(path)
            found.files[path.relative_to(place.parent).as_posix()] = content
            if path.suffix == ".py":
                left += _imported(content, path)


def _located(name: str, folders: Sequence[Path]) -> Path | None:
    """The folder of a package, or the file of a module."""
    for folder in folders:
        for place in (folder / name, folder / f"{name}.py"):
            if place.is_dir() and any(place.glob("**/*.py")):
                return place
            if place.suffix == ".py" and place.is_file():
                return place
    return None


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for path in sorted(place.rglob("*")):
        hidden = any(p.startswith(".") or p in _SKIPPED for p in path.relative_to(place).parts)
        if path.is_file() and not hidden:
            yield path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def _imported(content: bytes, path: Path) -> Iterator[str]:
    """The top-level names that a module imports, wherever in it; relative ones are its own."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{path} is not Python: {error}", "fix it, or move it away") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield node.module.partition(".")[0]


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
