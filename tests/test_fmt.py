"""``streamc fmt``: what it prints, what it writes, how it ends."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from streamc.cli.app import main

UGLY = "create sink s from  payments -- why\n with (connector='console')"
NEAT = "CREATE SINK s FROM payments  -- why\n  WITH (connector = 'console');\n"


class Project:
    """A folder with specs, in which commands run."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._patch = monkeypatch

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def fmt(self, *arguments: str) -> int:
        """Run the command; return its exit code."""
        self._patch.chdir(self.folder)
        self._patch.setattr(sys, "argv", ["streamc", "fmt", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def test_specs_are_written_and_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    ugly, neat = project.write("a/x.stream", f"{UGLY};"), project.write("b.stream", NEAT)
    assert project.fmt() == 0
    assert capsys.readouterr().out == "a/x.stream changed\n1 spec left as it is\n"
    assert ugly.read_text() == neat.read_text() == NEAT
    assert sorted(path.name for path in project.folder.rglob("*")) == ["a", "b.stream", "x.stream"]


def test_check_and_diff_write_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    path = project.write("x.stream", f"{UGLY};\n")
    assert project.fmt("--check", "x.stream") == 1
    assert capsys.readouterr().out == "x.stream would change\n"
    assert project.fmt("--diff", "x.stream") == 0
    diff = capsys.readouterr().out
    assert diff.startswith("--- x.stream\n+++ x.stream\n") and "\n+CREATE SINK s" in diff
    assert project.fmt("--diff", "--check", "x.stream") == 1
    assert path.read_text() == f"{UGLY};\n"
    path.write_text(NEAT)
    assert project.fmt("--check") == 0


def test_a_spec_with_syntax_errors_is_left_alone(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, ugly = project.write("a.stream", UGLY), project.write("b.stream", f"{UGLY};")
    assert project.fmt("--format", "concise") == 2
    captured = capsys.readouterr()
    assert captured.out == "b.stream changed\n"
    assert captured.err.startswith("a.stream:2:") and "SC0105" in captured.err
    assert broken.read_text() == UGLY and ugly.read_text() == NEAT


@pytest.mark.parametrize(("end", "code"), [(";", 0), ("", 2)])
def test_standard_input(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    end: str,
    code: int,
) -> None:
    given = io.TextIOWrapper(io.BytesIO(f"{UGLY}{end}".encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert project.fmt("-") == code
    assert capsys.readouterr().out == ("" if code else NEAT)


def test_standard_input_stands_alone(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert project.fmt("-", "x.stream") == 2
    assert "`-` cannot be combined with paths" in capsys.readouterr().err


def test_line_ends_of_windows_stay(project: Project) -> None:
    path = project.write("x.stream", f"{UGLY};".replace("\n", "\r\n"))
    assert project.fmt() == 0
    assert path.read_bytes() == NEAT.replace("\n", "\r\n").encode()
    assert project.fmt("--check") == 0
