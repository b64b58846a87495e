"""A plan that is tried on a savepoint: its figures against those computed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as parquet
import pytest
from json_outputs import output
from streamc.cli.app import app
from streamc.contracts.migration import Migration
from streamc.runtime import RuntimeFault
from streamc.runtime.savepoints.process import savepoint_of, take_savepoint
from test_evolutions_spark import FIVES, MINUTES, SINK, SOURCE, T0, Evolution, Payment
from test_savepoints_spark import SPEC, Pipeline
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SESSIONS = """
CREATE STREAM spend AS
  SELECT card, window_start, COUNT(*) AS n
  FROM SESSION(payments PARTITION BY card, at, INTERVAL 1 MINUTE)
  GROUP BY card, window_start;
"""
LAST = """
CREATE OPERATOR spend WITH (unbounded = 'cards are few') ON payments PARTITION BY card ORDER BY at
  STATE (code STRING, n INT DEFAULT 0, seen MAP<STRING, INT>, codes LIST<STRING>)
  TIMERS (due EVENT TIME)
  RETURNS (card STRING, n INT, at TIMESTAMP)
AS
ON EVENT
  SET code = country;
  SET n = n + 1;
  PUT seen[coalesce(country, 'none')] = n;
  APPEND coalesce(country, 'none') TO codes;
  START TIMER due AT at + INTERVAL 2 MINUTES;
ON TIMER due
  EMIT card, n, due;
END;
"""
THREES = FIVES.replace(
    "TUMBLE(payments, at, INTERVAL 5 MINUTES)",
    "HOP(payments, at, INTERVAL 1 MINUTE, INTERVAL 3 MINUTES)",
)
CODED = LAST.replace("code STRING", "code INT").replace("SET code = country", "SET code = n")
# The watermark is at second 70: what comes after it waits.
PAYMENTS = [
    Payment("a", "7", 1, 10, 0),
    Payment("b", "x", 1, 20, 0),
    Payment("c", "y", 1, 40, 0),
    Payment("d", None, 1, 50, 0),  # type: ignore[arg-type]
    Payment("e", "12", 1, 100, 0),
]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def found(self) -> Any:
        return output(self.out)


@dataclass
class Saved:
    """A pipeline in a folder with a savepoint `cut` of it."""

    pipeline: Evolution
    source: str = SOURCE

    @property
    def state(self) -> str:
        return str(self.pipeline.root / "state")

    def plan(self, new: str, operator: str = "", *more: str) -> Ended:
        """What the command says of a new version, with what the file says of the operator."""
        root = self.pipeline.root
        spec, decisions = root / "cards.stream", root / "m.yaml"
        spec.write_text(self.source + new + SINK, encoding="utf-8")
        decisions.write_text(_file(operator), encoding="utf-8")
        arguments = [str(spec), "--savepoint", "cut", "--state", self.state]
        arguments += ["--migration", str(decisions), *more]
        found = CliRunner().invoke(app, ["savepoint", "plan", *arguments])
        assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
        return Ended(found.exit_code, found.stdout, found.stderr)

    def operator(self, new: str, operator: str = "", code: int = 0) -> Any:
        ended = self.plan(new, operator, "--format", "json")
        assert ended.code == code, ended
        assert ended.found["exit_code"] == code
        (found,) = ended.found["savepoint"]["operators"]
        return found


Make = Callable[[str, list[Payment]], Saved]


@pytest.fixture
def saved(tmp_path: Path, spark: SparkSession) -> Make:
    """Return a function that runs a version on some payments and takes a savepoint."""

    def made(stream: str, payments: list[Payment]) -> Saved:
        found = Evolution(tmp_path, spark)
        lines = "".join(payment.line for payment in payments)
        (tmp_path / "in" / "0.json").write_text(lines, encoding="utf-8")
        found.run(stream, "old")
        take_savepoint(str(tmp_path / "state"), name="cut", spark=spark)
        return Saved(found)

    return made


def test_ids_that_become_one(saved: Make) -> None:
    """Those of a program; what it has beside its cells and timers is nobody's business."""
    seen = """
CREATE STREAM spend AS
  SELECT DISTINCT ON (card, country) WITHIN INTERVAL 1 HOUR card, country, at FROM payments;
"""
    job = saved(seen, [Payment("a", "de", 1, 20, 0), Payment("a", "fr", 1, 10, 0)])
    (sample,) = job.operator(seen.replace("(card, country)", "(card)"))["samples"]
    assert [one["country"] for one in sample["before"]] == ["de", "fr"]
    assert sample["after"] == {
        "card": "a",
        "kept_at": "2026-01-01 00:00:10",
        "forget": "2026-01-01 01:00:10",
    }


