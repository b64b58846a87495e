"""Nodes to text and back."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from spec_strategies import expressions, statements
from streamc.dsl.ast.expressions import Expression
from streamc.dsl.ast.statements import Spec, Statement
from streamc.dsl.format import format_spec, sql
from streamc.dsl.parse import parse, parse_expression
from streamc.dsl.source import SourceFile, Span

often = settings(
    max_examples=int(__import__("os").environ.get("N", "80")),
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


def expression(text: str) -> Expression:
    parsed, diagnostics = parse_expression(SourceFile("x", text))
    assert parsed is not None, [d.message for d in diagnostics]
    return parsed


@given(expressions)
@often
def test_an_expression_reads_back_as_it_was(tree: Expression) -> None:
    text = sql(tree)
    assert expression(text) == tree, text


@given(statements)
@often
def test_a_statement_reads_back_as_it_was(statement: Statement) -> None:
    spec = Spec(Span(0, 0), None, (statement,))
    text = format_spec(spec)
    parsed = parse(SourceFile("x", text))
    assert [d.message for d in parsed.diagnostics] == [], text
    assert parsed.spec == spec, text
