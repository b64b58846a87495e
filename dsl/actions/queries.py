"""Actions of ``queries.lark``."""

from __future__ import annotations

from typing import Any

from ..ast.expressions import Call, Expression, Interval, Row, SortItem, Star, WindowSpec
from ..ast.node import Name
from ..ast.queries import (
    CommonTable,
    DistinctOn,
    Emit,
    Join,
    LateRows,
    MatchRecognize,
    Measure,
    NamedWindow,
    Pattern,
    PatternAlternatives,
    PatternDefinition,
    PatternRepeat,
    PatternSequence,
    PatternVariable,
    Query,
    Relation,
    Select,
    SelectItem,
    SubqueryRef,
    TableRef,
    UnnestRef,
    WindowTable,
)
from ..foreign.windows import window_in_group_by
from ..reports.source import Span
from ..syntax.mistakes import window_arguments

_WINDOWS = ("TUMBLE", "HOP", "CUMULATE", "SESSION", "COUNT_WINDOW", "WINDOW", "SESSION_WINDOW")
_REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def nothing(_span: Span) -> None:
    return None


def query(span: Span, with_tables: tuple[CommonTable, ...] | None, *branches: Select) -> Query:
    return Query(span, with_tables or (), branches)


def with_(_span: Span, *tables: CommonTable) -> tuple[CommonTable, ...]:
    return tables


def common_table(span: Span, name: Name, query_: Query) -> CommonTable:
    return CommonTable(span, name, query_)


def select(
    span: Span,
    quantifier: DistinctOn | bool | None,
    items: tuple[SelectItem, ...],
    relation: Relation,
    where: Expression | None,
    group: tuple[Expression, ...] | None,
    having: Expression | None,
    named_windows: tuple[NamedWindow, ...] | None,
    qualify: Expression | None,
    emit: Emit | None,
    lateness: Expression | None,
    late_rows: LateRows | None,
) -> Select:
    keys = group or ()
    for key in keys:
        if isinstance(key, Call) and key.name.text.upper() in _WINDOWS:
            read = relation.name.text if isinstance(relation, TableRef) else "t"
            others = [other for other in keys if other is not key]
            raise window_in_group_by(key, read, others)
    return Select(
        span,
        quantifier is True,
        quantifier if isinstance(quantifier, DistinctOn) else None,
        items,
        relation,
        where,
        group or (),
        having,
        named_windows or (),
        qualify,
        emit,
        lateness,
        late_rows,
    )


def distinct(_span: Span) -> bool:
    return True


def distinct_on(span: Span, *rest: Any) -> DistinctOn:
    *keys, within = rest
    return DistinctOn(span, tuple(keys), within)


def select_items(_span: Span, *items: SelectItem) -> tuple[SelectItem, ...]:
    return items


def select_item(span: Span, expression: Expression | Star, alias: Name | None = None) -> SelectItem:
    return SelectItem(span, expression, alias)


def group_by(_span: Span, *keys: Expression) -> tuple[Expression, ...]:
    return keys


def windows(_span: Span, *named: NamedWindow) -> tuple[NamedWindow, ...]:
    return named


def named_window(span: Span, name: Name, window: WindowSpec) -> NamedWindow:
    return NamedWindow(span, name, window)


def emit_on_close(span: Span) -> Emit:
    return Emit(span, "ON WINDOW CLOSE")


def emit_changes(span: Span) -> Emit:
    return Emit(span, "CHANGES")


def emit_early(span: Span, every: Interval) -> Emit:
    return Emit(span, "EARLY", every)


def late_rows_drop(span: Span) -> LateRows:
    return LateRows(span, None)


def late_rows_send(span: Span, stream: Name) -> LateRows:
    return LateRows(span, stream)


def join_on(span: Span, left: Relation, kind: str, right: Relation, condition: Expression) -> Join:
    return Join(span, kind, left, right, condition)


def join_using(
    span: Span, left: Relation, kind: str, right: Relation, columns: tuple[Name, ...]
) -> Join:
    return Join(span, kind, left, right, None, columns)


def join_cross(span: Span, left: Relation, right: Relation) -> Join:
    return Join(span, "CROSS", left, right, None)


def join_inner(_span: Span) -> str:
    return "INNER"


def join_outer(_span: Span, side: str) -> str:
    return side.upper()


def names(_span: Span, *items: Name) -> tuple[Name, ...]:
    return items


def table(span: Span, name: Name, as_of: Expression | None, alias: Name | None) -> TableRef:
    return TableRef(span, name, alias, as_of)


