"""The language server, by a client over the pipes of its process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from cli_run import Run, run
from lsp_client import Client

__all__ = ["run"]

SPEC = """\
---
pipeline: shop
variables: {input: data}
---

CREATE FUNCTION net(amount DOUBLE) RETURNS DOUBLE RETURN amount / 1.2;

CREATE SOURCE orders (
  id      STRING,
  `größe` INT,
  amount  DOUBLE,
  address STRUCT<city STRING, zip STRING>,
  ts      TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL 5 MINUTES
) WITH (connector = 'files', path = '${input}/orders', format = 'json');

CREATE STREAM large AS
  SELECT id, '😀' AS face, `größe`, net(o.amount) AS net, o.ts
  FROM orders AS o
  WHERE o.amount > 100;

CREATE STREAM per_minute AS
  WITH named AS (SELECT face, net AS value, ts FROM large)
  SELECT face, window_start, sum(value) AS total
  FROM TUMBLE(named, ts, INTERVAL 1 MINUTE)
  GROUP BY face, window_start;

CREATE SINK totals FROM per_minute WITH (connector = 'console');
CREATE SINK big FROM large WITH (connector = 'console');
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Start one server for all tests; it has to end in good order."""
    folder = tmp_path_factory.mktemp("project") / "größe & 50% mehr"
    folder.mkdir()
    client = Client(folder)
    yield client
    assert client.close() == 0


@pytest.fixture
def shop(client: Client) -> Iterator[Client]:
    """Open the spec."""
    assert client.open("shop.stream", SPEC) == []
    yield client
    client.notify("textDocument/didClose", {"textDocument": {"uri": client.uri("shop.stream")}})
    client.published.clear()


NAME = "shop.stream"


def located(client: Client, location: dict[str, Any]) -> tuple[int, str]:
    """Return the line, counted from one, and the text of a location."""
    assert location["uri"] == client.uri(NAME)
    return location["range"]["start"]["line"] + 1, client.marked(NAME, location["range"])


# Diagnostics.


@pytest.mark.slow
def test_diagnostics_while_typing(shop: Client) -> None:
    shop.replace(NAME, "'😀' AS face, `größe`", "'😀' AS face, `größ`")
    (found,) = shop.diagnostics(NAME)
    assert (found["code"], found["source"], found["severity"]) == ("SC0203", "streamc", 1)
    assert shop.marked(NAME, found["range"]) == "`größ`"
    assert found["message"].endswith("\nhelp: did you mean `größe`?")
    shop.replace(NAME, "`größ`", "`größe`")
    assert shop.diagnostics(NAME) == []


def test_diagnostics_have_related_places(shop: Client) -> None:
    shop.write(NAME, SPEC + "CREATE SINK big FROM large WITH (connector = 'console');\n")
    (found,) = shop.diagnostics(NAME)
    assert found["code"] == "SC0202"
    (related,) = found["relatedInformation"]
    assert located(shop, related["location"]) == (29, "big")


def test_windows_line_ends(shop: Client) -> None:
    shop.write(NAME, SPEC.replace("o.amount > 100", "o.amuont > 100").replace("\n", "\r\n"))
    (found,) = shop.diagnostics(NAME)
    assert found["range"]["start"] == {"line": 19, "character": 10}
    assert found["range"]["end"] == {"line": 19, "character": 16}


def test_lines_are_those_of_the_protocol(shop: Client) -> None:
    """A line separator ends no line; several changes are made in order."""
    shop.write(NAME, SPEC.replace("'😀'", "'\u2028😀\x0c'"))
    shop.replace(NAME, "o.amount > 100", "o.amuont > 100")
    (found,) = shop.diagnostics(NAME)
    assert shop.marked(NAME, found["range"]) == "amuont"
    start = {"line": 0, "character": 0}
    shop.texts[NAME] = "-- one\n-- two\n" + SPEC
    shop.change(
        NAME,
        {"text": SPEC},
        {"range": {"start": start, "end": start}, "text": "-- two\n"},
        {"range": {"start": start, "end": start}, "text": "-- one\n"},
    )
    assert shop.about("documentSymbol", NAME)[0]["name"] == "net"
    assert located(shop, shop.ask("definition", NAME, "FROM lar|ge WITH")) == (19, "large")


def test_diagnostics_of_tests(client: Client) -> None:
    folder = client.folder / "tested"
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.stream").write_text(SPEC, encoding="utf-8")
    client.open("tested/shop.stream", SPEC)
    test = "steps:\n  - orders: [{id: a, amuont: 3.0}]\n  - expect: {big: []}\n"
    (found,) = client.open("tested/tests/a.yaml", test)
    assert found["code"].startswith("SC07")
    assert client.marked("tested/tests/a.yaml", found["range"]) == "amuont"
    # The spec as it is in the editor counts.
    client.published.pop(client.uri("tested/tests/a.yaml"))
    client.replace("tested/shop.stream", "  amount  DOUBLE,", "  amount  DOUBLE, amuont DOUBLE,")
    assert client.diagnostics("tested/tests/a.yaml") == []


# What is there.


def test_symbols(shop: Client) -> None:
    found = shop.about("documentSymbol", NAME)
    assert [(one["name"], one["detail"]) for one in found] == [
        ("net", "function"),
        ("orders", "source"),
        ("large", "stream"),
        ("per_minute", "stream"),
        ("totals", "sink"),
        ("big", "sink"),
    ]
    columns = [(c["name"], c.get("detail")) for c in found[1]["children"]]
    assert columns[:3] == [("id", "STRING"), ("größe", "INT"), ("amount", "DOUBLE")]
    assert [c["name"] for c in found[2]["children"]] == ["id", "face", "größe", "net", "ts"]
    assert shop.marked(NAME, found[2]["range"]).startswith("CREATE STREAM large AS")


def test_symbols_beside_a_broken_statement(shop: Client) -> None:
    shop.replace(NAME, "WHERE o.amount > 100;", "WHERE o.amount >")
    found = shop.about("documentSymbol", NAME)
    assert [(one["name"], one["detail"]) for one in found][1:4] == [
        ("orders", "source"),
        ("large", "stream"),
        ("per_minute", "stream"),
    ]


@pytest.mark.parametrize(
    ("place", "line", "name"),
    [
        ("FROM ord|ers", 8, "orders"),
        ("FROM lar|ge WITH", 17, "large"),
        ("'😀' AS face, `grö|ße`", 10, "`größe`"),
        ("net(o.amo|unt)", 11, "amount"),
        ("net(|o.amount)", 19, "o"),
        ("|net(o.amount)", 6, "net"),
        ("SELECT face, net AS value, t|s", 18, "ts"),
        ("SELECT fa|ce, net", 18, "face"),
        ("sum(val|ue)", 23, "value"),
        ("TUMBLE(na|med", 23, "named"),
        ("GROUP BY fa|ce", 23, "face"),
        ("RETURN am|ount", 6, "amount"),
        ("FOR t|s AS", 13, "ts"),
        ("${inp|ut}/orders", 3, "input"),
    ],
)
def test_definition(shop: Client, place: str, line: int, name: str) -> None:
    assert located(shop, shop.ask("definition", NAME, place)) == (line, name)


def test_there_is_no_definition_of_what_is_built_in(shop: Client) -> None:
    assert shop.ask("definition", NAME, "su|m(value)") is None
    assert shop.ask("definition", NAME, "window_sta|rt, sum") is None


def test_references(shop: Client) -> None:
    def lines(place: str, declaration: bool) -> list[tuple[int, str]]:
        context = {"includeDeclaration": declaration}
        found = shop.ask("references", NAME, place, context=context)
        return [located(shop, one) for one in found]

    assert lines("FROM lar|ge WITH", True) == [(17, "large"), (23, "large"), (29, "large")]
    assert lines("  amou|nt  DOUBLE", False) == [(18, "amount"), (20, "amount")]
    assert lines("sum(val|ue)", True) == [(23, "value"), (24, "value")]


def test_hover(shop: Client) -> None:
    def text(place: str) -> str:
        value = shop.ask("hover", NAME, place)["contents"]["value"]
        return str(value).replace("```text\n", "").replace("\n```", "")

    assert text("net(o.amo|unt)") == "amount DOUBLE"
    assert text("GROUP BY fa|ce") == "face STRING NOT NULL"
    assert text("o.t|s\n") == "ts TIMESTAMP watermark 5 minutes"
    assert text("|net(o.amount)") == "CREATE FUNCTION net(amount DOUBLE) RETURNS DOUBLE"
    assert text("su|m(value)").startswith("sum(")
    assert text("FROM lar|ge WITH").splitlines()[:3] == [
        "stream large",
        "  id STRING",
        "  face STRING NOT NULL",
    ]
    state = text("FROM per_min|ute")
    assert "per_minute: " in state
    assert "  late       a row of a closed window is dropped\n" in state
    assert shop.ask("hover", NAME, "SELE|CT id") is None


def test_formatting(shop: Client) -> None:
    assert shop.about("formatting", NAME, options={"tabSize": 2, "insertSpaces": True}) == []
    ugly = SPEC.replace("  WHERE o.amount > 100;", "where   o.amount>100;")
    shop.write(NAME, ugly)
    edits = shop.about("formatting", NAME, options={"tabSize": 2, "insertSpaces": True})
    assert shop.edited(NAME, edits) == SPEC
    assert len(edits) == 1
    assert edits[0]["range"]["start"] == {"line": 19, "character": 0}
    shop.write(NAME, ugly + "CREATE")
    assert shop.about("formatting", NAME, options={"tabSize": 2, "insertSpaces": True}) == []


# Edits.


def renamed(client: Client, place: str, new: str) -> str:
    edit = client.ask("rename", NAME, place, newName=new)
    return client.edited(NAME, edit["changes"][client.uri(NAME)])


def test_rename_of_a_stream(shop: Client) -> None:
    assert renamed(shop, "STREAM lar|ge", "expensive") == SPEC.replace("large", "expensive")


def test_rename_of_a_column(shop: Client) -> None:
    amounts = SPEC.replace("  amount  DOUBLE,", "  price  DOUBLE,").replace("o.amount", "o.price")
    assert renamed(shop, "  amou|nt  DOUBLE", "price") == amounts
    faces = SPEC.replace("face", "smiley")
    # The stream that selects the column keeps its own.
    faces = faces.replace("SELECT smiley, net", "SELECT smiley AS face, net")
    faces = faces.replace("SELECT smiley, window", "SELECT face, window")
    faces = faces.replace("GROUP BY smiley", "GROUP BY face")
    assert renamed(shop, "AS fa|ce", "smiley") == faces


def test_rename_of_a_column_that_is_declared_by_a_reference(shop: Client) -> None:
    made = renamed(shop, "SELECT face, net AS value, t|s", "at")
    assert "o.ts AS at\n" in made
    assert "net AS value, at AS ts FROM large" in made


def test_rename_to_a_name_that_needs_quotes(shop: Client) -> None:
    made = renamed(shop, "`grö|ße` INT", "weiß")
    assert "  `weiß` INT,\n" in made
    assert "AS face, `weiß` AS `größe`, net" in made


def test_rename_is_refused(shop: Client) -> None:
    with pytest.raises(RuntimeError, match="`per_minute` is declared twice"):
        shop.ask("rename", NAME, "STREAM lar|ge", newName="per_minute")
    with pytest.raises(RuntimeError, match="the spec declares no such name"):
        shop.ask("rename", NAME, "su|m(value)", newName="total")
    assert shop.ask("prepareRename", NAME, "su|m(value)") is None
    assert shop.marked(NAME, shop.ask("prepareRename", NAME, "STREAM lar|ge")) == "large"


def test_a_fix(shop: Client) -> None:
    shop.replace(NAME, "AS face, `größe`, net", "AS face, `größ`, net")
    found = shop.diagnostics(NAME)
    context = {"diagnostics": found}
    (fix,) = shop.about("codeAction", NAME, range=found[0]["range"], context=context)
    assert (fix["title"], fix["kind"]) == ("Replace with `größe`", "quickfix")
    assert shop.edited(NAME, fix["edit"]["changes"][shop.uri(NAME)]) == SPEC


# Completion.


def completed(client: Client, old: str, new: str) -> list[str]:
    """Type a text with ``|`` in the place of another; return the labels in the order shown."""
    before, after = new.split("|")
    text = SPEC.replace(old, before + after)
    assert text != SPEC or old == before + after
    client.write(NAME, text)
    items = client.ask("completion", NAME, SPEC.index(old) + len(before))
    return [i["label"] for i in sorted(items, key=lambda i: i.get("sortText") or i["label"])]


BIG = "CREATE SINK big FROM large WITH (connector = 'console');\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (BIG, "CRE|", ["CHECKPOINT EVERY INTERVAL", "CREATE"]),
        (
            BIG,
            "CREATE |",
            ["AGGREGATE", "FUNCTION", "OPERATOR", "SINK", "SOURCE", "STREAM", "TABLE"],
        ),
        (BIG, "CREATE SINK big |", ["FROM"]),
        (BIG, "CREATE SINK big FROM |", ["large", "orders", "per_minute"]),
        (BIG, "CREATE STREAM x AS SELECT id FROM la|", ["large", "orders", "per_minute"]),
        (BIG, "CREATE SINK big FROM large WITH (|", ["connector"]),
        (BIG, "CREATE SOURCE s (a |", ["BIGINT", "BINARY", "BOOLEAN"]),
        ("o.amount > 100", "o.|amount > 100", ["address", "amount", "`größe`", "id", "ts"]),
        ("o.amount > 100", "o.address.|", ["city", "zip"]),
        ("o.amount > 100;", "o.|", ["address", "amount", "`größe`", "id", "ts"]),
        ("FROM large)", "FROM large WHERE |)", ["face", "`größe`", "id", "net", "ts"]),
        ("GROUP BY face,", "GROUP |", ["BY"]),
        ("sum(value)", "sum(|)", ["face", "ts", "value", "window_end", "window_start"]),
    ],
)
def test_completion(shop: Client, old: str, new: str, expected: list[str]) -> None:
    assert completed(shop, old, new)[: len(expected)] == expected


def test_a_quoted_name_replaces_its_quote(shop: Client) -> None:
    shop.replace(NAME, "AS face, `größe`, net", "AS face, `gr, net")
    items = shop.ask("completion", NAME, "AS face, `gr|, net")
    (item,) = [item for item in items if item["label"] == "`größe`"]
    assert shop.marked(NAME, item["textEdit"]["range"]) == "`gr"
    assert (item["textEdit"]["newText"], item["filterText"]) == ("`größe`", "`größe`")


def test_completion_of_options(shop: Client) -> None:
    options = completed(shop, BIG, "CREATE SINK big FROM large WITH (connector = 'files', |);")
    assert {"path", "format", "mode"} <= set(options)
    values = completed(shop, BIG, "CREATE SINK big FROM large WITH (connector = '|")
    assert {"files", "kafka", "console"} <= set(values)
    assert "rate" not in values
    formats = completed(
        shop, BIG, "CREATE SINK big FROM large WITH (connector = 'files', format = '|"
    )
    assert "parquet" in formats


def test_functions_are_completed_with_their_signatures(shop: Client) -> None:
    shop.replace(NAME, "sum(value)", "subst")
    items = shop.ask("completion", NAME, "subst| AS total")
    details = {item["label"]: item.get("detail") for item in items}
    assert details["substring"] == "substring(S, INT, [INT]) -> S"
    assert details["net"] == "function"
    assert details["face"] == "STRING"


def test_nothing_is_completed_in_comments_and_front_matter(shop: Client) -> None:
    assert completed(shop, BIG, "-- CREATE |") == []
    assert shop.ask("completion", NAME, "pipeline: |shop") == []


def test_the_server_says_what_it_can(client: Client) -> None:
    assert client.capabilities["positionEncoding"] == "utf-16"
    assert client.capabilities["textDocumentSync"]["change"] == 2
    assert client.capabilities["renameProvider"] == {"prepareProvider": True}


def test_without_pygls(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setattr("streamc.cli.specs.lsp.find_spec", lambda name: None)
    ended = run("lsp")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: the language server needs pygls, which is not installed\n"
        '  = help: pip install "streamc[lsp]"\n'
    )
