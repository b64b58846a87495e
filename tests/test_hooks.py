"""The hooks of pre-commit: their form, and their commands on files of a repository."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_run import Ended, Run, run

__all__ = ["run"]

ROOT = Path(__file__).parent.parent
HOOKS: dict[str, Any] = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
SPEC = (ROOT / "tests/changes/add_filter/before.stream").read_text(encoding="utf-8")


def hooked(run: Run, name: str, *arguments: str) -> Ended:
    """Run a hook as pre-commit does: with its arguments, then the staged files that it is for."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run(["git", "add", "--all"], check=True)
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    files = [file for file in listed.stdout.splitlines() if file.endswith(".stream")]
    program, *words = shlex.split(HOOKS[name]["entry"])
    assert program == "streamc"
    return run(*words, *arguments, *files)


def test_their_form() -> None:
    assert list(HOOKS) == ["streamc-fmt", "streamc-check", "streamc-compile-check"]
    for hook in HOOKS.values():
        assert set(hook) == {"id", "name", "description", "entry", "language", "files"}
        assert (hook["language"], hook["files"]) == ("python", r"\.stream$")


def test_fmt_changes_files(run: Run) -> None:
    spec = Path("a.stream")
    spec.write_text(SPEC.replace("SELECT page, ", "SELECT page,   "), encoding="utf-8")
    assert hooked(run, "streamc-fmt") == Ended(0, "a.stream changed\n", "")
    assert spec.read_text(encoding="utf-8") == SPEC


@pytest.mark.parametrize(("name", "code"), [("cost", 0), ("cots", 2)])
def test_check(run: Run, name: str, code: int) -> None:
    Path("a.stream").write_text(SPEC.replace("SUM(cost)", f"SUM({name})"), encoding="utf-8")
    ended = hooked(run, "streamc-check")
    assert ended.code == code
    assert ("a.stream:13:" in ended.err) == (code == 2)


def test_compile_check(run: Run) -> None:
    spec = Path("a.stream")
    spec.write_text(SPEC, encoding="utf-8")
    assert hooked(run, "streamc-compile-check").code == 1
    assert run("compile", "a.stream").code == 0
    assert run("compile", "a.stream", "-o", "jobs").code == 0
    assert hooked(run, "streamc-compile-check").code == 0
    spec.write_text(SPEC.replace("5 MINUTES", "10 MINUTES"), encoding="utf-8")
    stale = hooked(run, "streamc-compile-check", "-o", "jobs")
    assert stale.code == 1
    assert "stale: jobs/a.py" in stale.err
