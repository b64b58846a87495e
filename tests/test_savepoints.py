"""Savepoints without Spark: manifests, names, SQL, archives, changed files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow
import pyarrow.parquet as parquet
import pytest
from json_outputs import output
from small_plans import small_plan
from streamc.cli.app import app
from streamc.cli.shared.report import UserError
from streamc.contracts.savepoint import SavedOperator, SavedQuery, SavedTable, Savepoint
from streamc.runtime.base.errors import SAVEPOINT_UNUSABLE, RuntimeFault
from streamc.runtime.savepoints.format.model import (
    check_name,
    load_savepoint,
    new_name,
    savepoint_names,
)
from streamc.runtime.savepoints.format.staging import draft, publish, sweep
from streamc.runtime.savepoints.inspect.archive import (
    export_savepoint,
    import_savepoint,
    seal_savepoint,
)
from streamc.runtime.savepoints.inspect.sql import ask, differences
from streamc.runtime.savepoints.restore.restore import check_files
from streamc.runtime.storage.disk import LocalDisk
from streamc.runtime.storage.local_files import LocalFiles
from streamc.runtime.storage.notes import seal
from streamc.runtime.storage.schema_paths import mend_schema_paths
from typer.testing import CliRunner

TYPES = {"card_id": "string", "sum(amount)": "bigint", "count(*)": "bigint"}
OLD = {"card_id": ["a", "b", None], "sum(amount)": [5, 7, 1], "count(*)": [1, 2, 1]}
SPEC = "---\npipeline: p\n---\n-- Grüße,\n-- ohne Zeilenende"
NEW = {"card_id": ["a", "c", None], "sum(amount)": [6, 1, 1], "count(*)": [1, 1, 1]}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with two savepoints, and one that was not finished."""
    folder = tmp_path / "state"
    (folder / "savepoints/.third.tmp").mkdir(parents=True)
    (folder / "savepoints/fourth").mkdir()
    note = {"format": 2, "id": "s", "pipeline": "p"}
    (folder / "state.json").write_text(seal(note), encoding="utf-8")
    for name, rows in (("first", OLD), ("second", NEW)):
        made(folder / "savepoints" / name, name, rows)
    return folder


def made(folder: Path, name: str, rows: Mapping[str, list[object]]) -> Savepoint:
    path = "state/spend/spend/state"
    (folder / path).mkdir(parents=True)
    parquet.write_table(pyarrow.table(dict(rows)), folder / path / "part-0.parquet")
    held = LocalDisk().sums([str(folder / path / "part-0.parquet")])
    (one,) = held.values()
    table = SavedTable("state", TYPES, 3, {f"{path}/part-0.parquet": (one.bytes, one.crc32)})
    cells = ("sum(amount)", "count(*)")
    operator = SavedOperator("spend", "aggregate", ("card_id",), cells, {"state": table})
    when = datetime(2026, 1, 1, 12, 0, len(name), tzinfo=UTC)
    query = SavedQuery(4, 1000, 2000, ("out",), {"spend": operator})
    found = Savepoint(
        *(name, when, "p", 2, 7, 9, "0001", "s", "4.2.1"),
        plan=small_plan("p", 2),
        sources={"payments": {"logOffset": 3}},
        logs={},
        lineage=({"generation": "0001", "batches": {"spend": 4}},),
        queries={"spend": query},
        spec=SPEC if name == "second" else None,
    )
    (folder / "manifest.json").write_text(seal(found.to_json()), encoding="utf-8")
    return found


def place(state: Path, name: str) -> str:
    return str(state / "savepoints" / name)


def run(*arguments: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, ["savepoint", *arguments])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.stdout, found.stderr


