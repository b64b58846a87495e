"""The ON of a temporal join: equal keys, and how old a version may be."""

from __future__ import annotations

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.conditions import conjuncts
from ...model.schema import Field
from ..clauses.lost_times import time_help
from ..clauses.time_bounds import analyse
from ..clauses.windows import missing_watermark
from ..expressions.resolve import Clause, check
from ..scopes.scope import BlockScope, Visible

_KINDS = ("INNER", "LEFT")


@dataclass(frozen=True, slots=True)
class TemporalForm:
    """Equal keys of both sides, their instants, and how old a version may be.

    ``age`` is in microseconds, None for any.
    """

    row_keys: tuple[Field, ...]
    version_keys: tuple[Field, ...]
    row_time: Field
    version_time: Field
    age: int | None


def temporal_form(
    node: q.Join, as_of: e.Expression, scope: BlockScope, diagnostics: Diagnostics
) -> TemporalForm | None:
    """Return the form of a temporal join, None after a report."""
    rows, versions = scope.relations
    if node.kind not in _KINDS:
        diagnostics.add(_bad_kind(node, versions))
        return None
    row_time = _instant(as_of, scope, diagnostics)
    times = versions.schema.event_times()
    if not times:
        diagnostics.add(_no_versions(node, versions))
    if node.condition is None:
        diagnostics.add(_no_condition(node, scope))
        return None
    condition = check(node.condition, scope, Clause("ON"), diagnostics)
    if row_time is None or not times or condition.type is t.UNKNOWN:
        return None
    pairs: list[tuple[Field, Field]] = []
    age: int | None = None
    for part in conjuncts(condition.expression):
        pair = _key(part, scope)
        bound = None if pair is not None else _age(part, scope, row_time, times[0])
        if pair is not None:
            problem = _unfit_key(part, pair)
            pairs.append(pair)
        elif bound is None:
            problem = _no_part(part, rows, versions, diagnostics)
        else:
            problem = _no_age(part) if bound < 0 else None
            age = bound if age is None else min(age, bound)
        if problem is not None:
            diagnostics.add(problem)
            return None
    names = [field.name for _, field in pairs]
    if not pairs or len(set(names)) < len(names):
        diagnostics.add(_no_keys(node, scope) if not pairs else _one_key_twice(node))
        return None
    is_open = age is None or age >= _FOR_GOOD
    return TemporalForm(
        tuple(row for row, _ in pairs),
        tuple(version for _, version in pairs),
        *(row_time, times[0]),
        None if is_open else age,
    )


_FOR_GOOD = 2**63
"""An age without effect: the version may not be younger than the row."""


def _instant(as_of: e.Expression, scope: BlockScope, diagnostics: Diagnostics) -> Field | None:
    """Return the event time of the rows, None after reporting that AS OF is something else."""
    rows = scope.relations[0]
    value = check(as_of, scope, Clause("FOR SYSTEM_TIME AS OF"), diagnostics)
    if value.type is t.UNKNOWN:
        return None
    field = scope.field(value.expression)
    is_own = isinstance(value.expression, e.ColumnRef) and _alias(value.expression) == rows.alias
    if field is not None and is_own and field.watermark is not None:
        return field
    if not rows.schema.event_times():
        diagnostics.add(missing_watermark("FOR SYSTEM_TIME AS OF", as_of, rows))
    else:
        diagnostics.add(_other_instant(as_of, rows))
    return None


def _alias(ref: e.ColumnRef) -> str:
    return ref.parts[0].text


def _key(part: e.Expression, scope: BlockScope) -> tuple[Field, Field] | None:
    """Return the columns that a part of ON equates: that of the rows, that of the versions."""
    match part:
        case e.Binary(_, "=", e.ColumnRef() as left, e.ColumnRef() as right):
            rows, versions = (side.alias for side in scope.relations)
            if (_alias(left), _alias(right)) == (versions, rows):
                left, right = right, left
            fields = scope.field(left), scope.field(right)
            if (_alias(left), _alias(right)) == (rows, versions) and None not in fields:
                return fields  # type: ignore[return-value]
    return None


def _age(part: e.Expression, scope: BlockScope, row_time: Field, version_time: Field) -> int | None:
    """Return how old a part of ON lets a version be, None if it is something else."""

    def is_time(expression: e.Expression) -> bool:
        return scope.field(expression) in (row_time, version_time)

    rows, versions = scope.relations
    bounds = analyse(part, rows.alias, versions.alias, is_time)
    if bounds.upper not in (None, 0) or bounds.left_keys:
        return None
    if bounds.lower is None:
        return None if bounds.upper is None else _FOR_GOOD
    return -bounds.lower


