"""Reformatted specs: nothing lost, nothing changed, and formatting is idempotent."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from grammar_texts import derivations
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from lark.grammar import NonTerminal
from streamc import grammar
from streamc.dsl.actions import actions
from streamc.dsl.ast.statements import Spec
from streamc.dsl.layout import format_source
from streamc.dsl.layout.comments import COMMENT
from streamc.dsl.parsing import parse as parsing
from streamc.dsl.parsing.parse import parse, statements_begin
from streamc.dsl.reports.source import SourceFile, Span
from streamc.dsl.syntax.lalr import Parser
from streamc.dsl.syntax.tokens import Kinds, Tokens, tokenize
from syntax_corpus import SPEC

ROOT = Path(__file__).parent.parent
FOLDERS = ("specs", "tests/golden", "tests/run", "tests/changes", "tests/operators")
ALL_SPECS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.stream"))
SPECS = list({path.read_bytes(): path for path in reversed(ALL_SPECS)}.values())[::-1]
"""One path of each text: many edits begin with the same spec."""
often = settings(
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def formatted(text: str) -> str:
    made = format_source(SourceFile("x.stream", text)).text
    assert made is not None, text
    return made


def tree(text: str) -> Spec | None:
    parsed = parse(SourceFile("x.stream", text))
    return None if len(parsed.diagnostics) else parsed.spec


@cache
def kinds() -> Kinds:
    return Kinds(grammar.load())


def tokens_of(text: str) -> Tokens:
    source = SourceFile("x.stream", text)
    return tokenize(source, statements_begin(source), kinds())


def comments(text: str) -> list[str]:
    """Return the comments between the tokens of a spec, in order."""
    tokens = tokens_of(text)
    found: list[str] = []
    end = statements_begin(SourceFile("x.stream", text))
    for start, after in zip(tokens.starts, tokens.ends, strict=True):
        found += [match.rstrip() for match in COMMENT.findall(text[end:start])]
        end = after
    return found


def check(text: str) -> str:
    """Assert all that is promised of the layout of a spec; return it."""
    wanted = tree(text)
    assert wanted is not None, text
    out = formatted(text)
    assert tree(out) == wanted, out
    assert comments(out) == comments(text), out
    assert formatted(out) == out, f"{out}\n-----\n{formatted(out)}"
    assert not any(line != line.rstrip() for line in code_lines(out)), out
    return out


def code_lines(text: str) -> list[str]:
    """Return the lines of statements, none where tokens or comments go over several."""
    if "'two" in text or "/*" in text:
        return []
    return text[statements_begin(SourceFile("x.stream", text)) :].split("\n")


# Whatever the grammar has.


@pytest.mark.slow
def test_every_rule_of_the_grammar_is_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    used = recorded(monkeypatch)
    made = derivations()
    for rule in [rule for rules in made.rules.values() for rule in rules]:
        for seed in range(5_000):
            words = made.through(rule, random.Random(seed), seed % 6)
            if words is None or tree(text := f"{' '.join(words)};") is not None:
                break
        else:
            pytest.fail(f"no statement with {rule}")
        if words is not None:
            check(text)
    tables = grammar.load()
    numbers = {n for n, rule in enumerate(tables.rules) if rule}
    assert [tables.rules[n] for n in sorted(numbers - used)] == []


def recorded(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Return the set to which the parser adds the numbers of the rules that it uses."""
    tables = grammar.load()
    known = actions()
    used: set[int] = set()
    recorders: dict[str, Any] = {}
    rules: list[grammar.Rule | None] = [None]
    for number, rule in enumerate(tables.rules[1:], 1):
        assert rule is not None
        action = None if rule.action == "list" else known[rule.action] if rule.action else _only

        def record(span: Span, *a: Any, action: Any = action, number: int = number) -> Any:
            used.add(number)
            return list(a) if action is None else action(span, *a)

        recorders[str(number)] = record
        rules.append(replace(rule, action=str(number)))
    parser = Parser(replace(tables, rules=tuple(rules)), recorders)
    monkeypatch.setattr(parsing, "parser_and_kinds", lambda: (parser, Kinds(tables)))
    return used


