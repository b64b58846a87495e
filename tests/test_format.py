"""Nodes to text and back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from spec_strategies import expressions
from streamc.dsl.ast.expressions import Expression
from streamc.dsl.format import identifier, sql, string
from streamc.dsl.parsing.parse import parse_expression
from streamc.dsl.reports.source import SourceFile
from syntax_corpus import EXPRESSIONS

# Trees are large: a failure is shown as text, and need not be minimized over thousands of steps.
often = settings(
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


def expression(text: str) -> Expression:
    tree, diagnostics = parse_expression(SourceFile("x", text))
    assert tree is not None, [d.message for d in diagnostics]
    return tree


@given(expressions)
@often
def test_an_expression_reads_back_as_it_was(tree: Expression) -> None:
    text = sql(tree)
    assert expression(text) == tree, text


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_form_of_expression_reads_back_as_it_was(text: str) -> None:
    tree = expression(text)
    assert expression(sql(tree)) == tree
    assert "\n" not in sql(tree)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("(a+b)*c", "(a + b) * c"),
        ("((a)) + (b * c)", "a + b * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("NOT (a = b)", "NOT a = b"),
        ("a != b", "a <> b"),
        ("a == b", "a = b"),
        ("a regexp 'x'", "a RLIKE 'x'"),
        ("a::decimal(5,2)", "CAST(a AS DECIMAL(5, 2))"),
        ("SUM(x) filter (where x>1)", "sum(x) FILTER (WHERE x > 1)"),
        ("interval '30' second", "INTERVAL 30 SECONDS"),
        ("interval 1 hours 30 minute", "INTERVAL 1 HOUR 30 MINUTES"),
        ("interval '1.5' second", "INTERVAL '1.5' SECOND"),
        ("sum(x) over (rows 3 preceding)", None),
        ("`a`.`b c`", "a.`b c`"),
        ("`select`", "`select`"),
        ("- -a", "-(-a)"),
        ("-(1)", "-(1)"),
        ("(a).b", "(a).b"),
        ("a | limit + 1", "a | (limit + 1)"),
        ("a | b", "a | b"),
        ("array(1)[0] >> a", "`array`(1)[0] >> a"),
        ("Array(1)[0] + `map`", "array(1)[0] + `map`"),
        ("'it''s'", r"'it\'s'"),
        ("x'1f'", "X'1f'"),
        ("extract(day from ts)", "EXTRACT(DAY FROM ts)"),
    ],
)
def test_canonical_text(text: str, canonical: str | None) -> None:
    rows = "sum(x) OVER (ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)"
    assert sql(expression(text)) == (canonical or rows)


def test_identifiers_and_strings() -> None:
    assert [identifier(name) for name in ("a_1", "Key", "a b", "from", "a`b", "1a", "")] == [
        "a_1",
        "Key",
        "`a b`",
        "`from`",
        "`a``b`",
        "`1a`",
        "``",
    ]
    assert string("a'b\\\n\x1a%") == r"'a\'b\\\n\Z%'"
