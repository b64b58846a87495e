"""`streamc check` for other tools: GitHub, SARIF, JUnit XML, and specs on standard input."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli_run import Ended, Run, run
from jsonschema import Draft7Validator

__all__ = ["run"]

SPEC = """\
CREATE SOURCE clicks (page STRING, `größe` INT, ts TIMESTAMP) WITH (
  connector = 'files', path = 'in', format = 'json'
);
CREATE STREAM pages AS SELECT page FROM clicks;
CREATE SINK out FROM pages WITH (connector = 'console');
"""
TWO_MISTAKES = SPEC.replace("SELECT page", "SELECT `größe`, pge, nothing")
WARNED = SPEC + "CREATE STREAM unread AS SELECT page FROM clicks;\n"


def test_github(run: Run) -> None:
    Path("a,b").mkdir()
    Path("a,b/a.stream").write_text(TWO_MISTAKES, encoding="utf-8")
    Path("c.stream").write_text(WARNED, encoding="utf-8")
    ended = run("check", "a,b/a.stream", "c.stream", "--format=github")
    assert (ended.code, ended.err) == (2, "")
    assert [github_command(line) for line in ended.out.splitlines()] == [
        (
            "error",
            {
                "file": "a,b/a.stream",
                "line": "4",
                "endLine": "4",
                "col": "40",
                "endColumn": "42",
                "title": "SC0203 unknown-column",
            },
            "there is no column `pge` in `clicks`\nhelp: did you mean `page`?",
        ),
        (
            "error",
            {
                "file": "a,b/a.stream",
                "line": "4",
                "endLine": "4",
                "col": "45",
                "endColumn": "51",
                "title": "SC0203 unknown-column",
            },
            "there is no column `nothing` in `clicks`\nhelp: the columns are: page, größe, ts",
        ),
        (
            "warning",
            {
                "file": "c.stream",
                "line": "6",
                "endLine": "6",
                "col": "15",
                "endColumn": "20",
                "title": "SC0209 unused",
            },
            "stream `unread` is read by nothing\n"
            "help: remove it, or add `CREATE SINK … FROM unread WITH (…);`",
        ),
    ]


def github_command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as GitHub's runner does."""
    match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
    assert match is not None, line
    properties = dict(item.split("=", 1) for item in match[2].split(","))
    return match[1], {k: unescaped(v) for k, v in properties.items()}, unescaped(match[3])


def unescaped(text: str) -> str:
    for escape, character in (("0D", "\r"), ("0A", "\n"), ("3A", ":"), ("2C", ","), ("25", "%")):
        text = text.replace(f"%{escape}", character)
    return text


def test_sarif(run: Run) -> None:
    Path("with space.stream").write_text("---\npipeline: a\n---\n" + TWO_MISTAKES, encoding="utf-8")
    twice = SPEC + "CREATE STREAM pages AS SELECT page FROM clicks;\n"
    Path("twice.stream").write_text(twice, encoding="utf-8")
    ended = run("check", "with space.stream", "twice.stream", "--format", "sarif")
    assert (ended.code, ended.err) == (2, "")
    document = json.loads(ended.out)
    Draft7Validator(SARIF).validate(document)
    (log,) = document["runs"]
    assert [a["location"]["uri"] for a in log["artifacts"]] == [
        "with%20space.stream",
        "twice.stream",
    ]
    rules = log["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SC0202", "SC0203"]
    assert rules[1]["name"] == "UnknownColumn"
    assert rules[1]["help"]["markdown"].startswith("# ")
    for result in log["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    region = log["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 7, "startColumn": 40, "endLine": 7, "endColumn": 43}
    duplicate = log["results"][-1]
    assert duplicate["ruleId"] == "SC0202"
    related = duplicate["relatedLocations"][0]
    assert related["physicalLocation"]["region"]["startLine"] == 4
    assert related["message"]["text"] == "first declared here, as a stream"


def test_junit(run: Run) -> None:
    Path("bad.stream").write_text(TWO_MISTAKES, encoding="utf-8")
    Path("good.stream").write_text(WARNED, encoding="utf-8")
    ended = run("check", "bad.stream", "good.stream", "--format", "junit")
    assert (ended.code, ended.err) == (2, "")
    root = ElementTree.fromstring(ended.out.encode())
    assert (root.tag, root.attrib) == (
        "testsuites",
        {"tests": "3", "failures": "2", "errors": "0"},
    )
    bad, good = root.findall("testsuite")
    assert [case.get("name") for case in bad] == [
        "4:40 SC0203 unknown-column",
        "4:45 SC0203 unknown-column",
    ]
    failure = bad[0].find("failure")
    assert failure is not None
    assert failure.get("message") == (
        "error[SC0203] unknown-column: there is no column `pge` in `clicks`"
    )
    assert failure.text is not None
    assert "\n  = help: did you mean `page`?" in failure.text
    (case,) = good.findall("testcase")
    assert (case.attrib, len(case)) == ({"classname": "good.stream", "name": "check"}, 0)
    assert good.findtext("system-out", "").startswith("good.stream:6:15: warning[SC0209]")