def _only(_span: Span, value: Any) -> Any:
    return value


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return statements of the grammar with comments and line breaks between any two tokens."""
    dice = draw(st.randoms(use_true_random=True))
    depth = draw(st.integers(8, 18))
    often = draw(st.sampled_from([0.0, 0.03, 0.3]))
    statements = []
    for _ in range(draw(st.integers(1, 3))):
        symbol = NonTerminal("statement")
        words = derivations().derive(symbol, dice, depth)
        if tree(f"{' '.join(words)};") is not None and len(words) < 300:
            statements.append([*words, ";"])
    assume(statements)
    return "".join(scattered([word for one in statements for word in one], dice, often))


def scattered(words: list[str], dice: random.Random, often: float) -> list[str]:
    """Return words with spaces, line breaks and comments between them."""
    found: list[str] = []
    for number, word in enumerate(words):
        found.append(word)
        found.append(dice.choice([" ", " ", " ", "\n", "\n\n"]) if often else " ")
        while dice.random() < often:
            comment = dice.choice(["-- c{}\n", "-- c{}\n", "/* c{} */", "/* c\n{} */"])
            found.append(comment.format(f"{number}.{len(found)}"))
            found.append(dice.choice(["", " ", "\n", "\n\n"]))
    return found


@given(texts())
@often
def test_random_specs_keep_their_comments_and_their_meaning(text: str) -> None:
    assume(tree(text) is not None)
    check(text)


@pytest.mark.parametrize("seed", range(3))
def test_comments_survive_between_any_two_tokens(seed: int) -> None:
    tokens = tokens_of(SPEC)
    dice = random.Random(seed)
    words = [text for text in tokens.texts if text]
    text = "".join(scattered(words, dice, (0.02, 0.2, 0.6)[seed]))
    check(text)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_specs_of_the_project(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


# Layout, as in the language reference.

LAID_OUT = """\
---
pipeline: card_fraud # why
---

-- Two words about it.

CHECKPOINT EVERY INTERVAL 30 SECONDS RETAIN 5 TIMEOUT INTERVAL 2 MINUTES;

CREATE SOURCE payments (
  payment_id STRING NOT NULL,  -- unique
  amount     DECIMAL(12, 2),   -- in euros

  -- What is computed.
  cents      AS CAST(amount * 100 AS BIGINT),
  paid_at    TIMESTAMP,
  WATERMARK FOR paid_at AS paid_at - INTERVAL 30 SECONDS
  -- no more
) ON MALFORMED ROWS SEND TO rejected
WITH (connector = 'files', path = '${input}', format = 'json');

CREATE STREAM small AS SELECT * FROM payments WHERE amount < 10;

CREATE STREAM per_minute AS
  SELECT card_id, window_start, SUM(amount) AS total, COUNT(*) AS payments
  FROM TUMBLE(payments, paid_at, INTERVAL 1 MINUTE)
  -- The large ones.
  WHERE amount > 0
  GROUP BY card_id, window_start;

CREATE STREAM late AS
  WITH
    big AS (
      SELECT *
      FROM payments
      WHERE amount > 1000
    ),
    rest AS (SELECT card_id FROM payments)
  SELECT
    a.card_id,
    b.total /* in cents */ * 100 AS total,
    CASE
      WHEN a.amount > 100 THEN 'large'
      ELSE 'small'
    END AS size,
    ROW_NUMBER() OVER (
      PARTITION BY a.card_id, b.window_start
      ORDER BY a.amount DESC, a.payment_id, b.window_start
    ) AS place
  FROM big AS a
  JOIN per_minute AS b
    ON a.card_id = b.card_id
    AND a.paid_at BETWEEN b.window_start AND b.window_start + INTERVAL 1 MINUTE
    AND (a.amount > 1 OR a.country IN ('NO', 'SE'));

CREATE SINK spend FROM per_minute WITH (connector = 'files', path = 'out/spend', format = 'csv');
CREATE SINK dead FROM rejected
  WITH (connector = 'files', path = 'out/a/folder/with/a/long/name', format = 'json');
