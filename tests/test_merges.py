"""How groups that become one are merged: every aggregate, or why not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compiled import compiled_text, plan_in
from streamc.compiler.migrate.operators.buffers import merging_call, shows_order
from streamc.compiler.migrate.operators.merges import merge_of
from streamc.compiler.model.functions import aggregate, aggregate_names
from streamc.contracts.plan import Aggregation

SPEC = """\
---
pipeline: cards
---
CREATE SOURCE payments (
  s STRING, i INT, l BIGINT, d DOUBLE, f FLOAT, m DECIMAL(12, 2), b BOOLEAN, x BINARY, at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL 30 SECONDS
) WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM spend AS
  SELECT s, window_start, {columns}
  FROM TUMBLE(payments, at, INTERVAL 1 MINUTE)
  GROUP BY s, window_start;
CREATE SINK out FROM spend WITH (connector = 'files', path = 'out', format = 'parquet');
"""
OF = {
    "COUNT(DISTINCT m)": "collect_set(CAST(NULL AS DECIMAL(12,2)))",
    "COUNT(DISTINCT i, d)": "collect_set(CAST(NULL AS STRUCT<col1: INT, col2: DOUBLE>))",
    "COUNT(DISTINCT upper(s)) FILTER (WHERE i > 3)": "collect_set(CAST(NULL AS STRING))",
    "COLLECT_SET(at)": "collect_set(CAST(NULL AS TIMESTAMP))",
    "COLLECT_LIST(i)": "collect_list(CAST(NULL AS INT))",
    "ARRAY_AGG(DISTINCT f)": "collect_set(CAST(NULL AS FLOAT))",
    "ARRAY_AGG(i)": "collect_list(CAST(NULL AS STRUCT<at: TIMESTAMP, i: INT>))",
    "ARRAY_AGG(i ORDER BY m DESC)": "collect_list(CAST(NULL AS STRUCT<m: DECIMAL(12,2), i: INT>))",
    "LISTAGG(s, ',')": "collect_list(CAST(NULL AS STRING))",
    "LISTAGG(s, ',') WITHIN GROUP (ORDER BY m)": "collect_list(CAST(NULL AS STRING))",
    "MODE(s)": "mode(CAST(NULL AS STRING), TRUE)",
    "PERCENTILE(d, ARRAY(0.5, 0.9))": "percentile(CAST(NULL AS DOUBLE), array(0.5, 0.9))",
    "PERCENTILE(d, 0.5, i)": "percentile(CAST(NULL AS DOUBLE), 0.5, CAST(NULL AS INT))",
    "MEDIAN(i)": "median(CAST(NULL AS INT))",
    "APPROX_PERCENTILE(m, 0.5, 99)": "approx_percentile(CAST(NULL AS DECIMAL(12,2)), 0.5, 99)",
    "HLL_SKETCH_AGG(s, 10)": "hll_sketch_agg(CAST(NULL AS STRING), 10)",
    "HLL_UNION_AGG(x, TRUE)": "hll_union_agg(CAST(NULL AS BINARY), TRUE)",
    "THETA_SKETCH_AGG(i)": "theta_sketch_agg(CAST(NULL AS INT))",
    "THETA_UNION_AGG(x)": "theta_union_agg(CAST(NULL AS BINARY))",
    "THETA_INTERSECTION_AGG(x)": "theta_intersection_agg(CAST(NULL AS BINARY))",
    "KLL_SKETCH_AGG_BIGINT(l)": "kll_sketch_agg_bigint(CAST(NULL AS BIGINT))",
    "KLL_SKETCH_AGG_FLOAT(f)": "kll_sketch_agg_float(CAST(NULL AS FLOAT))",
    "KLL_SKETCH_AGG_DOUBLE(d)": "kll_sketch_agg_double(CAST(NULL AS DOUBLE))",
    "KLL_MERGE_AGG_BIGINT(x)": "kll_merge_agg_bigint(CAST(NULL AS BINARY))",
    "KLL_MERGE_AGG_FLOAT(x)": "kll_merge_agg_float(CAST(NULL AS BINARY))",
    "KLL_MERGE_AGG_DOUBLE(x)": "kll_merge_agg_double(CAST(NULL AS BINARY))",
    "COUNT_MIN_SKETCH(s, 0.1D, 0.9D, 7)": "count_min_sketch(CAST(NULL AS STRING), 0.1D, 0.9D, 7)",
    "HISTOGRAM_NUMERIC(d, 9)": "histogram_numeric(CAST(NULL AS DOUBLE), 9)",
    "APPROX_TOP_K(s, 3)": "approx_top_k(CAST(NULL AS STRING), 3)",
}
"""Calls whose buffer Spark keeps in its own form, and what identifies the function."""


def plan_of(call: str) -> Aggregation:
    plan = plan_in(compiled_text(SPEC.format(columns=f"{call} AS c"), "cards.stream"))
    found = plan.operators["spend"]
    assert isinstance(found, Aggregation)
    return found


@pytest.mark.parametrize("call", OF)
def test_buffers_are_merged_by_the_function_whose_they_are(call: str) -> None:
    (found,) = plan_of(call).aggregates
    assert merging_call(found) == OF[call]
    assert [merge_of(found, cell) for cell in found.cells] == ["buffers"]


def test_no_function_with_a_buffer_of_its_own_is_forgotten() -> None:
    tried = {call.partition("(")[0].lower() for call in OF}
    known = {found.name for name in aggregate_names() if (found := aggregate(name)) is not None}
    assert {name for name in known if _is_whole(name)} <= tried


def _is_whole(name: str) -> bool:
    found = aggregate(name)
    assert found is not None
    return [cell.buffer for cell in found.cells(())] == ["buf"]


@pytest.mark.parametrize(
    ("call", "merge"),
    [
        ("APPROX_COUNT_DISTINCT(s)", "registers"),
        ("APPROX_COUNT_DISTINCT(s, 0.3)", "registers"),
        ("MIN(x)", "min"),
        ("BOOL_OR(b)", "bool_or"),
        ("BITMAP_CONSTRUCT_AGG(l)", "bitmap_or_agg(`bitmap_construct_agg(l)`)"),
        ("BITMAP_OR_AGG(x)", "bitmap_or_agg(`bitmap_or_agg(x)`)"),
        ("BITMAP_AND_AGG(x)", "bitmap_and_agg(`bitmap_and_agg(x)`)"),
        ("SKEWNESS(d)", None),
    ],
)
def test_other_cells(call: str, merge: str | None) -> None:
    (found,) = plan_of(call).aggregates
    assert {merge_of(found, cell) for cell in found.cells} == {merge}


def test_structs_whose_type_an_older_plan_does_not_tell() -> None:
    (found,) = plan_of("COUNT(DISTINCT i, d)").aggregates
    assert merging_call(replace(found, given=(None,))) == "collect_set(CAST(NULL AS STRING))"
    (found,) = plan_of("COLLECT_SET(upper(s))").aggregates
    assert merging_call(replace(found, given=(None,))) is None


@pytest.mark.parametrize(
    ("column", "shows"),
    [
        ("COLLECT_LIST(i)", True),
        ("element_at(COLLECT_LIST(i), 1)", True),
        ("array_join(SORT_ARRAY(COLLECT_LIST(s)), ',')", False),
        ("size(COLLECT_LIST(i)) + array_max(COLLECT_LIST(i))", False),
        ("size(COLLECT_LIST(i)) + COLLECT_LIST(i)[0]", True),
        ("ARRAY_AGG(i)", False),
        ("ARRAY_AGG(i ORDER BY i)", False),
        ("COLLECT_LIST(i ORDER BY d)", False),
        ("COLLECT_SET(i)", False),
    ],
)
def test_lists_that_show_their_order(column: str, shows: bool) -> None:
    entry = plan_of(column)
    (found,) = entry.aggregates
    assert shows_order(found, entry.columns or {}) is shows
    # What reads it is missing: it may be a HAVING.
    assert shows_order(found, {}) is (found.function == "collect_list")
