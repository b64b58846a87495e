"""Test files: those given, and those in ``tests`` folders next to a spec."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..shared.report import UserError
from ..shared.spec_files import SUFFIX

SUFFIXES = (".yaml", ".yml")
FOLDER = "tests"


def find_tests(paths: Iterable[Path]) -> Sequence[Path]:
    """Return each file once, in the order of the paths and by name.

    In a folder, these are the YAML files in folders called ``tests`` whose parent holds a spec; a
    spec stands for its tests. Raises ``UserError`` for a path that holds none.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise UserError(f"there is no {path}")
        if path.is_dir():
            inside = [file for folder in _folders(path) for file in _files(folder)]
            where = path
        elif path.suffix == SUFFIX:
            inside, where = _files(path.parent / FOLDER), path.parent
        elif path.suffix in SUFFIXES:
            inside, where = [path], path
        else:
            raise UserError(f"{path} contains no tests", "names of test files end in `.yaml`")
        if not inside:
            raise UserError(
                f"there are no tests in {where}",
                f"tests are YAML files in a folder `{FOLDER}` next to the spec",
            )
        found.update(dict.fromkeys(inside))
    return list(found)


def spec_beside(file: Path) -> Path | None:
    """Return the only spec in the folder that a test file belongs to, None if there is none."""
    folder = file.parent.parent if file.absolute().parent.name == FOLDER else file.parent
    specs = _specs(folder)
    return specs[0] if len(specs) == 1 else None


def _folders(path: Path) -> list[Path]:
    below = sorted(folder for folder in path.rglob(FOLDER) if folder.is_dir())
    own = [path] if path.resolve().name == FOLDER else []
    return [folder for folder in (*own, *below) if _specs(folder.resolve().parent)]


def _specs(folder: Path) -> list[Path]:
    return sorted(spec for spec in folder.glob(f"*{SUFFIX}") if spec.is_file())


def _files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.glob("*") if f.suffix in SUFFIXES and f.is_file())
