"""The settings that front matter gives; its mistakes are pinned in ``tests/errors``."""

from __future__ import annotations

import pytest
from streamc.compiler.plan.endpoints import describe_settings
from streamc.dsl.ast.statements import FrontMatter
from streamc.dsl.reports import codes
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.source import SourceFile, Span
from streamc.dsl.settings.front_matter import read_front_matter
from streamc.dsl.settings.values import Profile, Settings


def read(text: str, stem: str = "clicks") -> tuple[Settings, Diagnostics]:
    source = SourceFile(f"{stem}.stream", f"---\n{text}---\n")
    diagnostics = Diagnostics(source)
    node = FrontMatter(Span(4, 4 + len(text)), text)
    return read_front_matter(node, stem, diagnostics), diagnostics


def said(diagnostics: Diagnostics) -> list[tuple[str, str]]:
    """Return code and marked text of each diagnostic."""
    source = diagnostics.source
    return [(one.code.number, source.excerpt(one.primary.span)) for one in diagnostics]


def test_defaults_without_front_matter() -> None:
    diagnostics = Diagnostics(SourceFile("clicks.stream", ""))
    settings = read_front_matter(None, "clicks", diagnostics)
    assert settings == Settings.of("clicks")
    assert (settings.state, settings.trigger) == ("state/clicks", "as fast as possible")
    assert not len(diagnostics)


def test_everything_that_can_be_set() -> None:
    settings, diagnostics = read(
        "pipeline: spend\n"
        "version: 2\n"
        "description: Spend per card\n"
        "state: /var/state\n"
        "trigger: 1  Minute 30 seconds\n"
        "state_backend: rocksdb\n"
        "max_epochs_in_flight: 4\n"
        "variables: {input: data, limit: null}\n"
        "spark: {spark.sql.shuffle.partitions: 8, spark.speculation: no}\n"
        "profiles:\n"
        "  prod: {state: s3a://b, trigger: available now, variables: {limit: 4}}\n"
        "  small: {spark: {spark.sql.shuffle.partitions: 1}, state_backend: memory,\n"
        "    max_epochs_in_flight: 2}\n"
    )
    assert not len(diagnostics)
    assert settings == Settings(
        pipeline="spend",
        version=2,
        description="Spend per card",
        state="/var/state",
        trigger="1 minute 30 seconds",
        state_backend="rocksdb",
        max_epochs_in_flight=4,
        variables={"input": "data", "limit": None},
        spark={"spark.sql.shuffle.partitions": "8", "spark.speculation": "false"},
        profiles={
            "prod": Profile(state="s3a://b", trigger="available now", variables={"limit": "4"}),
            "small": Profile(
                spark={"spark.sql.shuffle.partitions": "1"},
                state_backend="memory",
                max_epochs_in_flight=2,
            ),
        },
    )
    assert describe_settings(settings).to_json()["profiles"] == {
        "prod": {"state": "s3a://b", "trigger": "available now", "variables": {"limit": "4"}},
        "small": {
            "state_backend": "memory",
            "max_epochs_in_flight": 2,
            "spark": {"spark.sql.shuffle.partitions": "1"},
        },
    }


@pytest.mark.parametrize("text", ["NO", "007", "1.10", "1_000", "2026-01-01", "true"])
def test_a_variable_is_the_text_that_was_written(text: str) -> None:
    settings, _ = read(f"variables: {{x: {text}}}\n")
    assert settings.variables == {"x": text}


def test_what_is_right_is_kept_beside_what_is_wrong() -> None:
    settings, diagnostics = read("version: two\nvariables: {a: [1], b: x}\ntrigger: 5 seconds\n")
    assert said(diagnostics) == [("SC0604", "two"), ("SC0604", "[1]")]
    assert settings == Settings.of("clicks", variables={"a": None, "b": "x"}, trigger="5 seconds")


def test_places_after_wide_characters() -> None:
    _, diagnostics = read("description: 'é日本'\nversoin: 2\n")
    assert said(diagnostics) == [("SC0602", "versoin")]


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        ("a: b: c\n", "SC0601", ":"),
        ("- a\n", "SC0601", "- a"),
        ("a: \x01\n", "SC0601", "\x01"),
        ("version: 1\nversion: 2\n", "SC0603", "version"),
        ("? [a]\n: b\n", "SC0604", "[a]"),
        ("a: &x {b: *x}\n", "SC0601", "*"),
        ("state: a/${b}\n", "SC0604", "a/${b}"),
        ("state:\n", "SC0604", "state"),
        ("version: true\n", "SC0604", "true"),
        ("version: 0\n", "SC0604", "0"),
        ("trigger: 0 seconds\n", "SC0604", "0 seconds"),
        ("trigger: 5 secondsx\n", "SC0604", "5 secondsx"),
        ("pipeline: Clicks\n", "SC0605", "Clicks"),
        ("variables: {Input: a}\n", "SC0604", "Input"),
        ("spark: {sql.shuffle.partitions: 8}\n", "SC0604", "sql.shuffle.partitions"),
        ("spark: {spark.sql: {x: 1}}\n", "SC0604", "{x: 1}"),
        ("profiles: {p: {version: 2}}\n", "SC0602", "version"),
        ("profiles: {p: {variables: {x: 2}}}\n", "SC0607", "x"),
        ("profiles: {p: {trigger: 10}}\n", "SC0604", "10"),
    ],
)
def test_mistakes_are_marked(text: str, code: str, marked: str) -> None:
    _, diagnostics = read(text)
    assert said(diagnostics) == [(code, marked)]


@pytest.mark.parametrize(
    "key",
    [
        "spark.sql.session.timeZone",
        "spark.sql.session.timezone",
        "spark.sql.exchange.reuse",
        "spark.sql.streaming.queryEvolution.enableSourceEvolution",
        "spark.sql.streaming.offsetLog.formatVersion",
        "spark.sql.streaming.checkpointLocation",
        "spark.sql.streaming.stateStore.providerClass",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
    ],
)
def test_spark_settings_that_state_relies_on(key: str) -> None:
    settings, diagnostics = read(f"spark: {{{key}: x}}\n")
    assert said(diagnostics) == [(codes.PROTECTED_SETTING.number, key)]
    assert settings.spark == {}


def test_a_file_name_that_names_no_pipeline() -> None:
    settings, diagnostics = read("version: 2\n", "Card-Fraud")
    (found,) = diagnostics
    assert found.code is codes.PIPELINE_NAME
    assert found.help == "add `pipeline: card_fraud` to the front matter"
    assert settings.version == 2
    assert not len(read("pipeline: x\n", "Card-Fraud")[1])
