"""Broken specs: mistakes by name, all of them in one run, and never an exception."""

from __future__ import annotations

import random

import pytest
from streamc.dsl.parsing.parse import Parsed, parse, parse_expression
from streamc.dsl.reports import codes
from streamc.dsl.reports.diagnostics import Diagnostic
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile
from syntax_corpus import EXPRESSIONS, SPEC

STREAM = "CREATE STREAM s AS {};"
IN_QUERY = "SELECT a FROM t {}"


def parsed(text: str) -> Parsed:
    return parse(SourceFile("x.stream", text))


def told(text: str) -> list[Diagnostic]:
    return list(parsed(text).diagnostics)


def only(text: str) -> tuple[str, str, str]:
    """Return code, message and the marked text of the only diagnostic."""
    (one,) = told(text)
    return one.code.slug, one.message, text[one.primary.span.start : one.primary.span.end]


# Mistakes by name: the whole rendering of each is in ``errors/``.


@pytest.mark.parametrize(
    ("query", "slug", "marked"),
    [
        ("SELECT a, b c d FROM t", "missing-comma", "d"),
        ("SELECT a, FROM t", "trailing-comma", ","),
        ("SELECT f(a, ) FROM t", "trailing-comma", ","),
        ("SELECT from, b FROM t", "keyword-as-name", "from"),
        ("SELECT a AS group FROM t", "keyword-as-name", "group"),
        ("SELECT 'a FROM t", "unclosed", "'a FROM t;"),
        ("SELECT `a FROM t", "unclosed", "`a FROM t;"),
        ("SELECT f(a FROM t", "unclosed-bracket", "FROM"),
        ("SELECT a FROM (SELECT b FROM t", "unclosed-bracket", ";"),
        ("SELECT a # b FROM t", "unreadable", "#"),
        ("SELECT 1a FROM t", "unreadable", "1a"),
        ("SELECT a", "missing-from", ";"),
        ("SELECT a WHERE b", "missing-from", "WHERE"),
        ("SELECT a FROM t, u", "comma-join", ","),
        ("SELECT a FROM t LIMIT 1", "batch-clause", "LIMIT"),
        ("SELECT a FROM t WHERE b ORDER BY a", "batch-clause", "ORDER"),
        ("SELECT a FROM t GROUP BY b ORDER BY a", "batch-clause", "ORDER"),
        ("SELECT a FROM t UNION SELECT b FROM u", "batch-clause", "UNION"),
        ("SELECT a FROM t EXCEPT SELECT b FROM u", "batch-clause", "EXCEPT"),
        ("SELECT a FROM t INTERSECT SELECT b FROM u", "batch-clause", "INTERSECT"),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM u)", "subquery", "SELECT"),
        ("SELECT a FROM t WHERE EXISTS (SELECT b FROM u)", "subquery", "SELECT"),
        ("SELECT a FROM t GROUP BY HOP(ts, b)", "window-in-group-by", "HOP(ts, b)"),
        ("SELECT a FROM t GROUP BY window(ts, b)", "window-in-group-by", "window(ts, b)"),
        ("SELECT a FROM HOP(TABLE t, ts, b)", "window-words", "TABLE"),
        ("SELECT a FROM HOP(t, DESCRIPTOR(ts), b)", "window-words", "DESCRIPTOR(ts)"),
        ("SELECT a FROM TUMBLE(t, ts, INTERVAL 5)", "interval", "5"),
        ("SELECT a FROM TUMBLE(t, ts, INTERVAL '5')", "interval", "INTERVAL '5'"),
        ("SELECT a FROM TUMBLE(t, ts, INTERVAL 5 EONS)", "interval", "EONS"),
        ("SELECT a FROM t EMIT EARLY EVERY 5 SECONDS", "interval", "5"),
        ("SELECT a FROM t EMIT FINAL", "emit-words", "FINAL"),
        ("SELECT a FROM t PARTITION BY a", "partition-by", "PARTITION"),
        ("SELECT a FROM t AS x PARTITION BY a", "partition-by", "PARTITION"),
        ("SELECT a INTO u FROM t", "select-into", "INTO"),
        ("SELECT a AS b INTO u FROM t", "select-into", "INTO"),
        ("SELECT a FROM t WINDOW HOPPING (SIZE 1 HOUR)", "window-clause", "WINDOW"),
        ("SELECT a FROM t JOIN u WITHIN 1 HOUR ON b", "join-within", "WITHIN"),
        ("SELECT a FROM t NATURAL JOIN u", "join-words", "NATURAL"),
        ("SELECT a FROM t LEFT ANTI JOIN u ON b", "join-words", "ANTI"),
        ("SELECT a FROM t ASOF JOIN u ON b", "join-words", "ASOF"),
        ("SELECT a FROM t, UNNEST(b) AS u", "table-function", "UNNEST"),
        ("SELECT a FROM range(10)", "table-function", "range"),
        ("SELECT a FROM t LEFT JOIN LATERAL TABLE(f(b)) AS u ON TRUE", "table-function", "LATERAL"),
        ("SELECT a FROM db.t", "not-a-name", "db"),
        ("SELECT a FROM t WATERMARK ts DELAY OF INTERVAL 1 HOUR", "watermark-place", "WATERMARK"),
        ("SELECT MAP['a', 1] FROM t", "foreign-expression", "MAP"),
        ("SELECT FLOOR(ts TO DAY) FROM t", "foreign-expression", "TO"),
        ("SELECT a->b FROM t", "foreign-expression", "->"),
        ("SELECT a FROM t GROUP BY GROUPING SETS ((a), (b))", "group-by-form", "GROUPING"),
        ("SELECT a FROM STREAM(t)", "table-function", "STREAM"),
        ("WITH x (y) AS (SELECT a FROM t) SELECT y FROM x", "not-a-name", "("),
        ("SELECT y FROM (SELECT a FROM t) AS x (y)", "not-a-name", "("),
        ("SELECT a AS 'b' FROM t", "not-a-name", "'b'"),
        ("SELECT t.a.* FROM t", "not-a-name", "t.a.*"),
        ("SELECT a FORM t", "syntax", "FORM"),
        ("SELCT a FROM t", "syntax", "SELCT"),
        ("SELECT sum(a) OVER PARTITION BY b FROM t", "syntax", "PARTITION"),
        ("SELECT a FROM t JOIN u", "syntax", ";"),
        ("SELECT a FROM t WHERE", "syntax", ";"),
    ],
)
def test_mistakes_in_queries(query: str, slug: str, marked: str) -> None:
    found, message, text = only(STREAM.format(query))
    assert (found, text) == (slug, marked), message