def subquery(span: Span, query_: Query, alias: Name | None) -> SubqueryRef:
    return SubqueryRef(span, query_, alias)


def unnest(
    span: Span, array: Expression, alias: Name | None, columns: tuple[Name, ...] | None
) -> UnnestRef:
    return UnnestRef(span, array, alias, columns or ())


def window_table(
    span: Span,
    kind: str,
    relation: Relation,
    keys: tuple[Expression, ...] | None,
    column: Expression,
    *rest: Any,
) -> WindowTable:
    if isinstance(column, Call) and column.name.text.upper() == "DESCRIPTOR":
        raise window_arguments(column.span, kind, "DESCRIPTOR")
    *arguments, offset, alias = rest
    return WindowTable(
        span,
        kind.upper(),
        relation,
        keys or (),
        column,
        tuple(arguments),
        offset,
        alias,
    )


def count_window(
    span: Span, relation: Relation, keys: tuple[Expression, ...], *rest: Any
) -> WindowTable:
    *arguments, alias = rest
    return WindowTable(
        span,
        "COUNT_WINDOW",
        relation,
        keys,
        None,
        tuple(arguments),
        None,
        alias,
    )


def window_input_name(span: Span, name: Name) -> TableRef:
    return TableRef(span, name)


def window_input_query(span: Span, query_: Query, alias_: Name | None) -> SubqueryRef:
    return SubqueryRef(span, query_, alias_)


def window_keys(_span: Span, key: Expression) -> tuple[Expression, ...]:
    return key.items if isinstance(key, Row) else (key,)


def match_recognize(
    span: Span,
    relation: Relation,
    partition: tuple[Expression, ...] | None,
    order: tuple[SortItem, ...] | None,
    measures_: tuple[Measure, ...] | None,
    rows: str | None,
    skip: tuple[str, Name | None] | None,
    pattern: tuple[Pattern, Interval | None],
    definitions_: tuple[PatternDefinition, ...] | None,
    alias: Name | None,
) -> MatchRecognize:
    skip_mode, skip_target = skip or ("PAST LAST ROW", None)
    return MatchRecognize(
        span,
        relation,
        partition or (),
        order or (),
        measures_ or (),
        rows or "ONE",
        skip_mode,
        skip_target,
        pattern[0],
        pattern[1],
        definitions_ or (),
        alias,
    )


def measures(_span: Span, *items: Measure) -> tuple[Measure, ...]:
    return items


def measure(span: Span, expression: Expression, name: Name) -> Measure:
    return Measure(span, expression, name)


def match_rows(_span: Span, rows: str) -> str:
    return rows.upper()


def skip_past_last(_span: Span) -> tuple[str, Name | None]:
    return ("PAST LAST ROW", None)


def skip_to_next(_span: Span) -> tuple[str, Name | None]:
    return ("TO NEXT ROW", None)


def skip_to(_span: Span, side: str, variable: Name) -> tuple[str, Name | None]:
    return (f"TO {side.upper()}", variable)


def match_pattern(
    _span: Span, pattern: Pattern, within: Interval | None
) -> tuple[Pattern, Interval | None]:
    return (pattern, within)


def pattern_alternatives(span: Span, *items: Pattern) -> Pattern:
    return PatternAlternatives(span, items)


def pattern_sequence(span: Span, *items: Pattern) -> Pattern:
    return PatternSequence(span, items)


def pattern_repeat(span: Span, item: Pattern, sign: str, reluctant: str | None) -> Pattern:
    at_least, at_most = _REPEATS[sign]
    return PatternRepeat(span, item, at_least, at_most, reluctant is not None)


def pattern_exactly(span: Span, item: Pattern, count: str, reluctant: str | None) -> Pattern:
    return PatternRepeat(span, item, int(count), int(count), reluctant is not None)


def pattern_between(
    span: Span, item: Pattern, at_least: str, at_most: str | None, reluctant: str | None
) -> Pattern:
    limit = None if at_most is None else int(at_most)
    return PatternRepeat(span, item, int(at_least), limit, reluctant is not None)


def pattern_at_most(span: Span, item: Pattern, at_most: str, reluctant: str | None) -> Pattern:
    return PatternRepeat(span, item, 0, int(at_most), reluctant is not None)


def pattern_variable(span: Span, name: Name) -> Pattern:
    return PatternVariable(span, name)


def definitions(_span: Span, *items: PatternDefinition) -> tuple[PatternDefinition, ...]:
    return items


def definition(span: Span, variable: Name, condition: Expression) -> PatternDefinition:
    return PatternDefinition(span, variable, condition)
