"""The commands: what they print, what they write, how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Ended, Run, run
from json_outputs import output
from streamc import __version__

__all__ = ["run"]

SPEC = """\
CREATE SOURCE clicks (
  page STRING,
  cost DOUBLE,
  ts   TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 10 MINUTES
) WITH (connector = 'files', path = 'data/clicks', format = 'json');

CREATE STREAM spend AS
  SELECT page, window_start, SUM(cost) AS cost
  FROM TUMBLE(clicks, ts, INTERVAL 5 MINUTES)
  GROUP BY page, window_start;

CREATE SINK spend_out FROM spend WITH (connector = 'console');
"""
BROKEN = SPEC.replace("SUM(cost)", "SUM(price)")


def write(name: str, text: str = SPEC) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# The command line.


def test_version(run: Run) -> None:
    assert run("--version") == Ended(0, f"streamc {__version__}\n", "")


def test_a_mistyped_option(run: Run) -> None:
    ended = run("check", "--fromat", "json", "x.stream")
    assert ended.code == 2
    assert "--format" in ended.err


# check


def test_check_of_good_specs(run: Run) -> None:
    write("specs/a.stream")
    write("specs/deep/b.stream")
    assert run("check", "specs") == Ended(0, "2 specs checked, no errors\n", "")
    assert run("check", "specs/a.stream", "specs", "--format", "concise") == Ended(0, "", "")


def test_check_of_a_broken_spec(run: Run) -> None:
    write("a.stream", BROKEN)
    write("b.stream")
    ended = run("check", "a.stream", "b.stream")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error[SC0203] unknown-column: ")
    assert " --> a.stream:9:" in ended.err
    assert ended.err.endswith("\n1 error in 1 file; `streamc explain SC0203` says more\n")


def test_check_in_one_line_and_as_json(run: Run) -> None:
    write("a.stream", BROKEN)
    concise = run("check", "a.stream", "--format", "concise")
    assert concise.code == 2
    assert concise.err.startswith("a.stream:9:")
    assert concise.err.count("\n") == 1
    as_json = run("check", "a.stream", "--format=json")
    assert (as_json.code, as_json.err) == (2, "")
    (found,) = output(as_json.out)["diagnostics"]
    assert (found["code"], found["file"], found["start"]["line"]) == ("SC0203", "a.stream", 9)


def test_check_starts_no_spark_for_broken_specs(run: Run) -> None:
    write("a.stream", BROKEN)
    ended = run("check", "--spark", "a.stream")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error[SC0203] unknown-column: ")


def test_warnings_are_no_failure(run: Run) -> None:
    write("a.stream", SPEC + "\nCREATE STREAM unread AS SELECT page FROM clicks;\n")
    ended = run("check", "a.stream")
    assert ended.code == 0
    assert ended.err.startswith("warning[SC0209] unused: ")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "error: there is no nowhere\n"),
        ("empty", "error: there are no specs (*.stream) in empty\n"),
        ("notes.txt", "error: notes.txt is not a spec\n  = help: names of specs end in"),
        ("latin.stream", "error: latin.stream is not UTF-8: byte 0xe9 in line 2\n"),
    ],
)
def test_paths_that_are_no_specs(run: Run, path: str, message: str) -> None:
    Path("empty").mkdir()
    write("notes.txt", "")
    Path("latin.stream").write_bytes(b"--\n-- caf\xe9\n")
    for command in ("check", "compile"):
        ended = run(command, path)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(message)


def test_a_byte_order_mark_is_no_part_of_a_spec(run: Run) -> None:
    front_matter = "---\npipeline: clicks\n---\n"
    Path("a.stream").write_bytes(b"\xef\xbb\xbf" + (front_matter + SPEC).encode())
    assert run("check", "a.stream").code == 0
    assert run("fmt", "--check", "a.stream").code == 1
    assert run("fmt", "a.stream").out == "a.stream changed\n"
    assert Path("a.stream").read_text(encoding="utf-8").startswith("---\n")


def test_a_character_that_cannot_be_seen_is_named(run: Run) -> None:
    for character, name in (("\0", "U+0000"), ("\u200b", "U+200B")):
        write("a.stream", f"{SPEC}{character}")
        ended = run("check", "a.stream")
        assert ended.code == 2
        assert f"unreadable: the character {name} has no meaning here\n" in ended.err


# compile


def test_compile_writes_script_and_plan(run: Run) -> None:
    write("a.stream")
    ended = run("compile", "a.stream", "-o", "out/deep")
    assert ended == Ended(
        0, "wrote out/deep/a.py\nwrote out/deep/a.plan.json\nwrote out/deep/a.spec\n", ""
    )
    assert sorted(path.name for path in Path("out/deep").iterdir()) == [
        "a.plan.json",
        "a.py",
        "a.spec",
    ]
    assert json.loads(Path("out/deep/a.plan.json").read_text())["pipeline"] == "a"
    assert "def build(job: Job) -> None:" in Path("out/deep/a.py").read_text()


def test_compile_leaves_equal_files_alone(run: Run) -> None:
    write("a.stream")
    run("compile", "a.stream")
    before = Path("build/a.py").stat().st_mtime_ns, Path("build/a.py").stat().st_ino
    ended = run("compile", "a.stream")
    assert ended == Ended(
        0, "unchanged build/a.py\nunchanged build/a.plan.json\nunchanged build/a.spec\n", ""
    )
    assert (Path("build/a.py").stat().st_mtime_ns, Path("build/a.py").stat().st_ino) == before


def test_compile_writes_nothing_for_a_broken_spec(run: Run) -> None:
    write("a.stream", BROKEN)
    write("b.stream")
    ended = run("compile", "a.stream", "b.stream")
    assert (ended.code, ended.out) == (
        2,
        "wrote build/b.py\nwrote build/b.plan.json\nwrote build/b.spec\n",
    )
    assert "1 error in 1 file" in ended.err
    assert not Path("build/a.py").exists()


def test_a_pipeline_is_named_by_its_front_matter(run: Run) -> None:
    write("Some File.stream", f"---\npipeline: spend\n---\n{SPEC}")
    assert run("compile", "Some File.stream").out.startswith("wrote build/spend.py\n")


def test_two_specs_of_one_name(run: Run) -> None:
    write("x/a.stream")
    write("y/a.stream")
    ended = run("compile", "x", "y")
    assert ended.code == 2
    assert ended.err.startswith("error: x/a.stream and y/a.stream are both pipeline `a`\n")
    assert not Path("build").exists()


def test_the_newest_version_in_a_folder(run: Run) -> None:
    second = f"---\npipeline: a\nversion: 2\n---\n{SPEC}"
    write("x/a.stream")
    write("x/next/a_2.stream", second)
    ended = run("compile", "x")
    assert ended.code == 0
    assert ended.out == "wrote build/a.py\nwrote build/a.plan.json\nwrote build/a.spec\n"
    assert "skipped x/a.stream: version 1 of `a`, of which x/next/a_2.stream is v" in ended.err
    assert Path("build/a.spec").read_text(encoding="utf-8") == second
    assert run("compile", "x", "--check").code == 0
    assert run("compile", "x/a.stream", "--check").code == 1, "the other one is compiled"
    ended = run("compile", "x/a.stream", "x/next/a_2.stream")
    assert ended.code == 2 and "are both pipeline `a`" in ended.err, "both are asked for"


def test_the_specs_of_the_repository_compile_as_the_readme_says(run: Run) -> None:
    specs = Path(__file__).parents[1] / "specs"
    ended = run("compile", str(specs), "-o", "build")
    assert ended.code == 0, ended.err
    assert "version 2 of `card_fraud`" in ended.err
    assert '"version": 3' in Path("build/card_fraud.plan.json").read_text(encoding="utf-8")


def test_output_that_cannot_be_written(run: Run) -> None:
    write("a.stream")
    write("build", "a file where the folder should be")
    ended = run("compile", "a.stream")
    assert ended.code == 2
    assert ended.err.startswith("error: build/a.py cannot be ")


def test_compile_check(run: Run) -> None:
    spec = write("a.stream")
    missing = run("compile", "a.stream", "--check")
    assert missing.code == 1
    assert missing.out.startswith("--- /dev/null\n+++ build/a.py\n")
    assert not Path("build").exists()

    run("compile", "a.stream")
    assert run("compile", "a.stream", "--check") == Ended(0, "", "")

    write("a.stream", spec.read_text().replace("5 MINUTES", "7 MINUTES"))
    stale = run("compile", "a.stream", "--check")
    assert stale.code == 1
    assert stale.out.startswith("--- build/a.py\n+++ build/a.py\n")
    assert "+++ build/a.plan.json\n" in stale.out
    assert stale.err == (
        "stale: build/a.py, build/a.plan.json, build/a.spec; `streamc compile` writes them\n"
    )
    assert "7 minutes" not in Path("build/a.py").read_text()


def test_stop_after_prints_a_phase(run: Run) -> None:
    write("a.stream")
    write("b.stream", BROKEN)
    one = run("compile", "a.stream", "--stop-after", "graph")
    assert (one.code, one.err) == (0, "")
    assert "spend" in one.out
    both = run("compile", "a.stream", "b.stream", "--stop-after", "ast")
    assert both.out.startswith("==> a.stream <==\nSpec\n")
    assert "==> b.stream <==\nSpec\n" in both.out
    assert not Path("build").exists()
    assert run("compile", "a.stream", "--stop-after", "ast", "--check").code == 2


# diff


@pytest.fixture
def repository(run: Run) -> Callable[[str], None]:
    """Make the folder a git repository; return a function that commits everything."""

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)

    def commit(message: str) -> None:
        git("add", ".")
        git("commit", "--quiet", "-m", message)

    git("init", "--quiet")
    return commit


def test_diff_of_equal_specs(run: Run) -> None:
    write("old.stream", f"-- the old one\n\n{SPEC}")
    write("new.stream")
    ended = run("diff", "old.stream", "new.stream")
    assert ended == Ended(0, "stateful operators\n  spend  aggregate  unchanged\n", "")


def test_diff_of_two_specs(run: Run) -> None:
    write("v1/spend.stream")
    write("v2/spend.stream", SPEC.replace("5 MINUTES", "1 HOUR"))
    ended = run("diff", "v1/spend.stream", "v2/spend.stream")
    assert ended.code == 1
    assert ended.out.startswith("--- v1/spend.stream\n+++ v2/spend.stream\n@@ ")
    assert '-        clicks.groupBy(F.window("ts", "5 minutes")' in ended.out
    assert "\n\nstateful operators\n  spend  aggregate  changed\n    window: " in ended.out


def test_diff_with_a_revision(run: Run, repository: Callable[[str], None]) -> None:
    spec = write("specs/spend.stream")
    repository("first")
    assert run("diff", "HEAD", "specs/spend.stream").code == 0
    spec.write_text(SPEC.replace("SUM(cost) AS cost", "SUM(cost) AS cost, COUNT(*) AS n"))
    for old in ("HEAD", "HEAD:specs/spend.stream", "HEAD:./specs/spend.stream"):
        ended = run("diff", old, "specs/spend.stream")
        assert ended.code == 1
        assert "+ cell count(*) BIGINT" in ended.out
    repository("second")
    both = run("diff", "HEAD~1:specs/spend.stream", "HEAD:specs/spend.stream")
    assert both.code == 1
    assert both.out.startswith("--- HEAD~1:specs/spend.stream\n+++ HEAD:specs/spend.stream\n")


def test_diff_at_the_root_of_a_repository(run: Run, repository: Callable[[str], None]) -> None:
    write("spend.stream")
    repository("first")
    for old in ("HEAD", "HEAD:spend.stream"):
        assert run("diff", old, "spend.stream").code == 0


def test_diff_with_a_revision_that_is_broken(run: Run, repository: Callable[[str], None]) -> None:
    spec = write("spend.stream", BROKEN)
    repository("first")
    spec.write_text(SPEC)
    ended = run("diff", "HEAD", "spend.stream")
    assert (ended.code, ended.out) == (2, "")
    assert " --> HEAD:./spend.stream:9:" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("HEAD~9", "spend.stream", "error: `HEAD~9` is neither a spec nor a git revision\n"),
        ("HEAD:a.stream", "spend.stream", "error: revision `HEAD` has no file a.stream\n"),
        ("HEAD", "new.stream", "error: revision `HEAD` has no file new.stream\n"),
        ("a.stream", "spend.stream", "error: there is no a.stream\n"),
        ("HEAD", "HEAD", "error: there is no HEAD\n"),
        ("HEAD", "HEAD:spend.stream", "error: `HEAD` does not name a file\n"),
    ],
)
def test_diff_with_what_does_not_exist(
    run: Run, repository: Callable[[str], None], old: str, new: str, message: str
) -> None:
    write("spend.stream")
    repository("first")
    write("new.stream")
    ended = run("diff", old, new)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(message)


def test_diff_outside_of_a_repository(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("spend.stream")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    ended = run("diff", "HEAD", "spend.stream")
    assert (ended.code, ended.err) == (2, "error: . is not in a git repository\n")


def test_diff_without_git(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("spend.stream")
    monkeypatch.setenv("PATH", "/nowhere")
    ended = run("diff", "HEAD", "spend.stream")
    assert ended.code == 2
    assert ended.err == "error: git is not installed, but a revision was requested\n"


@pytest.mark.slow
def test_output_that_nobody_reads_to_its_end(tmp_path: Path) -> None:
    spec = tmp_path / "a.stream"
    spec.write_text(SPEC)
    code = (
        "import sys; from streamc.cli.app import main\n"
        f"sys.argv = ['streamc', 'compile', '--stop-after', 'ast', {str(spec)!r}]\n"
        "sys.stdout.reconfigure(line_buffering=True)\n"
        "main()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None and reader.stderr is not None
    reader.stdout.close()
    assert reader.stderr.read() == ""
    reader.wait()