@pytest.mark.long
def test_windows_that_become_wider(saved: Make) -> None:
    """The watermark is at second 155: of five minutes the first two have closed."""
    payments = [
        *(Payment("a", "de", 5, 10, 0), Payment("b", "de", 1, 70, 0)),
        *(Payment("a", "de", 2, 130, 0), Payment("a", "de", 3, 140, 0)),
        *(Payment("b", "fr", 4, 170, 0), Payment("a", "fr", 9, 185, 0)),
    ]
    job = saved(MINUTES, payments)
    found = job.operator(FIVES, "rewindow: auto")
    assert (found["old"], found["new"], found["rows"]) == ("spend", "spend", 3)
    assert found["incomplete"] == {
        "watermark_ms": _ms(155),
        "groups": 2,
        "closed": 2,
        "start_ms": _ms(0),
        "end_ms": _ms(300),
        "windows": 1,
    }
    first, second = found["samples"]
    window = f"{{{_text(0)}, {_text(300)}}}"
    assert [row["country"] for row in first["before"]] == ["de", "fr"]
    assert [row["sum(amount).sum"] for row in first["before"]] == ["5.00", "9.00"]
    assert (first["rows"], first["after"]["card"], first["after"]["window"]) == (2, "a", window)
    after = [first["after"][name] for name in ("sum(amount).sum", "avg(amount).count")]
    assert after == ["14.00", "3"]
    assert (second["rows"], second["after"]["sum(amount).sum"]) == (1, "4.00")
    assert _column_bytes(job) == found["tables"][0]["columns"]

    ended = job.plan(FIVES, "rewindow: auto")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert "state of spend: 3 rows, " in ended.out
    incomplete = f"  window {_text(0)} to {_text(300)} is incomplete: 2 windows"
    after = f"    in it closed by {_text(155)} and left no state; 2 groups of it continue"
    assert lines[lines.index(incomplete) + 1] == after
    assert any(line.split() == ["sum(amount).sum", "5.00", "9.00", "14.00"] for line in lines)
    # The exit code is 1 if something is undecided, and the figures are shown all the same.
    assert job.plan(FIVES).code == 1
    finer = MINUTES.replace("1 MINUTE", "30 SECONDS")
    found = job.operator(finer, code=2)
    assert (found["new"], found["rows"], found["samples"]) == (None, 3, [])
    assert job.operator(MINUTES)["samples"] == []

    # Of three minutes, a window a minute: those of 0 and 60 lack the minutes of 0 and 60.
    found = job.operator(THREES, "rewindow: auto")
    closed = {"watermark_ms": _ms(155), "groups": 4, "closed": 2, "windows": 2}
    assert found["incomplete"] == {**closed, "start_ms": _ms(0), "end_ms": _ms(240)}
    shown = [
        (one["rows"], one["after"]["window"], one["after"]["sum(amount).sum"])
        for one in found["samples"]
    ]
    whole = [f"{{{_text(start)}, {_text(start + 180)}}}" for start in (0, 60)]
    assert shown == [(1, whole[0], "5.00"), (2, whole[1], "14.00")]
    lines = job.plan(THREES, "rewindow: auto").out.splitlines()
    incomplete = f"  2 windows from {_text(0)} to {_text(240)} are incomplete: 2 windows"
    after = f"    in them closed by {_text(155)} and left no state; 4 groups of them continue"
    assert lines[lines.index(incomplete) + 1] == after


def test_sessions_that_end_later(saved: Make) -> None:
    """At second 155 the sessions that ended at 70 and 130 have closed; one goes on from 140.

    It began within the minute that ends later now, so what has closed might have been of it.
    """
    payments = [Payment("a", "de", 1, 10, 0), Payment("b", "de", 1, 70, 0)]
    payments += [Payment("a", "de", 1, 140, 0), Payment("c", "de", 1, 300 - 115, 0)]
    job = saved(SESSIONS, payments)
    wider = SESSIONS.replace("INTERVAL 1 MINUTE", "INTERVAL 80 SECONDS")
    found = job.operator(wider, "rewindow: auto")
    assert found["rows"] == 2
    # From 140, and not from 185: 155 and 20 more seconds are 175.
    assert found["incomplete"]["groups"] == 1
    windows = [one["after"]["window"] for one in found["samples"]]
    assert windows == [f"{{{_text(140)}, {_text(220)}}}", f"{{{_text(185)}, {_text(265)}}}"]


