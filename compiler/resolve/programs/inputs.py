"""The inputs of an operator: relations, keys and order."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.ast import expressions as e
from ....dsl.ast import statements as st
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.programs import ProgramInput, ProgramKey
from ...model.schema import Schema
from ...model.typed import Typed
from ..clauses.lost_times import ADD_WATERMARK, time_help
from ..declarations.tables import not_a_stream
from ..expressions.resolve import Clause, check
from ..scopes.names import check_id, sink_is_not_read, unknown_relation
from ..scopes.relation_builder import Environment, Known, changes_input
from ..scopes.scope import BlockScope, Visible
from .scope import hidden_name


def program_inputs(
    node: st.CreateOperator, env: Environment, diagnostics: Diagnostics
) -> tuple[ProgramInput, ...] | None:
    """Return the inputs, or None after reporting one that can't be read."""
    known = [_known(given.stream, env, diagnostics) for given in node.inputs]
    found: list[ProgramInput] = []
    aliases: dict[str, Name] = {}
    for given, relation in zip(node.inputs, known, strict=True):
        alias = given.alias or given.stream
        if given.alias is not None:
            diagnostics.extend(check_id(alias, "input"))
        first = aliases.setdefault(alias.text.lower(), alias)
        if first is not alias:
            diagnostics.add(_same_alias(alias, first))
        elif alias.text.lower() == node.name.text.lower():
            diagnostics.add(hidden_name(alias, f"`{alias}` is already the name of the operator"))
        if relation is None:
            continue
        if relation.changes:
            message = f"`{given.stream}` emits changes, which an operator can't read"
            diagnostics.add(changes_input(relation, message, Label(given.stream.span)))
        scope = BlockScope((Visible(alias.text, relation.schema, relation.span),), diagnostics)
        keys = tuple(
            _key(one, given, relation.schema, scope, diagnostics) for one in given.partition_by
        )
        time = _event_time(given, relation, scope, diagnostics)
        found.append(ProgramInput(relation.relation, alias.text, relation.schema, keys, time))
    if len(found) < len(node.inputs):
        return None
    _same_keys(node, found, diagnostics)
    diagnostics.extend(_all_or_none(node))
    return tuple(found)


def program_keys(inputs: Sequence[ProgramInput]) -> dict[str, ProgramKey]:
    """Return the keys by their names in the first input, in lower case."""
    found: dict[str, ProgramKey] = {}
    for key in inputs[0].keys:
        if isinstance(key.expression, e.ColumnRef):
            name = key.expression.parts[-1].text
            found.setdefault(name.lower(), ProgramKey(name, key.type))
    return found


def _known(name: Name, env: Environment, diagnostics: Diagnostics) -> Known | None:
    if name.text in env.relations:
        return env.relations[name.text]
    if name.text in env.sinks:
        diagnostics.add(sink_is_not_read(name, env.sinks[name.text]))
    elif name.text in env.tables:
        diagnostics.add(not_a_stream(name, "an operator"))
    elif name.text not in env.broken:
        names = (*env.relations, *env.tables)
        diagnostics.add(unknown_relation(name, names, "stream or source"))
    return None


def _key(
    node: e.Expression,
    given: st.OperatorInput,
    schema: Schema,
    scope: BlockScope,
    diagnostics: Diagnostics,
) -> Typed:
    value = check(node, scope, Clause("PARTITION BY"), diagnostics)
    if value.type is t.UNKNOWN:
        return value
    if not isinstance(value.expression, e.ColumnRef):
        diagnostics.add(_computed(node, given, diagnostics))
    elif not t.is_groupable(value.type):
        diagnostics.add(_no_key(node, value))
    return value


def _event_time(
    given: st.OperatorInput, relation: Known, scope: BlockScope, diagnostics: Diagnostics
) -> str | None:
    times = [field.name for field in relation.schema.event_times()]
    if given.order_by is None:
        return times[0] if times else None
    value = check(given.order_by, scope, Clause("ORDER BY"), diagnostics)
    if value.type is t.UNKNOWN:
        return times[0] if times else None
    if isinstance(value.expression, e.ColumnRef) and len(value.expression.parts) == 1:
        name = value.expression.parts[0].text
        if name in times:
            return name
    diagnostics.add(_no_order(given, relation, times))
    return times[0] if times else None


