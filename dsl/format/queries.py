"""Queries as lines of text: a clause a line, lists broken where they have no room."""

from __future__ import annotations

from collections.abc import Iterator

from ..ast.expressions import Binary, Expression
from ..ast.node import Name
from ..ast.queries import (
    CommonTable,
    DistinctOn,
    Emit,
    Join,
    LateRows,
    MatchRecognize,
    NamedWindow,
    Pattern,
    PatternAlternatives,
    PatternRepeat,
    PatternSequence,
    PatternVariable,
    Query,
    Relation,
    Select,
    SelectItem,
    SubqueryRef,
    TableRef,
    WindowTable,
)
from ..diagnostics import InternalError
from .expressions import as_operand, as_written, kept, sort_sql, window_body
from .layout import WIDTH, appended, indented, joined, listed, separated
from .words import identifier

_ROOM = WIDTH - 10
"""What a clause may fill; the rest is for where the query stands."""


def query_lines(query: Query) -> list[str]:
    """Return the lines of a query."""
    lines: list[str] = []
    if query.with_:
        tables = [_common_table(table) for table in query.with_]
        for number, table in enumerate(tables):
            table[0] = table[0] if number else f"WITH {table[0]}"
            lines += appended(table, ",") if number < len(tables) - 1 else table
    for number, branch in enumerate(query.branches):
        lines += [*(["UNION ALL"] if number else []), *_select(branch)]
    return lines


def late_rows_text(late: LateRows) -> str:
    """Return an ON LATE ROWS clause."""
    if late.stream is None:
        return "ON LATE ROWS DROP"
    return f"ON LATE ROWS SEND TO {identifier(late.stream.text)}"


def names_text(names: tuple[Name, ...]) -> str:
    """Return names with commas between them."""
    return ", ".join(identifier(name.text) for name in names)


def _common_table(table: CommonTable) -> list[str]:
    return [f"{identifier(table.name.text)} AS (", *indented(query_lines(table.query)), ")"]


def _select(select: Select) -> list[str]:
    lines = listed(_select_head(select), [_item(item) for item in select.items], _ROOM)
    lines += joined(["FROM "], _relation(select.relation))
    lines += _condition("WHERE", select.where)
    if select.group_by:
        lines += listed("GROUP BY", [as_written(key) for key in select.group_by], _ROOM)
    lines += _condition("HAVING", select.having)
    if select.windows:
        lines += listed("WINDOW", [_named_window(window) for window in select.windows], _ROOM)
    lines += _condition("QUALIFY", select.qualify)
    return lines + list(_output_clauses(select))


def _select_head(select: Select) -> str:
    if select.distinct_on:
        return f"SELECT {_distinct_on(select.distinct_on)}"
    return "SELECT DISTINCT" if select.distinct else "SELECT"


def _distinct_on(distinct: DistinctOn) -> str:
    keys = ", ".join(map(as_written, distinct.keys))
    within = f" WITHIN {as_written(distinct.within)}" if distinct.within else ""
    return f"DISTINCT ON ({keys}){within}"


def _item(item: SelectItem) -> str:
    text = as_written(item.expression)
    return f"{text} AS {identifier(item.alias.text)}" if item.alias else text


def _named_window(window: NamedWindow) -> str:
    return f"{identifier(window.name.text)} AS {window_body(window.window, kept)}"


def _output_clauses(select: Select) -> Iterator[str]:
    if select.emit:
        yield _emit(select.emit)
    if select.allowed_lateness:
        yield f"ALLOWED LATENESS {as_written(select.allowed_lateness)}"
    if select.late_rows:
        yield late_rows_text(select.late_rows)


def _emit(emit: Emit) -> str:
    return f"EMIT {emit.kind} EVERY {as_written(emit.every)}" if emit.every else f"EMIT {emit.kind}"