def versions_kept(node: q.Join, form: TemporalForm, scope: BlockScope, stream: str) -> Diagnostic:
    """Return the warning for versions that only a newer one removes."""
    rows, versions = scope.relations
    bound = f"{versions.alias}.{form.version_time.name} >= {rows.alias}.{form.row_time.name}"
    return Diagnostic(
        codes.VERSIONS_KEPT,
        f"the newest version of each key of `{versions.alias}` is kept forever",
        Label(node.right.span, "a version for each key that ever occurs"),
        help=f"let old ones expire: `AND {bound} - INTERVAL 7 DAYS`; or state that there are few "
        f"keys: `CREATE STREAM {stream} WITH (unbounded = 'why') AS …`",
    )


def _temporal(message: str, label: Label, fix: str) -> Diagnostic:
    return Diagnostic(codes.TEMPORAL_JOIN, message, label, help=fix)


def _bad_kind(node: q.Join, versions: Visible) -> Diagnostic:
    return _temporal(
        f"a {node.kind} JOIN can't look up versions: those of `{versions.alias}` are not output "
        "by themselves",
        Label(node.span),
        "write `JOIN … FOR SYSTEM_TIME AS OF … ON …`, or LEFT JOIN to keep rows without a version",
    )


def _no_versions(node: q.Join, versions: Visible) -> Diagnostic:
    return Diagnostic(
        codes.MISSING_WATERMARK,
        f"the versions of `{versions.alias}` have no event time from which they are valid",
        Label(node.right.span),
        secondary=(Label(versions.span, f"`{versions.alias}` is declared here"),),
        help=time_help(versions.schema),
    )


def _no_condition(node: q.Join, scope: BlockScope) -> Diagnostic:
    columns = f" (USING {', '.join(n.text for n in node.using)})" if node.using else ""
    rows, versions = (side.alias for side in scope.relations)
    return Diagnostic(
        codes.JOIN_KEYS,
        f"a temporal join needs ON{columns}",
        Label(node.span),
        help=f"write `ON {versions}.id = {rows}.id`",
    )


def _no_keys(node: q.Join, scope: BlockScope) -> Diagnostic:
    rows, versions = (side.alias for side in scope.relations)
    return Diagnostic(
        codes.JOIN_KEYS,
        f"the condition has no equality between `{rows}` and `{versions}`",
        Label(node.condition.span if node.condition else node.span),
        help=f"add one that finds versions, as in `{versions}.id = {rows}.id`",
    )


def _one_key_twice(node: q.Join) -> Diagnostic:
    return _temporal(
        "a column of the versions is used as a key twice",
        Label(node.condition.span if node.condition else node.span),
        "compare two columns of the row in WHERE, and one of them with the key",
    )


def _other_instant(as_of: e.Expression, rows: Visible) -> Diagnostic:
    time = rows.schema.event_times()[0].name
    return _temporal(
        f"a version is looked up as of the event time of `{rows.alias}`",
        Label(as_of.span, "another instant"),
        f"write `FOR SYSTEM_TIME AS OF {rows.alias}.{time}`",
    )


def _unfit_key(part: e.Expression, pair: tuple[Field, Field]) -> Diagnostic | None:
    row, version = pair
    if row.type != version.type:
        return Diagnostic(
            codes.OPERATOR_KEYS,
            f"a key is {row.type} on one side and {version.type} on the other",
            Label(part.span),
            help=f"cast one of them in an earlier stream, as in `CAST({row.name} AS "
            f"{version.type}) AS {row.name}`",
        )
    if not t.is_groupable(row.type) and not t.is_open(row.type):
        return Diagnostic(
            codes.OPERATOR_KEYS,
            f"a {row.type} can't be a key of state",
            Label(part.span, "not comparable"),
            help=(
                "compare one value of it, or its text, `to_json(x)`, computed in an earlier stream"
            ),
        )
    return None


def _no_part(
    part: e.Expression, rows: Visible, versions: Visible, diagnostics: Diagnostics
) -> Diagnostic:
    text = " ".join(diagnostics.source.excerpt(part.span).split())
    time = f"{versions.alias}.{versions.schema.event_times()[0].name}"
    return _temporal(
        f"ON of a temporal join takes equal columns and the age of a version; `{text}` is neither",
        Label(part.span),
        f"write it in WHERE, or in a stream before the join; an age is written `{time} >= "
        f"{rows.alias}.{rows.schema.event_times()[0].name} - INTERVAL 1 DAY`",
    )


def _no_age(part: e.Expression) -> Diagnostic:
    return Diagnostic(
        codes.JOIN_BOUND,
        "no version can satisfy this bound: it would be later than the row",
        Label(part.span),
        help="subtract the interval from the instant of the row",
    )