CREATE SINK deader FROM rejected WITH (
  connector = 'files',
  path = 'out/a/folder/with/a/long/name/so/that/it/breaks/over/and/over',
  format = 'json'
);
-- The end.
"""


def test_a_spec_is_laid_out_as_in_the_reference() -> None:
    assert check(LAID_OUT) == LAID_OUT


CASES = {
    "keywords and types in capitals, names as they are": (
        "create source Ab (x struct<Y: int,z array<string>>) with (Format='json', a.B=true);",
        "CREATE SOURCE Ab (x STRUCT<Y: INT, z ARRAY<STRING>>) WITH (Format = 'json', a.B = TRUE);",
    ),
    "an alias has AS": (
        "create stream s as select a b from t c join (select d from u) e using (d);",
        "CREATE STREAM s AS SELECT a AS b FROM t AS c JOIN (SELECT d FROM u) AS e USING (d);",
    ),
    "operators have spaces, signs and dots have none": (
        "create stream s as select a+-b*- -1, -(c), f (x)[0] . y, v : a.b[0], d :: int from t;",
        "CREATE STREAM s AS SELECT a + -b * - -1, -(c), f(x)[0].y, v:a.b[0], d::INT FROM t;",
    ),
    "commas before items": (
        "create stream s as select a -- one\n , b -- two\n -- about c\n , c from t;",
        "CREATE STREAM s AS\n  SELECT\n    a,  -- one\n    b,  -- two\n    -- about c\n    c\n"
        "  FROM t;",
    ),
    "comments inside a line": (
        "create stream s as select /* a */ f(/* b */ x /* c */, y) from t /* d */;",
        "CREATE STREAM s AS SELECT /* a */ f(/* b */ x /* c */, y) FROM t /* d */;",
    ),
    "a comment before a semicolon": (
        "create sink s from t with (a='b') -- why\n;\ncreate sink u from t with (a='b')\n-- off\n;",
        "CREATE SINK s FROM t WITH (a = 'b');  -- why\n"
        "CREATE SINK u FROM t WITH (a = 'b')\n  -- off\n;",
    ),
    "semicolons too many": (
        ";; -- one\ncreate sink s from t with (a = 'b');; -- two\n;",
        "-- one\nCREATE SINK s FROM t WITH (a = 'b');\n-- two",
    ),
    "a comment that looks like front matter": (
        ";\n---\ncreate sink s from t with (a = 'b');",
        ";\n---\nCREATE SINK s FROM t WITH (a = 'b');",
    ),
    "comments only": ("\n\n-- one\n\n\n-- two\n\n", "-- one\n\n-- two"),
    "nothing": ("\n\n", ""),
    "blocks": (
        "create operator o on a order by ts returns (x int) as on event if a then emit 1; end if;\n"
        "while a do\nclear x; -- all\n-- done\nend while; end;",
        "CREATE OPERATOR o ON a ORDER BY ts\n  RETURNS (x INT)\nAS\nON EVENT\n"
        "  IF a THEN EMIT 1; END IF;\n  WHILE a DO\n    CLEAR x;  -- all\n    -- done\n"
        "  END WHILE;\nEND;",
    ),
    "an operator with options": (
        f"create operator o with (unbounded = '{'why ' * 15}') on a partition by k, b partition by"
        " k returns (x int) as on event emit 1; end;",
        f"CREATE OPERATOR o WITH (unbounded = '{'why ' * 15}')\n"
        "  ON a PARTITION BY k, b PARTITION BY k\n  RETURNS (x INT)\nAS\nON EVENT\n  EMIT 1;\nEND;",
    ),
    "inputs on lines of their own": (
        "create operator o on a as x partition by k, l order by ts,\nb as y partition by m, n"
        " order by ts returns (x int) as on event emit 1; end;",
        "CREATE OPERATOR o ON a AS x PARTITION BY k, l ORDER BY ts,\n"
        "  b AS y PARTITION BY m, n ORDER BY ts\n  RETURNS (x INT)\nAS\nON EVENT\n  EMIT 1;\nEND;",
    ),
    "a long line of arguments": (
        f"create stream s as select f({', '.join(f'argument_{n}' for n in range(9))}, 'x') as y"
        " from t;",
        "CREATE STREAM s AS\n  SELECT\n    f(\n"
        + "".join(f"      argument_{n},\n" for n in range(9))
        + "      'x'\n    ) AS y\n  FROM t;",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_layout(name: str) -> None:
    text, laid_out = CASES[name]
    assert check(text) == (laid_out and f"{laid_out}\n")


def test_front_matter_stays_as_it_is() -> None:
    head = "---\npipeline:   x   # why\nvariables: {a:  b}  \n---   \n"
    rest = "CREATE SINK s FROM t WITH (a = 'b');\n"
    assert check(f"\n{head}\n\n\n{rest}") == f"{head}\n{rest}"
    assert check(head) == head
    assert check(head.rstrip()) == f"{head.rstrip()}\n"


def test_an_expression_of_any_depth_is_laid_out_or_refused() -> None:
    flat = formatted(f"create stream s as select {' + '.join('a' * 700)} as x from t;")
    assert max(map(len, flat.split("\n"))) <= 100
    deep = f"create stream s as select {'(' * 5000}a{')' * 5000} as x from t;"
    made = format_source(SourceFile("x.stream", deep))
    assert made.text is None
    assert [one.code.number for one in made.diagnostics] == ["SC0121"]


@pytest.mark.parametrize("path", sorted((ROOT / "specs").rglob("*.stream")), ids=lambda p: p.stem)
def test_the_examples_are_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text, "`streamc fmt specs` does it"