def _condition(word: str, condition: Expression | None) -> list[str]:
    """Return a condition, with a line for each part that AND holds together if it is long."""
    if condition is None:
        return []
    flat = f"{word} {as_written(condition)}"
    if len(flat) <= _ROOM:
        return [flat]
    first, *rest = _conjuncts(condition)
    return [f"{word} {_conjunct(first)}", *indented(f"AND {_conjunct(part)}" for part in rest)]


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield the parts of ``a AND b AND c`` (which holds on the left)."""
    if isinstance(condition, Binary) and condition.operator == "AND":
        yield from _conjuncts(condition.left)
        yield condition.right
    else:
        yield condition


def _conjunct(part: Expression) -> str:
    is_loose = isinstance(part, Binary) and part.operator in ("OR", "AND")
    return f"({as_written(part)})" if is_loose else as_written(part)


def _relation(relation: Relation) -> list[str]:
    match relation:
        case TableRef():
            as_of = relation.as_of
            period = f" FOR SYSTEM_TIME AS OF {as_operand(as_of)}" if as_of else ""
            return [f"{identifier(relation.name.text)}{period}{_alias(relation.alias)}"]
        case SubqueryRef():
            return ["(", *indented(query_lines(relation.query)), f"){_alias(relation.alias)}"]
        case WindowTable():
            return appended(_window_table(relation), _alias(relation.alias))
        case MatchRecognize():
            return appended(_match_recognize(relation), _alias(relation.alias))
        case Join():
            return _join(relation)
    raise InternalError(f"no text for {type(relation).__name__}")


def _alias(name: Name | None) -> str:
    return f" AS {identifier(name.text)}" if name else ""


def _join(join: Join) -> list[str]:
    word = "JOIN" if join.kind == "INNER" else f"{join.kind} JOIN"
    lines = _relation(join.left) + indented(joined([f"{word} "], _relation(join.right)))
    if join.condition is not None:
        return lines + indented(_condition("ON", join.condition), 2)
    if join.using:
        return appended(lines, f" USING ({names_text(join.using)})")
    return lines


def _window_table(window: WindowTable) -> list[str]:
    head = _relation(window.relation)
    if window.partition_by:
        keys = ", ".join(map(as_written, window.partition_by))
        keys = f"({keys})" if len(window.partition_by) > 1 else keys
        head = appended(head, f" PARTITION BY {keys}")
    arguments = [*([window.column] if window.column else []), *window.arguments]
    rest = [as_written(argument) for argument in arguments]
    if window.offset:
        rest.append(f"OFFSET {as_written(window.offset)}")
    return joined([f"{window.kind}("], appended(head, f", {', '.join(rest)})"))


def _match_recognize(match: MatchRecognize) -> list[str]:
    return [
        *appended(_relation(match.relation), " MATCH_RECOGNIZE ("),
        *indented(_match_clauses(match)),
        ")",
    ]


def _match_clauses(match: MatchRecognize) -> Iterator[str]:
    if match.partition_by:
        yield f"PARTITION BY {', '.join(map(as_written, match.partition_by))}"
    if match.order_by:
        yield f"ORDER BY {', '.join(sort_sql(item, kept) for item in match.order_by)}"
    if match.measures:
        items = [f"{as_written(m.expression)} AS {identifier(m.name.text)}" for m in match.measures]
        yield from ["MEASURES", *indented(separated(items))]
    yield f"{match.rows} {'ROW' if match.rows == 'ONE' else 'ROWS'} PER MATCH"
    target = f" {identifier(match.skip_to.text)}" if match.skip_to else ""
    yield f"AFTER MATCH SKIP {match.skip}{target}"
    within = f" WITHIN {as_written(match.within)}" if match.within else ""
    yield f"PATTERN ({_pattern(match.pattern)}){within}"
    if match.define:
        items = [
            f"{identifier(d.variable.text)} AS {as_written(d.condition)}" for d in match.define
        ]
        yield from ["DEFINE", *indented(separated(items))]


def _pattern(pattern: Pattern) -> str:
    match pattern:
        case PatternVariable():
            return identifier(pattern.name.text)
        case PatternSequence():
            inner = PatternSequence, PatternAlternatives
            return " ".join(_grouped(item, *inner) for item in pattern.items)
        case PatternAlternatives():
            return " | ".join(_grouped(item, PatternAlternatives) for item in pattern.items)
        case PatternRepeat(item=item):
            text = _grouped(item, PatternSequence, PatternAlternatives, PatternRepeat)
            return f"{text}{_quantifier(pattern)}"
    raise InternalError(f"no text for {type(pattern).__name__}")


def _grouped(pattern: Pattern, *loose: type[Pattern]) -> str:
    return f"({_pattern(pattern)})" if isinstance(pattern, loose) else _pattern(pattern)


def _quantifier(repeat: PatternRepeat) -> str:
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    low, high = repeat.at_least, repeat.at_most
    exactly = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
    return signs.get((low, high), exactly) + ("?" if repeat.reluctant else "")
