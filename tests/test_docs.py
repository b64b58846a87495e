"""What the documents show is true: specs compile, output is real, links and commands exist.

Specs stand in fenced blocks whose info string begins with ``stream``. A word after it says more:

- ``base``: sources that the ``part`` blocks of the same page stand behind.
- ``part``: statements that go with the page's base; what nothing reads yet is no fault there.
- ``fails SC0401``: gives exactly this code; with ``each``, so does every statement by itself.
- ``file=NAME`` (any language): a file of the page's walk; ``diff`` blocks change it.

``console`` blocks hold commands behind ``$`` and what they print. The tutorial's are run in order.
`make golden` writes what commands that need no Spark print, and what README shows of the compiler.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main
from streamc.cli.app import app, main
from streamc.cli.testing.find import find_tests
from streamc.cli.testing.load import load_tests
from streamc.compiler.driver import CompileResult, compile_source
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "specs").glob("*/README.md")),
]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the words of its info string, its text, and the line that it begins in."""

    words: tuple[str, ...]
    text: str
    line: int

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    def has(self, word: str) -> bool:
        return word in self.words[1:]

    @property
    def file(self) -> str | None:
        return next((w.removeprefix("file=") for w in self.words if w.startswith("file=")), None)

    @property
    def fails(self) -> str | None:
        return self.words[self.words.index("fails") + 1] if self.has("fails") else None


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page; the fences stand at the beginning of a line."""
    found: list[Block] = []
    lines: list[str] | None = None
    words: tuple[str, ...] = ()
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        if not line.startswith("```"):
            if lines is not None:
                lines.append(line)
        elif lines is None:
            words, lines = tuple(line[3:].split()), []
        else:
            found.append(Block(words, "".join(lines), number - len(lines)))
            lines = None
    assert lines is None, f"{name(page)} leaves a block open"
    return found


def replace(page: Path, block: Block, text: str) -> None:
    """Write another text into a block of a page."""
    fence = f"```{' '.join(block.words)}\n"
    old = page.read_text(encoding="utf-8")
    page.write_text(old.replace(f"{fence}{block.text}```", f"{fence}{text}```"), encoding="utf-8")


@pytest.fixture
def updating(request: pytest.FixtureRequest) -> bool:
    """Whether `make golden` runs: what documents show is then written anew."""
    return bool(request.config.getoption("update_snapshots"))


# Specs.


def specs() -> Iterator[tuple[Path, Block]]:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "stream":
                yield page, block


def compiled(page: Path, block: Block, text: str | None = None) -> CompileResult:
    """Return what a block compiles to, behind the base of its page if it is a part of it."""
    text = block.text if text is None else text
    if block.has("part"):
        text = "".join(b.text for b in blocks(page) if b.has("base")) + text
    return compile_source(SourceFile(block.file or "example.stream", text))


def codes(result: CompileResult, *, without: frozenset[str] = frozenset()) -> set[str]:
    return {one.code.number for one in result.diagnostics} - without


@pytest.mark.parametrize(
    ("page", "block"), [pytest.param(p, b, id=f"{name(p)}:{b.line}") for p, b in specs()]
)
def test_specs(page: Path, block: Block) -> None:
    unread = frozenset({"SC0209"}) if block.has("part") or block.has("base") else frozenset()
    texts = [block.text]
    if block.has("each"):
        texts = [f"{text};\n" for text in re.split(r";\s*\n", block.text) if text.strip()]
    for text in texts:
        result = compiled(page, block, text)
        wanted = {block.fails} if block.fails else set()
        assert codes(result, without=unread) == wanted, text + render([result.diagnostics])


def test_readme_shows_what_is_emitted(updating: bool) -> None:
    page = ROOT / "README.md"
    by_word = {word: b for b in blocks(page) for word in b.words[1:]}
    result = compiled(page, by_word["spec"])
    assert result.script is not None and result.plan_json is not None
    script = result.script
    build = script[script.index("def build") : script.index('\n\n\nif __name__ == "__main__"')]
    operators = as_json(json.loads(result.plan_json)["operators"])
    for word, text in (("emitted", f"{build}\n"), ("plan", f"{operators}\n")):
        if updating:
            replace(page, by_word[word], text)
        else:
            assert by_word[word].text == text, f"`make golden` writes it: {name(page)}"


def as_json(value: Any, depth: int = 0) -> str:
    """Return JSON whose inner parts stand in one line where they fit."""
    if depth > 1 and len(flat := json.dumps(value)) < 90 - 2 * depth:
        return flat
    if not isinstance(value, dict | list):
        return json.dumps(value)
    named = value.items() if isinstance(value, dict) else [("", item) for item in value]
    labels = (f"{json.dumps(key)}: " if isinstance(value, dict) else "" for key, _ in named)
    parts = (as_json(item, depth + 1) for _, item in named)
    indent = "  " * (depth + 1)
    inner = ",\n".join(f"{indent}{a}{b}" for a, b in zip(labels, parts, strict=True))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}\n{indent[2:]}{closing}"


# Commands and links.


def command_lines(page: Path) -> Iterator[str]:
    """Yield the commands of a page: behind ``$``, in indented and shell blocks, in code spans."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.language in ("console", "sh", "bash"):
            joined = block.text.replace("\\\n", " ")
            yield from (line.removeprefix("$ ") for line in joined.splitlines())
    prose = re.sub(r"(?ms)^```.*?^```", "", text).replace("\\\n", " ")
    yield from (line.strip() for line in re.findall(r"(?m)^    \S.*$", prose))
    yield from (span.replace("\n", " ") for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose))


