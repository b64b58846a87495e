"""Nodes to text and back."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from spec_strategies import expressions, statements
from streamc.dsl.ast.expressions import Expression
from streamc.dsl.ast.statements import Spec, Statement
from streamc.dsl.format import format_spec, identifier, sql, string
from streamc.dsl.parse import parse, parse_expression
from streamc.dsl.source import SourceFile, Span
from syntax_corpus import EXPRESSIONS, SPEC

# Trees are large: what fails is told as text, and need not be made small by the thousand.
often = settings(
    max_examples=60,
    deadline=None,
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


def spec(text: str) -> Spec:
    parsed = parse(SourceFile("x", text))
    assert [d.message for d in parsed.diagnostics] == [], text
    assert parsed.spec is not None
    return parsed.spec


@given(expressions)
@often
def test_an_expression_reads_back_as_it_was(tree: Expression) -> None:
    text = sql(tree)
    assert expression(text) == tree, text


@given(statements)
@often
def test_a_statement_reads_back_as_it_was(statement: Statement) -> None:
    tree = Spec(Span(0, 0), None, (statement,))
    text = format_spec(tree)
    assert spec(text) == tree, text


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_every_form_of_expression_reads_back_as_it_was(text: str) -> None:
    tree = expression(text)
    assert expression(sql(tree)) == tree
    assert "\n" not in sql(tree)


def test_every_form_of_statement_reads_back_as_it_was() -> None:
    tree = spec(SPEC)
    text = format_spec(tree)
    assert spec(text) == tree
    assert format_spec(spec(text)) == text


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


LAID_OUT = """\
---
pipeline: card_fraud # why
---

CHECKPOINT EVERY INTERVAL 30 SECONDS RETAIN 5 TIMEOUT INTERVAL 2 MINUTES;

CREATE SOURCE payments (
  payment_id STRING NOT NULL,
  amount     DECIMAL(12, 2),
  cents AS CAST(amount * 100 AS BIGINT),
  paid_at    TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 30 SECONDS
) ON MALFORMED ROWS SEND TO rejected
WITH (connector = 'files', path = '${input}', format = 'json');

CREATE STREAM per_minute AS
  SELECT card_id, window_start, SUM(amount) AS total, COUNT(*) AS payments
  FROM TUMBLE(payments, paid_at, INTERVAL 1 MINUTE)
  WHERE amount > 0
  GROUP BY card_id, window_start;

CREATE STREAM late AS
  WITH big AS (
    SELECT *
    FROM payments
    WHERE amount > 1000
  )
  SELECT a.card_id, b.total
  FROM big AS a
    JOIN per_minute AS b
      ON a.card_id = b.card_id
        AND a.paid_at BETWEEN b.window_start AND b.window_start + INTERVAL 1 MINUTE
        AND (a.amount > 1 OR a.country IN ('NO', 'SE'));

CREATE SINK spend FROM per_minute WITH (connector = 'files', path = 'out/spend', format = 'csv');
CREATE SINK dead FROM rejected WITH (
  connector = 'files',
  path = 'out/a/folder/with/a/long/name/so/that/it/breaks',
  format = 'json'
);
"""


def test_a_spec_is_laid_out_as_in_the_reference() -> None:
    assert format_spec(spec(LAID_OUT)) == LAID_OUT
    crowded = " ".join(LAID_OUT.split("---\n")[2].split())
    assert format_spec(spec(crowded)) == LAID_OUT.split("---\n\n")[1]
