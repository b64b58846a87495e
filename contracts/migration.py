"""What becomes of a pipeline's state under another version: the document a restore executes.

Expressions are Spark SQL over the old state: keys by their names, the window as the struct
``window``, cells by their ids in backticks. Their values are cast to the types of the new state.
``reads`` are the columns of the old state that an expression needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from .json_records import KEY, Record, named
from .records import dataclass


@dataclass(frozen=True, slots=True)
class Made(Record):
    """A key, column or timer of the new state, and the expression that computes it."""

    name: str
    expr: str
    reads: tuple[str, ...] = ()

    @property
    def column(self) -> str | None:
        """The old column that it copies, None if it is computed."""
        return _bare(self.expr, self.reads)


@dataclass(frozen=True, slots=True)
class CellChange(Record):
    """A cell of the new state, and the expression that computes it.

    ``merge`` is how the cells of several groups become one: a function of SQL, ``any``, the
    ``buffers`` of the function that ``of`` calls, or ``registers``; or an expression over all cells
    of the aggregate. For an ``empty`` cell the expression is its initial value; an ``opaque`` one
    can be initialized only by Spark.
    """

    id: str
    expr: str
    reads: tuple[str, ...] = ()
    merge: str | None = field(kw_only=True)
    empty: bool = False
    opaque: bool = False
    of: str | None = None

    @property
    def column(self) -> str | None:
        """The old column that it copies, None if it is computed."""
        return _bare(self.expr, self.reads)


@dataclass(frozen=True, slots=True)
class EntriesChange(Record):
    """A map, set or list of the new state, and the cell whose entries it takes over, if any.

    ``key`` is the expression of the key of a map, or of the element of a set or list.
    """

    id: str
    kind: str
    old: str | None = field(metadata=named("from"))
    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class WaitingChange(Record):
    """The rows that wait for an input, and the input of the old version that they waited for."""

    input: str
    old: str = field(metadata=named("from"))
    columns: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class SideChange(Record):
    """A side of a join: its keys as expressions, and the columns of its rows.

    ``old`` is the side whose rows they were, None if it is the same.
    """

    old: str | None = field(default=None, kw_only=True, metadata=named("from"))
    keys: tuple[str, ...]
    columns: tuple[Made, ...]


@dataclass(frozen=True, slots=True)
class WindowMerge(Record):
    """How windows merge, in microseconds.

    Windows ``of`` a size become parts of those that they go ``into``, which begin at an ``offset``,
    every ``step`` if they overlap. Sessions end ``later``.
    """

    later: int | None = None
    of: int | None = None
    into: int | None = None
    offset: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class WindowChange(Record):
    """The window of the new state; if ``several``, the expression gives an array of windows."""

    expr: str
    several: bool = False
    merges: WindowMerge | None = None


@dataclass(frozen=True, slots=True)
class OperatorChange(Record):
    """How the state of an operator is made, from an ``old`` one; None if it begins empty.

    ``kind`` is that of the operator in the new version, ``session`` for an aggregate of sessions.
    Rows that do not satisfy ``where`` are dropped. Several keys may become one if it is a
    ``group``. Ids are forgotten later by ``shift_expiry_micros``, or when ``expires`` says.
    ``backfill`` are the parts that are recomputed, ``nulls`` those that may become NULL.
    """

    id: str = field(metadata=KEY)
    kind: str
    old: str | None = field(metadata=named("from"))
    where: str | None
    where_reads: tuple[str, ...] = ()
    keys: tuple[Made, ...] = field(kw_only=True)
    window: WindowChange | None = field(kw_only=True)
    group: bool = field(kw_only=True)
    cells: tuple[CellChange, ...] = field(kw_only=True)
    timers: tuple[Made, ...] = ()
    entries: tuple[EntriesChange, ...] = ()
    waiting: tuple[WaitingChange, ...] | None = None
    sides: tuple[SideChange, ...] = ()
    shift_expiry_micros: int = 0
    expires: str | None = None
    backfill: tuple[str, ...] | None = None
    nulls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceChange(Record):
    """The old source whose position a source continues from, None if it is read from the beginning.

    Its watermark moves ahead by ``shift_watermark_micros``.
    """

    name: str = field(metadata=KEY)
    old: str | None = field(metadata=named("from"))
    shift_watermark_micros: int = 0


@dataclass(frozen=True, slots=True)
class SinkChange(Record):
    """The old sink whose output a sink continues, None if it is new."""

    name: str = field(metadata=KEY)
    old: str | None = field(metadata=named("from"))


@dataclass(frozen=True, slots=True)
class InexactPart(Record):
    """A cell of an operator, or all of it, that differs from what it should be for some time."""

    operator: str
    cell: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Migration(Record):
    """The steps from a savepoint of one version to the state of another."""

    FORMAT: ClassVar[int] = 2

    pipeline: str
    from_version: int
    to_version: int
    operators: Mapping[str, OperatorChange]
    sources: Mapping[str, SourceChange]
    sinks: Mapping[str, SinkChange]
    marks: tuple[InexactPart, ...]

    def to_text(self) -> str:
        """Return the document as text."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"


def _bare(expression: str, reads: tuple[str, ...]) -> str | None:
    if len(reads) != 1:
        return None
    (name,) = reads
    return name if expression in (name, f"`{name.replace('`', '``')}`") else None
