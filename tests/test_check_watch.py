"""`streamc check --watch`: specs are checked again when a file changes, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_run import Run, run
from streamc.cli.specs import watching
from streamc.cli.specs.watching import look, repeat_on_change

__all__ = ["run"]

SPEC = """\
CREATE SOURCE clicks (ts TIMESTAMP) WITH (connector = 'files', path = 'in', format = 'json');
CREATE SINK out FROM clicks WITH (connector = 'console');
"""


@pytest.mark.slow
def test_a_process_checks_until_ctrl_c(tmp_path: Path) -> None:
    spec = tmp_path / "a.stream"
    spec.write_text(SPEC, encoding="utf-8")
    command = [sys.executable, "-m", "streamc", "check", ".", "--watch"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        read = process.stdout.readline
        assert read() == "1 spec checked, no errors\n"
        spec.write_text(SPEC.replace("FROM clicks", "FROM click"), encoding="utf-8")
        assert [read(), read()] == ["\n", "changed: a.stream\n"]
        assert read().startswith("error[SC")
        (tmp_path / "b.stream").write_text(SPEC, encoding="utf-8")
        spec.unlink()
        # Both are found at once, or one after the other.
        while (line := read()) != "1 spec checked, no errors\n":
            assert line
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out.endswith("stopped\n")
    assert "Traceback" not in out


def test_what_counts_as_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    for name in ("a.stream", "deep/b.stream", "deep/c.txt", "functions.py"):
        Path(name).write_text("1", encoding="utf-8")
    changes: list[Sequence[Path]] = []
    edits = iter(
        [
            lambda: None,
            lambda: Path("a.stream").write_text("22", encoding="utf-8"),
            lambda: Path("deep/c.txt").write_text("22", encoding="utf-8"),
            lambda: Path("deep/new.stream").write_text("1", encoding="utf-8"),
            lambda: Path("functions.py").write_text("22", encoding="utf-8"),
            lambda: Path("deep/b.stream").unlink(),
        ]
    )

    def sleep(seconds: float) -> None:
        edit = next(edits, None)
        if edit is None:
            raise KeyboardInterrupt
        edit()

    with pytest.raises(KeyboardInterrupt):
        repeat_on_change([Path()], changes.append, sleep)
    assert [[path.as_posix() for path in one] for one in changes] == [
        [],
        ["a.stream"],
        ["deep/new.stream"],
        ["functions.py"],
        ["deep/b.stream"],
    ]
    assert set(look([Path("a.stream")])) == {Path("a.stream"), Path("functions.py")}


def test_a_spec_that_vanishes_is_reported_and_watched_on(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.stream").write_text(SPEC, encoding="utf-8")
    looks = iter([{}, {Path("a.stream"): (1, 1, 1)}])

    def next_look(paths: Sequence[Path]) -> watching.Seen:
        Path("a.stream").unlink(missing_ok=True)
        found = next(looks, None)
        if found is None:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(watching, "look", next_look)
    monkeypatch.setattr(watching, "_EVERY", 0)
    ended = run("check", "a.stream", "--watch")
    assert ended.code == 130
    missing = "error: there is no a.stream\n"
    assert ended.err == f"{missing}\nchanged: a.stream\n{missing}stopped\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("a.stream", "--format", "json"), "--watch prints for people, not json"),
        (("a.stream", "--spark"), "--watch does not start Spark"),
        (("-",), "standard input can't be watched"),
        (("gone.stream",), "there is no gone.stream"),
    ],
)
def test_what_cannot_be_watched(run: Run, arguments: tuple[str, ...], said: str) -> None:
    Path("a.stream").write_text(SPEC, encoding="utf-8")
    ended = run("check", "--watch", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
