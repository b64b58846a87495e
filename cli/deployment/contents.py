"""The files of a package, and the command that starts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ... import __version__
from .modules import modules_of
from .requirements import requirements
from .submit import Submission
from .zips import rezipped, zipped

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ...compiler.driver import CompileResult
    from ...contracts.plan import Plan

_PARTS = ("contracts", "runtime")
"""What a script runs on; the compiler is not needed where it runs."""
_KINDS = (".py", ".scala")


@dataclass(frozen=True, slots=True)
class Package:
    """The files by their paths, and the line that submits them."""

    files: Mapping[Path, str | bytes]
    submission: Submission


def package_of(
    result: CompileResult,
    folder: Path,
    *,
    profile: str | None,
    master: str | None,
    folders: Sequence[Path],
    tell: Callable[[str], None],
) -> Package:
    """Return what a compiled spec needs on a cluster, with paths in a folder.

    The user's modules are looked for in ``folders``. The kernel is built if it is not there yet.
    Raises ``UserError`` for modules that are missing, ``RuntimeFault`` when the kernel cannot be
    built or the profile is unknown.
    """
    from ...compiler.driver import output_files
    from ...runtime.kernel.build import kernel_jar
    from ...runtime.kernel.shipped import shipped_name

    assert result.plan is not None
    plan = result.plan
    settings, packages = _settings(plan, profile)
    modules = modules_of(plan, folders)
    compiled = output_files(result, folder)
    script, *beside = compiled
    streamc, jar = folder / f"streamc-{__version__}.zip", folder / shipped_name()
    py_files = {streamc: zipped(dict(_runtime()))}
    if modules.files:
        py_files[folder / f"{plan.pipeline}-modules.zip"] = zipped(modules.files)
    needed = {folder / "requirements.txt": requirements(plan, modules.installed)}
    submission = Submission(
        script=str(script),
        files=[str(path) for path in beside],
        jars=[str(jar)],
        py_files=[str(path) for path in py_files],
        packages=packages,
        settings=settings,
        master=master,
        arguments=[] if profile is None else ["--profile", profile],
    )
    return Package({**compiled, **py_files, jar: rezipped(kernel_jar(tell)), **needed}, submission)


def _settings(plan: Plan, profile: str | None) -> tuple[dict[str, str], list[str]]:
    """Return what Spark has to be started with: settings, and coordinates of packages.

    Settings of SQL are those of a session, which the run sets itself; so are values with secrets,
    which are read on the driver.
    """
    from ...runtime.base.secrets import without_references
    from ...runtime.connectors.registry import packages_of
    from ...runtime.plan.settings import profile_of
    from ...runtime.spark.packages import SETTING, fetching
    from ...runtime.spark.session import CODE_KEPT

    own = without_references({**plan.settings.spark, **profile_of(plan, profile).spark})
    found = fetching(own, packages_of(plan))
    packages = [one for one in found.pop(SETTING, "").split(",") if one]
    early = {name: value for name, value in found.items() if not name.startswith("spark.sql.")}
    name, value = CODE_KEPT
    return {name: own.get(name, value), **early}, packages


def _runtime() -> Iterator[tuple[str, bytes]]:
    root = files("streamc")
    yield "streamc/__init__.py", (root / "__init__.py").read_bytes()
    for part in _PARTS:
        yield from _within(root / part, f"streamc/{part}")


def _within(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _within(one, f"{path}/{one.name}")
        elif one.name.endswith(_KINDS):
            yield f"{path}/{one.name}", one.read_bytes()
