"""What a run depends on: arguments, profiles, variables, plans. No Spark is started."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_plans import small_plan
from streamc.compiler.driver import compile_source
from streamc.contracts.plan import Checkpoint, Plan, Profile
from streamc.contracts.reserved import RESERVED, reserved
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.base.errors import CODES, RuntimeFault
from streamc.runtime.execution.views import duration
from streamc.runtime.kinds.layout_lines import normal_type
from streamc.runtime.plan.arguments import Arguments, parse_arguments, parse_variables
from streamc.runtime.plan.plan import load_plan, uses_of
from streamc.runtime.plan.retention import batches_to_retain
from streamc.runtime.plan.settings import RunSettings, resolve_settings, seconds
from streamc.runtime.spark.session import check_spark_settings, sql_settings

FIXTURES = Path(__file__).parent / "runtime_fixtures"
POLICY = Checkpoint("30 seconds", 5, "10 minutes", 3)


def plan(**settings: object) -> Plan:
    base = {"state": "st", "variables": {"input": "default", "limit": None}}
    variables: dict[str, str | None] = {"input": "profile", "limit": "1"}
    profiles = {"prod": Profile("prod", state="s3a://b/x", variables=variables)}
    return small_plan(profiles=profiles, **{**base, **settings})


def fault(caught: pytest.ExceptionInfo[RuntimeFault]) -> tuple[str, str | None]:
    return caught.value.code.number, caught.value.help


@pytest.mark.parametrize(
    ("given", "environment", "profile", "expected"),
    [
        ({"input": "argument"}, {"STREAMC_INPUT": "environment"}, "prod", "argument"),
        ({}, {"STREAMC_INPUT": "environment"}, "prod", "environment"),
        ({}, {}, "prod", "profile"),
        ({}, {"STREAMC_LIMIT": "1"}, None, "default"),
    ],
)
def test_precedence_of_a_variable(
    given: dict[str, str], environment: dict[str, str], profile: str | None, expected: str
) -> None:
    settings = resolve_settings(plan(), Arguments(variables=given, profile=profile), environment)
    assert settings.variables["input"] == expected


def test_variable_without_value() -> None:
    with pytest.raises(RuntimeFault) as caught:
        resolve_settings(plan(), Arguments(), {})
    assert fault(caught) == ("SR0101", "pass `--var limit=…` or set STREAMC_LIMIT")


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(RuntimeFault) as caught:
        resolve_settings(plan(), Arguments(variables={"inptu": "x"}), {})
    assert fault(caught) == ("SR0102", "did you mean `input`?")
    with pytest.raises(RuntimeFault) as caught:
        resolve_settings(plan(), Arguments(profile="prd"), {})
    assert fault(caught) == ("SR0103", "did you mean `prod`?")


def test_argument_that_is_no_pair() -> None:
    assert parse_variables(["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(RuntimeFault) as caught:
        parse_variables(["limit"])
    code, help = fault(caught)
    assert code == "SR0104" and "limit" not in help and "`--var name=value`" in help
    with pytest.raises(RuntimeFault) as caught:
        parse_variables(["=4"])
    assert fault(caught) == (code, help)


def test_arguments_win_over_the_profile() -> None:
    arguments = parse_arguments(
        Path("p.py"), plan(), ["--profile=prod", "--state=here", "--until-caught-up"]
    )
    settings = resolve_settings(plan(), arguments, {})
    assert (settings.state, settings.trigger) == ("here", "available now")


def test_epochs_in_flight_of_profile_plan_and_neither() -> None:
    def in_flight(given: Plan, profile: str | None = None) -> int:
        arguments = Arguments(variables={"limit": "1"}, profile=profile)
        return resolve_settings(given, arguments, {}).max_epochs_in_flight

    ahead = replace(
        plan(),
        settings=replace(
            plan().settings, profiles={"ahead": Profile("ahead", max_epochs_in_flight=3)}
        ),
    )
    assert (in_flight(plan()), in_flight(plan(max_epochs_in_flight=2))) == (1, 2)
    assert (in_flight(ahead), in_flight(ahead, "ahead")) == (1, 3)


def test_checkpoint_policy_of_a_plan(tmp_path: Path) -> None:
    document = json.loads((FIXTURES / "spending.plan.json").read_text(encoding="utf-8"))
    policy = {"every": "30 seconds", "retain": 5, "timeout": "2 minutes", "tolerate": 0}
    document["checkpoint"] = policy
    path = tmp_path / "x.plan.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert load_plan(path).checkpoint == Checkpoint("30 seconds", 5, "2 minutes", 0)
    del policy["tolerate"]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RuntimeFault, match=r"its `checkpoint\.tolerate` is missing"):
        load_plan(path)


@pytest.mark.parametrize("part", ["sources", "operators", "sinks"])
def test_a_query_of_what_the_plan_does_not_have(tmp_path: Path, part: str) -> None:
    document = json.loads((FIXTURES / "spending.plan.json").read_text(encoding="utf-8"))
    document[part] = {}
    path = tmp_path / "x.plan.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(RuntimeFault, match=f"its `queries.per_minute.{part}.*which does not exist"):
        load_plan(path)


def test_help_names_variables_and_profiles(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_arguments(Path("p.py"), plan(), ["--help"])
    shown = capsys.readouterr().out
    assert caught.value.code == 0
    assert "default: default" in shown and "no default" in shown and "profiles: prod" in shown


@pytest.mark.parametrize(
    ("text", "number"),
    [(None, "SR0105"), ("{", "SR0106"), ('{"format": 2}', "SR0106"), ('{"format": 1}', "SR0106")],
)
def test_plan_that_cannot_be_read(tmp_path: Path, text: str | None, number: str) -> None:
    path = tmp_path / "x.plan.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(RuntimeFault) as caught:
        load_plan(path)
    assert caught.value.code.number == number


def test_plan_of_the_fixture() -> None:
    loaded = load_plan(FIXTURES / "spending.plan.json")
    (use,) = uses_of(loaded, loaded.queries["per_minute"])
    assert [a.id for a in use.aggregates] == ["sum(amount)", "count(*)"]
    assert loaded.settings.spark == {"spark.sql.shuffle.partitions": "2"}
    assert loaded.settings.profiles["slow"].state_backend == "memory"


def run_settings(trigger: str, backend: str = "auto") -> RunSettings:
    return RunSettings("s", trigger, backend, {}, {})


def test_batches_are_retained_for_the_checkpoints() -> None:
    key = "spark.sql.streaming.minBatchesToRetain"
    often = sql_settings(
        run_settings("as fast as possible"), Checkpoint("2 minutes", 5, "10 minutes", 3)
    )
    seldom = sql_settings(run_settings("10 seconds"), POLICY)
    assert (often[key], seldom[key]) == ("1812", "162")


def test_batches_are_retained_for_earlier_barriers() -> None:
    """Those of runs without a barrier follow them, and may be many."""
    settings, checkpoint = run_settings("10 seconds"), POLICY
    assert batches_to_retain(settings, checkpoint, 40, [0, 10, 20, 30, 40]) == 162
    assert batches_to_retain(settings, checkpoint, 1000, [0, 10, 20, 30, 40]) == 960 + 5 * 27
    assert batches_to_retain(settings, checkpoint, 1000, [0]) == 1000 + 5 * 27


def test_backend_auto_is_rocksdb() -> None:
    key = "spark.sql.streaming.stateStore.providerClass"
    chosen = {
        backend: sql_settings(run_settings("1 second", backend), POLICY)[key]
        for backend in ("auto", "rocksdb", "memory")
    }
    assert chosen["auto"] == chosen["rocksdb"] != chosen["memory"]


def test_settings_that_ids_rely_on_are_refused() -> None:
    check_spark_settings({"spark.sql.shuffle.partitions": "8"})
    with pytest.raises(RuntimeFault) as caught:
        check_spark_settings({"spark.sql.streaming.offsetLog.formatVersion": "1"})
    assert caught.value.code.number == "SR0205"


def test_what_a_run_sets_is_reserved_on_both_sides() -> None:
    """Rules are excluded beside those that a pipeline excludes; all else is the runtime's own."""
    own = set(sql_settings(run_settings("1 second"), POLICY))
    assert {name for name in own if reserved(name) is None} == {"spark.sql.optimizer.excludedRules"}


