"""Whether a source or table is read as before: the same rows of files, with the same values.

A difference in reading is reported unless the results are proved to be the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.plan import ReadColumn, Source, Table, branches_of
from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Node
from ....dsl.ast.walk import walk
from ...connectors.options import Concern
from ...connectors.registry import SOURCES, TABLES
from ...model import types as t
from ..compared.versions import Versions
from ..texts.computed import texts, trees_of
from ..texts.lines import words_in
from ..types.conversions import type_of
from ..types.structs import goes_by_place, holds_all_by_name

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})

_ALIKE = (
    *(e.ColumnRef, e.NullLiteral, e.BooleanLiteral, e.NumberLiteral, e.StringLiteral, e.IsTest),
    *(
        e.IsDistinct,
        e.Between,
        e.InList,
        e.Case,
        e.When,
        e.FieldAccess,
        e.Index,
        e.Interval,
        e.IntervalPart,
    ),
)
"""Functions that give the same for a value, whichever type of its kind it has."""

_OPERATORS = frozenset({"=", "<=>", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT", "+", "-", "*"})

_CALLS = frozenset(
    "count sum min max avg min_by max_by first last first_value last_value any_value collect_set "
    "collect_list array_agg count_if coalesce greatest least if ifnull nvl nullif struct "
    "named_struct array stddev_samp stddev_pop var_samp var_pop median percentile mode "
    "approx_percentile sort_array array_sort bool_and bool_or every some window_time".split()
)
_COMPARED = frozenset({"min", "max", "greatest", "least", "array_sort", "sort_array", "mode"})
"""Functions that order values, which depends on the positions of fields."""

_HELD = frozenset({"aggregates", "keys", "columns", "time"})
"""Parts with an operator's state of its rows."""

_OF_WHOLE_NUMBERS = frozenset({"concat", "concat_ws", "size", "listagg", "string_agg", "abs"})
"""Functions that give the same for a whole number, whatever the width of its type."""


def changed_source(versions: Versions, name: str, old: Source, new: Source) -> Iterator[str]:
    """Yield what changes a source's rows, or their values in a column."""
    yield from _metadata(name, old, new)
    yield from _columns(versions, name, old, new)
    before, after = (side.options.get("lenient", False) for side in (old, new))
    if before != after and (old.malformed_rows is not None or new.malformed_rows is not None):
        yield f"other rows of `{name}` are malformed by `lenient`"
    if old.options.get("format") == new.options.get("format"):
        yield from _options(name, old, new)


def changed_table(versions: Versions, name: str, old: Table, new: Table) -> Iterator[str]:
    """Yield what changes the result of lookups in a table."""
    before, after = ({c.name: c.expression for c in table.computed} for table in (old, new))
    for column in sorted(before.keys() & after.keys()):
        if before[column] != after[column]:
            yield f"`{column}` of table `{name}` was `{before[column]}` and is `{after[column]}`"
    yield from _columns(versions, name, old, new)
    # They change together with the files, to read the same rows.
    follows = set(TABLES[new.connector].about(Concern.FORM))
    options = {
        option
        for option in {*old.options, *new.options} - follows
        if old.options.get(option) != new.options.get(option)
    }
    if options or old.connector != new.connector:
        yield f"table `{name}` is read from elsewhere"


def _metadata(name: str, old: Source, new: Source) -> Iterator[str]:
    before, after = ({one.name: one.key for one in side.metadata} for side in (old, new))
    for column in before.keys() & after.keys():
        if before[column] != after[column]:
            yield f"`{column}` of `{name}` is read from `{after[column]}`, not `{before[column]}`"


def _options(name: str, old: Source, new: Source) -> Iterator[str]:
    before, after = old.options, new.options
    role = SOURCES[new.connector]
    for option in sorted(before.keys() | after.keys()):
        if before.get(option) != after.get(option) and role.changes_rows(option):
            was, now = (options.get(option, "not given") for options in (before, after))
            yield f"`{option}` of `{name}` is {now}, and was {was}"


# Columns: which rows are malformed, and the values of the others.


