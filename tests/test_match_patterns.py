"""Patterns as automata, and what names become in the programs of patterns and temporal joins."""

from __future__ import annotations

import pytest
from compiled import compiled_text
from streamc.compiler.resolve.lowering.match_pattern import Automaton, Follow, automaton, size
from streamc.compiler.views.model_text import pipeline_text
from streamc.dsl.ast import queries as q
from streamc.dsl.ast.walk import walk
from streamc.dsl.parsing.parse import parse
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile

SPEC = """
CREATE SOURCE t (
  k STRING, n INT, run STRUCT<a INT>, runs INT, tags ARRAY<INT>, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = 't', format = 'json');
CREATE STREAM s AS SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY ts MEASURES {measures} {skip}
  PATTERN ({pattern}) WITHIN INTERVAL 1 HOUR DEFINE A AS {condition}
);
CREATE SINK out FROM s WITH (connector = 'memory');
"""


def spec(
    pattern: str = "A B", condition: str = "n > 1", measures: str = "n AS n", skip: str = ""
) -> str:
    return SPEC.format(pattern=pattern, condition=condition, measures=measures, skip=skip)


def found(pattern: str) -> Automaton:
    parsed = parse(SourceFile("t.stream", spec(pattern)))
    (node,) = (one for one in walk(parsed.spec) if isinstance(one, q.MatchRecognize))
    made = automaton(node.pattern)
    assert len(made.places) == size(node.pattern)
    return made


def shown(follow: Follow) -> str:
    return " ".join([*(p.name.replace(" ", "") for p in follow.places), *("$" * follow.ends)])


@pytest.mark.parametrize(
    ("pattern", "begin", "follow"),
    [
        ("A B C", "a", "b|c|$"),
        ("A B+ C", "a", "b|b c|$"),
        ("A B* C", "a", "b c|b c|$"),
        ("A B*? C", "a", "c b|c b|$"),
        ("A B? C", "a", "b c|c|$"),
        ("A | B C", "a b", "$|c|$"),
        ("A (B | C)+", "a", "b c|b c $|b c $"),
        ("A{2,4}", "a", "a2|a3 $|a4 $|$"),
        ("A{2,}", "a", "a2|a2 $"),
        ("A{,2} B", "a b", "a2 b|b|$"),
        ("A{1,2}? B", "a", "b a2|b|$"),
        ("(A B){2}", "a", "b|a2|b2|$"),
        ("A B*?", "a", "$|$"),
        ("A (B? C?)* A", "a", "b c a2|c b a2|b c a2|$"),
    ],
)
def test_what_follows(pattern: str, begin: str, follow: str) -> None:
    made = found(pattern)
    assert shown(made.begin) == begin
    assert "|".join(shown(made.follow[place.name]) for place in made.places) == follow


@pytest.mark.parametrize(
    ("pattern", "twice", "before"),
    [
        ("A B+ C", set(), [0, 1, 2]),
        ("A+ B+", {"b"}, [0, 1]),
        ("A (B | C) A", {"a 2"}, [0, 1, 1, 2]),
        ("A B{0,2} C", set(), [0, 1, 2, 1]),
    ],
)
def test_places_that_are_met_twice(pattern: str, twice: set[str], before: list[int]) -> None:
    made = found(pattern)
    assert made.met_twice() == twice
    assert [made.rows_before()[place.name] for place in made.places] == before


def lines(text: str) -> list[str]:
    result = compiled_text(text, "t.stream")
    assert result.model is not None and not len(result.diagnostics), render([result.diagnostics])
    return [line.strip() for line in pipeline_text(result.model).splitlines()]


def test_a_name_of_the_program_hides_no_column() -> None:
    (line,) = (
        x
        for x in lines(spec(condition="runs > run.a"))
        if x.startswith("if NOT decided AND run.at = '^'")
    )
    assert line == "if NOT decided AND run.at = '^' AND t.runs > t.run.a"


def test_a_lambda_hides_nothing_that_is_read_inside_of_it() -> None:
    text = spec("B A", condition="exists(tags, run -> run > B.n + A.runs)")
    (line,) = (x for x in lines(text) if x.startswith("if NOT decided AND run_.at = 'b'"))
    assert line.endswith("AND `exists`(tags, run -> run > run_.seen.last_b_n + t.runs)")


def test_equal_things_are_remembered_once_and_unlike_ones_apart() -> None:
    measures = (
        "SUM(A.n) AS s, AVG(A.n) AS m, COUNT(A.n) AS c, SUM(A.n * 2) AS d, A.n AS l, LAST(A.n) AS e"
    )
    (line,) = (x for x in lines(spec(measures=measures)) if x.startswith("value runs"))
    fields = line.split("seen: STRUCT<")[1].split(">>>")[0]
    assert fields.split(", ") == [
        "avg_sum_a_n: DOUBLE",
        "count_a_n: BIGINT",
        "last_a_n: INT",
        "sum_a_n: BIGINT",
        "sum_a_n_times_2: BIGINT",
    ]


def test_what_a_temporal_join_reads_keeps_its_meaning_in_a_lambda() -> None:
    text = """
    CREATE SOURCE v (k STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
    WITH (connector = 'files', path = 'v', format = 'json');
    CREATE SOURCE r (k STRING, n INT, tags ARRAY<INT>, ts TIMESTAMP,
      WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE)
    WITH (connector = 'files', path = 'r', format = 'json');
    CREATE STREAM s AS
      SELECT filter(tags, n -> n > r.n) AS a, filter(tags, version_n -> version_n > v.n) AS b
      FROM r JOIN v FOR SYSTEM_TIME AS OF r.ts AS v ON v.k = r.k AND v.ts >= r.ts - INTERVAL 1 DAY;
    CREATE SINK out FROM s WITH (connector = 'memory');
    """
    (line,) = (x for x in lines(text) if x.startswith("emit"))
    assert line == (
        "emit filter(tags, n -> n > r.n), filter(tags, version_n -> version_n > version_n_)"
    )