def make_targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"(?m)^([a-z-]+):", makefile))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page: Path) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for line in command_lines(page):
        words = line.split("#")[0].split()
        if words[:1] == ["make"] and len(words) > 1:
            assert {w for w in words[1:] if "=" not in w} <= make_targets(), line
        if words[:1] != ["streamc"] or len(words) < 2 or words[1].startswith("-"):
            continue
        assert words[1] in commands, line
        command = commands[words[1]]
        if subcommands := getattr(command, "commands", {}):
            assert len(words) == 2 or words[2] in subcommands, line
            command = subcommands[words[2]] if len(words) > 2 else command
        options = {o for p in command.params for o in p.opts} | {"--help"}
        given = {w.split("=")[0] for w in words[2:] if re.match(r"--?[a-z]", w)}
        assert given <= options, line


def anchors(page: Path) -> set[str]:
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    headings = re.findall(r"(?m)^#+ (.*)$", prose)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith(("http:", "https:")):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{name(page)}: {target}"
        assert not anchor or anchor in anchors(file), f"{name(page)}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    folders = "grammar|dsl|compiler|runtime|cli|tests|specs|benchmarks|docs|scripts"
    for path in re.findall(rf"`((?:{folders})/[\w./]*)`", prose):
        assert (ROOT / path).exists(), f"{name(page)}: {path}"


# The tutorial.

TUTORIAL = ROOT / "docs" / "tutorial.md"
TESTING = ROOT / "docs" / "testing.md"
MIGRATIONS = ROOT / "docs" / "migrations.md"

_SHOWN_IN_PART = ("streamc run", "streamc test", "streamc savepoint create", "python plain")
"""Commands that print more than is shown: progress, what Spark warns of, how long it took."""


def steps(page: Path) -> Iterator[Block]:
    yield from (b for b in blocks(page) if b.file or b.language == "console")


def changed(text: str, edit: str) -> str:
    """Return a text with the lines of a diff block put in the place of others."""
    lines = edit.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"stands {text.count(old)} times in the file:\n{old}"
    return text.replace(old, new)


def sessions(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console block with what they print."""
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


_ON_SPARK = (
    *("streamc run", "streamc test", "python show", "ls"),
    *(f"streamc savepoint {word}" for word in ("create", "list", "show", "query")),
)


def is_spark(command: str) -> bool:
    return command.startswith((*_SHOWN_IN_PART, *_ON_SPARK))


def run(command: str, folder: Path) -> tuple[int, str]:
    """Run a command as the reader does, with the tools of this interpreter's environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = shlex.split(command)
    if words[0] == "streamc" and not is_spark(command):
        return run_here(words, folder)
    if words[0] == "streamc":
        entry = "import sys; from streamc.cli.app import main; sys.argv[0] = 'streamc'; main()"
        words = [sys.executable, "-P", "-c", entry, *words[1:]]
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def run_here(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a command of ours in this process, which has all modules."""
    said = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(said),
        redirect_stderr(said),
    ):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    return (code if isinstance(code, int) else 0), said.getvalue()


def is_shown(output: str, printed: str) -> bool:
    """Whether the lines shown are among those printed, in order (others stand for progress)."""
    rest = iter(printed.splitlines())
    return all(line in rest for line in output.splitlines())


def walk(page: Path, folder: Path, *, spark: bool = False, updating: bool = False) -> None:
    """Do what a page tells, in a folder; without Spark, leave out what needs it."""
    code: int | None = 0
    for block in steps(page):
        if block.file is not None:
            write(folder / block.file, block)
            continue
        shown: list[tuple[str, str]] = []
        for command, output in sessions(block):
            if command == "echo $?":
                printed = output if code is None else f"{code}\n"
            elif is_spark(command) and not spark:
                code, printed = None, output
            else:
                code, printed = run(command, folder)
            if command.startswith(_SHOWN_IN_PART) and is_shown(output, printed):
                printed = output
            shown.append((command, printed))
        text = "".join(f"$ {command}\n{printed}" for command, printed in shown)
        if updating:
            replace(page, block, text)
        else:
            assert text == block.text, f"{name(page)}:{block.line}; `make golden` writes it"


def write(file: Path, block: Block) -> None:
    """Write the file of a block, or change it as a block of a diff says."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = block.text
    if block.language == "diff":
        text = changed(file.read_text(encoding="utf-8"), block.text)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def with_card_fraud(tmp_path: Path) -> Path:
    """A folder with the spec whose next version the page tells of."""
    shutil.copytree(ROOT / "specs" / "card_fraud", tmp_path / "specs" / "card_fraud")
    return tmp_path


def test_migrations_are_planned_as_shown(with_card_fraud: Path, updating: bool) -> None:
    walk(MIGRATIONS, with_card_fraud, updating=updating)


@pytest.mark.spark
@pytest.mark.long
def test_migrations(with_card_fraud: Path) -> None:
    walk(MIGRATIONS, with_card_fraud, spark=True)


@pytest.mark.slow
def test_tutorial_without_running_it(tmp_path: Path, updating: bool) -> None:
    walk(TUTORIAL, tmp_path, updating=updating)


@pytest.mark.spark
def test_tutorial(tmp_path: Path) -> None:
    walk(TUTORIAL, tmp_path, spark=True)


def test_testing_without_running_it(tmp_path: Path) -> None:
    walk(TESTING, tmp_path)
    steps = (b for b in blocks(TESTING) if b.language == "yaml" and b.file is None)
    for number, block in enumerate(steps):
        (tmp_path / "tests" / f"{number}.yaml").write_text(block.text, encoding="utf-8")
    suite = load_tests(find_tests([tmp_path]))
    assert not any(len(found) for found in suite.found), render(suite.found)


@pytest.mark.spark
@pytest.mark.long
def test_testing(tmp_path: Path) -> None:
    walk(TESTING, tmp_path, spark=True)
