"""CREATE OPERATOR: inputs, state and timers, and the program that handles rows and timers."""

from __future__ import annotations

from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model import types as t
from ...model.pipeline import Relation
from ...model.programs import Operator, ProgramInput
from ...model.schema import Field, Schema
from ..clauses.late_rows import late_of_operator
from ..clauses.output_time import with_event_time
from ..declarations.stream_options import stream_options
from ..scopes.lateness import check_lateness
from ..scopes.relation_builder import Environment
from .checks import check_program
from .handlers import handlers
from .inputs import program_inputs, program_keys
from .python_classes import check_python, python_class
from .scope import Names
from .state import declared_timers, state_cells


def resolve_operator(
    node: st.CreateOperator, env: Environment, diagnostics: Diagnostics
) -> tuple[Relation, ...] | None:
    """Return an operator as a relation, after that of its late rows if these are sent.

    None if it has errors or reads something with errors.
    """
    own = Diagnostics(diagnostics.source)
    relation = _resolve(node, env, own)
    late = None
    if relation is not None and node.late_rows is not None and node.late_rows.stream is not None:
        late = late_of_operator(node.late_rows.stream, relation, own)
    diagnostics.extend(own)
    if relation is None or own.has_errors:
        return None
    return (relation,) if late is None else (late, relation)


def _resolve(
    node: st.CreateOperator, env: Environment, diagnostics: Diagnostics
) -> Relation | None:
    options = stream_options(node, diagnostics)
    returns = _returns(node, diagnostics)
    inputs = program_inputs(node, env, diagnostics)
    if inputs is None:
        return None
    keys = program_keys(inputs)
    cells = state_cells(node, inputs, keys, diagnostics)
    timers = declared_timers(node, inputs, keys, diagnostics)
    names = Names(node.name.text, inputs, keys, cells, timers)
    python = python_class(node, diagnostics)
    served = () if python is not None else handlers(node, names, returns, diagnostics)
    if python is not None:
        diagnostics.extend(check_python(node, inputs, cells, returns))
    late = node.late_rows.stream if node.late_rows is not None else None
    diagnostics.extend(_late_rows(node, inputs))
    if diagnostics.has_errors:
        return None
    step = Operator(
        options.uid,
        tuple(keys.values()),
        inputs,
        node.inputs[0].order_by is not None,
        None if late is None else late.text,
        tuple(cells.values()),
        tuple(timers.values()),
        returns,
        served,
        python,
        declared=True,
    )
    step = with_event_time(step)
    diagnostics.extend(check_program(node, step, unbounded=options.unbounded))
    problem = check_lateness(step, returns, node.name.span)
    diagnostics.extend([] if problem is None else [problem])
    return Relation(
        *(node.name.text, options.uid, node.name.text),
        tuple(dict.fromkeys(given.relation for given in inputs)),
        (step,),
        step.returns,
        changes=False,
        above_state=True,
        span=node.name.span,
    )


def _returns(node: st.CreateOperator, diagnostics: Diagnostics) -> Schema:
    first: dict[str, st.Parameter] = {}
    fields: list[Field] = []
    for column in node.returns:
        taken = first.setdefault(column.name.text.lower(), column)
        if taken is not column:
            diagnostics.add(_twice(column, taken))
        fields.append(Field(column.name.text, t.from_node(column.type, diagnostics)))
    if not fields:
        diagnostics.add(
            Diagnostic(
                codes.NO_OUTPUT,
                f"`{node.name}` returns no columns",
                Label(node.name.span),
                help="declare what EMIT outputs: `RETURNS (id STRING, at TIMESTAMP)`",
            )
        )
    return Schema(tuple(fields))


def _late_rows(node: st.CreateOperator, inputs: tuple[ProgramInput, ...]) -> list[Diagnostic]:
    if node.late_rows is None or node.late_rows.stream is None:
        return []
    if node.inputs[0].order_by is None:
        return [
            Diagnostic(
                codes.LATE_ROWS_FORM,
                (
                    f"no row can be late for `{node.name}`: it processes each in the epoch in "
                    "which it arrives"
                ),
                Label(node.late_rows.span),
                help="write ORDER BY after the keys of each input, or remove ON LATE ROWS",
            )
        ]
    shapes = {tuple((f.name.lower(), f.type) for f in given.schema) for given in inputs}
    if len(shapes) == 1:
        return []
    return [
        Diagnostic(
            codes.LATE_ROWS_FORM,
            "late rows of several inputs would go to one stream, but their columns differ",
            Label(node.late_rows.span),
            secondary=tuple(Label(given.span) for given in node.inputs),
            help="select the same columns of each in an earlier stream, or remove ON LATE ROWS",
        )
    ]


def _twice(column: st.Parameter, first: st.Parameter) -> Diagnostic:
    return Diagnostic(
        codes.DUPLICATE_COLUMN,
        f"two columns of RETURNS are called `{column.name}`",
        Label(column.span),
        secondary=(Label(first.span, "the first"),),
        help="give one of them another name: names are case-insensitive",
    )