@pytest.mark.parametrize("name", RESERVED)
def test_a_reserved_setting_is_refused_by_compiler_and_runtime(name: str) -> None:
    name = f"{name}x" if name.endswith(".") else name
    for written in (name, name.upper().replace("SPARK.", "spark.", 1)):
        source = SourceFile("clicks.stream", f"---\nspark: {{{written}: x}}\n---\n")
        diagnostics = compile_source(source).diagnostics
        assert "SC0606" in {one.code.number for one in diagnostics}, written
        with pytest.raises(RuntimeFault) as caught:
            check_spark_settings({written: "x"})
        assert caught.value.code.number == "SR0205"


def test_intervals() -> None:
    assert seconds("10 seconds") == 10
    assert seconds("1 hour 30 minutes") == 5400
    with pytest.raises(RuntimeFault):
        seconds("soon")
    assert [duration(s) for s in (0, 250, 22_000, 180_000)] == [
        "0 s",
        "4 min 10 s",
        "6 h 6 min",
        "2 d 2 h",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRUCT<a: INT, b: STRING>", "struct<a int,b string>"),
        ("DECIMAL(12, 2)", "decimal(12,2)"),
        ("ARRAY<BIGINT>", "array<long>"),
        ("MAP<STRING, STRUCT<x: DOUBLE>>", "MAP<STRING,STRUCT<x DOUBLE NOT NULL>>"),
    ],
)
def test_types_compare_however_they_are_written(one: str, other: str) -> None:
    assert normal_type(one) == normal_type(other)


def test_codes_are_unique() -> None:
    assert len({code.number for code in CODES}) == len({code.slug for code in CODES}) == len(CODES)


def test_import_loads_neither_spark_nor_anything_else_of_the_project() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import streamc.runtime, sys; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    heavy = {"pyspark", "py4j", "rich", "typer", "lark", "pydantic", "yaml", "jinja2", "pyarrow"}
    assert not heavy & set(loaded)


@pytest.mark.slow
def test_no_java_is_a_fault_that_says_how_to_get_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FIXTURES / "spending.py"), f"--var=root={tmp_path}"],
        env={"PATH": "/nowhere", "JAVA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "error[SR0201] java-missing" in done.stderr
    assert "apt-get install" in done.stderr and "Traceback" not in done.stderr


def test_every_plan_type_may_be_unknown(tmp_path: Path) -> None:
    data = json.loads((FIXTURES / "spending.plan.json").read_text(encoding="utf-8"))
    for aggregate in data["operators"]["per_minute"]["aggregates"]:
        for cell in aggregate["cells"]:
            cell["type"] = None
    path = tmp_path / "x.plan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    plan = load_plan(path)
    (use,) = uses_of(plan, plan.queries["per_minute"])
    assert {cell.type for a in use.aggregates for cell in a.cells} == {None}
