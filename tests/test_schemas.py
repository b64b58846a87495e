"""The JSON Schemas in ``docs/schemas``: current, and valid for everything that they describe."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from json_outputs import SCHEMAS, fits, json_commands, validator
from jsonschema import ValidationError
from make_schemas import schemas, text_of
from streamc.compiler.migrate.files.read import _PARTS, ACCEPTED, WORDS
from streamc.compiler.spec_tests.steps import _KEYS, _WITH_VALUE, _WORDS
from streamc.compiler.spec_tests.ways import WAYS
from streamc.runtime.storage.notes import unseal
from yaml_models import MigrationFile, OperatorDecisions, Step, Way
from yaml_models import Test as SpecTest

ROOT = Path(__file__).parent.parent
MIGRATIONS = [*ROOT.glob("tests/migrations/*"), *ROOT.glob("tests/evolutions/*")]


class _Written(yaml.SafeLoader):
    """YAML whose instants stay the text that they are, as a schema sees them."""


_Written.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def documents(path: Path) -> Iterator[Any]:
    yield from yaml.load_all(path.read_text(encoding="utf-8"), _Written)


def test_they_are_fresh() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.iterdir()}
    assert there == {name: text_of(schema) for name, schema in schemas().items()}, "make schemas"


@pytest.mark.slow
def test_all_of_them_are_schemas() -> None:
    for path in SCHEMAS.iterdir():
        validator(path.name.removesuffix(".schema.json"))


def test_every_command_with_json_says_what_it_prints() -> None:
    """In the table of ``docs/json.md``, whose rows name a schema of an output."""
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if "-output.schema.json)" in line]
    named = {
        words
        for row in rows
        for words in re.findall(r"`(?:streamc )?([a-z][a-z ]*?)(?=`| [A-Z-])", row)
    }
    found = set(json_commands())
    assert len(found) > 10
    assert found == named
    linked = {name for row in rows for name in re.findall(r"schemas/([a-z-]+\.schema\.json)", row)}
    assert linked == {path.name for path in SCHEMAS.glob("*-output.schema.json")}


def test_every_output_has_a_version_and_a_kind() -> None:
    for path in SCHEMAS.glob("*-output.schema.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        kind = path.name.removesuffix("-output.schema.json")
        assert {"format", "kind"} <= set(schema["required"]), path.name
        assert schema["properties"]["kind"]["const"] == kind, path.name
        assert isinstance(schema["properties"]["format"]["const"], int), path.name


def test_plans() -> None:
    found = [*ROOT.glob("tests/golden/*/plan.json"), *ROOT.glob("tests/old_states/*/*/*.plan.json")]
    assert len(found) > 80
    for path in found:
        fits("plan", json.loads(path.read_text(encoding="utf-8")))


def test_documents_of_migrations() -> None:
    found = [path for folder in MIGRATIONS for path in folder.glob("migration.json")]
    assert len(found) > 100
    for path in found:
        fits("migration", json.loads(path.read_text(encoding="utf-8")))


def test_manifests_of_savepoints() -> None:
    found = [*ROOT.glob("tests/old_states/*/*.savepoint")]
    assert found
    for path in found:
        with tarfile.open(path) as tar:
            member = tar.extractfile("manifest.json")
            assert member is not None
            fits("savepoint", unseal(member.read().decode()))


def test_notes_of_states() -> None:
    seen = set()
    for path in ROOT.glob("tests/old_states/*/*.tar.gz"):
        with tarfile.open(path) as tar:
            for member in tar:
                name = schema_of_note(member.name)
                held = tar.extractfile(member)
                if name is not None and held is not None:
                    seen.add(name)
                    fits(name, unseal(held.read().decode()))
    assert seen == {"barrier", "home", "status"}


def schema_of_note(path: str) -> str | None:
    if "/barriers/" in path:
        return "barrier"
    return {"home.json": "home", "status.json": "status"}.get(path.rpartition("/")[2])


def test_files_of_migrations() -> None:
    """Those with decisions, and drafts, in which nothing may be left to decide."""
    folders = [*MIGRATIONS, *ROOT.glob("specs/*/migrations")]
    found = [path for folder in folders for path in folder.glob("*.yaml")]
    found = [path for path in found if path.name not in ("rows.yaml", "input.yaml", "case.yaml")]
    assert len(found) > 200
    for path in found:
        (document,) = documents(path)
        fits("migration-file", document)


def test_files_of_tests() -> None:
    found = [*ROOT.glob("specs/*/tests/*.yaml"), *ROOT.glob("tests/spec_tests/**/tests/*.yaml")]
    assert len(found) > 15
    for path in found:
        for document in documents(path):
            fits("test-file", document)


def test_they_name_what_the_readers_know() -> None:
    fields = OperatorDecisions.model_fields
    assert {one.alias or name for name, one in fields.items()} == set(_PARTS)
    (accepted,) = (get_args(kind) for kind in get_args(fields["accept"].annotation)[1:])
    assert accepted == ACCEPTED
    operators = MigrationFile.model_fields["operators"].annotation
    assert get_args(get_args(get_args(operators)[1])[0]) == WORDS
    assert get_args(Way) == WAYS
    words, step = get_args(get_args(SpecTest.model_fields["steps"].annotation)[0])
    assert (get_args(words), step) == (_WORDS, Step)
    assert set(Step.model_fields) == {*_KEYS, *_WITH_VALUE, "rollback"}


def test_files_without_a_known_form_are_refused() -> None:
    """Those of which `streamc` says the same."""
    for path in ROOT.glob("tests/migration_mistakes/SC0902_*/migration.yaml"):
        for document in documents(path):
            assert not validator("migration-file").is_valid(document), path


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("migration-file", {"from": 1}),
        ("migration-file", {"from": 1, "to": 2, "operators": {"a": {"rewindow": "all"}}}),
        ("migration-file", {"from": 1, "to": 2, "operators": {"a": "drops"}}),
        ("migration-file", {"from": 1, "to": 2, "operator": {}}),
        ("migration-file", {"from": 1, "to": 2, "sinks": {"a": {"start": "earliest"}}}),
        ("test-file", {"name": "x"}),
        ("test-file", {"steps": ["drained"]}),
        ("test-file", {"steps": [{"expect": {"out": [1]}}]}),
        ("test-file", {"steps": [{"rows": {"a": 1}}]}),
        ("test-file", [{"steps": [], "way": "restarts"}]),
        ("barriers-output", {"format": 1, "kind": "barriers"}),
        ("barriers-output", {"format": 2, "kind": "barriers", "barriers": []}),
        ("rows-output", {"format": 1, "kind": "rows", "columns": [], "rows": [], "more": 1}),
    ],
)
def test_what_has_another_shape_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ValidationError):
        validator(name).validate(wrong)
