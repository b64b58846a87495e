"""Commands, run in this process and in the test's own folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from streamc.cli.app import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in a fresh folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["streamc", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, out, err)

    return command