@pytest.mark.parametrize(
    ("text", "slug", "marked"),
    [
        ("CREATE SINK s FROM t WITH (a == 'b');", "assignment", "=="),
        ("CREATE SOURCE s (a INT b INT) WITH (a = 'b');", "missing-comma", "b"),
        (
            "CREATE SOURCE s (a INT, WATERMARK a DELAY 5) WITH (a = 'b');",
            "watermark-words",
            "WATERMARK",
        ),
        (
            "CREATE SOURCE s (a INT, WATERMARK FOR a LAG) WITH (a = 'b');",
            "watermark-words",
            "WATERMARK",
        ),
        (
            "CREATE SOURCE s (a INT) WATERMARK FOR a AS a WITH (a = 'b');",
            "watermark-place",
            "WATERMARK",
        ),
        ("CREATE TABLE s (a INT, WATERMARK FOR a AS a);", "watermark-place", "WATERMARK"),
        ("CREATE SOURCE s (a INT KEY) WITH (a = 'b');", "primary-key", "KEY"),
        ("CREATE TABLE s (a INT, PRIMARY KEY (a)) WITH (a = 'b');", "primary-key", "PRIMARY"),
        ("CREATE SOURCE s (a CHARACTER VARYING) WITH (a = 'b');", "foreign-type", "CHARACTER"),
        ("CREATE SOURCE s (a MULTISET<INT>) WITH (a = 'b');", "foreign-type", "MULTISET"),
        ("CREATE SOURCE s (a ROW(b INT)) WITH (a = 'b');", "foreign-type", "ROW"),
        (
            "CREATE SOURCE s (a TIMESTAMP WITHOUT TIME ZONE) WITH (a = 'b');",
            "foreign-type",
            "WITHOUT",
        ),
        ("CREATE SOURCE s (a INT UNIQUE) WITH (a = 'b');", "column-words", "UNIQUE"),
        (
            "CREATE SOURCE s (a INT METADATA FROM 'b' VIRTUAL) WITH (a = 'b');",
            "column-words",
            "VIRTUAL",
        ),
        ("CREATE SINK s FROM t WITH ('a' = 'b');", "option-form", "'a'"),
        ("CREATE SINK s FROM t WITH (a: 'b');", "option-form", ":"),
        ("CREATE SINK s INTO t FROM u;", "statement-words", "INTO"),
        (
            "CREATE TABLE s (a INT) PARTITIONED BY (a) WITH (a = 'b');",
            "statement-words",
            "PARTITIONED",
        ),
        ("CREATE STREAM s SELECT a FROM t;", "syntax", "SELECT"),
        ("CREATE STREAM s AS (SELECT a FROM t);", "syntax", "("),
        ("CREATE STREAMING TABLE v AS SELECT a FROM t;", "unknown-statement", "STREAMING"),
        ("CREATE OR REFRESH LIVE TABLE v AS SELECT a FROM t;", "unknown-statement", "OR"),
        ("CREATE VIEW v AS SELECT a FROM t;", "unknown-statement", "VIEW"),
        ("CREATE TABLE v AS SELECT a FROM t;", "unknown-statement", "AS"),
        ("CREATE STREAM v (a INT) WITH (a = 'b');", "unknown-statement", "("),
        ("INSERT INTO a SELECT b FROM t;", "unknown-statement", "INSERT"),
        ("SELECT a FROM t;", "unknown-statement", "SELECT"),
        ("CREAT STREAM a AS SELECT b FROM t;", "unknown-statement", "CREAT"),
        ("CREATE STREM a AS SELECT b FROM t;", "unknown-statement", "STREM"),
        ("CREATE STREAM a AS SELECT b FROM t", "missing-semicolon", "t"),
        ("CREATE STREAM a AS SELECT b /* FROM t;", "unclosed", "/* FROM t;"),
        ("---\na: 1\n", "unclosed", "---"),
        ("CHECKPOINT EVERY 30 SECONDS;", "interval", "30"),
        ("CREATE OPERATOR o ON t + 1 RETURNS (a INT) AS ON EVENT END;", "not-a-name", "t + 1"),
        ("CREATE OPERATOR o ON t RETURNS (a INT) AS ON EVENT SET x == 1; END;", "assignment", "=="),
        (
            "CREATE OPERATOR o ON t RETURNS () AS ON EVENT PUT f(a)[1] = 2; END;",
            "not-a-name",
            "f(a)",
        ),
        *[
            (f"CREATE OPERATOR o ON t RETURNS (a INT) AS ON EVENT {body} END;", slug, marked)
            for body, slug, marked in [
                ("SET x = y EMIT x;", "missing-semicolon", "y"),
                ("CLEAR x", "missing-semicolon", "x"),
                ("IF a THEN EMIT 1 ELSE EMIT 2; END IF;", "missing-semicolon", "1"),
                ("SET x := 1;", "assignment", ":"),
                ("SET x += 1;", "assignment", "+"),
                ("x = 1;", "syntax", "x"),
                ("SET y = 1; x = 1;", "syntax", "x"),
                ("WHILE a DO EMIT 1;", "syntax", "END"),
                ("IF a THEN EMIT 1; ELSE IF b THEN EMIT 2; END IF;", "syntax", "END"),
            ]
        ],
    ],
)
def test_mistakes_in_statements(text: str, slug: str, marked: str) -> None:
    found, message, at = only(text)
    assert (found, at) == (slug, marked), message


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("SELECT FROM t", "expected an expression or `DISTINCT`"),
        ("SELECT a FROM t WHERE x = = 3", "expected an expression"),
        ("SELECT a FROM t WHERE x BETWEEN 1, 2", "expected `AND`"),
        ("SELECT a FROM t JOIN u", "expected `ON` or `USING`"),
        ("SELECT a FROM t GROUP a", "expected `BY`"),
        ("SELECT OVERLAY(a PLACING b) FROM t", "expected `FROM`"),
        ("SELECT CASE WHEN a THEN b FROM t", "expected `ELSE`, `END` or `WHEN`"),
    ],
)
def test_other_mistakes_say_what_was_expected(query: str, label: str) -> None:
    (one,) = told(STREAM.format(query))
    assert (one.code, one.primary.text) == (codes.SYNTAX, label)


