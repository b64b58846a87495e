"""Write the JSON Schemas of everything that other programs read or write: `make_schemas.py FOLDER`.

Those of plans, notes, manifests and what commands print follow from the classes in ``contracts``,
those of YAML files from ``yaml_models``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from json_schema import schema_of
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from streamc.contracts.migration import Migration
from streamc.contracts.notes.barrier import Manifest
from streamc.contracts.notes.home import HomeNote
from streamc.contracts.notes.lease import LeaseNote
from streamc.contracts.notes.status import StatusNote
from streamc.contracts.outputs.migration_plan import MigrationPlan
from streamc.contracts.outputs.rescaling import Rescaling
from streamc.contracts.outputs.review import Diff, Review
from streamc.contracts.outputs.running import Barrier, Barriers, Status
from streamc.contracts.outputs.savepoints import Rows, Savepoints, ShownSavepoint
from streamc.contracts.outputs.specs import Compiled, Diagnostics, Formatted, Tests
from streamc.contracts.plan import Plan
from streamc.contracts.savepoint import Savepoint
from yaml_models import MigrationFile, TestFile

FILES: dict[str, type] = {
    "plan": Plan,
    "migration": Migration,
    "savepoint": Savepoint,
    "barrier": Manifest,
    "home": HomeNote,
    "lease": LeaseNote,
    "status": StatusNote,
    "test-file": TestFile,
    "migration-file": MigrationFile,
    "diagnostics-output": Diagnostics,
    "compile-output": Compiled,
    "diff-output": Diff,
    "fmt-output": Formatted,
    "tests-output": Tests,
    "migration-plan-output": MigrationPlan,
    "review-output": Review,
    "status-output": Status,
    "barriers-output": Barriers,
    "barrier-output": Barrier,
    "savepoints-output": Savepoints,
    "savepoint-output": ShownSavepoint,
    "rows-output": Rows,
    "rescaling-output": Rescaling,
}
"""The names of the schemas, and the class that each is made of."""


def schemas() -> dict[str, dict[str, Any]]:
    """Return all schemas by the names of their files."""
    places = {kind: f"{name}.schema.json" for name, kind in FILES.items()}
    return {place: _schema(kind, places) for kind, place in places.items()}


def text_of(schema: dict[str, Any]) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _schema(kind: type, places: dict[type, str]) -> dict[str, Any]:
    if not issubclass(kind, BaseModel):
        return schema_of(kind, places[kind], places)
    found = kind.model_json_schema(schema_generator=_WithoutTitles)
    return {"$schema": _WithoutTitles.schema_dialect, "$id": places[kind], **found}


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out titles that repeat the names of members."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.schema.json"):
        stale.unlink()
    for file, found in schemas().items():
        (folder / file).write_text(text_of(found), encoding="utf-8")
