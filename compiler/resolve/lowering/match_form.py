"""Forms of MATCH_RECOGNIZE that are refused, with alternatives."""

from __future__ import annotations

from collections.abc import Iterable

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ...model.schema import Field
from ..scopes.scope import Visible
from .match_pattern import MOST_PLACES


def _form(message: str, label: Label, fix: str, *others: Label) -> Diagnostic:
    return Diagnostic(codes.PATTERN_FORM, message, label, secondary=others, help=fix)


def no_turns(node: q.PatternRepeat) -> Diagnostic:
    """Return the diagnostic for an impossible repetition."""
    return _form(
        "the maximum of a repetition is less than its minimum, or zero",
        Label(node.span),
        "write the minimum first, as in `B{2,5}`",
    )


def too_long(node: q.MatchRecognize, places: int) -> Diagnostic:
    """Return the diagnostic for a pattern with too many places."""
    return _form(
        f"the pattern has {places} positions, with counted repetitions expanded",
        Label(node.pattern.span, f"more than {MOST_PLACES}"),
        "write `B+`, and count its rows in a condition, as in `C AS COUNT(B.*) >= 200`",
    )


def empty_match(node: q.MatchRecognize) -> Diagnostic:
    """Return the diagnostic for a pattern that matches no rows at all."""
    return _form(
        "the pattern can match no rows at all, and so matches everywhere",
        Label(node.pattern.span),
        "require a row: `B+` instead of `B*`, or a variable before it",
    )


def defined_twice(node: q.PatternDefinition, first: q.PatternDefinition) -> Diagnostic:
    """Return the diagnostic for a variable with two conditions."""
    return _form(
        f"`{node.variable}` has two conditions",
        Label(node.variable.span, "defined again"),
        "combine them with AND",
        Label(first.variable.span, "the first"),
    )


def not_in_pattern(node: q.PatternDefinition, known: Iterable[str]) -> Diagnostic:
    """Return the diagnostic for a condition of a variable that is not in PATTERN."""
    near = closest(node.variable.text, known)
    return _form(
        f"`{node.variable}` is not in PATTERN",
        Label(node.variable.span),
        f"did you mean `{near[0].upper()}`?" if near else "remove it, or use it in the pattern",
    )


def skip_to_nothing(node: q.MatchRecognize, name: Name, known: Iterable[str]) -> Diagnostic:
    """Return the diagnostic for SKIP to a variable that is not in PATTERN."""
    near = closest(name.text, known)
    return _form(
        f"`{name}` is not in PATTERN, so no match has a row of it to continue with",
        Label(name.span),
        f"did you mean `{near[0].upper()}`?" if near else "skip to a variable of the pattern",
    )


def skip_to_lacking(node: q.MatchRecognize, name: Name) -> Diagnostic:
    """Return the diagnostic for SKIP to a variable that a match may lack."""
    return _form(
        f"a match may have no row of `{name}`, and it is undefined where to continue then",
        Label(name.span),
        f"require it, as in `{name}+`; or write `AFTER MATCH SKIP TO NEXT ROW`",
        Label(node.pattern.span, "may end without it"),
    )


def skip_to_beginning(node: q.MatchRecognize, name: Name) -> Diagnostic:
    """Return the diagnostic for SKIP to a row that the match may begin with."""
    return _form(
        f"a match may begin with the row where `SKIP {node.skip} {name}` continues, again and "
        "again",
        Label(name.span),
        "skip to a variable that no match begins with, or write `AFTER MATCH SKIP TO NEXT ROW`",
        Label(node.pattern.span, f"may begin with `{name}`"),
    )


def no_order(node: q.MatchRecognize, visible: Visible) -> Diagnostic:
    """Return the diagnostic for a missing ORDER BY."""
    times = visible.schema.event_times()
    return _form(
        "a pattern matches consecutive rows, but these have no order",
        Label(node.pattern.span),
        f"write `ORDER BY {times[0].name if times else 'ts'}` before MEASURES",
    )


def other_order(node: q.MatchRecognize, visible: Visible) -> Diagnostic:
    """Return the diagnostic for an order other than that of the event time."""
    time = visible.schema.event_times()[0].name
    last = node.order_by[-1]
    return Diagnostic(
        codes.OPERATOR_ORDER,
        f"rows of `{visible.alias}` are ordered by the column of its watermark",
        Label(node.order_by[0].span.to(last.span)),
        secondary=(Label(visible.span, f"`{visible.alias}` is declared here"),),
        help=f"write `ORDER BY {time}`; rows of one instant are in the order of their values",
    )


