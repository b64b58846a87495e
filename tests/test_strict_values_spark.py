"""What a text is parsed as: strictly by default, more with `lenient = true`, and some of it never.

All lines go through one job. A line's first field is its number in the lists below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, run_script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Taken = Literal["always", "lenient", "never"]

JSON: list[tuple[Taken, str]] = [
    ("always", '"i": 1, "x": 1.5, "m": 1.25, "b": true, "d": "2026-01-01", "s": "a"'),
    ("always", '"x": 1e3, "m": "1.25", "i": -0, "t": "2026-01-01T10:00:00Z"'),
    ("always", '"t": "2026-01-01 9:05:00 Europe/Oslo", "d": "2026-1-1"'),
    ("always", '"t": "2026-01-01", "y": "aGk="'),
    ("always", r'"s": "\ud83d\ude00", "v": {"\ud83d\ude00": "\u0000"}, "kv": {"\u00e9": "x"}'),
    ("always", r'"s": {"raw": "\ud83d"}'),
    ("always", r'"s": "a\u0000b", "kv": {"?": "\u0000"}'),
    # RFC 8259 says no.
    ("lenient", "'s': 'a'"),
    ("lenient", 's: "a"'),
    ("lenient", '"x": NaN'),
    ("lenient", '"x": -Infinity'),
    ("lenient", '"x": "NaN"'),
    ("lenient", '"x": "Infinity"'),
    ("lenient", '"i": 007'),
    ("lenient", '"s": "a",'),
    ("lenient", '"s": "a" /* why */'),
    ("never", '"s": \u201ca\u201d'),
    ("never", '"s": "a\tb"'),
    ("never", r'"s": "a\qb"'),
    ("never", '"x": .5'),
    ("never", '"x": 1.'),
    ("never", '"i": +1'),
    ("never", '"i": 0x10'),
    ("never", '"b": True'),
    ("never", '"s": undefined'),
    # An unpaired surrogate, in every kind of text.
    ("never", r'"s": "\ud83d"'),
    ("never", r'"s": "\ude00"'),
    ("never", r'"s": "\ude00\ud83d"'),
    ("never", r'"kv": {"\ud83d": "x"}'),
    ("never", r'"kv": {"x": "\ud83d"}'),
    ("never", r'"v": "\ud83d"'),
    ("never", r'"v": {"\ud83d": 1}'),
    ("never", r'"v": [{"a": ["\ude00"]}]'),
    # Texts that are values.
    ("never", '"m": "\u0663"'),
    ("never", '"m": "1d"'),
    ("never", '"m": "0x1p3"'),
    ("never", '"d": "\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661"'),
    ("lenient", '"m": " 1.25 "'),
    ("lenient", '"m": "1,234.50"'),
    ("never", '"m": "1,5"'),
    ("lenient", '"d": "2026-01-01T10:00:00Z"'),
    ("lenient", '"d": " 2026-01-01"'),
    ("lenient", '"d": "2026"'),
    ("never", '"d": "2026-02-30"'),
    ("lenient", '"t": "2026-01"'),
    ("lenient", '"t": "2026-01-01T10"'),
    ("never", '"t": "10:00:00"'),
    ("never", '"t": "2026-01-01T10:00:00Zebra"'),
    ("never", '"t": "20260101"'),
    ("never", '"y": "not base 64!"'),
    ("never", '"i": "1"'),
    ("never", '"i": 1.0'),
    ("never", '"b": "true"'),
]
CSV: list[tuple[Taken, str]] = [
    # i, x, m, b, d, t
    ("always", "1,1.5,1.25,true,2026-01-01,2026-01-01T10:00:00Z"),
    ("always", "+1,-1.5e3,+1.25,FALSE,2026-1-1,2026-01-01 9:05:00"),
    ("always", "007,.5,1.,true,,2026-01-01T10:00:00.123456+02:00"),
    ("lenient", " 1 , 1.5, 1.25 , true , 2026-01-01,2026-01-01"),
    ("lenient", ",NaN,,,,"),
    ("lenient", ",Infinity,,,,"),
    ("lenient", ",-Inf,,,,"),
    ("lenient", ',,"1,234.50",,,'),
    ("lenient", ",,,,2026-01-01T10:00:00Z,"),
    ("lenient", ",,,,2026-01,"),
    ("lenient", ",,,,,2026"),
    ("never", "1d,,,,,"),
    ("never", "\u0663,,,,,"),
    ("never", "\uff11,,,,,"),
    ("never", "1.0,,,,,"),
    ("never", "1e2,,,,,"),
    ("never", "0x10,,,,,"),
    ("never", "1_000,,,,,"),
    ("never", '"1,000",,,,,'),
    ("never", "--1,,,,,"),
    ("never", "2147483648,,,,,"),
    ("never", ",1d,,,,"),
    ("never", ",1f,,,,"),
    ("never", ",1.5D,,,,"),
    ("never", ",0x1p3,,,,"),
    ("never", ",0x1.8p1,,,,"),
    ("never", ",\u0663,,,,"),
    ("never", ",\u0663.\u0665,,,,"),
    ("never", ",1e999,,,,"),
    ("never", ",nan,,,,"),
    ("never", ",1 000,,,,"),
    ("never", ",,\u0663,,,"),
    ("never", ",,1.25d,,,"),
    ("never", ",,12345678.00,,,"),
    ("never", ',,"1,5",,,'),
    ("never", ",,,1,,"),
    ("never", ",,,yes,,"),
    ("never", ",,,,2026-02-30,"),
    ("never", ",,,,\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661,"),
    ("never", ",,,,01/02/2026,"),
    ("never", ",,,,,10:00"),
    ("never", ",,,,,20260101"),
]
COLUMNS = "i INT, x DOUBLE, m DECIMAL(8, 2), b BOOLEAN, d DATE, t TIMESTAMP"


def spec() -> str:
    text = "---\nvariables: {in: null}\nspark: {spark.sql.shuffle.partitions: 1}\n---\n"
    for form, more in (
        ("json", ", s STRING, v VARIANT, kv MAP<STRING, STRING>, y BINARY"),
        ("csv", ""),
    ):
        for name, option in ((f"{form}_strict", ""), (f"{form}_lenient", ", lenient = true")):
            header = ", header = false" if form == "csv" else ""
            text += f"""\
