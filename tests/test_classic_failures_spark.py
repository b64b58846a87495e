"""The page on edits that plain Spark rejects or ignores: both sides run, rows are by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_docs import ROOT, Block, blocks, sessions, updating, walk

__all__ = ["updating"]

PAGE = ROOT / "docs" / "classic-failures.md"
FIRST, SECOND = ("2026-03-01 10:00:00+00:00", "2026-03-01 10:01:00+00:00")
# p5 is of 10:03:00, so what ends by 10:02:30 is out. Of the shop blue has p1 and p4 in the first
# minute and p3 in the second, green has p2 in the first.
ROWS = {
    "aggregate": [
        # The mean is over all, the largest over what came after the edit: p4.
        ("blue", FIRST, "40.00", "2", "20.000000", "30.00"),
        ("green", FIRST, "20.00", "1", "20.000000", "None"),
        ("blue", SECOND, "5.00", "1", "5.000000", "None"),
    ],
    "dedup": [
        ("blue", FIRST, "40.00", "2"),
        ("green", FIRST, "20.00", "1"),
        ("blue", SECOND, "5.00", "1"),
        # The p3 of the other shop.
        ("green", SECOND, "7.00", "1"),
    ],
    "partitions": [
        ("blue", FIRST, "40.00", "2"),
        ("green", FIRST, "20.00", "1"),
        ("blue", SECOND, "5.00", "1"),
    ],
    "source": [
        ("blue", FIRST, "40.00", "2"),
        ("green", FIRST, "20.00", "1"),
        # With w1.
        ("blue", SECOND, "105.00", "2"),
    ],
}
ERRORS = {
    "aggregate": "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
    "dedup": "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
    "partitions": "",
    "source": "There are [1] sources in the checkpoint offsets and now there are [2] sources",
}


@pytest.mark.spark
@pytest.mark.long
def test_the_page(tmp_path: Path, updating: bool) -> None:
    walk(PAGE, tmp_path, spark=True, updating=updating)


def test_the_page_without_running_it(tmp_path: Path, updating: bool) -> None:
    walk(PAGE, tmp_path, updating=updating)


@pytest.mark.parametrize("edit", ROWS)
def test_the_rows_that_are_shown(edit: str) -> None:
    shown = printed(f"streamc run {edit}.stream", "python show.py out/spend")
    lines = [line.split() for line in shown.splitlines()[1:]]
    assert [(one[0], " ".join(one[1:3]), *one[3:]) for one in lines] == ROWS[edit]


@pytest.mark.parametrize("edit", ERRORS)
def test_the_errors_that_are_shown(edit: str) -> None:
    shown = printed(f"cp plain.py plain_{edit}.py", f"python plain_{edit}.py")
    assert ERRORS[edit] in shown
    assert bool(shown) == bool(ERRORS[edit])


def printed(after: str, command: str) -> str:
    """Return what the page shows of a command, the first one after another one."""
    found = [step for block in consoles() for step in sessions(block)]
    start = next(n for n, (line, _) in enumerate(found) if line.startswith(after))
    return next(output for line, output in found[start:] if line == command)


def consoles() -> list[Block]:
    return [block for block in blocks(PAGE) if block.language == "console"]
