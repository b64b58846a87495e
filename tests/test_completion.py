"""Completion of commands in shells."""

from __future__ import annotations

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
