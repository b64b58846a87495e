"""What commands print for programs, validated by the schemas in ``docs/schemas``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import typer.main
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from streamc.cli.app import app

SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema."""
    schema = _read(f"{name}.schema.json")
    Draft202012Validator.check_schema(schema)
    registry = Registry(retrieve=lambda name: Resource.from_contents(_read(name)))
    return Draft202012Validator(schema, registry=registry)


def _read(name: str) -> Any:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def fits(name: str, document: Any) -> Any:
    """Return a document that is valid by a schema; fails with what is wrong otherwise."""
    wrong = [f"{one.json_path}: {one.message}" for one in validator(name).iter_errors(document)]
    assert not wrong, f"not a {name}: {wrong[:5]}"
    return document


def output(text: str) -> Any:
    """Return the document that a command printed."""
    document = json.loads(text, parse_constant=_no_number)
    return fits(f"{document['kind']}-output", document)


def _no_number(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON")


def json_commands() -> Iterator[str]:
    """Yield the commands that have `--format json`, as they are typed."""
    pending: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while pending:
        words, command = pending.pop()
        pending += [
            (f"{words} {name}".strip(), c) for name, c in getattr(command, "commands", {}).items()
        ]
        for option in command.params:
            if "--format" in option.opts and "json" in getattr(option.type, "choices", ()):
                yield words
