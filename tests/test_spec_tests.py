"""Tests of specs without Spark: what is wrong with them, how rows compare, what is written back.

A folder of ``spec_tests/`` holds a file of tests of ``spec_tests/spend.stream`` that is wrong, and
what is said of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cli_run import Run, run
from golden_extension import cases
from json_outputs import output
from streamc.cli.shared.report import UserError
from streamc.cli.testing.find import find_tests
from streamc.cli.testing.load import load_tests, named
from streamc.compiler.spec_tests.compare import Comparison, compare
from streamc.compiler.spec_tests.differences import difference_lines, headline
from streamc.compiler.spec_tests.model import (
    Advance,
    Case,
    Crash,
    Drain,
    Expect,
    Placed,
    Restart,
    Restore,
    Rollback,
    Rows,
    Step,
)
from streamc.compiler.spec_tests.update import updated
from streamc.compiler.spec_tests.values import instant_micros
from streamc.compiler.spec_tests.ways import WAYS, arranged, with_crashes
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import Span
from streamc.dsl.yaml.nodes import Sequence

__all__ = ["run"]

SPEC = Path(__file__).parent / "spec_tests" / "spend.stream"
BAD = cases("spec_tests", "test.yaml")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that writes a file of tests beside the spec, and goes there."""
    shutil.copy(SPEC, tmp_path)
    shutil.copytree(SPEC.parent / "versions", tmp_path / "versions")
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> Path:
        file = Path("tests/test.yaml")
        file.write_text(text, encoding="utf-8")
        return file

    return write


# What is wrong with a test.


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_bad_tests(
    case: Path, beside: Callable[[str], Path], golden: Callable[[str, str], None]
) -> None:
    suite = load_tests([beside((case / "test.yaml").read_text(encoding="utf-8"))])
    text = render(suite.found)
    codes = {one.code.number for diagnostics in suite.found for one in diagnostics}
    assert codes == {case.name.split("_")[0]}, text
    golden("stderr.txt", text)


def test_every_code_of_tests_has_a_case() -> None:
    numbers = {case.name.split("_")[0] for case in BAD}
    assert numbers == {f"SC070{n}" for n in range(1, 9)}


def test_a_broken_spec_is_reported_once(beside: Callable[[str], Path]) -> None:
    text = SPEC.read_text(encoding="utf-8").replace("SUM(amount)", "SUM(price)")
    Path("spend.stream").write_text(text, encoding="utf-8")
    suite = load_tests([beside("- steps: [drain]\n- steps: [drain]\n")])
    assert suite.tests == []
    assert [one.code.number for found in suite.found for one in found] == ["SC0203"]


def test_files_are_found_beside_specs(beside: Callable[[str], Path]) -> None:
    file = beside("steps: [drain]\n")
    Path("other/tests").mkdir(parents=True)
    Path("other/tests/no_spec.yaml").write_text("rows: []\n", encoding="utf-8")
    assert find_tests([Path()]) == find_tests([Path("tests")]) == [file]
    assert find_tests([Path("spend.stream"), file]) == [file]
    with pytest.raises(UserError, match="no tests in other"):
        find_tests([Path("other")])


def test_names_say_the_way(beside: Callable[[str], Path]) -> None:
    suite = load_tests(
        [beside("- {steps: [drain], ways: [one batch, restarts]}\n- steps: [drain]\n")]
    )
    assert [test.name for test in suite.tests] == [
        "test 1 [one batch]",
        "test 1 [restarts]",
        "test 2",
    ]
    assert [test.way for test in named(suite.tests, "RESTART")] == ["restarts"]
    with pytest.raises(UserError, match="no test's name contains `x`"):
        named(suite.tests, "x")


def test_mistakes_end_the_command_with_two(run: Run, beside: Callable[[str], Path]) -> None:
    beside("steps: [drained]\n")
    ended = run("test")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean `drain`?" in ended.err
    ended = run("test", "--format", "json", "tests")
    assert ended.code == 2
    (told,) = output(ended.out)["diagnostics"]
    assert (told["code"], told["file"]) == ("SC0704", "tests/test.yaml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing"], "there is no missing"),
        (["README.md"], "README.md contains no tests"),
        (["-k", "zebra"], "no test's name contains `zebra`"),
    ],
)
def test_nothing_to_run_is_a_mistake(
    arguments: list[str], said: str, run: Run, beside: Callable[[str], Path]
) -> None:
    beside("steps: [drain, expect: {spend: []}]\n")
    Path("README.md").touch()
    ended = run("test", *arguments)
    assert ended.code == 2
    assert ended.err.startswith(f"error: {said}")


# What a test gives.


def case_of(beside: Callable[[str], Path], text: str) -> Case:
    suite = load_tests([beside(text)])
    assert not any(len(found) for found in suite.found), render(suite.found)
    return suite.tests[0].case