def test_outer_is_taken() -> None:
    assert told(STREAM.format(IN_QUERY.format("LEFT OUTER JOIN u ON a = b"))) == []


# All mistakes of a file, and the statements without one.


def test_every_broken_statement_is_reported_and_the_others_are_there() -> None:
    result = parsed(
        """
        CREATE STREAM a AS SELECT x, FROM t;
        CREATE SINK b FROM a WITH (c = 'd');
        CREATE STREAM e AS SELECT x FROM t WHERE (y = 1;
        CREATE OPERATOR f ON t RETURNS (a INT) AS
        ON EVENT
          SET a == 1;
          SET b = 2;
        END;
        CREATE SOURCE g (a INT) ON MALFORMED ROWS SEND TO h WITH (i 'j');
        CREATE STREAM k AS SELECT x FROM t
        CREATE SINK l FROM k WITH (c = 'd');
        CHECKPOINT EVERY INTERVAL 5;
        """
    )
    assert [d.code.slug for d in result.diagnostics] == [
        "trailing-comma",
        "unclosed-bracket",
        "assignment",
        "syntax",
        "missing-semicolon",
        "interval",
    ]
    assert result.spec is not None
    names = [str(getattr(statement, "name", "")) for statement in result.spec.statements]
    assert names == ["b", "k", "l"]
    assert [str(name) for name in result.spec.broken] == ["a", "e", "f", "g", "h"]