@pytest.mark.long
def test_rows_of_a_program_that_can_not_be_converted(saved: Make) -> None:
    job = saved(LAST, PAYMENTS)
    moved = "timers: {due: 'due - INTERVAL 80 SECONDS'}"
    found = job.operator(CODED, f"set: {{code: 'CAST(code AS INT)'}}, {moved}", code=1)
    (failing,) = found["failing"]
    assert (failing["part"], failing["rows"]) == ("code", 2)
    assert failing["examples"] == [
        {"keys": {"card": "b"}, "reads": {"code": "x"}},
        {"keys": {"card": "c"}, "reads": {"code": "y"}},
    ]
    assert "cannot be cast to" in failing["reason"]
    # They were set for 130, 140, 160 and 170.
    due = {"name": "due", "by_clock": False, "set": 4, "moved": 4, "at_once": 2}
    assert found["timers"] == [due]
    first = found["samples"][0]
    assert (first["before"][0]["card"], first["before"][0]["code"]) == ("a", "7")
    assert (first["after"]["code"], first["after"]["due"]) == ("7", _text(50))
    _refused(job, "set: {code: 'CAST(code AS INT)'}", "(card = b) has code = x")

    tried = job.plan(CODED, "set: {code: 'TRY_CAST(code AS INT)'}")
    assert tried.code == 1
    assert "  `code` fails for 2 rows: TRY_CAST(code AS INT)" in tried.out.splitlines()
    assert "accept NULL by `accept: {code: nulls}`" in tried.out
    _refused(job, "set: {code: 'TRY_CAST(code AS INT)'}", "it would become NULL")

    job.source = SOURCE.replace("shuffle.partitions: 2", "ansi.enabled: false")
    (failing,) = job.operator(CODED, "set: {code: 'CAST(code AS INT)'}", code=1)["failing"]
    assert (failing["rows"], failing["reason"]) == (2, None)
    job.source = SOURCE

    for decided in (
        "set: {code: 'coalesce(TRY_CAST(code AS INT), 0)'}",
        "set: {code: 'TRY_CAST(code AS INT)'}, accept: {code: nulls}",
    ):
        found = job.operator(CODED, decided)
        assert found["failing"] == []
        assert found["timers"] == []
    # What is left behind does not fail.
    doubled = "codes: {key: 'concat(key, key)'}"
    kept = f"set: {{code: 'CAST(code AS INT)', {doubled}}}, where: \"code = '7'\""
    found = job.operator(CODED, kept)
    assert [(one["table"], one["before"][0]["card"]) for one in found["samples"]] == [
        ("record", "a"),
        ("cell_codes", "a"),
    ]
    assert [one["after"]["value"] for one in found["samples"][1:]] == ["77"]
    job.pipeline.run(CODED, "new", savepoint="cut", migration=_migration(job, kept))
    take_savepoint(job.state, name="after", spark=job.pipeline.spark)
    after, folder = savepoint_of(job.state, "after")
    operator = after.operator("spend")
    assert operator is not None
    rows = {name: table.rows for name, table in operator.tables.items()}
    assert rows == {"record": 1, "cell_seen": 1, "cell_codes": 1, "waiting": 0}
    assert _rows(folder, "spend/spend/cell_codes")[0]["value"] == "77"


