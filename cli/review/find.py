"""The specs that differ from a revision, each with the one that it continues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ...contracts.targets import target_parts
from ..shared.report import UserError
from ..shared.spec_files import SUFFIX, read_spec
from ..specs.revisions import compile_version
from .base import Base

if TYPE_CHECKING:
    from ...compiler.driver import CompileResult
    from ...dsl.reports.source import SourceFile

_MODULE = ".py"
_QUOTED = re.compile("'([^'\n]*)'")


@dataclass(frozen=True, slots=True)
class Pair:
    """A spec at the revision and in the working tree; None where it is not there.

    ``file`` is its path from the root of the repository, the new one if it has moved; ``old_file``
    is that of ``old``. ``same_text`` says that only modules next to it differ, ``continues`` that
    ``old_file`` is still there: an earlier version of the same pipeline.
    """

    file: str
    old_file: str | None
    old: CompileResult | None
    new: CompileResult | None
    same_text: bool = False
    continues: bool = False


def changed_specs(base: Base, paths: Sequence[str], scratch: Path) -> list[Pair]:
    """Return the specs in some files or folders that differ, by name; without any, in all.

    An added spec of a pipeline that the revision has is paired with that: a removed one, which has
    moved, or the newest version in the same folder. Modules of the revision are written below
    ``scratch``. Raises ``UserError`` for a path without a spec in either version.
    """
    finder = _Finder(base, paths or [str(base.root)], scratch)
    for path in paths:
        finder.check(path)
    pairs = [finder.pair(name) for name in finder.differing()]
    return sorted(finder.joined(pairs), key=lambda pair: pair.file)


class _Finder:
    def __init__(self, base: Base, paths: Sequence[str], scratch: Path) -> None:
        self._base, self._scratch = base, scratch
        self._old = _specs(base.files(paths).items())
        self._new = {name for name in base.present(paths) if name.endswith(SUFFIX)}
        self._extracted: set[PurePosixPath] = set()

    def check(self, path: str) -> None:
        """Raise ``UserError`` for a path without a spec in either version."""
        names = [*self._base.files([path]), *self._base.present([path])]
        if not any(name.endswith(SUFFIX) for name in names):
            raise UserError(f"there is no spec in {path}, now or at the revision")

    def differing(self) -> list[str]:
        """Return specs that differ, or that may: a module below their folder does."""
        known = self._old.keys() | self._new
        differ = self._base.differing(SUFFIX, _MODULE)
        modules = [PurePosixPath(name) for name in differ if name.endswith(_MODULE)]
        found = {name for name in differ if name in known}
        for name in sorted(self._new):
            folder = PurePosixPath(name).parent
            if name in self._old and any(folder in module.parents for module in modules):
                found |= {name} if _uses_python(self._read(name).text) else set()
        return sorted(found)

    def pair(self, name: str) -> Pair:
        """Return both versions of a spec."""
        old = self._read_old(name) if name in self._old else None
        new = self._read(name) if name in self._new else None
        shown = new or old
        assert shown is not None
        same = old is not None and new is not None and old.text == new.text
        return Pair(
            name,
            None if old is None else name,
            None if old is None else compile_version(old, shown),
            None if new is None else compile_version(new, shown),
            same,
        )

    def joined(self, pairs: Sequence[Pair]) -> Iterator[Pair]:
        """Yield pairs, with an added spec and the one that it continues as one."""
        removed = [pair for pair in pairs if pair.new is None]
        by_name = {_pipeline(pair.old): pair for pair in removed}
        moved = set()
        for pair in pairs:
            if pair.old is None and pair.new is not None and pair.new.plan is not None:
                before = by_name.get(_pipeline(pair.new)) or self._previous(pair)
                if before is not None and before.old is not None:
                    moved |= {before.file} if before.new is None else set()
                    old = compile_version(before.old.source, pair.new.source)
                    pair = Pair(
                        pair.file,
                        before.file,
                        old,
                        pair.new,
                        continues=before.new is not None,
                    )
            yield from () if pair.new is None else (pair,)
        yield from (pair for pair in removed if pair.file not in moved)

    def _previous(self, pair: Pair) -> Pair | None:
        """Return the newest version of a pipeline in the folder of an added spec."""
        folder = PurePosixPath(pair.file).parent
        near = [name for name in self._old if PurePosixPath(name).parent == folder]
        found = [self.pair(name) for name in near if name in self._new]
        same = [one for one in found if _pipeline(one.old) == _pipeline(pair.new)]
        return max(same, key=lambda one: (_version(one.old), one.file), default=None)

    def _read(self, name: str) -> SourceFile:
        return read_spec(self._base.root / name, name)

    def _read_old(self, name: str) -> SourceFile:
        from ...dsl.reports.source import SourceFile, decoded

        try:
            text = decoded(self._base.content(self._old[name]))
        except UnicodeDecodeError as error:
            raise UserError(f"{name} is not UTF-8 at the revision") from error
        folder = PurePosixPath(name).parent
        if _uses_python(text) and folder not in self._extracted:
            self._base.extract(folder, _MODULE, self._scratch)
            self._extracted.add(folder)
        return SourceFile(name, text, self._scratch / folder)


def _specs(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: identity for name, identity in files if name.endswith(SUFFIX)}


def _uses_python(text: str) -> bool:
    return any(target_parts(found) is not None for found in _QUOTED.findall(text))


def _pipeline(result: CompileResult | None) -> str | None:
    return None if result is None or result.plan is None else result.plan.pipeline


def _version(result: CompileResult | None) -> int:
    return 0 if result is None or result.plan is None else result.plan.version