def test_a_manifest_is_read_as_it_was_written(state: Path) -> None:
    found = load_savepoint(LocalFiles(), place(state, "first"))
    assert Savepoint.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert (found.rows, found.watermark_ms) == (3, 2000)
    assert list(found.files()) == ["state/spend/spend/state/part-0.parquet"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "its content and its checksum differ"),
        (seal({"format": 2}), "its `format` is 2, and 1 is read"),
        (seal({"format": 1, "name": "x"}), "it is not a manifest: its `made_at` is missing"),
    ],
)
def test_a_manifest_that_is_none(state: Path, text: str, told: str) -> None:
    (state / "savepoints/first/manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RuntimeFault, match=told) as raised:
        load_savepoint(LocalFiles(), place(state, "first"))
    assert raised.value.code is SAVEPOINT_UNUSABLE


def test_what_is_half_made_is_not_listed(state: Path) -> None:
    assert savepoint_names(LocalFiles(), str(state)) == ["first", "second"]
    code, out, _ = run("list", "--state", str(state), "--format", "json")
    assert code == 0
    assert [one["name"] for one in output(out)["savepoints"]] == ["first", "second"]


@pytest.mark.parametrize("name", ["", ".x", "a/b", "a b", "-x", "x" * 101])
def test_names_that_no_savepoint_can_have(name: str) -> None:
    with pytest.raises(RuntimeFault, match="can't be the name"):
        check_name(name)


def test_a_name_of_its_own() -> None:
    assert new_name("p", 7, []) == "p-000007"
    assert new_name("p", 7, ["p-000007", "p-000007-1"]) == "p-000007-2"


def test_questions_in_sql(state: Path) -> None:
    found = load_savepoint(LocalFiles(), place(state, "first"))
    answer = ask(found, place(state, "first"), 'SELECT sum("sum(amount)") AS s FROM spend')
    assert (answer.columns, answer.rows) == (("s",), ((13,),))
    with pytest.raises(RuntimeFault, match="DuckDB"):
        ask(found, place(state, "first"), "SELECT nothing FROM spend")
    code, out, _ = run("query", "SELECT card_id FROM spend ORDER BY 1", "--state", str(state))
    assert (code, out.split()) == (0, ["card_id", "a", "c", "NULL"])


def test_differences_by_key_and_cell(state: Path) -> None:
    one, two = (load_savepoint(LocalFiles(), place(state, n)) for n in ("first", "second"))
    (found,) = differences(one, place(state, "first"), two, place(state, "second"))
    assert (found.added, found.removed, found.changed) == (1, 1, {"sum(amount)": 1})
    assert run("diff", "first", "second", "--state", str(state))[0] == 1
    assert run("diff", "first", "first", "--state", str(state))[0] == 0


def test_an_archive_brings_a_savepoint_to_another_state(state: Path, tmp_path: Path) -> None:
    archive = tmp_path / "first.tar"
    found = load_savepoint(LocalFiles(), place(state, "first"))
    export_savepoint(found, place(state, "first"), archive)
    with pytest.raises(RuntimeFault, match="already"):
        export_savepoint(found, place(state, "first"), archive)
    with pytest.raises(RuntimeFault, match="savepoint `first` already exists"):
        import_savepoint(str(state), archive, None)
    assert import_savepoint(str(state), archive, "copy").name == "copy"
    copied = load_savepoint(LocalFiles(), place(state, "copy"))
    assert copied == replace(found, name="copy")
    check_files(LocalDisk(), copied, place(state, "copy"))
    assert hidden(state) == []


def test_what_is_half_made_goes_when_its_maker_is_gone(state: Path) -> None:
    disk, root = LocalDisk(), str(state)
    assert hidden(state) == [".third.tmp"]
    with draft(disk, root, "one") as one, draft(disk, root, "one") as other:
        assert hidden(state) == sorted(Path(place).name for place in (one, other))
        sweep(disk, root)
        assert Path(one).is_dir() and Path(other).is_dir()
        publish(disk, one, root, "one")
        with pytest.raises(RuntimeFault, match="savepoint `one` already exists"):
            publish(disk, other, root, "one")
    assert hidden(state) == [Path(other).name]
    with pytest.raises(ZeroDivisionError), draft(disk, root, "two"):
        _ = 1 / 0
    assert hidden(state) == []
    assert (state / "savepoints/one").is_dir()


def hidden(state: Path) -> list[str]:
    return sorted(path.name for path in (state / "savepoints").glob(".*"))


def test_an_archive_that_is_none(state: Path, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_text("no archive")
    code, _, err = run("import", str(tmp_path / "x.tar"), "--state", str(state))
    assert code == 2
    assert "is not an archive of a savepoint" in err
    assert savepoint_names(LocalFiles(), str(state)) == ["first", "second"]


def test_files_that_were_changed_count_when_they_are_sealed(state: Path) -> None:
    folder = place(state, "first")
    file = Path(folder, "state/spend/spend/state/part-0.parquet")
    parquet.write_table(pyarrow.table(NEW | {"count(*)": [9, 9, 9]}), file)
    found = load_savepoint(LocalFiles(), folder)
    with pytest.raises(RuntimeFault, match="is not as it was written"):
        check_files(LocalDisk(), found, folder)
    sealed = seal_savepoint(found, folder)
    check_files(LocalDisk(), load_savepoint(LocalFiles(), folder), folder)
    assert sealed.rows == 3
    parquet.write_table(pyarrow.table({"card_id": ["a"]}), file)
    with pytest.raises(RuntimeFault, match=r"it has no column `sum\(amount\)`"):
        seal_savepoint(sealed, folder)
    file.unlink()
    assert seal_savepoint(sealed, folder).rows == 0


def test_a_savepoint_is_deleted(state: Path) -> None:
    assert run("delete", "first", "--state", str(state))[0] == 0
    assert savepoint_names(LocalFiles(), str(state)) == ["second"]
    code, _, err = run("delete", "first", "--state", str(state))
    assert code == 2
    assert "has no savepoint `first`" in err


def test_a_savepoint_is_shown(state: Path) -> None:
    code, out, _ = run("show", "second", "--state", str(state))
    assert code == 0
    assert "spend (aggregate): 3 rows" in out
    assert "card_id string, sum(amount) bigint, count(*) bigint" in out
    assert "spec p.stream: 5 lines, printed by `--spec`" in out
    assert "spec p.stream" not in run("show", "first", "--state", str(state))[1]


def test_the_spec_of_a_savepoint(state: Path) -> None:
    assert run("show", "second", "--state", str(state), "--spec") == (0, SPEC, "")
    asked = ["savepoint", "show", "--state", str(state), "--spec"]
    none = CliRunner().invoke(app, [*asked, "first"])
    both = CliRunner().invoke(app, [*asked, "second", "--format", "json"])
    assert isinstance(none.exception, UserError) and isinstance(both.exception, UserError)
    assert (none.stdout, str(none.exception)) == ("", "savepoint first has no spec")
    assert (both.stdout, both.exception.help) == (
        "",
        ("pass only one of the two; JSON includes `spec`"),
    )


def test_notes_name_schemas_by_whole_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the job ran that wrote them, and from wherever the command is called."""
    monkeypatch.chdir(tmp_path)
    path = "queries/q/state/0/_metadata/v2/0"
    note = Path("state/generation", path)
    note.parent.mkdir(parents=True)
    schema = "queries/q/state/0/_stateSchema/default/0_x"
    note.write_text(f'v2\n{{"schemaFilePath":"file:/gone/{schema}"}}', encoding="utf-8")
    mend_schema_paths(LocalDisk(), "state/generation", [path, "queries/q/offsets/0"])
    named = f"file:{tmp_path}/state/generation/{schema}"
    assert note.read_text(encoding="utf-8") == f'v2\n{{"schemaFilePath":"{named}"}}'