@pytest.mark.long
def test_every_kind_of_state(tmp_path: Path, spark: SparkSession) -> None:
    """Pages are letters: no row that waits in the join can be converted."""
    job = Pipeline(tmp_path, spark)
    for step in range(3):
        job.feed(step)
    job.run()
    job.take("cut")
    saved, folder = savepoint_of(job.state, "cut")
    spec, decisions = tmp_path / "all.stream", tmp_path / "m.yaml"
    text = SPEC.read_text(encoding="utf-8")
    for old, new in (
        ("BY user_id, ts, INTERVAL 1 MINUTE)", "BY user_id, ts, INTERVAL 2 MINUTES)"),
        ("DISTINCT ON (user_id, page, ts)", "DISTINCT ON (user_id, ts)"),
        ("SELECT c.user_id, c.page, c.ts,", "SELECT c.user_id, c.page, c.cost, c.ts,"),
    ):
        assert old in text
        text = text.replace(old, new)
    spec.write_text(text, encoding="utf-8")
    seen = "seen: {set: {left.cost: 'CAST(page AS DECIMAL(10, 2))'}}"
    lines = f"from: 1\nto: 1\noperators:\n  visits: {{rewindow: auto}}\n  {seen}\n"
    decisions.write_text(lines, encoding="utf-8")
    arguments = [str(spec), "--savepoint", folder, "--migration", str(decisions)]
    ended = CliRunner().invoke(app, ["savepoint", "plan", *arguments, "--format", "json"])
    assert ended.exit_code == 1, ended.stderr
    found = {one["old"]: one for one in output(ended.stdout)["savepoint"]["operators"]}
    assert {id: one["rows"] for id, one in found.items()} == {o.id: o.rows for o in saved.operators}

    (failing,) = found["seen"]["failing"]
    left = saved.operator("seen").tables["left"]  # type: ignore[union-attr]
    assert (failing["table"], failing["part"], failing["rows"]) == ("left", "left.cost", left.rows)
    assert "page" in failing["examples"][0]["reads"]

    ids = Counter((row["user_id"], row["ts"]) for row in _rows(folder, "minutes/once/state"))
    samples = found["once"]["samples"]
    assert [one["rows"] for one in samples] == [ids[key] for key in sorted(ids)[:2]]

    watermark = saved.queries["visits"].watermark_ms
    starts = _merged_sessions(_rows(folder, "visits/visits/state"), timedelta(minutes=1))
    early = [start for start in starts if start.timestamp() * 1000 <= watermark + 60_000]
    assert found["visits"]["incomplete"]["groups"] == len(early) > 0
    changed = {id for id, one in found.items() if one["samples"]}
    assert changed == {"once", "visits"}


def _merged_sessions(rows: list[dict[str, Any]], later: timedelta) -> list[datetime]:
    """When the sessions begin that are left when each ends later and those that touch are one."""
    found: list[datetime] = []
    last: tuple[str, datetime] | None = None
    for row in sorted(rows, key=lambda row: (row["user_id"], row["window"]["start"])):
        user, window = row["user_id"], row["window"]
        if last is None or last[0] != user or last[1] < window["start"]:
            found.append(window["start"])
            last = (user, window["end"] + later)
        else:
            last = (user, max(last[1], window["end"] + later))
    return found


def _refused(job: Saved, decided: str, said: str) -> None:
    """A run that begins with the savepoint is refused, and the state is as it was."""
    generations = job.pipeline.root / "state" / "generations"
    before = sorted(path.name for path in generations.iterdir())
    with pytest.raises(RuntimeFault, match="can't be carried over") as raised:
        job.pipeline.run(CODED, "new", savepoint="cut", migration=_migration(job, decided))
    assert raised.value.code.number == "SR0421"
    assert said in raised.value.message
    assert sorted(path.name for path in generations.iterdir()) == before


def _migration(job: Saved, decided: str) -> Migration:
    job.pipeline.script(CODED, "new")
    return job.pipeline.migration(_file(decided))


def _file(operator: str) -> str:
    head = "from: 1\nto: 1\n"
    return f"{head}operators:\n  spend: {{{operator}}}\n" if operator else head


def _column_bytes(job: Saved) -> dict[str, int]:
    """The bytes of the columns of the one table, as Arrow reads them from the files."""
    saved, folder = savepoint_of(job.state, "cut")
    operator = saved.operator("spend")
    assert operator is not None
    (table,) = operator.tables.values()
    found = dict.fromkeys(table.columns, 0)
    for path in table.files:
        read = parquet.ParquetFile(f"{folder}/{path}").metadata
        for group in range(read.num_row_groups):
            for number in range(read.num_columns):
                column = read.row_group(group).column(number)
                name = column.path_in_schema
                name = "window" if name.startswith("window.") else name
                found[name] += column.total_compressed_size
    return found


def _rows(folder: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table as Arrow reads them."""
    rows: list[dict[str, Any]] = parquet.read_table(f"{folder}/state/{table}").to_pylist()
    return rows


def _ms(second: int) -> int:
    return round((T0 - datetime(1970, 1, 1)).total_seconds() + second) * 1000


def _text(second: int) -> str:
    return str(T0 + timedelta(seconds=second))
