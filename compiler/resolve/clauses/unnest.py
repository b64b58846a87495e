"""UNNEST: the rows of a relation, once for each element of one of their arrays.

It becomes a relation of its own, whose rows have one more column. No state is kept.
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Label
from ...model import types
from ...model.schema import Field
from ...model.steps import Unnest
from ...model.typed import Typed
from ..expressions.resolve import Clause, check
from ..scopes.names import check_part
from ..scopes.relation_builder import (
    Chain,
    Known,
    StreamContext,
    changes_input,
    known_as,
    part_name,
)
from ..scopes.scope import BlockScope, Visible

_KINDS = ("CROSS", "INNER", "LEFT")
_FORMS = "`FROM orders AS o CROSS JOIN UNNEST(o.items) AS item`"


def is_unnest(node: q.Relation) -> bool:
    """Return whether a relation is a join with the elements of an array."""
    return isinstance(node, q.Join) and isinstance(node.right, q.UnnestRef)


def add_unnest(
    node: q.Join, known: Known, visible: Visible, owner: str, context: StreamContext
) -> tuple[Known, Visible] | None:
    """Return the relation of a join with UNNEST over another, None after a report.

    ``owner`` is the relation whose FROM it is in.
    """
    ref, diagnostics = node.right, context.diagnostics
    assert isinstance(ref, q.UnnestRef)
    alias, problem = ref.alias, _bad_form(node, ref)
    if problem is None and alias is not None:
        problem = _unsuitable(ref, alias, known, visible)
    if problem is not None or alias is None:
        diagnostics.add(problem or _no_name(ref))
        return None
    name = context.free_name(part_name(owner, alias))
    wrong = list(check_part(alias, "UNNEST", name))
    diagnostics.extend(wrong)
    array = check(ref.array, BlockScope((visible,), diagnostics), Clause("UNNEST"), diagnostics)
    if wrong or array.type is types.UNKNOWN:
        return None
    element = _element(array)
    if element is None:
        diagnostics.add(_no_array(ref, array))
        return None
    schema = visible.schema
    chain = Chain(
        context,
        name,
        node.span,
        (known.relation,),
        schema,
        changes=False,
        above_state=known.above_state,
    )
    fields = (*schema.fields, Field(alias.text, element))
    step = Unnest(alias.text, array, element, node.kind == "LEFT")
    chain.add(step, replace(schema, fields=fields))
    relation = chain.finish(name)
    found = known_as(relation, alias.span)
    return found, replace(visible, schema=relation.schema)


def _element(array: Typed) -> types.Type | None:
    match array.type:
        case types.Array(element):
            return element
        case types.Map(key, value):
            return types.Struct((types.Field("key", key), types.Field("value", value)))
    return None


def _bad_form(node: q.Join, ref: q.UnnestRef) -> Diagnostic | None:
    if node.kind not in _KINDS:
        return Diagnostic(
            codes.UNNEST_FORM,
            f"{node.kind} JOIN would return elements of arrays that no row has",
            Label(node.span),
            help="write `CROSS JOIN UNNEST(…)`, or `LEFT JOIN UNNEST(…) AS item ON TRUE` to keep "
            "rows without an element",
        )
    on_true = isinstance(node.condition, e.BooleanLiteral) and node.condition.value
    if node.using or (node.kind != "CROSS" and not on_true):
        place = node.condition.span if node.condition is not None else node.span
        return Diagnostic(
            codes.UNNEST_FORM,
            f"{node.kind} JOIN with UNNEST is `ON TRUE`: a row is joined with its own elements",
            Label(place),
            help="write `ON TRUE`, and conditions on elements in WHERE",
        )
    if ref.alias is None or not ref.columns:
        return None
    name = ref.columns[0].text
    return Diagnostic(
        codes.UNNEST_FORM,
        "UNNEST names its elements, and not their parts",
        Label(ref.columns[0].span.to(ref.columns[-1].span)),
        help=f"write `UNNEST(…) AS {name}`: `{name}` is a column; of a struct, `{name}.price` is a "
        f"field, of a map `{name}.key` and `{name}.value`",
    )


def _unsuitable(ref: q.UnnestRef, alias: Name, known: Known, visible: Visible) -> Diagnostic | None:
    name = alias.text
    if known.changes:
        message = f"`{visible.alias}` emits changes, which can't be unnested"
        label = Label(ref.span, "elements that a later row lacks would stay")
        return changes_input(known, message, label)
    if name.lower() == visible.alias.lower() or visible.schema.find(name) is not None:
        what = "relation" if name.lower() == visible.alias.lower() else "column"
        return Diagnostic(
            codes.DUPLICATE_NAME,
            f"there is a {what} `{name}` already",
            Label(alias.span, "the elements need a name of their own"),
            help=f"choose another, as in `AS one_{name.lower()}`",
        )
    return None


def _no_name(ref: q.UnnestRef) -> Diagnostic:
    return Diagnostic(
        codes.UNNEST_FORM,
        "the elements of UNNEST need a name",
        Label(ref.span),
        help=f"write {_FORMS}: `item` is a column, `item.price` a field of it",
    )


def _no_array(ref: q.UnnestRef, array: Typed) -> Diagnostic:
    return Diagnostic(
        codes.UNNEST_FORM,
        f"UNNEST takes an ARRAY or a MAP, and this is {array.type}",
        Label(ref.array.span),
    )


def unnest_alone(ref: q.UnnestRef) -> Diagnostic:
    """Return the diagnostic for an UNNEST that is joined to nothing."""
    return Diagnostic(
        codes.UNNEST_FORM,
        "UNNEST stands at the right of a join, after the stream whose arrays it takes",
        Label(ref.span),
        help=f"write {_FORMS}",
    )


def unnest_of_join(node: q.Join) -> Diagnostic:
    """Return the diagnostic for the arrays of joined rows."""
    return Diagnostic(
        codes.UNNEST_FORM,
        "UNNEST takes the arrays of one relation, not of a join",
        Label(node.right.span),
        secondary=(Label(node.left.span, "the join"),),
        help="unnest that relation first, as in `FROM a CROSS JOIN UNNEST(a.items) AS item JOIN b "
        "ON …`, or give the join a stream of its own",
    )


def unnest_of_pattern(node: q.Join) -> Diagnostic:
    """Return the diagnostic for UNNEST beside a pattern or a count window."""
    return Diagnostic(
        codes.UNNEST_FORM,
        "UNNEST can't stand in one FROM with MATCH_RECOGNIZE or COUNT_WINDOW",
        Label(node.right.span),
        help="give one of them a stream of its own",
    )
