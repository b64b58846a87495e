"""The parser: the whole grammar, words that are names or keywords, spans, what a file becomes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamc import grammar
from streamc.dsl.actions import actions
from streamc.dsl.ast import expressions as e
from streamc.dsl.ast import queries as q
from streamc.dsl.ast import statements as s
from streamc.dsl.ast.walk import children, walk
from streamc.dsl.format import sql
from streamc.dsl.parsing import parse as parsing
from streamc.dsl.parsing.parse import parse, parse_expression
from streamc.dsl.reports.source import SourceFile, Span
from streamc.dsl.syntax.lalr import Action, Parser
from streamc.dsl.syntax.tokens import Kinds
from syntax_corpus import EXPRESSIONS, SPEC

ROOT = Path(__file__).parent.parent


def spec(text: str) -> s.Spec:
    parsed = parse(SourceFile("x.stream", text))
    assert [d.message for d in parsed.diagnostics] == []
    assert parsed.spec is not None
    return parsed.spec


def expression(text: str) -> e.Expression:
    tree, diagnostics = parse_expression(SourceFile("x", text))
    assert tree is not None, [d.message for d in diagnostics]
    return tree


def select(text: str) -> q.Select:
    statement = spec(f"CREATE STREAM x AS {text};").statements[0]
    assert isinstance(statement, s.CreateStream)
    return statement.query.branches[0]


# The grammar.


def test_every_rule_of_the_grammar_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = grammar.load()
    used: set[int] = set()
    known = actions()
    recorders: dict[str, Action] = {}
    rules: list[grammar.Rule | None] = [None]
    for number, rule in enumerate(tables.rules):
        if rule is None or rule.action == "list":
            rules.extend([rule] if rule else [])
            continue
        action = known[rule.action] if rule.action else _only

        def record(span: Span, *a: Any, action: Action = action, number: int = number) -> Any:
            used.add(number)
            return action(span, *a)

        recorders[str(number)] = record
        rules.append(replace(rule, action=str(number)))
    parser = Parser(replace(tables, rules=tuple(rules)), recorders)
    monkeypatch.setattr(parsing, "parser_and_kinds", lambda: (parser, Kinds(tables)))
    spec(SPEC)
    for text in EXPRESSIONS:
        expression(text)
    numbers = {n for n, rule in enumerate(tables.rules) if rule and rule.action != "list"}
    assert [tables.rules[number] for number in sorted(numbers - used)] == []


def _only(_span: Span, value: Any) -> Any:
    return value


def test_every_action_belongs_to_a_rule() -> None:
    rules = {rule.action for rule in grammar.load().rules if rule}
    assert actions().keys() == rules - {None, "list"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param("0", marks=pytest.mark.long), "7"])
def test_the_tables_are_those_of_the_grammar(seed: str) -> None:
    code = "from streamc.grammar import generate as g; print(g.build(g.grammar_text()), end='')"
    built = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    expected = (ROOT / "grammar" / "tables.json").read_text("utf-8")
    assert built == expected, "`make grammar` writes them"


def test_a_parse_needs_no_lark() -> None:
    code = "import sys, streamc.dsl.parsing.parse; assert 'lark' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


# Expressions: how tightly operators hold, as in Spark.


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a || b + c", "(a || b) + c"),
        ("a << b + c", "a << (b + c)"),
        ("a & b << c", "a & (b << c)"),
        ("a ^ b & c", "a ^ (b & c)"),
        ("a | b ^ c", "a | (b ^ c)"),
        ("a = b | c", "a = (b | c)"),
        ("a = b = c", "(a = b) = c"),
        ("a = b IS NULL", "(a = b) IS NULL"),
        ("NOT a = b AND c", "(NOT (a = b)) AND c"),
        ("NOT a IN (b)", "NOT (a IN (b))"),
        ("a OR b AND c", "a OR (b AND c)"),
        ("a BETWEEN b AND c AND d", "(a BETWEEN b AND c) AND d"),
        ("a BETWEEN b = c AND d", "a BETWEEN (b = c) AND d"),
        ("-a * b", "(-a) * b"),
        ("-a::INT", "-(a::INT)"),
        ("-a.b", "-(a.b)"),
        ("a LIKE b || c", "a LIKE (b || c)"),
        ("x -> x + 1", None),
    ],
)
def test_precedence(text: str, grouped: str | None) -> None:
    if grouped is None:
        assert isinstance(expression(f"f({text})"), e.Call)
    else:
        assert expression(text) == expression(grouped)


@pytest.mark.parametrize("text", ["a IS NULL IS NULL", "a = NOT b", "a IN (1) = b", "a BETWEEN 1"])
def test_what_spark_does_not_read_is_not_read(text: str) -> None:
    assert parse_expression(SourceFile("x", text))[0] is None


def test_a_minus_before_a_number_is_part_of_it_where_an_operand_begins() -> None:
    assert expression("-1::INT") == expression("CAST(-1 AS INT)")
    assert isinstance(expression("- 1"), e.NumberLiteral)
    assert isinstance(expression("a -1"), e.Binary)
    assert isinstance(expression("-(1)"), e.Unary)
    item = select("SELECT DISTINCT ON (a) WITHIN INTERVAL 5 MINUTES -1 AS b FROM t").items[0]
    assert isinstance(item.expression, e.NumberLiteral)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        (r"'\''''", "''"),
        (r"'a\tb\n\\'", "a\tb\n\\"),
        (r"'\u0041\101\x'", "AAx"),
        (r"'\uD83D\uDE00'", "\U0001f600"),
        (r"'50\% \_'", r"50\% \_"),
        (r"r'\d+\n'", r"\d+\n"),
        ("'a' \"b\"", "ab"),
        ('"say ""hi"""', 'say "hi"'),
        ("'two\nlines'", "two\nlines"),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert expression(text) == e.StringLiteral(Span(0, 0), value)