def test_a_quote_that_is_missing_breaks_one_statement_only() -> None:
    result = parsed(
        "CREATE STREAM a AS SELECT 'x FROM t;\nCREATE SINK b FROM a WITH (c = 'd', e = 'f');\n"
    )
    assert [d.code.slug for d in result.diagnostics] == ["unclosed"]
    assert result.spec is not None
    assert len(result.spec.statements) == 1


def test_a_string_may_go_over_the_end_of_a_line() -> None:
    assert told("CREATE SINK b FROM a WITH (c = 'd\ne');") == []


def test_a_statement_is_reported_once() -> None:
    assert len(told("CREATE STREAM a AS SELECT , , ) ( FROM WHERE 'x' 5 ];")) == 1


# Never an exception.

PIECES = [
    *r"""; , ( ) [ ] { } . : :: ' " ` -- /* */ = == - + * <= >> >>> 5 1.5 1a SELECT FROM CREATE AS
    STREAM END INTERVAL DAY NULL x 'x' '' `x` WITH ON EVENT # \ é""".split(),
    "\n",
    "\0",
    "\u00a0",
]


def test_mutilated_specs_give_diagnostics() -> None:
    chance = random.Random(3)
    statements = SPEC.split(";\n")
    for _ in range(300):
        text = ";\n".join(chance.sample(statements, 4)) + ";\n"
        for _ in range(chance.randint(1, 3)):
            text = mutilated(text, chance)
        diagnostics = parsed(text).diagnostics
        for one in diagnostics:
            assert 0 <= one.primary.span.start <= one.primary.span.end <= len(text)
            assert one.message
        render([diagnostics])


def test_mutilated_expressions_give_diagnostics() -> None:
    chance = random.Random(4)
    for text in EXPRESSIONS * 3:
        broken = mutilated(text, chance)
        tree, diagnostics = parse_expression(SourceFile("x", broken))
        assert (tree is None) == (len(diagnostics) > 0), broken
        render([diagnostics])


def mutilated(text: str, chance: random.Random) -> str:
    at, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
    end = min(end, at + chance.randint(0, 12))
    return text[:at] + chance.choice(["", f" {chance.choice(PIECES)} "]) + text[end:]
