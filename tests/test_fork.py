"""``streamc fork`` without Spark: recordings, what is refused, rows by key."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_run import Run, run
from compiled import compiled_text
from streamc.cli.jobs.forking import Branch, read_recording
from streamc.cli.shared.report import UserError
from streamc.cli.testing.load import version_of
from streamc.compiler.model import types as t
from streamc.compiler.spec_tests.differences import difference_counts
from streamc.compiler.spec_tests.forks import compare_sinks, key_columns
from streamc.compiler.spec_tests.model import Column
from streamc.contracts.migration import Migration, SinkChange, SourceChange

__all__ = ["run"]

SPEC = """\
CREATE SOURCE payments (card STRING NOT NULL, amount INT, at TIMESTAMP, WATERMARK FOR at AS at)
  WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT card, window_start, SUM(amount) AS total
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE) GROUP BY card, window_start;
CREATE SINK out FROM spend WITH (connector = 'memory');
"""


def branch(source: str) -> Branch:
    """Return the version of the spec with this name of its source."""
    version = version_of(Path("spend.stream"), compiled_text(SPEC, "spend.stream"))
    migration = Migration(
        *("spend", 1, 1, {}),
        sources={"payments": SourceChange("payments", source)},
        sinks={"out": SinkChange("out", "out")},
        marks=(),
    )
    return Branch(version, migration, {}, None)


OWN = branch("payments")


def test_the_nth_files_are_a_step(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "b.json").write_text('{"card": "b"}', encoding="utf-8")
    (tmp_path / "old" / "a.json").write_text('{"card": "a"}\n', encoding="utf-8")
    (tmp_path / "old" / ".hidden").write_text("x", encoding="utf-8")
    renamed = branch("old")
    found = read_recording(tmp_path, [renamed])
    assert found.steps == [{"old": '{"card": "a"}\n'}, {"old": '{"card": "b"}\n'}]
    assert renamed.given("payments") == "old"


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        ([], "has no folder for `payments`"),
        (["payments", "paid"], "paid does not match any source or table"),
    ],
)
def test_folders_that_do_not_fit(folders: list[str], said: str, tmp_path: Path) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
    with pytest.raises(UserError, match=said):
        read_recording(tmp_path, [OWN])


def test_rows_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "payments").mkdir()
    (tmp_path / "payments" / "1.parquet").write_bytes(b"PAR1\xff\xfe")
    with pytest.raises(UserError, match="is not UTF-8"):
        read_recording(tmp_path, [OWN])


def test_rows_go_by_their_keys() -> None:
    columns = (Column("card", t.STRING), Column("total", t.BIGINT), Column("n", t.BIGINT))
    ours = [{"card": "a", "total": 1, "n": 1}, {"card": "b", "total": 2, "n": 2}]
    theirs = [{"card": "b", "total": 7, "n": 8}, {"card": "c", "total": 1, "n": 1}]
    found = compare_sinks("out", (columns, columns), ("card",), (ours, theirs))
    # Nothing else of `b` is alike; `a` and `c` are taken for one row, of which most is.
    assert found.comparison.changed == ((0, 1), (1, 0))
    plain = compare_sinks("out", (columns, columns), (), (ours, theirs))
    assert plain.comparison.changed == ((0, 1),)
    assert key_columns(OWN.version.plan, "out")[-1] == "card"
    # Where a key has several rows, none of them is the other's.
    more = [*ours, {"card": "b", "total": 5, "n": 5}]
    found = compare_sinks("out", (columns, columns), ("card",), (more, theirs))
    assert found.comparison.changed == ((0, 1),)
    assert difference_counts(found.comparison) == ["2 missing", "1 unexpected", "1 changed"]


def test_a_savepoint_by_its_name_needs_its_state(run: Run, tmp_path: Path) -> None:
    spec = tmp_path / "spend.stream"
    spec.write_text(SPEC, encoding="utf-8")
    given = ["--a", str(spec), "--b", str(spec), "--input", str(tmp_path)]
    ended = run("fork", "cut", *given)
    assert ended.code == 2
    assert "the state of savepoint `" in ended.err
    ended = run("fork", "./cut", *given)
    assert ended.code == 2
    assert "there is no savepoint in" in ended.err