def test_intervals_of_several_forms_are_one() -> None:
    forms = [
        "INTERVAL 5 DAYS",
        "INTERVAL '5' DAY",
        "INTERVAL '5 days'",
        "interval 'INTERVAL 5 day'",
    ]
    assert {sql(expression(form)) for form in forms} == {"INTERVAL 5 DAYS"}
    negative = ["INTERVAL -5 DAYS", "INTERVAL - '5' DAY", "INTERVAL '-5' DAY", "INTERVAL - 5 DAY"]
    assert {sql(expression(form)) for form in negative} == {"INTERVAL '-5' DAY"}


# Words.

SOFT = """
key value event state date timestamp source timer window at interval end order limit offset
stream sink table first last rows range set list map array struct day hour over filter emit
current unbounded partition within watermark left right full cast extract session tumble div one
all skip x to time timeout match pattern index
""".split()


@pytest.mark.parametrize("word", SOFT)
def test_soft_keywords_are_names_of_columns(word: str) -> None:
    text = f"""
    CREATE SOURCE {word} ({word} STRING, a AS {word}, WATERMARK FOR {word} AS {word})
      WITH (a = 'b');
    CREATE STREAM s AS SELECT {word}, t.{word}, max({word}) AS {word}, {word} + 1 AS a
      FROM {word} AS {word} WHERE {word} = 1 GROUP BY {word}, t.{word};
    CREATE SINK {word} FROM {word} WITH ({word} = 'x', spark.{word} = 'y');
    """
    assert len(spec(text).statements) == 3


def test_every_word_is_a_name_after_a_dot_and_in_backticks() -> None:
    assert expression("a.select.from") == expression("`a`.`select`.`from`")


def test_a_keyword_that_can_continue_is_no_alias() -> None:
    assert select("SELECT a FROM t EMIT CHANGES").emit is not None
    assert select("SELECT a value FROM t").items[0].alias is not None
    relation = select("SELECT a FROM t key WHERE a").relation
    assert isinstance(relation, q.TableRef)
    assert str(relation.alias) == "key"


def test_a_typed_literal_needs_its_string() -> None:
    assert isinstance(expression("DATE '2026-01-01'"), e.TypedLiteral)
    assert isinstance(expression("date"), e.ColumnRef)
    assert isinstance(expression("date('2026-01-01')"), e.Call)


def test_generic_types_may_close_together() -> None:
    tree = expression("CAST(a AS MAP<INT, ARRAY<ARRAY<STRUCT<x INT>>>>)")
    assert sql(tree) == "CAST(a AS MAP<INT, ARRAY<ARRAY<STRUCT<x INT>>>>)"


# Spans.


def test_spans_cover_a_node_and_lie_inside_their_parent() -> None:
    tree = spec(SPEC)
    for node in walk(tree):
        assert 0 <= node.span.start <= node.span.end <= len(SPEC), node
        for child in children(node):
            assert node.span.start <= child.span.start, (node, child)
            assert child.span.end <= node.span.end, (node, child)


def test_the_text_of_a_span_is_the_node_again() -> None:
    for node in walk(spec(SPEC)):
        if isinstance(node, e.Expression) and not isinstance(
            node, (e.Star, e.Lambda, e.NamedArgument)
        ):
            text = SPEC[node.span.start : node.span.end]
            assert sql(expression(text)) == sql(node), text


def test_a_select_goes_from_its_keyword_to_its_last_token() -> None:
    text = "CREATE STREAM x AS\n  SELECT a FROM t -- why\n  WHERE b\n;"
    statement = spec(text).statements[0]
    assert isinstance(statement, s.CreateStream)
    block = statement.query.branches[0]
    assert text[block.span.start : block.span.end] == "SELECT a FROM t -- why\n  WHERE b"
    assert text[statement.span.start : statement.span.end] == text.removesuffix("\n;")


# Files.


def test_front_matter_is_kept_as_text() -> None:
    text = "---\na: 1\n---\nCREATE SINK x FROM y WITH (a = 'b');\n"
    tree = spec(text)
    assert tree.front_matter is not None
    assert tree.front_matter.text == "a: 1\n"
    assert text[tree.front_matter.span.start : tree.front_matter.span.end] == "a: 1\n"
    assert text[tree.statements[0].span.start :].startswith("CREATE SINK")


def test_front_matter_may_be_missing_or_empty() -> None:
    assert spec("").front_matter is None
    empty = spec("---\n---\n").front_matter
    assert empty is not None
    assert empty.text == ""


@pytest.mark.parametrize("text", ["", " \n", "-- nothing", "/* nothing */", ";;"])
def test_a_file_may_hold_nothing(text: str) -> None:
    assert spec(text).statements == ()


def test_keys_of_operators_are_distinguished_from_further_inputs() -> None:
    text = """
    CREATE OPERATOR o ON a PARTITION BY x, y ORDER BY t, b AS c PARTITION BY z RETURNS (r INT)
    AS ON EVENT a END;
    """
    statement = spec(text).statements[0]
    assert isinstance(statement, s.CreateOperator)
    first, second = statement.inputs
    assert [sql(key) for key in first.partition_by] == ["x", "y"]
    assert first.order_by is not None
    assert (str(second.stream), str(second.alias)) == ("b", "c")
