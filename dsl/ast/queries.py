"""Queries as written: SELECT, the relations it reads, and how its rows are emitted."""

from __future__ import annotations

from ...contracts.records import dataclass
from .expressions import Expression, SortItem, WindowSpec
from .node import Name, Node


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """An item of FROM."""


@dataclass(frozen=True, slots=True)
class TableRef(Relation):
    """``name [FOR SYSTEM_TIME AS OF e] [AS alias]``."""

    name: Name
    alias: Name | None = None
    as_of: Expression | None = None


@dataclass(frozen=True, slots=True)
class SubqueryRef(Relation):
    """``(query) [AS alias]``."""

    query: Query
    alias: Name | None


@dataclass(frozen=True, slots=True)
class WindowTable(Relation):
    """``TUMBLE(t, ts, size)`` and the other windows.

    ``kind`` is ``TUMBLE``, ``HOP``, ``CUMULATE``, ``SESSION`` or ``COUNT_WINDOW``. ``arguments``
    are what follows the time column, as written (sizes, slides, gaps; for COUNT_WINDOW what
    follows the partition). ``column`` is None for COUNT_WINDOW only.
    """

    kind: str
    relation: Relation
    partition_by: tuple[Expression, ...]
    column: Expression | None
    arguments: tuple[Expression, ...]
    offset: Expression | None
    alias: Name | None


@dataclass(frozen=True, slots=True)
class UnnestRef(Relation):
    """``UNNEST(array) [AS alias [(columns)]]``, at the right of a join."""

    array: Expression
    alias: Name | None
    columns: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """``left [kind] JOIN right ON condition | USING (columns)``.

    ``kind`` is ``INNER``, ``LEFT``, ``RIGHT``, ``FULL`` or ``CROSS``.
    """

    kind: str
    left: Relation
    right: Relation
    condition: Expression | None
    using: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure(Node):
    """``expression AS name`` in MEASURES."""

    expression: Expression
    name: Name


@dataclass(frozen=True, slots=True)
class PatternDefinition(Node):
    """``variable AS condition`` in DEFINE."""

    variable: Name
    condition: Expression


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """A row pattern."""


@dataclass(frozen=True, slots=True)
class PatternVariable(Pattern):
    """A variable of DEFINE, or one that matches every row."""

    name: Name


@dataclass(frozen=True, slots=True)
class PatternSequence(Pattern):
    """Patterns one after another."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternAlternatives(Pattern):
    """``a | b``."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PatternRepeat(Pattern):
    """``p*``, ``p+``, ``p?``, ``p{2,5}``.

    ``at_most`` None is no limit; ``reluctant`` is a trailing ``?``.
    """

    item: Pattern
    at_least: int
    at_most: int | None
    reluctant: bool


@dataclass(frozen=True, slots=True)
class MatchRecognize(Relation):
    """``relation MATCH_RECOGNIZE ( … ) [AS alias]``.

    ``rows`` is ``ONE`` or ``ALL``; ``skip`` is ``PAST LAST ROW``, ``TO NEXT ROW``, ``TO FIRST`` or
    ``TO LAST`` (the last two with ``skip_to``).
    """

    relation: Relation
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    measures: tuple[Measure, ...]
    rows: str
    skip: str
    skip_to: Name | None
    pattern: Pattern
    within: Expression | None
    define: tuple[PatternDefinition, ...]
    alias: Name | None


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """``expression [AS alias]``; a Star has no alias."""

    expression: Expression
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class DistinctOn(Node):
    """``DISTINCT ON (columns) [WITHIN interval]``."""

    keys: tuple[Expression, ...]
    within: Expression | None


@dataclass(frozen=True, slots=True)
class Emit(Node):
    """``EMIT ON WINDOW CLOSE``, ``EMIT CHANGES`` or ``EMIT EARLY EVERY interval``.

    ``kind`` is ``ON WINDOW CLOSE``, ``CHANGES`` or ``EARLY``; ``every`` belongs to the last.
    """

    kind: str
    every: Expression | None = None


@dataclass(frozen=True, slots=True)
class LateRows(Node):
    """``ON LATE ROWS DROP`` (stream None) or ``SEND TO stream``."""

    stream: Name | None


@dataclass(frozen=True, slots=True)
class NamedWindow(Node):
    """``name AS (spec)`` in WINDOW."""

    name: Name
    window: WindowSpec


@dataclass(frozen=True, slots=True)
class Select(Node):
    """One SELECT block with all its clauses.

    ``distinct`` is plain ``SELECT DISTINCT``, which streamc refuses in favour of ``DISTINCT ON``.
    """

    distinct: bool
    distinct_on: DistinctOn | None
    items: tuple[SelectItem, ...]
    relation: Relation
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    windows: tuple[NamedWindow, ...] = ()
    qualify: Expression | None = None
    emit: Emit | None = None
    allowed_lateness: Expression | None = None
    late_rows: LateRows | None = None


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    """``name AS (query)`` in WITH."""

    name: Name
    query: Query


@dataclass(frozen=True, slots=True)
class Query(Node):
    """``[WITH …] select [UNION ALL select]…``; ``branches`` has at least one."""

    with_: tuple[CommonTable, ...]
    branches: tuple[Select, ...]
