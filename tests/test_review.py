"""`streamc review`: repositories with two versions of their specs, and the comment on the second.

A case of ``review`` has its files at the revision in ``base``, those of the working tree in
``now``.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_run import Ended, Run, run
from json_outputs import output
from markdown_it import MarkdownIt
from streamc.cli.review import markdown
from streamc.cli.review.escape import block, code, plain, prose

__all__ = ["run"]

CASES = sorted((Path(__file__).parent / "review").iterdir())
SPEC = (Path(__file__).parent / "review/decisions/base/specs/spend.stream").read_text("utf-8")
DIFFERS = SPEC.replace("5 MINUTES", "10 MINUTES")


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout


def committed() -> None:
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", "base")


@pytest.fixture
def reviewed(run: Run) -> Callable[[Path, str], Ended]:
    """Return a function that reviews a case in a repository of its own."""

    def review(case: Path, format: str) -> Ended:
        if not Path(".git").exists():
            shutil.copytree(case / "base", ".", dirs_exist_ok=True)
            committed()
            for path in Path().iterdir():
                if path.name != ".git":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.copytree(case / "now", ".", dirs_exist_ok=True)
        return run("review", "HEAD", f"--format={format}")

    return review


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reviews(
    case: Path, reviewed: Callable[[Path, str], Ended], golden: Callable[[str, str], None]
) -> None:
    shown, told = reviewed(case, "markdown"), reviewed(case, "json")
    document = output(told.out)
    assert (shown.err, told.err) == ("", "")
    assert shown.code == told.code == document["exit_code"]
    assert str(Path.cwd()) not in shown.out + told.out
    golden("review.md", shown.out)
    golden("review.json", told.out)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_written_is_what_is_shown(case: Path) -> None:
    """No name of a spec becomes HTML, a cell of its own or the end of a block."""
    text = (case / "review.md").read_text(encoding="utf-8")
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    flat = [inner for token in tokens for inner in (token, *(token.children or ()))]
    html = {token.content.strip() for token in flat if token.type in ("html_block", "html_inline")}
    names = (
        "<!-- streamc review -->",
        "<details>",
        "</details>",
        "<br>",
        "<!-- -->",
        "<code>",
        "</code>",
    )
    assert [one for one in html if not one.startswith(names)] == []
    assert sum(token.type == "fence" for token in tokens) == text.count("<details>")
    rows = "".join(
        "c" if t.type in ("th_open", "td_open") else "\n" * (t.type == "tr_close") for t in tokens
    )
    assert set(rows.split("\n")) <= {"", "ccc", "cccc"}


@pytest.mark.parametrize(
    "text",
    ["a|b", "`", "``a`", "a`|`b\\", "\\|", " x ", "<b>", "@me #1", "a\nb", "*x* _y_ ~z~", "[a](b)"],
)
def test_texts_of_others(text: str) -> None:
    """Whatever it is, one cell shows it, character by character."""
    shown = text.replace("\n", "\\n")
    for made in (code(text), plain(text)):
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(
            f"| a | b |\n| - | - |\n| {made} | x |\n"
        )
        cells = [t.children for t in tokens if t.type == "inline" and t.children][2:]
        assert len(cells) == 2
        pieces = [
            c.content for c in cells[0] or () if c.type in ("text", "code_inline", "text_special")
        ]
        assert "".join(pieces).strip() == shown.strip()


def test_prose_and_blocks() -> None:
    assert prose("no `a|b` in <x>") == "no `a\\|b` in &lt;x&gt;"
    assert block("````\n", "diff") == "`````diff\n````\n`````\n"


def write(name: str, text: str = SPEC) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(ended: Ended) -> list[str]:
    return [spec["file"] for spec in output(ended.out)["specs"]]


def test_nothing_differs(run: Run) -> None:
    write("a.stream")
    committed()
    ended = run("review", "HEAD")
    assert ended == Ended(
        0, f"{markdown.MARKER}\n## streamc review\n\nNo spec differs from `HEAD`.\n", ""
    )


def test_paths(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/one.stream", "a/two.stream", "b/three.stream", "b/gone.stream"):
        write(name)
    committed()
    for name in ("a/one.stream", "a/two.stream", "b/three.stream"):
        write(name, DIFFERS)
    Path("b/gone.stream").unlink()
    json = "--format=json"
    assert files(run("review", "HEAD", "a", json)) == ["a/one.stream", "a/two.stream"]
    assert files(run("review", "HEAD", "b", "a/two.stream", json)) == [
        "a/two.stream",
        "b/gone.stream",
        "b/three.stream",
    ]
    assert files(run("review", "HEAD", "b/gone.stream", json)) == ["b/gone.stream"]
    monkeypatch.chdir("a")
    assert len(files(run("review", "HEAD", json))) == 4
    assert files(run("review", "HEAD", "one.stream", "../b/gone.stream", json)) == [
        "a/one.stream",
        "b/gone.stream",
    ]


def test_ignored_files_and_links_are_no_specs(run: Run) -> None:
    write("a.stream")
    write(".gitignore", "build\n")
    committed()
    write("build/b.stream")
    Path("link.stream").symlink_to("a.stream")
    assert files(run("review", "HEAD", "--format=json")) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NOWHERE"], "error: `NOWHERE` is not a git revision\n"),
        (["--", "--all"], "error: `--all` is not a git revision\n"),
        (["HEAD", "b.stream"], "error: there is no spec in b.stream, now or at the revision\n"),
        (["HEAD", "--state", "x"], "error: `--state` needs a savepoint\n"),
        (
            ["HEAD", "--savepoint", "x"],
            "error: `x` is the name of a savepoint, but no state is given\n",
        ),
    ],
)
def test_mistakes(run: Run, arguments: list[str], message: str) -> None:
    write("a.stream")
    committed()
    ended = run("review", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(message)


def test_outside_of_a_repository(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    assert run("review", "HEAD") == Ended(2, "", "error: . is not in a git repository\n")


FUNCTION = """\
CREATE FUNCTION risk(cost DOUBLE) RETURNS DOUBLE AS 'model:risk';
"""


def test_a_module_next_to_a_spec(run: Run) -> None:
    write("model.py", "def risk(cost):\n    return cost\n")
    source, rest = SPEC.split("CREATE STREAM")
    uses = source + FUNCTION + "CREATE STREAM" + rest.replace("SUM(cost)", "SUM(risk(cost))")
    spec = write("a.stream", uses)
    write("b.stream")
    committed()
    assert files(run("review", "HEAD", "--format=json")) == []
    spec.write_text(spec.read_text().replace("5 MINUTES", "10 MINUTES"))
    (found,) = output(run("review", "HEAD", "--format=json").out)["specs"]
    assert not [one for one in found["changes"] if one["group"] == "function"]
    spec.write_text(uses)
    write("model.py", "def risk(cost):\n    return 2 * cost\n")
    (found,) = output(run("review", "HEAD", "--format=json").out)["specs"]
    assert (found["file"], found["exit_code"], found["code"]) == ("a.stream", 1, None)
    assert [one["difference"] for one in found["changes"] if one["group"] == "function"] == [
        "changed"
    ]


def test_a_comment_has_a_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        write(f"{name}.stream")
    committed()
    for name in "abc":
        write(f"{name}.stream", DIFFERS)
    whole = run("review", "HEAD").out
    assert whole.count("```diff") == 3
    monkeypatch.setattr(markdown, "LONGEST", len(whole) - 1)
    assert run("review", "HEAD").out.count("```diff") == 2
    monkeypatch.setattr(markdown, "LONGEST", 2500)
    short = run("review", "HEAD").out
    assert len(short) < 2500
    assert "left out, since the comment would be too long" in short
    assert short.count("### `") < 3


OLD_STATE = Path(__file__).parent / "old_states" / "0.1.0"


@pytest.mark.slow
def test_sizes_of_a_savepoint(run: Run) -> None:
    """Those of the manifest, next to the verdicts on the operators; Spark is not started."""
    with tarfile.open(OLD_STATE / "before.savepoint") as tar:
        tar.extractall("saved", filter="data")
    (place,) = (path.parent for path in Path("saved").rglob("manifest.json"))
    shop = write("shop.stream", (OLD_STATE / "shop.stream").read_text("utf-8"))
    committed()
    arguments = ("review", "HEAD", "shop.stream", "--savepoint", f"./{place}")
    same = run(*arguments)
    assert (same.code, same.err) == (
        0,
        "savepoint before is of `shop`, of which no spec differs\n",
    )
    shop.write_text((OLD_STATE / "shop_v2.stream").read_text("utf-8"), encoding="utf-8")
    (found,) = output(run(*arguments, "--format=json").out)["specs"]
    sizes = {one["id"]: (one["rows"], one["bytes"]) for one in found["savepoint"]["operators"]}
    assert found["savepoint"]["rows"] == sum(rows for rows, _ in sizes.values()) > 0
    shown = run(*arguments).out
    assert f"\nSavepoint `before`, version 1, barrier {found['savepoint']['barrier']}: " in shown
    assert f"operator `spend` (aggregate): {sizes['spend'][0]} rows, " in shown
