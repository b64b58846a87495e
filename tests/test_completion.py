"""Completion of commands in shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_run import Run, run

__all__ = ["run"]


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", {"COMP_WORDS": "streamc check --format s", "COMP_CWORD": "3"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "streamc check --format s"}),
        (
            "fish",
            {
                "_TYPER_COMPLETE_ARGS": "streamc check --format s",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
        ),
    ],
)
def test_shells_complete(
    run: Run, monkeypatch: pytest.MonkeyPatch, shell: str, line: dict[str, str]
) -> None:
    monkeypatch.setenv("_STREAMC_COMPLETE", f"source_{shell}")
    assert f"_STREAMC_COMPLETE=complete_{shell}" in run().out
    monkeypatch.setenv("_STREAMC_COMPLETE", f"complete_{shell}")
    for name, value in line.items():
        monkeypatch.setenv(name, value)
    ended = run()
    assert ended.code == 0
    assert "sarif" in ended.out
    assert "github" not in ended.out


BASH = """
source ./script
COMP_WORDS=(streamc check --format s) COMP_CWORD=3
complete -p streamc >&2
_streamc_completion streamc
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -U compinit
compinit -u -D
source ./script
print -r -- $_comps[streamc] >&2
function _arguments { print -rl -- $@ }
words=(streamc check --format s) CURRENT=4
$_comps[streamc]
"""
FISH = """
source ./script
complete --do-complete 'streamc check --format s'
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "options", "script"),
    [("bash", ["--norc"], BASH), ("zsh", ["-f"], ZSH), ("fish", ["--no-config"], FISH)],
)
def test_the_script_in_its_shell(
    tmp_path: Path, shell: str, options: list[str], script: str
) -> None:
    """The shell itself asks ``streamc`` for what may follow."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    folder = Path(sys.executable).parent
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environment["XDG_CONFIG_HOME"] = environment["XDG_DATA_HOME"] = str(tmp_path)
    made = subprocess.run(
        ["streamc"],
        env={**environment, "_STREAMC_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "script").write_text(made.stdout, encoding="utf-8")
    ended = subprocess.run(
        [program, *options, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "sarif" in ended.stdout, ended.stderr
    assert "github" not in ended.stdout