def computed_key(node: e.Expression, visible: Visible, diagnostics: Diagnostics) -> Diagnostic:
    """Return the diagnostic for a key that is not a column."""
    text = " ".join(diagnostics.source.excerpt(node.span).split())
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"a key of state must be a column, but `{text}` is computed",
        Label(node.span, "has no name to identify the state"),
        help=f"name it first: `FROM (SELECT *, {text} AS key FROM {visible.alias}) AS keyed "
        "MATCH_RECOGNIZE (…)`",
    )


def no_key(node: e.Expression, column: Field) -> Diagnostic:
    """Return the diagnostic for a key of a type that can't be compared."""
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"a {column.type} can't be a key of state",
        Label(node.span, "not comparable"),
        help=(
            "partition by one value of it, or by its text, `to_json(x)`, computed in an "
            "earlier stream"
        ),
    )


def one_core(node: q.MatchRecognize, stream: str) -> Diagnostic:
    """Return the warning for a pattern over all rows."""
    return Diagnostic(
        codes.ONE_CORE,
        f"the pattern of `{stream}` has no PARTITION BY: one core processes all its rows",
        Label(node.relation.span),
        help="write `MATCH_RECOGNIZE (PARTITION BY k …)` if rows with different `k` are "
        "independent",
    )


def unbounded(node: q.MatchRecognize, stream: str) -> Diagnostic:
    """Return the diagnostic for a pattern whose attempts never end."""
    return Diagnostic(
        codes.UNBOUNDED_STATE,
        "the state of this pattern would grow forever: nothing ends an open attempt",
        Label(node.pattern.span, "kept for each key until its next row"),
        help="say how long a match may last: `PATTERN (…) WITHIN INTERVAL 1 HOUR`; or accept it: "
        f"`CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def numbered(node: q.MatchRecognize, stream: str) -> Diagnostic:
    """Return the diagnostic for numbers of matches, which are kept for ever."""
    return Diagnostic(
        codes.UNBOUNDED_STATE,
        "MATCH_NUMBER keeps the number of matches of each key forever",
        Label(node.span),
        help="identify a match by its beginning, `FIRST(ts)`; or accept it: `CREATE STREAM "
        f"{stream} WITH (unbounded = 'why') AS …`",
    )


def number_in_expression(node: q.Measure) -> Diagnostic:
    """Return the diagnostic for a measure made of the number of the match."""
    return Diagnostic(
        codes.PATTERN_READ,
        "MATCH_NUMBER() must be a measure by itself: it is known when the match comes out",
        Label(node.span),
        help="use it in computations in the select list: `MEASURES MATCH_NUMBER() AS number`",
    )


def too_far_back(node: e.Expression, variable: str, count: int, least: int) -> Diagnostic:
    """Return the diagnostic for PREV past the beginning of a match."""
    rows = "the first row of a match" if least == 0 else f"row {least + 1} of a match"
    return Diagnostic(
        codes.PATTERN_READ,
        f"PREV goes back {count} row{'s' if count > 1 else ''}, and `{variable.upper()}` may be "
        f"{rows}",
        Label(node.span, "rows before the match are not kept"),
        help="begin the pattern with a variable that has no condition, as in "
        f"`PATTERN (BEFORE {variable.upper()} …)`",
    )


def column_twice(node: q.Measure, first: Span) -> Diagnostic:
    """Return the diagnostic for a measure with the name of another, or of a key."""
    return Diagnostic(
        codes.DUPLICATE_COLUMN,
        f"two columns are called `{node.name}`",
        Label(node.name.span, "the second"),
        secondary=(Label(first, "the first"),),
        help=(
            "give it another name: the columns of PARTITION BY are output too, with ALL ROWS "
            "all columns"
        ),
    )


def no_columns(node: q.MatchRecognize) -> Diagnostic:
    """Return the diagnostic for matches without output columns."""
    return Diagnostic(
        codes.NO_OUTPUT,
        "a row for each match has no column",
        Label(node.pattern.span),
        help="write `MEASURES FIRST(A.ts) AS began` before PATTERN",
    )


def no_event_time(span: Span) -> Diagnostic:
    """Return the diagnostic for a join with matches."""
    return _form(
        "matches have no event time, but a join needs one",
        Label(span),
        "a match may be known only after later rows: select from it, and write it to a sink",
    )


def rows_alone(node: q.MatchRecognize) -> Diagnostic:
    """Return the diagnostic for a pattern over a window or over matches."""
    return _form(
        "a pattern matches the rows of a stream, not windows or matches",
        Label(node.relation.span),
        "put them in a separate stream, with `window_time` as the event time of a window",
    )
