"""Every command with `--format json` prints one document, whether or not something is wrong."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from cli_run import Ended, Run, run
from json_outputs import json_commands, output
from streamc.dsl.layout import format_source
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.savepoints.inspect.archive import import_savepoint

__all__ = ["run"]

SHOP = Path(__file__).parent / "old_states" / "0.1.0"
STATE = ("--state", "state/shop")
NOTHING_WRONG = {
    "barriers list": (*STATE,),
    "barriers show": ("2", *STATE),
    "check": ("shop.stream",),
    "compile": ("shop.stream",),
    "diff": ("shop.stream", "same/shop.stream"),
    "fmt": ("shop.stream",),
    "review": ("HEAD",),
    "savepoint list": (*STATE,),
    "savepoint plan": ("shop.stream", "same/shop.stream"),
    "savepoint query": ("SELECT 1 AS one", *STATE),
    "savepoint show": ("before", *STATE),
    "status": (*STATE,),
    "test": ("shop.stream",),
}
"""How each is called where nothing is wrong."""

ELSEWHERE = {"rescale"}
"""Those with a test of their JSON among their own, which have the states that they need."""

MISTAKEN = {
    "check": ("broken.stream",),
    "compile": ("broken.stream",),
    "diff": ("shop.stream", "broken.stream"),
    "fmt": ("broken.stream",),
    "review": ("HEAD",),
    "savepoint plan": ("shop.stream", "broken.stream"),
    "test": ("broken.stream",),
}
"""How those are called that read specs, of which one has a mistake."""

TEST = """\
name: nothing is read
steps:
  - drain
  - expect: {spend_out: []}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Specs in a repository, and a state with barriers and a savepoint that an old job left."""
    made = tmp_path_factory.mktemp("made")
    with tarfile.open(SHOP / "shop.tar.gz") as tar:
        tar.extractall(made, filter="data")
    (made / "same").mkdir()
    for name in ("shop.stream", "same/shop.stream"):
        shutil.copyfile(SHOP / "shop.stream", made / name)
    git(made, "init", "--quiet")
    git(made, "add", "*.stream")
    git(made, "commit", "--quiet", "-m", "first")
    import_savepoint(str(made / "state/shop"), SHOP / "before.savepoint", None)
    (made / "tests").mkdir()
    (made / "tests/shop.yaml").write_text(TEST, encoding="utf-8")
    spec = made / "shop.stream"
    laid_out = format_source(SourceFile.read(spec)).text
    assert laid_out is not None
    spec.write_text(laid_out, encoding="utf-8")
    return made


@pytest.fixture
def folder(run: Run, made: Path) -> None:
    """A copy of all that in the working folder."""
    shutil.copytree(made, ".", dirs_exist_ok=True)


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    subprocess.run(command, check=True, capture_output=True)


def document(ended: Ended) -> Any:
    """Return what a command printed: valid by its schema, and alone."""
    found = output(ended.out)
    assert found.get("exit_code", ended.code) == ended.code
    assert "{" not in ended.err
    return found


def test_all_commands_are_here() -> None:
    assert set(json_commands()) == set(NOTHING_WRONG) | ELSEWHERE


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", NOTHING_WRONG)
def test_nothing_is_wrong(run: Run, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests need Spark; their results as JSON are shown with it.
    monkeypatch.setattr("streamc.cli.testing.run.run_tests", lambda tests, tell: iter(()))
    ended = run(*command.split(), *NOTHING_WRONG[command], "--format", "json")
    assert ended.code == (1 if command == "status" else 0), ended.err
    found = document(ended)
    assert found["kind"] != "diagnostics" or command == "check"
    assert not found.get("diagnostics")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", MISTAKEN)
def test_a_mistake(run: Run, command: str) -> None:
    broken = Path("shop.stream").read_text("utf-8").replace("CREATE SOURCE", "CREATE SAUCE", 1)
    Path("broken.stream").write_text(broken, encoding="utf-8")
    Path("tests/broken.yaml").write_text(TEST, encoding="utf-8")
    ended = run(*command.split(), *MISTAKEN[command], "--format", "json")
    assert ended.code == 2
    found = document(ended)
    (spec,) = found["specs"] if command == "review" else [found]
    assert {one["code"][:2] for one in spec["diagnostics"]} == {"SC"}


@pytest.mark.usefixtures("folder")
def test_a_difference(run: Run) -> None:
    shutil.copyfile(SHOP / "shop_v2.stream", "v2.stream")
    found = document(run("diff", "shop.stream", "v2.stream", "--format", "json"))
    assert (found["old"], found["new"], found["exit_code"]) == ("shop.stream", "v2.stream", 1)
    assert (found["from_version"], found["to_version"]) == (1, 2)
    assert found["code"]["diff"].startswith("--- shop.stream\n+++ v2.stream\n@@ ")
    assert any(change["difference"] == "changed" for change in found["changes"])
    assert {part["verdict"] for part in found["state"]} > {"kept"}
    same = document(run("diff", "shop.stream", "same/shop.stream", "--format", "json"))
    assert (same["exit_code"], same["code"], same["state"]) == (0, None, None)
    assert {change["difference"] for change in same["changes"]} == {"unchanged"}


@pytest.mark.usefixtures("folder")
def test_files_of_compile(run: Run) -> None:
    asked = ("compile", "shop.stream", "--format", "json")
    first, second = (document(run(*asked)) for _ in range(2))
    assert [statuses(one) for one in (first, second)] == [["wrote"] * 3, ["unchanged"] * 3]
    Path("build/shop.py").write_text("stale\n", encoding="utf-8")
    stale = document(run(*asked, "--check"))
    assert (stale["exit_code"], statuses(stale)) == (1, ["stale", "unchanged", "unchanged"])
    assert "\n-stale\n" in stale["specs"][0]["files"][0]["diff"]
    phase = document(run(*asked, "--stop-after", "plan"))
    assert phase["specs"][0]["files"] == []
    assert '"pipeline": "shop"' in phase["specs"][0]["text"]


def statuses(found: Any) -> list[str]:
    (spec,) = found["specs"]
    return [file["status"] for file in spec["files"]]


@pytest.mark.usefixtures("folder")
def test_layouts_of_fmt(run: Run) -> None:
    text = Path("shop.stream").read_text("utf-8")
    Path("shop.stream").write_text(text.replace("CREATE SOURCE", "create  source"), "utf-8")
    found = document(run("fmt", "shop.stream", "--check", "--diff", "--format", "json"))
    (spec,) = found["specs"]
    assert (found["exit_code"], spec["changed"], spec["text"]) == (1, True, None)
    assert "\n-create  source" in spec["diff"]
    (spec,) = document(run("fmt", "shop.stream", "--format", "json"))["specs"]
    assert (spec["changed"], spec["diff"], spec["text"]) == (True, None, None)
    assert Path("shop.stream").read_text("utf-8") == text
