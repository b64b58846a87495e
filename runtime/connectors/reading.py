"""What a script says of a source or table, and what a connector makes of a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

FAIL, SKIP, SEND = "fail", "skip", "send"
POLICIES = (FAIL, SKIP, SEND)
"""What happens to a malformed row: it ends the query, is left out, or goes to a side stream."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A source as declared by the script.

    `metadata` are the names of columns that the connector provides, with its keys for them.
    """

    name: str
    connector: str
    columns: StructType
    metadata: Mapping[str, str]
    malformed_rows: str
    options: Mapping[str, Any]

    @property
    def owner(self) -> str:
        """The source's name in messages."""
        return f"source `{self.name}`"

    def required(self) -> list[str]:
        """The NOT NULL columns."""
        return _not_null(self.columns)


@dataclass(frozen=True, slots=True)
class TableDeclaration:
    """A table as the script declares it; it is read once if there is no `refresh`."""

    name: str
    columns: StructType
    refresh: str | None
    options: Mapping[str, Any]

    @property
    def owner(self) -> str:
        """The table as messages name it."""
        return f"table `{self.name}`"

    def required(self) -> list[str]:
        """The NOT NULL columns."""
        return _not_null(self.columns)


def _not_null(columns: StructType) -> list[str]:
    return [field.name for field in columns.fields if not field.nullable]


@dataclass(frozen=True, slots=True)
class Reading:
    """The well-formed rows of a source, and the reader of its malformed ones.

    The latter is for sources that send them; its columns are `raw`, `reason`, `source`, `position`
    and `seen_at`.
    """

    rows: DataFrame
    malformed: Callable[[], DataFrame] | None = None