def _same_keys(
    node: st.CreateOperator, found: Sequence[ProgramInput], diagnostics: Diagnostics
) -> None:
    first = found[0]
    names: dict[str, e.Expression] = {}
    for written, key in zip(node.inputs[0].partition_by, first.keys, strict=True):
        if isinstance(key.expression, e.ColumnRef):
            name = key.expression.parts[-1].text
            if names.setdefault(name.lower(), written) is not written:
                diagnostics.add(_two_of_a_name(written, names[name.lower()], name))
    for given, other in zip(node.inputs[1:], found[1:], strict=True):
        if len(other.keys) != len(first.keys):
            diagnostics.add(_key_count(node, given, first, other))
            continue
        pairs = zip(given.partition_by, first.keys, other.keys, strict=True)
        for place, (written, one, two) in enumerate(pairs):
            unlike = one.type != two.type and not (t.is_open(one.type) or t.is_open(two.type))
            if unlike:
                above = node.inputs[0].partition_by[place]
                diagnostics.add(_key_type(written, above, one, two))


def _all_or_none(node: st.CreateOperator) -> list[Diagnostic]:
    ordered = [given for given in node.inputs if given.order_by is not None]
    others = [given for given in node.inputs if given.order_by is None]
    if not ordered or not others:
        return []
    return [
        Diagnostic(
            codes.OPERATOR_ORDER,
            f"`{given.alias or given.stream}` has no ORDER BY, but another input has one",
            Label(given.span),
            secondary=(Label(ordered[0].span, "rows of this one wait for the watermark"),),
            help="write ORDER BY with the column of the watermark for every input, or for none",
        )
        for given in others
    ]


def _same_alias(alias: Name, first: Name) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_NAME,
        f"two inputs are called `{alias}`",
        Label(alias.span, "named again here"),
        secondary=(Label(first.span, "first named here"),),
        help=f"give one of them an alias, as in `{alias} AS later`",
    )


def _computed(node: e.Expression, given: st.OperatorInput, diagnostics: Diagnostics) -> Diagnostic:
    text = " ".join(diagnostics.source.excerpt(node.span).split())
    select = f"SELECT *, {text} AS key FROM {given.stream}"
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"a key of state must be a column, but `{text}` is computed",
        Label(node.span, "has no name to identify the state"),
        help=f"name it in an earlier stream: `CREATE STREAM keyed AS {select};`",
    )


def _no_key(node: e.Expression, value: Typed) -> Diagnostic:
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"a {value.type} can't be a key of state",
        Label(node.span, "not comparable"),
        help=(
            "partition by one value of it, or by its text, `to_json(x)`, computed in an "
            "earlier stream"
        ),
    )


def _two_of_a_name(node: e.Expression, first: e.Expression, name: str) -> Diagnostic:
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"two keys are called `{name}`",
        Label(node.span),
        secondary=(Label(first.span, "the first"),),
        help="remove one of them, or rename one in an earlier stream",
    )


def _key_count(
    node: st.CreateOperator, given: st.OperatorInput, first: ProgramInput, other: ProgramInput
) -> Diagnostic:
    above = node.inputs[0]
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"`{first.alias}` has {_counted(len(first.keys))}, `{other.alias}` has "
        f"{_counted(len(other.keys))}",
        Label(given.span),
        secondary=(Label(above.span),),
        help="partition all inputs by the same keys: they are matched by position",
    )


def _counted(count: int) -> str:
    return f"{count or 'no'} key{'' if count == 1 else 's'}"


def _key_type(node: e.Expression, above: e.Expression, one: Typed, two: Typed) -> Diagnostic:
    return Diagnostic(
        codes.OPERATOR_KEYS,
        f"a key is {one.type} in one input and {two.type} in another",
        Label(node.span, str(two.type)),
        secondary=(Label(above.span, str(one.type)),),
        help=f"cast one of them in an earlier stream, as in `CAST(k AS {one.type}) AS k`",
    )


def _no_order(given: st.OperatorInput, relation: Known, times: list[str]) -> Diagnostic:
    assert given.order_by is not None
    add = f"{ADD_WATERMARK}, or leave out ORDER BY"
    return Diagnostic(
        codes.OPERATOR_ORDER,
        f"rows of `{given.stream}` are ordered by the column of its watermark",
        Label(given.order_by.span),
        secondary=(Label(relation.span, f"`{given.stream}` is declared here"),),
        help=f"write `ORDER BY {times[0]}`" if times else time_help(relation.schema, add),
    )