CREATE SOURCE {name} (id INT, {COLUMNS}{more}) ON MALFORMED ROWS SEND TO {name}_bad
  WITH (connector = 'files', path = '${{in}}/{form}', format = '{form}'{header}{option});
CREATE SINK {name}_out FROM {name} WITH (connector = 'memory');
CREATE SINK {name}_bad_out FROM {name}_bad WITH (connector = 'memory');
"""
    return text


@pytest.fixture(scope="module")
def got(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    root = tmp_path_factory.mktemp("strict")
    lines = {
        "json": [f'{{"id": {n}, {line}}}' for n, (_, line) in enumerate(JSON)],
        "csv": [f"{n},{line}" for n, (_, line) in enumerate(CSV)],
    }
    for form, all_of in lines.items():
        (root / "in" / form).mkdir(parents=True)
        (root / "in" / form / f"1.{form}").write_text("\n".join(all_of) + "\n", encoding="utf-8")
    result = compiled_text(spec(), "strict.stream")
    assert not len(result.diagnostics)
    (root / "build").mkdir()
    script = written(result, root / "build")
    asked = Arguments(
        until_caught_up=True, variables={"in": str(root / "in")}, state=str(root / "state")
    )
    done = run_script(script, asked, spark=spark)
    assert done.exit_code == 0, [failure.render() for failure in done.failures]
    return {sink: [row.asDict(recursive=True) for row in rows] for sink, rows in done.rows.items()}


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("how", ["strict", "lenient"])
def test_what_is_taken(got: dict[str, list[Any]], form: str, how: str) -> None:
    cases = JSON if form == "json" else CSV
    right = {n for n, (taken, _) in enumerate(cases) if taken == "always" or taken == how}
    found = {row["id"] for row in got[f"{form}_{how}_out"]}
    assert {cases[n] for n in found - right} == set(), "taken"
    assert {cases[n] for n in right - found} == set(), "not taken"
    assert len(got[f"{form}_{how}_bad_out"]) == len(cases) - len(right)


def test_what_it_is_taken_for(got: dict[str, list[Any]]) -> None:
    strict = {row["id"]: row for row in got["json_strict_out"]}
    assert strict[4]["s"] == "\U0001f600" and strict[4]["kv"] == {"é": "x"}
    assert strict[5]["s"] == r'{"raw": "\ud83d"}'
    assert strict[6]["s"] == "a\0b" and strict[6]["kv"] == {"?": "\0"}
    csv = {row["id"]: row for row in got["csv_lenient_out"]}
    # No value becomes NULL or another value.
    assert [str(csv[n]["m"]) for n in (0, 1, 2, 3, 7)] == [
        "1.25",
        "1.25",
        "1.00",
        "1.25",
        "1234.50",
    ]
    assert [csv[n]["i"] for n in (0, 1, 2, 3)] == [1, 1, 7, 1]
    assert [csv[n]["x"] for n in (0, 1, 2, 5, 6)] == [
        1.5,
        -1500.0,
        0.5,
        float("inf"),
        float("-inf"),
    ]
    assert [csv[n]["b"] for n in (0, 1, 3)] == [True, False, True]


def test_why_an_unpaired_surrogate_is_malformed(got: dict[str, list[Any]]) -> None:
    reasons = [
        row["reason"] for row in got["json_strict_bad_out"] if r'"s": "\ud83d"' in row["raw"]
    ]
    assert reasons == [r"`s` is a text with an unpaired surrogate, \ud83d"]