def test_steps_of_one_item_have_an_order(beside: Callable[[str], Path]) -> None:
    case = case_of(
        beside,
        "steps:\n"
        "  - expect: {spend: []}\n"
        "    advance: {payments: '2026-01-01T10:00:00+01:00'}\n"
        "    lines: ['a,1']\n"
        "  - restart\n"
        "  - drain\n",
    )
    lines, advance, expect, restart, drain = [placed.step for placed in case.steps]
    assert lines == Rows({"lines": ("a,1",)})
    assert advance == Advance({"payments": instant_micros("2026-01-01T09:00:00Z")})
    assert isinstance(expect, Expect) and expect.sink == "spend"
    assert (restart, drain) == (Restart(), Drain())
    assert [placed.number for placed in case.steps] == [1, 1, 1, 2, 3]
    assert case.first_lines == {"lines": ("card_id,n",)}


def test_rows_are_written_as_their_source_reads_them(beside: Callable[[str], Path]) -> None:
    case = case_of(
        beside,
        "steps:\n"
        "  - payments:\n"
        "      - {CARD_ID: c1, amount: 20, flags: [true, null], paid_at: '2026-01-01 10:00:00.5'}\n"
        "      - {card_id: 7, amount: null}\n"
        "    lines:\n"
        "      - {card_id: ' ', n: 1}\n"
        "      - {card_id: 'a,\"b', n: null}\n"
        "    expect: {spend: []}\n",
    )
    assert case.steps[0].step == Rows(
        {
            "payments": (
                '{"card_id": "c1", "amount": 20.00, "flags": [true, null], '
                '"paid_at": "2026-01-01T10:00:00.5Z"}',
                '{"card_id": "7"}',
            ),
            "lines": ('" ",1', '"a,""b",'),
        }
    )


def rows(*lines: str) -> Rows:
    return Rows({"a": lines})


@pytest.mark.parametrize(
    ("way", "steps"),
    [
        ("as written", [rows("1", "2"), rows("3"), Drain(), rows()]),
        ("one batch", [rows("1", "2", "3"), Drain(), rows()]),
        ("row by row", [rows("1"), rows("2"), rows("3"), Drain(), rows()]),
        (
            "restarts",
            [rows("1"), Restart(), rows("2"), Restart(), rows("3"), Drain(), Restart(), rows()],
        ),
        (
            "savepoints",
            [rows("1", "2"), Restore(), rows("3"), Restore(), Drain(), Restore(), rows()],
        ),
    ],
)
def test_ways(way: str, steps: list[Step]) -> None:
    assert way in WAYS
    written = [rows("1", "2"), rows("3"), Drain(), rows()]
    placed = [Placed(step, number) for number, step in enumerate(written, 1)]
    assert [each.step for each in arranged(placed, way)] == steps


def test_what_is_undone_is_not_restored() -> None:
    written = [rows("1"), rows("2"), rows("3"), Rollback(2), rows("4")]
    placed = [Placed(step, number) for number, step in enumerate(written, 1)]
    steps = [each.step for each in arranged(placed, "savepoints")]
    again = [Restore(), rows("2"), rows("3"), Rollback(2), Restore(), rows("4")]
    assert steps == [rows("1"), *again]


def test_a_crash_hits_the_batch_before_it() -> None:
    none = Expect("spend", (), (), Sequence((), True, Span(0, 0)))
    written = [rows("1"), none, Crash(), rows("2"), Restart(), Drain(), Crash()]
    placed = [Placed(step, number) for number, step in enumerate(written, 1)]
    hit = [(each.number, crash) for each, crash in with_crashes(placed)]
    assert hit == [(1, True), (2, False), (4, False), (5, False), (6, True)]
    every = with_crashes(arranged(placed, "crashes"))
    assert [each.number for each, crash in every if crash] == [1, 4, 6]


# Comparing, showing, writing back.

NUMBERS = """\
name: numbers
steps:
  - lines: []
  - expect:
      # What came in.
      numbers:
        - {card_id: a, n: 1}  # stays
        - {card_id: b, n: 2}  # changes
        - card_id: c
          n: 3
        - {card_id: d, n: null}

  # The end.
  - expect: {numbers: []}
"""


def compared(text: str, got: list[dict[str, Any]], beside: Callable[[str], Path]) -> Comparison:
    expects = [p.step for p in case_of(beside, text).steps if isinstance(p.step, Expect)]
    return compare(expects[0], got)


def as_rows(**numbers: int | None) -> list[dict[str, Any]]:
    return [{"card_id": name, "n": number} for name, number in numbers.items()]


def test_equal_rows_are_no_difference(beside: Callable[[str], Path]) -> None:
    found = compared(NUMBERS, as_rows(d=None, c=3, b=2, a=1), beside)
    assert found.holds
    assert updated(NUMBERS, [found]) == NUMBERS


def test_a_difference_is_a_table(beside: Callable[[str], Path]) -> None:
    found = compared(NUMBERS, as_rows(e=9, c=3, b=22, a=1), beside)
    assert headline(found) == "1 missing, 1 unexpected, 1 changed (2 rows as expected)"
    assert difference_lines(found) == [
        "                card_id  n",
        "    changed     b        2 -> 22",
        "    missing     d        NULL",
        "    unexpected  e        9",
    ]


