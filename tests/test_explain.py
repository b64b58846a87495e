"""Codes are explained: a page each, with a spec that fails and the same spec fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import Run, run
from compiled import compiled_text, plan_in
from streamc.cli.shared.pages import Page, known_codes, pages, read_page
from streamc.cli.testing.load import load_tests
from streamc.compiler.migrate.files.read import read_migration, tell_unused
from streamc.compiler.migrate.plan import plan_migration
from streamc.dsl.reports.codes import all_codes
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile

__all__ = ["run"]

SLUGS = {code.number: code.slug for code in known_codes()}
PAGES = {number: read_page(number) for number in pages()}
DIAGNOSTICS = [code.number for code in all_codes()]

WRITTEN_SHORT = {"ABS(ABS(…cost…))": "ABS(" * 4000 + "cost" + ")" * 4000}
"""What a page omits from a spec, and its replacement."""


TESTED = """\
CREATE SOURCE payments (
  card_id STRING NOT NULL,
  amount  DECIMAL(12, 2),
  paid_at TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'data/payments', format = 'parquet');

CREATE STREAM per_minute AS
  SELECT card_id, window_start, SUM(amount) AS total
  FROM TUMBLE(payments, paid_at, INTERVAL 1 MINUTE)
  GROUP BY card_id, window_start;

CREATE SINK spend FROM per_minute WITH (connector = 'console');
"""
LATER = "---\nversion: 2\n---\n" + TESTED.replace("AS total", "AS total, MAX(amount) AS peak")
DECIDED = "from: 1\nto: 2\noperators: {per_minute: {accept: {max(amount): empty}}}\n"
"""The spec whose tests are on the pages of SC07xx, and whose migrations on those of SC09xx."""


def migrated(text: str) -> list[Diagnostics]:
    """Return what is wrong with a migration of the spec: to wider windows, and one more column."""
    before = f"---\nversion: 2\n---\n{TESTED}"
    after = before.replace("version: 2", "version: 3").replace(
        "INTERVAL 1 MINUTE", "INTERVAL 5 MINUTES"
    )
    after = after.replace("AS total", "AS total, MAX(amount) AS peak")
    old, new = (plan_in(compiled_text(t, "s.stream")) for t in (before, after))
    diagnostics = Diagnostics(SourceFile("2-to-3.yaml", text))
    decisions = read_migration(old, new, diagnostics)
    plan = plan_migration(old, new, decisions)
    if not diagnostics.has_errors:
        tell_unused(decisions, diagnostics)
        assert plan.exit_code == 0
    return [diagnostics]


ON_SPARK = {"SC0590"}
"""Codes that only `check --spark` can give; `test_check_spark.py` runs their pages."""


def found(number: str, text: str, folder: Path) -> tuple[list[str], str]:
    """Return the codes that a spec, or a test of one, gives, and what is printed about it."""
    if number.startswith("SC07"):
        (folder / "tests").mkdir(exist_ok=True)
        (folder / "spend.stream").write_text(TESTED, encoding="utf-8")
        (folder / "later").mkdir(exist_ok=True)
        (folder / "later" / "spend.stream").write_text(LATER, encoding="utf-8")
        (folder / "later" / "decided.yaml").write_text(DECIDED, encoding="utf-8")
        (folder / "tests" / "page.yaml").write_text(text, encoding="utf-8")
        files = load_tests([folder / "tests" / "page.yaml"]).found
    elif number.startswith("SC09"):
        files = migrated(text)
    else:
        files = [compiled_text(text, "spec.stream").diagnostics]
    return [one.code.number for diagnostics in files for one in diagnostics], render(files)


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert PAGES.keys() == SLUGS.keys()


@pytest.mark.parametrize("number", PAGES)
def test_a_page_has_its_form(number: str) -> None:
    page = PAGES[number]
    assert page.heading == f"{number} {SLUGS[number]}"
    assert page.body.startswith("\n")
    text = page.body.split("\nFails:\n")[0].strip()
    assert 1 <= len(text.split("\n\n")) <= 4, "one to four short paragraphs"
    if number in DIAGNOSTICS:
        assert len(page.specs) == 2
        language = "yaml" if number.startswith(("SC07", "SC09")) else "stream"
        parts = (f"\n\nFails:\n\n```{language}\n", "\n\nFixed:\n\n")
        order = [page.body.index(part) for part in parts]
        assert order == sorted(order)
    else:
        assert "```" not in page.body


@pytest.mark.parametrize("number", DIAGNOSTICS)
def test_the_specs_of_a_page(number: str, tmp_path: Path) -> None:
    fails, mended = PAGES[number].specs
    for short, text in WRITTEN_SHORT.items():
        fails = fails.replace(short, text)
    codes, text = found(number, fails, tmp_path)
    assert sorted(codes) == ([] if number in ON_SPARK else [number]), text
    codes, text = found(number, mended, tmp_path)
    assert codes == [], text


def test_specs_are_indented_on_a_terminal() -> None:
    page = Page("SC0000 example", "\nWhy.\n\nFails:\n\n```stream\nCREATE\n\n  x;\n```\n")
    assert page.specs == ("CREATE\n\n  x;\n",)
    assert page.text() == "SC0000 example\n\nWhy.\n\nFails:\n\n    CREATE\n\n      x;\n"


@pytest.mark.parametrize("word", ["SC0104", "sc0104", "missing-comma", "MISSING_COMMA"])
def test_a_code_is_known_by_number_and_name(run: Run, word: str) -> None:
    ended = run("explain", word)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == PAGES["SC0104"].text()


def test_a_name_of_two_codes_gives_both_pages(run: Run) -> None:
    ended = run("explain", "unknown-variable")
    assert ended.out == "\n".join(PAGES[number].text() for number in ("SC0607", "SR0102"))


@pytest.mark.parametrize(
    ("word", "help_"),
    [
        ("missing-coma", "did you mean `missing-comma`?"),
        ("SC0199", "did you mean `SC01"),
        ("elephant", "`streamc explain` lists all codes"),
    ],
)
def test_an_unknown_code(run: Run, word: str, help_: str) -> None:
    ended = run("explain", word)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: there is no code `{word}`\n")
    assert help_ in ended.err


def test_all_codes_are_listed(run: Run) -> None:
    ended = run("explain")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == [*SLUGS]


def test_pages_are_short_lines() -> None:
    for path in pages().values():
        long = [line for line in lines(path) if len(line) > 110]
        assert long == [], path.name


def lines(path: Path) -> list[str]:
    """Return the lines of a page without its specs, which may be of any length."""
    text = path.read_text(encoding="utf-8")
    return text.split("\nFails:\n")[0].splitlines()