def _columns(
    versions: Versions, name: str, old: Source | Table, new: Source | Table
) -> Iterator[str]:
    before, after = ({one.name: one for one in side.columns} for side in (old, new))
    fails = [not (isinstance(side, Source) and side.malformed_rows) for side in (old, new)]
    for column in sorted(before.keys() | after.keys()):
        was, now = before.get(column), after.get(column)
        looser, stricter = _takes_more(was, now), _takes_more(now, was)
        if (looser and not fails[0]) or (stricter and not fails[1]):
            yield f"other rows of `{name}` are malformed by `{column}`"
        elif was and now and was.type != now.type and not _alike(versions, was, now):
            yield f"`{column}` of `{name}` is {now.type}, and was {was.type}"


def _takes_more(one: ReadColumn | None, other: ReadColumn | None) -> bool:
    """Whether a column may make rows malformed in one version but not in the other."""
    if one is None:
        return False
    if other is None:
        return not one.nullable or one.type != "STRING"
    nullable = other.nullable and not one.nullable
    return nullable or not holds_all_by_name(other.type, one.type)


def _alike(versions: Versions, old: ReadColumn, new: ReadColumn) -> bool:
    """Whether everything computed from a column is the same with the other type.

    State with the bare column has its type, and is a question where it is kept.
    """
    was, now = type_of(old.type), type_of(new.type)
    read = _Read(
        _names(versions, new.name),
        same_values=_same_values(was, now),
        whole={str(was), str(now)} <= _WHOLE,
        placed=goes_by_place(was, now),
    )
    return all(
        read.is_alike(part, text)
        for operator in versions.new.operators.values()
        for part, text in texts(operator)
    )


def _names(versions: Versions, column: str) -> set[str]:
    """Return the names in programs of a column and of what is computed from it."""
    names = {column}
    for operator in versions.new.operators.values():
        for branch in branches_of(operator):
            named = (branch.columns or {}).items()
            names |= {name for name, text in named if column in words_in(text)}
    return names


def _same_values(was: t.Type, now: t.Type) -> bool:
    """Whether rows that both types accept have the same values."""
    if {str(was), str(now)} <= _WHOLE:
        return True
    if isinstance(was, t.Decimal) and isinstance(now, t.Decimal):
        return was.scale == now.scale
    return holds_all_by_name(str(was), str(now))


@dataclass(frozen=True, slots=True)
class _Read:
    """How a column of another type is read: its names, and which results stay the same."""

    names: set[str]
    same_values: bool
    whole: bool
    placed: bool

    def is_alike(self, part: str, text: str) -> bool:
        """Whether an expression or statement gives the same, or is a question elsewhere."""
        if self.names.isdisjoint(words_in(text)):
            return True
        trees = trees_of(part, text)
        if trees is None:
            return False
        if part in _HELD and all(map(self._is_bare, trees)):
            return True
        return self.same_values and all(map(self._is_same, trees))

    def _is_bare(self, tree: e.Expression) -> bool:
        """Whether a tree is such a column, or a function of it, and of a column or number more."""
        match tree:
            case (
                e.Call(arguments=(column,))
                | e.Call(arguments=(column, e.ColumnRef() | e.NumberLiteral()))
            ):
                return self._is_whole(column)
        return self._is_whole(tree)

    def _is_same(self, tree: e.Expression) -> bool:
        is_struct = not self.placed and any(map(self._is_whole, walk(tree)))
        return all(self._keeps(node, is_struct) for node in walk(tree) if self._reads(node))

    def _is_whole(self, node: Node) -> bool:
        """Whether a node is all of such a column, and not a field of it."""
        return isinstance(node, e.ColumnRef) and node.parts[-1].text in self.names

    def _reads(self, node: Node) -> bool:
        names = (
            part.text for one in walk(node) if isinstance(one, e.ColumnRef) for part in one.parts
        )
        return not self.names.isdisjoint(names)

    def _keeps(self, node: Node, is_struct: bool) -> bool:
        match node:
            case e.Binary() | e.Unary():
                return node.operator.upper() in _OPERATORS and not is_struct
            case e.Call():
                name = node.name.text.lower()
                known = name in _CALLS or (self.whole and name in _OF_WHOLE_NUMBERS)
                return known and not (is_struct and name in _COMPARED)
            case e.Cast():
                return self.whole
        return isinstance(node, _ALIKE) or not isinstance(node, e.Expression)
