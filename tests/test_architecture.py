"""What holds for the project as a whole: layers, maps, determinism, no stale expectations."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from golden_extension import cases
from streamc.cli.specs.compile import Phase
from streamc.compiler.driver import PHASES
from test_golden import STAGES

ROOT = Path(__file__).parent.parent
OUTSIDE = {"tests", "specs", "benchmarks", "scripts", "docs", "build", "dist", "tools"}
"""Folders of the checkout that are not packages."""

GOLDEN = cases("golden")


@cache
def packages() -> list[Path]:
    """Return the folders of the package, relative to the root, the root first."""
    folders = [path for path in ROOT.iterdir() if path.name not in OUTSIDE and path.is_dir()]
    visible = [path for path in folders if not path.name.startswith(".")]
    found = [path.parent for folder in visible for path in folder.rglob("__init__.py")]
    return [Path(), *sorted(path.relative_to(ROOT) for path in found)]


def python(code: str, cwd: Path = ROOT, **environment: str) -> str:
    """Return what a fresh interpreter prints; the root is not on its path."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Packages and layers.


def test_every_package_is_shipped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    assert listed == [".".join(("streamc", *path.parts)) for path in packages()]


def test_every_file_of_a_package_is_shipped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    globs = settings["tool"]["setuptools"]["package-data"]["*"]
    folders = [ROOT / path for path in packages() if path.parts]
    shipped = {file for folder in folders for glob in globs for file in folder.glob(glob)}
    held = {f for folder in folders for f in folder.rglob("*") if f.is_file()}
    assert {f for f in held - shipped if f.suffix not in (".py", ".pyc")} == set()


@pytest.mark.parametrize("package", packages(), ids=str)
def test_a_package_maps_its_modules(package: Path) -> None:
    folder = ROOT / package
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    folders = {path.name for path in packages() if path.parent == package and path != package}
    if package == Path():
        modules = set()
    unmapped = {
        name for name in modules | folders if not re.search(rf"`{name}(\.py)?`", text or "")
    }
    assert unmapped == set(), f"{package}/__init__.py does not say what these are for"


def test_a_script_loads_the_runtime_alone() -> None:
    loaded = python("import streamc.runtime, sys; print(*sorted(sys.modules))").split()
    roots = {name.split(".")[0] for name in loaded}
    assert roots.isdisjoint({"lark", "jinja2", "pydantic", "yaml", "typer", "rich"})
    own = {name.split(".")[1] for name in loaded if name.startswith("streamc.")}
    assert own == {"contracts", "runtime"}


def test_the_command_line_is_cheap_to_load() -> None:
    loaded = python("import streamc.cli.app, sys; print(*sorted(sys.modules))").split()
    roots = {name.split(".")[0] for name in loaded}
    assert roots.isdisjoint({"lark", "jinja2", "pydantic", "yaml", "rich", "pyspark", "pyarrow"})


@pytest.mark.slow
def test_the_compiler_never_loads_spark() -> None:
    spec = GOLDEN[0] / "spec.stream"
    loaded = python(
        "import sys\n"
        "from streamc.cli.app import app\n"
        f"app(['compile', {str(spec)!r}, '--stop-after', 'script'], standalone_mode=False)\n"
        "print(*sorted(sys.modules), file=sys.stderr)\n"
        "assert not {'pyspark', 'rich', 'py4j', 'pyarrow', 'pandas'} & set(sys.modules)\n"
    )
    assert loaded.startswith('"""')


def test_the_command_line_knows_the_phases() -> None:
    assert tuple(phase.value for phase in Phase) == PHASES


# Expected files.


@pytest.mark.parametrize(
    ("folder", "inputs", "expected"),
    [
        ("golden", {"spec.stream"}, set(STAGES)),
        ("errors", {"spec.stream"}, {"stderr.txt"}),
        ("changes", {"before.stream", "after.stream"}, {"pipeline.diff", "verdict.txt"}),
        (
            "migrations",
            {"old.stream", "new.stream"},
            {"verdicts.txt", "migration.json", "draft.yaml"},
        ),
        ("evolutions", {"new.stream"}, {"verdicts.txt", "migration.json", "draft.yaml"}),
    ],
)
def test_no_stale_expectations(folder: str, inputs: set[str], expected: set[str]) -> None:
    for case in sorted((ROOT / "tests" / folder).iterdir()):
        held = {path.name for path in case.iterdir() if path.name != "__pycache__"}
        if folder in ("migrations", "evolutions"):
            held -= {"migration.yaml", "rows.yaml"}
        held -= {"old.stream"} if folder == "evolutions" else set()
        assert held == inputs | expected, case


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_a_golden_spec_says_what_to_look_for(case: Path) -> None:
    lines = (case / "spec.stream").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("-- ") or line.startswith("# ") for line in lines[:2])


# Emitted code.


def test_emitted_scripts_compile_and_are_lint_clean() -> None:
    scripts = [case / "pipeline.py" for case in GOLDEN]
    for script in scripts:
        compile(script.read_text(encoding="utf-8"), str(script), "exec")
    rules = ["--select", "E,F,W,B,UP,SIM,RET,PIE", "--ignore", "E501"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *rules, *scripts],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


COMPILE_ALL = """
import sys
from pathlib import Path
from streamc.compiler.driver import compile_source
from streamc.dsl.reports.source import SourceFile
for folder in {folders!r}:
    text = Path(folder, "spec.stream").read_text(encoding="utf-8")
    result = compile_source(SourceFile(Path(folder).name + ".stream", text))
    for phase in {phases!r}:
        sys.stdout.write(result.text(phase))
"""


@pytest.mark.slow
def test_the_same_spec_gives_the_same_bytes(tmp_path: Path) -> None:
    """In another folder and with other hashes than where the files were written."""
    code = COMPILE_ALL.format(folders=[str(case) for case in GOLDEN], phases=tuple(STAGES.values()))
    expected = [(case / name).read_text(encoding="utf-8") for case in GOLDEN for name in STAGES]
    made = python(code, tmp_path, PYTHONHASHSEED="77")
    assert made == "".join(expected)
