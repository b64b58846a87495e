"""Runnable tests from test files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...compiler.driver import CompileResult, compile_source, output_files
from ...compiler.spec_tests.diagnostics import Teller
from ...compiler.spec_tests.model import Case
from ...compiler.spec_tests.read import read_case, read_tests, spec_of
from ...compiler.spec_tests.upgrades import Version
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostics
from ...dsl.reports.source import SourceFile, Span
from ...dsl.yaml.nodes import Mapping, Scalar
from ..shared.report import UserError
from ..shared.spec_files import read_spec
from .find import spec_beside


@dataclass(frozen=True, slots=True)
class Test:
    """One test in one way of arrival; ``name`` says both."""

    __test__ = False

    file: Path
    source: SourceFile
    case: Case
    way: str
    name: str
    spec: Path
    compiled: CompileResult


@dataclass(slots=True)
class Suite:
    """The tests of some files, and all diagnostics about these and their specs."""

    tests: list[Test] = field(default_factory=list)
    found: list[Diagnostics] = field(default_factory=list)


def load_tests(files: Iterable[Path], read: Callable[[Path], SourceFile] = read_spec) -> Suite:
    """Read and check files; raises ``UserError`` for one that cannot be read.

    ``read`` returns the text of a file: of a test, a spec or a migration.
    """
    loader = _Loader(read)
    for file in files:
        loader.load(file)
    return loader.suite


def named(tests: Sequence[Test], text: str) -> list[Test]:
    """Return the tests whose name contains a text, ignoring case."""
    found = [test for test in tests if text.lower() in test.name.lower()]
    if not found:
        raise UserError(f"no test's name contains `{text}`")
    return found


class _Loader:
    def __init__(self, read: Callable[[Path], SourceFile]) -> None:
        self.suite = Suite()
        self.read = read
        self._specs: dict[Path, CompileResult | None] = {}

    def load(self, file: Path) -> None:
        source = self.read(file)
        diagnostics = Diagnostics(source)
        self.suite.found.append(diagnostics)
        nodes = read_tests(source, diagnostics)
        for number, node in enumerate(nodes, 1):
            spec = self._spec(file, node, Teller(diagnostics))
            compiled = None if spec is None else self.compiled(spec)
            if spec is None or compiled is None:
                continue
            neighbours = _Neighbours(self, file, Teller(diagnostics))
            case = read_case(node, version_of(spec, compiled), diagnostics, neighbours)
            unnamed = file.stem if len(nodes) == 1 else f"{file.stem} {number}"
            for way, name in _names(case.name or unnamed, case.ways):
                self.suite.tests.append(Test(file, source, case, way, name, spec, compiled))

    def compiled(self, spec: Path) -> CompileResult | None:
        """Return what a spec compiles to; its diagnostics are reported once."""
        key = spec.resolve()
        if key not in self._specs:
            result = compile_source(self.read(spec))
            self._specs[key] = None if result.diagnostics.has_errors else result
            if result.diagnostics.has_errors:
                self.suite.found.append(result.diagnostics)
        return self._specs[key]

    def _spec(self, file: Path, test: Mapping, teller: Teller) -> Path | None:
        written = spec_of(test)
        node = test.get("spec")
        if node is not None and written is None:
            teller.form("`spec` is not a path", node, "write a path relative to this file")
            return None
        if written is None:
            found = spec_beside(file)
            if found is None:
                teller.tell(
                    codes.TEST_SPEC,
                    "there is not exactly one spec next to this file",
                    Span(test.span.start, test.span.start + 1),
                    "name the one to test: `spec: ../card_fraud.stream`",
                )
            return found
        return beside(file, written, teller)


class _Neighbours:
    """The files next to a test file that its upgrades need."""

    def __init__(self, loader: _Loader, file: Path, teller: Teller) -> None:
        self._loader = loader
        self._file = file
        self._teller = teller

    def version(self, path: Scalar) -> Version | None:
        spec = beside(self._file, path, self._teller)
        compiled = None if spec is None else self._loader.compiled(spec)
        return None if spec is None or compiled is None else version_of(spec, compiled)

    def migration(self, path: Scalar | Path) -> Diagnostics | None:
        if isinstance(path, Scalar):
            found = beside(self._file, path, self._teller)
        else:
            found = path if path.is_file() else None
        if found is None:
            return None
        diagnostics = Diagnostics(self._loader.read(found))
        self._loader.suite.found.append(diagnostics)
        return diagnostics


def beside(file: Path, written: Scalar, teller: Teller) -> Path | None:
    """Return the file that a test file names; None, with a diagnostic, if there is none."""
    found = file.parent / written.text
    if found.is_file():
        return found
    teller.tell(
        codes.TEST_SPEC,
        f"there is no {Path(os.path.normpath(found)).as_posix()}",
        written.span,
        "write a path relative to this file",
    )
    return None


def version_of(spec: Path, compiled: CompileResult) -> Version:
    """Return a spec without errors in the form that its tests use."""
    assert compiled.model is not None and compiled.plan is not None
    files = {path.name: text for path, text in output_files(compiled, Path()).items()}
    return Version(spec, compiled.model, compiled.plan, files)


def _names(name: str, ways: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each way of arrival with the test's name for it; a single way is not mentioned."""
    for way in ways:
        yield way, f"{name} [{way}]" if len(ways) > 1 else name