@pytest.mark.parametrize("format", ["github", "sarif", "junit"])
def test_formats_without_mistakes(run: Run, format: str) -> None:
    Path("a.stream").write_text(SPEC, encoding="utf-8")
    ended = run("check", "a.stream", "--format", format)
    assert (ended.code, ended.err) == (0, "")
    if format == "github":
        assert ended.out == ""
    elif format == "sarif":
        document = json.loads(ended.out)
        Draft7Validator(SARIF).validate(document)
        assert document["runs"][0]["results"] == []
    else:
        assert ElementTree.fromstring(ended.out.encode()).get("failures") == "0"


@pytest.mark.parametrize("format", ["github", "sarif", "junit"])
def test_secrets_and_control_characters_stay_out(run: Run, format: str) -> None:
    spec = SPEC.replace("'console'", "'console', password = 'hunter2hunter2', x\x01y = 'z'")
    Path("a.stream").write_text(spec, encoding="utf-8")
    ended = run("check", "a.stream", "--format", format)
    assert ended.code == 2
    assert "SC0" in ended.out
    assert "hunter2" not in ended.out
    assert "\x01" not in ended.out


def given(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, SPEC.encode())
    assert run("check", "-") == Ended(0, "1 spec checked, no errors\n", "")
    given(monkeypatch, TWO_MISTAKES.replace("\n", "\r\n").encode())
    ended = run("check", "-", "--format", "concise")
    assert ended.code == 2
    assert ended.err.startswith("stdin.stream:4:40: error[SC0203]")


def test_standard_input_with_the_name_of_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, TWO_MISTAKES.encode())
    ended = run("check", "-", "--name", "specs/x.stream", "--format=concise")
    assert ended.err.startswith("specs/x.stream:4:40: error[SC0203]")
    given(monkeypatch, SPEC.encode())
    named = run("check", "-", "--name", "Not An Id.stream", "--format=concise")
    assert named.code == 2
    assert "the file name `Not An Id` cannot name the pipeline" in named.err


def test_standard_input_is_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    both = run("check", "-", "a.stream")
    assert (both.code, both.err.splitlines()[0]) == (
        2,
        "error: `-` cannot be combined with paths",
    )
    Path("a.stream").write_text(SPEC, encoding="utf-8")
    named = run("check", "a.stream", "--name", "b.stream")
    assert (named.code, named.err.splitlines()[0]) == (2, "error: --name is for standard input")
    given(monkeypatch, b"\xff")
    assert run("check", "-").err == "error: standard input is not UTF-8\n"


def obj(required: str, **properties: Any) -> Any:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


def array(items: Any) -> Any:
    return {"type": "array", "items": items}


STRING = {"type": "string"}
INDEX = {"type": "integer", "minimum": 0}
FROM_ONE = {"type": "integer", "minimum": 1}
TEXT = obj("text", text=STRING, markdown=STRING)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9_.~%/-]+$"}
ARTIFACT = obj("uri", uri=URI)
REGION = obj(
    "startLine", startLine=FROM_ONE, startColumn=FROM_ONE, endLine=FROM_ONE, endColumn=FROM_ONE
)
LOCATION = obj(
    "",
    id=INDEX,
    message=TEXT,
    physicalLocation=obj("artifactLocation", artifactLocation=ARTIFACT, region=REGION),
)
RULE = obj(
    "id",
    id=STRING,
    name=STRING,
    shortDescription=TEXT,
    help=TEXT,
    defaultConfiguration=obj("", level=LEVEL),
)
RESULT = obj(
    "message",
    ruleId=STRING,
    ruleIndex=INDEX,
    level=LEVEL,
    message=TEXT,
    locations=array(LOCATION),
    relatedLocations=array(LOCATION),
)
SARIF = obj(
    "version runs",
    **{"$schema": STRING},
    version={"const": "2.1.0"},
    runs=array(
        obj(
            "tool",
            tool=obj("driver", driver=obj("name", name=STRING, version=STRING, rules=array(RULE))),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            artifacts=array(obj("", location=ARTIFACT)),
            results=array(RESULT),
        )
    ),
)
"""The parts of the published schema that streamc writes; any other member is refused."""