def test_a_wide_difference_is_a_paragraph_a_row(beside: Callable[[str], Path]) -> None:
    found = compared(NUMBERS, [*as_rows(a=1, b=2, c=3, d=None), *as_rows(**{"x" * 90: 1})], beside)
    assert difference_lines(found) == [
        "    unexpected",
        f"      card_id  {'x' * 90}",
        "      n        1",
    ]


def test_only_rows_that_differ_are_written(beside: Callable[[str], Path]) -> None:
    found = compared(NUMBERS, as_rows(e=9, a=1, b=22, d=None), beside)
    assert updated(NUMBERS, [found]) == NUMBERS.replace("b, n: 2}", "b, n: 22}").replace(
        "        - card_id: c\n          n: 3\n        - {card_id: d, n: null}\n",
        "        - {card_id: d, n: null}\n        - {card_id: e, n: 9}\n",
    )


def test_all_rows_may_go(beside: Callable[[str], Path]) -> None:
    found = compared(NUMBERS, [], beside)
    new = updated(NUMBERS, [found])
    assert "      numbers: []\n\n  # The end." in new
    assert case_of(beside, new)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{numbers: []}", "{numbers: [{card_id: a, n: 1}, {card_id: b, n: 2}]}"),
        (
            "\n      numbers: []  # none",
            "\n      numbers:\n        - {card_id: a, n: 1}\n        - {card_id: b, n: 2}  # none",
        ),
        (
            "{numbers: {ordered: true, rows: [{card_id: b, n: 2}]}}",
            "{numbers: {ordered: true, rows: [{card_id: a, n: 1}, {card_id: b, n: 2}]}}",
        ),
        (
            "\n      numbers:\n        ordered: true\n        rows:\n"
            "          - {n: 2, card_id: b}",
            "\n      numbers:\n        ordered: true\n        rows:\n"
            "          - {card_id: a, n: 1}\n          - {n: 2, card_id: b}",
        ),
    ],
)
def test_lists_are_written_in_their_style(
    before: str, after: str, beside: Callable[[str], Path]
) -> None:
    text = "steps:\n  - expect: "
    found = compared(f"{text}{before}\n", as_rows(a=1, b=2), beside)
    assert updated(f"{text}{before}\n", [found]) == f"{text}{after}\n"
    assert compared(f"{text}{after}\n", as_rows(a=1, b=2), beside).holds


def test_an_order_may_matter(beside: Callable[[str], Path]) -> None:
    rows = "[{card_id: a, n: 1}, {card_id: b, n: 2}]"
    text = f"steps:\n  - expect: {{numbers: {{ordered: true, rows: {rows}}}}}\n"
    assert compared(text, as_rows(a=1, b=2), beside).holds
    found = compared(text, as_rows(b=2, a=1), beside)
    assert headline(found) == "all rows, in another order"
    assert difference_lines(found) == [
        "               card_id  n",
        "    1. not 2.  b        2",
        "    2. not 1.  a        1",
    ]
    assert updated(text, [found]).count("[{card_id: b, n: 2}, {card_id: a, n: 1}]") == 1


def test_some_rows_and_columns_may_do(beside: Callable[[str], Path]) -> None:
    text = "steps:\n  - expect: {numbers: {contains: true, rows: [{card_id: a}, {n: 2}]}}\n"
    assert compared(text, as_rows(x=0, b=2, a=1), beside).holds
    found = compared(text, as_rows(x=0, a=1), beside)
    assert headline(found) == "1 missing (1 row as expected)"
    assert updated(text, [found]) == text


@pytest.mark.parametrize(
    ("tolerance", "mean", "holds"),
    [
        ("", 1 / 3, True),
        ("", 0.33333, False),
        ("tolerance: 1e-4, ", 0.33333, True),
        ("tolerance: 0, ", 1 / 3 + 1e-12, False),
        ("", None, False),
    ],
)
def test_doubles_may_be_near(
    tolerance: str, mean: float | None, holds: bool, beside: Callable[[str], Path]
) -> None:
    row = "{card_id: a, window_start: '2026-01-01', total: 1, mean: 0.3333333333333333}"
    text = f"steps:\n  - expect: {{spend: {{{tolerance}rows: [{row}]}}}}\n"
    got = {
        "card_id": "a",
        "window_start": "2026-01-01T00:00:00.000000Z",
        "total": Decimal("1.00"),
        "mean": mean,
    }
    assert compared(text, [got], beside).holds is holds


def test_a_span_is_that_of_the_rows(beside: Callable[[str], Path]) -> None:
    """What follows a list in block style is not a part of it."""
    found = compared(NUMBERS, [], beside)
    span = found.expect.node.span
    assert isinstance(span, Span)
    assert NUMBERS[span.start : span.end].endswith("{card_id: d, n: null}")
