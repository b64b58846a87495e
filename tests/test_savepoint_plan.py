"""``streamc savepoint plan``: exit codes, files that are read and written, what is printed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_run import Run, run
from compiled import compiled_text
from json_outputs import output
from streamc.contracts.savepoint import Savepoint
from streamc.runtime.storage.notes import seal

__all__ = ["run"]

OLD = """\
---
pipeline: cards
version: 1
---
CREATE SOURCE payments (
  card_id STRING NOT NULL, v DOUBLE, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT card_id, window_start, SUM(v) AS total
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE) GROUP BY card_id, window_start;
CREATE SINK out FROM spend WITH (connector = 'files', path = 'out', format = 'json');
"""
NEW = OLD.replace("version: 1", "version: 2").replace("AS total", "AS total, MAX(v) AS peak")
FINER = OLD.replace("version: 1", "version: 2").replace("1 MINUTE", "30 SECONDS")
PLAN = ("savepoint", "plan", "old.stream", "new.stream")


@pytest.fixture(autouse=True)
def specs(run: Run) -> None:
    Path("old.stream").write_text(OLD, encoding="utf-8")
    Path("new.stream").write_text(NEW, encoding="utf-8")


def test_a_plan_that_needs_nothing(run: Run) -> None:
    ended = run("savepoint", "plan", "old.stream", "old.stream")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("\n\n5 kept\n")


def test_a_plan_with_a_question_and_its_answer(run: Run) -> None:
    asked = run(*PLAN, "--write", "migrations/1-to-2.yaml")
    assert (asked.code, asked.err) == (1, "")
    assert "cell max(v)" in asked.out and "1 decision is missing" in asked.out
    answered = run(*PLAN, "--migration", "migrations/1-to-2.yaml")
    assert (answered.code, answered.err) == (0, "")
    assert "missing" not in answered.out


def test_what_is_impossible(run: Run) -> None:
    Path("new.stream").write_text(FINER, encoding="utf-8")
    ended = run(*PLAN, "--write", "1-to-2.yaml")
    assert ended.code == 2
    assert "# spend: drop" in Path("1-to-2.yaml").read_text(encoding="utf-8")
    assert run(*PLAN, "--migration", "1-to-2.yaml").code == 2
    Path("1-to-2.yaml").write_text("from: 1\nto: 2\noperators: {spend: drop}\n", encoding="utf-8")
    assert run(*PLAN, "--migration", "1-to-2.yaml").code == 0


def test_a_draft_is_added_to_and_never_written_over(run: Run) -> None:
    file = Path("1-to-2.yaml")
    file.write_text("from: 1\nto: 2\noperators:\n  spend: {where: total > 0}\n", encoding="utf-8")
    ended = run(*PLAN, "--write", "1-to-2.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: 1-to-2.yaml already exists\n  = help: add to it with `--migration 1-to-2.yaml`\n"
    )
    assert run(*PLAN, "--migration", "1-to-2.yaml", "--write", "1-to-2.yaml").code == 1
    assert file.read_text(encoding="utf-8") == (
        "from: 1\nto: 2\noperators:\n  spend:\n    where: '`sum(v)` > 0'\n    accept:\n"
        "      # cell max(v): starts empty: nothing that is kept tells it\n"
        "      # or: backfill\n      max(v): empty\n"
    )


def test_json_has_verdicts_decisions_and_the_document(run: Run) -> None:
    ended = run(*PLAN, "--format", "json")
    found = output(ended.out)
    assert (ended.code, found["exit_code"]) == (1, 1)
    peak = next(part for part in found["parts"] if part["new"] == "max(v)")
    assert peak["verdict"] == "starts empty"
    assert peak["decision"] == {
        "path": ["operators", "spend", "accept", "max(v)"],
        "value": "empty",
        "choices": ["empty", "backfill"],
    }
    cells = found["document"]["operators"]["spend"]["cells"]
    assert cells == [
        {"id": "sum(v)", "expr": "`sum(v)`", "reads": ["sum(v)"], "merge": None},
        {"id": "max(v)", "expr": "CAST(NULL AS DOUBLE)", "merge": "any", "empty": True},
    ]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("from: [", 2, "SC0901"),
        ("from: 1\nto: 3\n", 2, "SC0906"),
        ("from: 1\nto: 2\noperators: {spent: drop}\n", 2, "did you mean `spend`?"),
        ("from: 1\nto: 2\noperators: {spend: {rewindow: auto}}\n", 2, "SC0905"),
    ],
)
def test_mistakes_in_the_file(run: Run, text: str, code: int, said: str) -> None:
    Path("bad.yaml").write_text(text, encoding="utf-8")
    ended = run(*PLAN, "--migration", "bad.yaml")
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


def test_mistakes_in_the_file_as_json(run: Run) -> None:
    Path("bad.yaml").write_text("from: 1\nto: 3\n", encoding="utf-8")
    ended = run(*PLAN, "--migration", "bad.yaml", "--format", "json")
    assert [one["code"] for one in output(ended.out)["diagnostics"]] == ["SC0906"]


def test_files_that_cannot_be_read(run: Run) -> None:
    missing = run(*PLAN, "--migration", "none.yaml")
    assert missing.code == 2
    assert missing.err == "error: there is no none.yaml\n  = help: `--write` drafts one\n"
    Path("latin.yaml").write_bytes(b"from: 1 # \xe9\n")
    assert "is not UTF-8" in run(*PLAN, "--migration", "latin.yaml").err
    Path("folder.yaml").mkdir()
    assert "cannot be read" in run(*PLAN, "--migration", "folder.yaml").err
    assert run("savepoint", "plan", "gone.stream", "new.stream").code == 2


def test_a_spec_with_errors(run: Run) -> None:
    Path("new.stream").write_text(NEW.replace("SUM(v)", "SUM(x)"), encoding="utf-8")
    ended = run(*PLAN)
    assert (ended.code, ended.out) == (2, "")
    assert "SC0203" in ended.err


def test_diff_shows_the_verdicts_below_the_code(run: Run) -> None:
    ended = run("diff", "old.stream", "new.stream")
    assert ended.code == 1
    code, _, state = ended.out.partition("\nstate\n\n")
    assert '+            F.max("v")' in code
    assert "  cell max(v)                  starts empty" in state
    assert "source payments (files): kept\nsink out (files): kept\n" in state


# A savepoint.


@pytest.fixture
def savepoint() -> None:
    """A state with a savepoint of `old.stream`, which holds no rows."""
    result = compiled_text(OLD, "cards.stream")
    assert result.plan is not None
    found = Savepoint(
        *("cut", datetime(2026, 1, 1, tzinfo=UTC), "cards", 1, 7, 9, "0001", "s", "4.2.1"),
        plan=result.plan,
        sources={},
        logs={},
        lineage=(),
        queries={},
    )
    folder = Path("state/savepoints/cut")
    folder.mkdir(parents=True)
    note = {"format": 2, "id": "s", "pipeline": "cards"}
    Path("state/state.json").write_text(seal(note), encoding="utf-8")
    (folder / "manifest.json").write_text(seal(found.to_json()), encoding="utf-8")


TRY = ("savepoint", "plan", "new.stream", "--savepoint")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new.stream",), "a plan needs two versions"),
        (("a", "b", "c"), "more than two specs were given"),
        (("old.stream", "new.stream", "--state", "state"), "`--state` needs a savepoint"),
        (("new.stream", "--savepoint", "cut"), "`cut` is the name of a savepoint"),
        (("new.stream", "--savepoint", "./gone"), "SR0420"),
        (("new.stream", "--savepoint", "gone", "--state", "state"), "there are: cut"),
        (("new.stream", "--savepoint", "cut", "--state", "none"), "SR0407"),
        (("gone.stream", "--savepoint", "cut", "--state", "state"), "there is no gone.stream"),
    ],
)
def test_what_can_not_be_tried(
    run: Run, savepoint: None, arguments: tuple[str, ...], said: str
) -> None:
    ended = run("savepoint", "plan", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_old_must_be_what_the_savepoint_is_of(run: Run, savepoint: None) -> None:
    ended = run("savepoint", "plan", "new.stream", *TRY[2:], "state/savepoints/cut")
    assert (ended.code, ended.out) == (2, "")
    assert "savepoint cut is of version 1, not of the given OLD" in ended.err
    Path("other.stream").write_text(OLD.replace("SUM(v)", "MIN(v)"), encoding="utf-8")
    ended = run("savepoint", "plan", "other.stream", *TRY[2:], "state/savepoints/cut")
    assert (ended.code, ended.out) == (2, "")
    assert "min(v)" in ended.err and "omit OLD" in ended.err


def test_a_savepoint_of_another_pipeline(run: Run, savepoint: None) -> None:
    Path("new.stream").write_text(NEW.replace("pipeline: cards", "pipeline: x"), encoding="utf-8")
    ended = run(*TRY, "cut", "--state", "state")
    assert (ended.code, ended.out) == (2, "")
    assert "SR0421" in ended.err and "is of pipeline `cards`, not of `x`" in ended.err


def test_two_pipelines(run: Run) -> None:
    """What restores a savepoint would refuse, the plan does not promise."""
    Path("new.stream").write_text(NEW.replace("pipeline: cards", "pipeline: x"), encoding="utf-8")
    ended = run(*PLAN)
    assert (ended.code, ended.out) == (2, "")
    assert "`cards` and `x` are different pipelines" in ended.err


def test_mistakes_in_the_file_are_reported_before_a_savepoint_is_read(
    run: Run, savepoint: None
) -> None:
    Path("bad.yaml").write_text("from: 1\nto: 3\n", encoding="utf-8")
    ended = run(*TRY, "cut", "--state", "state", "--migration", "bad.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "SC0906" in ended.err


# NULL for what can't be converted.


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("TRY_CAST(CAST(total AS STRING) AS DOUBLE)", 0),
        ("try_divide(total, 0.0)", 0),
        ("total * 2", 2),
    ],
)
def test_nulls_are_accepted_where_a_conversion_may_give_them(
    run: Run, expression: str, code: int
) -> None:
    lines = ["from: 1", "to: 2", "operators:", "  spend:", f"    set: {{sum(v): '{expression}'}}"]
    lines.append("    accept: {sum(v): nulls, max(v): empty}\n")
    Path("m.yaml").write_text("\n".join(lines), encoding="utf-8")
    ended = run(*PLAN, "--migration", "m.yaml", "--format", "json")
    assert ended.code == code, ended.err
    if code:
        assert [one["code"] for one in output(ended.out)["diagnostics"]] == ["SC0905"]
    else:
        found = output(ended.out)["document"]["operators"]["spend"]
        assert found["nulls"] == ["sum(v)"]
