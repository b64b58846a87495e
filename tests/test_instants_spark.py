"""Numbers in JSON as instants: what they count, at both ends, and the warning where none is meant.

All numbers go through one job, each in a column and within a struct, an array and a map.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from streamc.cli.testing.load import load_tests
from streamc.cli.testing.run import run_tests
from streamc.dsl.reports.render import render
from streamc.runtime import Arguments, run_script
from streamc.runtime.base.errors import RuntimeFault
from streamc.runtime.base.options import instant_options
from streamc.runtime.connectors.kafka.source import read_kafka, read_messages
from streamc.runtime.connectors.reading import Declaration
from streamc.runtime.execution.views import SilentView
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MOST, LEAST = 2**63 - 1, -(2**63)
UNITS = {"seconds": 10**6, "millis": 10**3, "micros": 1}
TIMES = [0, 1, -1, 1767261600, -1767261600, 1767261600123, -1767261600123]
NUMBERS: dict[str, list[tuple[str, int | None]]] = {
    unit: [
        *[(str(n), n * times) for n in TIMES],
        (str(MOST // times), MOST // times * times),
        (str(-(MOST // times)), -(MOST // times) * times),
        (str(MOST // times + 1), None),
        (str(-(-LEAST // times) - 1), None),
        (str(MOST + 1), None),
        ("9" * 40, None),
        ("-" + "9" * 40, None),
        # A fraction of a unit is malformed, also one that microseconds could hold.
        ("1.5", None),
        ("1.0", None),
        ("1e3", None),
    ]
    for unit, times in UNITS.items()
}
NUMBERS["nanos"] = [
    ("0", 0),
    ("1767261600123456000", 1767261600123456),
    # Fractions of a microsecond are rounded towards the past, as in a text.
    ("1767261600123456999", 1767261600123456),
    ("1", 0),
    ("-1", -1),
    ("-999", -1),
    ("-1000", -1),
    ("-1001", -2),
    # A TIMESTAMP extends beyond 64 bits of nanoseconds.
    (str(MOST + 1), (MOST + 1) // 1000),
    (str(LEAST - 1), (LEAST - 1) // 1000),
    (str(MOST * 1000 + 999), MOST),
    (str(LEAST * 1000), LEAST),
    (str(MOST * 1000 + 1000), None),
    (str(LEAST * 1000 - 1), None),
    ("9" * 40, None),
    ("1.5", None),
]
COLUMNS = (
    "id INT, t TIMESTAMP, s STRUCT<at TIMESTAMP>, xs ARRAY<TIMESTAMP>, kv MAP<STRING, TIMESTAMP>"
)


class Noted(SilentView):
    """A view that keeps what it is to say."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def lines(numbers: list[tuple[str, int | None]]) -> str:
    return "".join(
        f'{{"id": {id}, "t": {n}, "s": {{"at": {n}}}, "xs": [{n}], "kv": {{"k": {n}}}}}\n'
        for id, (n, _) in enumerate(numbers)
    )


