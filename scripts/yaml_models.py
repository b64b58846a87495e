"""The shapes of YAML files next to a spec, as far as they are the same for all specs.

Editors check files by the JSON Schema that is made of these. What else they contain depends on the
specs: names, types, expressions, which the compiler checks and reports with their locations.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

Expression = str | int | float | bool | None
"""Spark SQL; a number or `null` need not be quoted."""

Name = str | int | float | bool
"""A name or a text, which YAML may take for something else."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


# Migration files.


class OperatorDecisions(_Shape):
    """What becomes of the parts of an operator of the new spec."""

    from_: Name | None = Field(None, alias="from", description="The operator's old name.")
    key: dict[str, Expression] = Field({}, description="Keys, computed from the old ones.")
    set: dict[str, Expression | dict[Literal["key", "value"], Expression]] = Field(
        {}, description="Cells and columns of buffered rows; for a map, set or list, its entries."
    )
    rename: dict[str, Name] = Field({}, description="Renamed parts, old name to new.")
    timers: dict[str, Expression] = Field({}, description="The instants that timers are set for.")
    where: Expression = Field(
        None, description="Keeps only groups, ids or keys for which this is true."
    )
    rewindow: Literal["auto"] | None = Field(
        None, description="Windows are merged although the first ones are incomplete."
    )
    add: dict[str, Name] = Field({}, description="Columns whose aggregates start empty.")
    accept: dict[str, Literal["empty", "backfill", "mixed", "incomplete", "drop", "nulls"]] = Field(
        {}, description="Parts accepted as they will be."
    )


class SourceDecisions(_Shape):
    """Where a source of the new spec continues reading."""

    from_: Name | None = Field(None, alias="from", description="The source's old name.")
    start: Literal["earliest"] | None = Field(
        None, description="The source is read from its beginning."
    )
    rename: dict[str, Name] = Field({}, description="Renamed columns, old name to new.")
    accept: dict[str, Literal["new"]] = Field({}, description="Columns that are new, not renamed.")


class SinkDecisions(_Shape):
    """The sink whose output a sink of the new spec continues."""

    from_: Name | None = Field(None, alias="from", description="The sink's old name.")


class MigrationFile(_Shape):
    """Decisions about the state of a pipeline between two versions of its spec."""

    from_: int = Field(alias="from", description="The version of the old spec.")
    to: int = Field(description="The version of the new spec.")
    operators: dict[str, Literal["drop", "empty", "backfill"] | OperatorDecisions] = {}
    sources: dict[str, Literal["drop"] | SourceDecisions] = {}
    sinks: dict[str, Literal["drop"] | SinkDecisions] = {}


# Tests.

Row = dict[str, Any]
Rows = list[Row | str]
"""Columns by name, or a line of text in the source's format."""
Way = Literal["as written", "one batch", "row by row", "restarts", "crashes", "savepoints"]


class Expectation(_Shape):
    """Rows, and how they are compared with those that a sink got."""

    rows: list[Row]
    ordered: bool = Field(False, description="Whether rows must come in this order.")
    contains: bool = Field(False, description="Whether other columns and rows are allowed.")
    tolerance: float | str | None = Field(
        None, description="The tolerance of DOUBLE and FLOAT; YAML reads `1e-6` as text."
    )


class UpgradeTo(_Shape):
    """The next spec, and the decisions, unless they are in the folder `migrations`."""

    spec: str
    migration: str | None = None


Expected = dict[str, list[Row] | Expectation]


class Step(BaseModel):
    """A micro-batch of rows by source, the content of a table, an action or an expectation."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Rows]

    advance: dict[str, Any] | None = Field(None, description="Watermarks, by source.")
    expect: Expected | None = Field(None, description="What sinks must have received.")
    state: Expected | Rows | None = Field(None, description="What operators must keep.")
    rollback: int | Rows | None = Field(None, description="How many batches are undone.")
    savepoint: Name | Rows | None = Field(
        None, description="The savepoint's name; an upgrade follows."
    )
    upgrade: str | UpgradeTo | Rows | None = Field(None, description="The spec that continues.")


class Test(_Shape):
    """A test of a spec."""

    name: Name | None = None
    spec: str | None = Field(
        None, description="Its path, unless it is the only spec next to the folder."
    )
    variables: dict[str, Name | None] = {}
    profile: Name | None = None
    ways: Way | list[Way] | None = Field(
        None, description="The ways of arrival for which it must hold."
    )
    steps: list[Literal["drain", "restart", "crash", "rollback"] | Step]


class TestFile(RootModel[Test | list[Test]]):
    """A file of tests next to a spec: each document is a test, or a list of them."""