def run(
    spark: SparkSession, root: Path, spec: str, given: dict[str, str]
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    for name, text in given.items():
        (root / "in" / name).mkdir(parents=True)
        (root / "in" / name / "1.json").write_text(text, encoding="utf-8")
    result = compiled_text("---\nvariables: {in: null}\n---\n" + spec, "instants.stream")
    assert not result.diagnostics.has_errors, render([result.diagnostics])
    (root / "build").mkdir()
    script, view = written(result, root / "build"), Noted()
    asked = Arguments(
        until_caught_up=True, variables={"in": str(root / "in")}, state=str(root / "state")
    )
    done = run_script(script, asked, spark=spark, view=view, strict_ledger=True)
    assert done.exit_code == 0, [failure.render() for failure in done.failures]
    rows = {sink: [row.asDict() for row in found] for sink, found in done.rows.items()}
    return rows, [note for note in view.notes if note.startswith("warning")]


@pytest.fixture(scope="module")
def units(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    micros = ("t", "s.at AS s", "element_at(xs, 1) AS x", "kv['k'] AS v")
    columns = ", ".join(
        f"UNIX_MICROS({column.split(' AS ')[0]}) AS {column.split(' AS ')[-1]}" for column in micros
    )
    spec = "".join(
        f"""\
CREATE SOURCE {unit}_in ({COLUMNS}) ON MALFORMED ROWS SEND TO {unit}_bad
  WITH (connector = 'files', path = '${{in}}/{unit}', format = 'json', timestamp_unit = '{unit}');
CREATE STREAM {unit}_read AS SELECT id, {columns} FROM {unit}_in;
CREATE SINK {unit}_out FROM {unit}_read WITH (connector = 'memory');
CREATE SINK {unit}_bad_out FROM {unit}_bad WITH (connector = 'memory');
"""
        for unit in NUMBERS
    )
    given = {unit: lines(numbers) for unit, numbers in NUMBERS.items()}
    return run(spark, tmp_path_factory.mktemp("units"), spec, given)


@pytest.mark.parametrize("unit", list(NUMBERS))
def test_a_number_counts_its_unit(
    units: tuple[dict[str, list[dict[str, Any]]], list[str]], unit: str
) -> None:
    found = {row["id"]: [row[c] for c in "tsxv"] for row in units[0][f"{unit}_out"]}
    right = {id: [at] * 4 for id, (_, at) in enumerate(NUMBERS[unit]) if at is not None}
    assert found == right
    reasons = sorted(row["reason"] for row in units[0][f"{unit}_bad_out"])
    shown = sorted(
        f"`t` is {number}, which {how(number, unit)} TIMESTAMP"
        for number, at in NUMBERS[unit]
        if at is None
    )
    assert reasons == shown


def how(number: str, unit: str) -> str:
    return f"as {unit} does not fit" if number.strip("-").isdigit() else "is not a valid"


def test_a_unit_that_is_said_is_meant(
    units: tuple[dict[str, list[dict[str, Any]]], list[str]],
) -> None:
    assert units[1] == []


SOURCE = "CREATE SOURCE {name} ({columns}, WATERMARK FOR at AS at - INTERVAL 1 MINUTE) WITH "
OF_FILES = "(connector = 'files', path = '${{in}}/{name}', format = 'json'{more});\n"


@pytest.mark.long
def test_a_source_whose_numbers_are_hardly_seconds_is_named_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    usual, odd = '{"k": "a", "at": 1767261600}\n', '{"k": "a", "at": 1767261600123}\n'
    given = {
        "usual": usual + '{"k": "b", "at": 32503679999}\n{"k": "c", "at": -62135596800}\n',
        "odd": usual + odd * 3 + odd,
        "early": '{"k": "a", "at": -1767261600123}\n',
        "deep": '{"at": null, "s": {"xs": [{"since": 1767261600123}]}}\n',
        "said": odd,
        "texts": '{"k": "a", "at": "+57972-04-16T16:02:03Z"}\n',
        "prices": '{"k": "a", "since": 1767261600123}\n',
    }
    plain = "k STRING, at TIMESTAMP"
    columns = dict.fromkeys(("usual", "odd", "early", "said", "texts"), plain)
    columns["deep"] = "at TIMESTAMP, s STRUCT<xs ARRAY<STRUCT<since TIMESTAMP>>>"
    keys = {"deep": "1 AS one"}
    spec = "".join(
        (SOURCE + OF_FILES).format(
            name=name,
            columns=held,
            more=", timestamp_unit = 'seconds'" if name == "said" else "",
        )
        + f"CREATE STREAM {name}_read AS SELECT {keys.get(name, 'k')} FROM {name};\n"
        + f"CREATE SINK {name}_out FROM {name}_read WITH (connector = 'memory');\n"
        for name, held in columns.items()
    )
    spec += "CREATE TABLE prices (k STRING, since TIMESTAMP) WITH " + OF_FILES.format(
        name="prices", more=""
    )
    # Two queries read `odd`, in two batches or in one, and one reads the table.
    spec += """
CREATE STREAM hours AS
  SELECT COUNT(*) AS n FROM TUMBLE(odd, at, INTERVAL 1 HOUR) GROUP BY window_start;
CREATE SINK hours_out FROM hours WITH (connector = 'memory');
CREATE STREAM priced AS SELECT u.k FROM usual AS u JOIN prices AS p ON u.k = p.k;
CREATE SINK priced_out FROM priced WITH (connector = 'memory');
"""
    _, notes = run(spark, tmp_path, spec, given)
    unit = "needs `timestamp_unit = 'millis'`"
    future = "; ON FUTURE ROWS BEYOND INTERVAL … keeps such rows out"
    late, early = (
        "which as seconds is +57972-04-16T16:02:03Z",
        "which as seconds is -54033-09-17T07:57:57Z",
    )
    found = {note.partition(" has ")[0].removeprefix("warning: "): note for note in notes}
    assert len(notes) == len(found) == 4, notes
    assert (
        f"in `at`, {late}: if it counts milliseconds, the source {unit}{future}"
        in found["source `odd`"]
    )
    assert f"has -1767261600123 in `at`, {early}" in found["source `early`"]
    assert found["source `early`"].endswith(unit)
    assert "in `s.xs.since`" in found["source `deep`"]
    assert found["table `prices`"].endswith(f"the table {unit}")


def test_messages_count_the_same(spark: SparkSession) -> None:
    from pyspark.sql.types import StructType

    load_kernel(spark, kernel_jar(lambda line: None))
    kind = StructType.fromDDL("at TIMESTAMP")
    source = Declaration("orders", "kafka", kind, {}, "send", {})
    options: dict[str, Any] = {"timestamp_unit": "millis"}
    settings = instant_options(source.owner, "json", options, {})
    assert options == {}
    shape = "value BINARY, topic STRING, partition INT, offset BIGINT"
    values = [(b'{"at": %s}' % n, "t", 0, 0) for n in (b"1767261600123", b"-1", b"1.5")]
    messages = spark.createDataFrame(values, shape)
    reading = read_messages(lambda: messages, source, "json", settings)
    found = {row.m for row in reading.rows.selectExpr("unix_micros(at) AS m").collect()}
    assert found == {1767261600123000, -1000}
    assert reading.malformed is not None and reading.malformed().count() == 1


def test_a_unit_of_a_variable_must_be_one(spark: SparkSession) -> None:
    from pyspark.sql.types import StructType

    options = {
        "bootstrap_servers": "h:1",
        "topic": "t",
        "format": "json",
        "timestamp_unit": "ms",
    }
    kind = StructType.fromDDL("at TIMESTAMP")
    source = Declaration("orders", "kafka", kind, {}, "fail", options)
    with pytest.raises(RuntimeFault, match="source `orders` has timestamp_unit `ms`") as fault:
        read_kafka(spark, source)
    assert fault.value.help is not None and "seconds" in fault.value.help


EPOCHS = (
    SOURCE.format(name="e", columns="k STRING, at TIMESTAMP")
    + """(
  connector = 'CONNECTOR', format = 'json'UNIT
);
CREATE STREAM w AS
  SELECT window_start, COUNT(*) AS n FROM TUMBLE(e, at, INTERVAL 1 HOUR) GROUP BY window_start;
CREATE SINK s FROM w WITH (connector = 'memory');
"""
)
FILES = "files', path = 'in"
KAFKA = "kafka', topic = 't', bootstrap_servers = 'h:1"
STEPS = """
name: milliseconds
steps:
  - e: ['{"k": "a", "at": A}']
  - e: ['{"k": "b", "at": 1767261600123}']
  - e: ['{"k": "c", "at": C}']
  - drain
  - expect: {s: {contains: true, rows: [{window_start: '2026-01-01T10:00:00Z', n: N}]}}
"""


@pytest.mark.parametrize("connector", [FILES, KAFKA], ids=["files", "kafka"])
def test_tests_of_specs_warn_too(spark: SparkSession, tmp_path: Path, connector: str) -> None:
    def told(unit: str, steps: str) -> list[str]:
        folder = tmp_path / (unit.strip(", '=") or "none")
        (folder / "tests").mkdir(parents=True)
        spec = EPOCHS.replace("CONNECTOR", connector).replace("UNIT", unit)
        (folder / "epochs.stream").write_text(spec, encoding="utf-8")
        case = folder / "tests" / "test.yaml"
        case.write_text(steps, encoding="utf-8")
        suite = load_tests([case])
        assert not any(found.has_errors for found in suite.found), render(suite.found)
        heard: list[str] = []
        for outcome in run_tests(suite.tests, spark=spark, tell=heard.append):
            assert outcome.passed, (outcome.fault, outcome.failures)
        return [line for line in heard if "warning" in line]

    seconds = STEPS.replace("A}", "1767261600}").replace("C}", "1767261700}").replace("N", "1")
    (warning,) = told("", seconds)
    assert warning.startswith("epochs.stream: warning: source `e` has 1767261600123 in `at`")
    millis = STEPS.replace("A}", "1767261600000}").replace("C}", "1767261700000}")
    assert told(", timestamp_unit = 'millis'", millis.replace("N", "3")) == []
