"""What is secret, how a spec names it, and that nothing which is written or printed shows it."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamc.cli.app import main
from streamc.cli.shared.columns import aligned
from streamc.compiler.driver import CompileResult, compile_source, output_files
from streamc.contracts import redaction
from streamc.contracts.references import UnresolvedReference, fill
from streamc.contracts.secrets import is_secret_name, written_secret
from streamc.contracts.terminal import SafeStream
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile
from streamc.runtime.base.errors import BAD_OPTION, RuntimeFault
from streamc.runtime.plan.arguments import Arguments
from streamc.runtime.plan.plan import load_plan
from streamc.runtime.plan.settings import resolve_settings

SECRET = "hunter2-Hexerei"
SPEC = """---
pipeline: shop
variables: {VARIABLES}
spark: {SPARK}
profiles: {prod: {variables: {PROFILE}}}
---
CREATE SOURCE orders (order_id STRING) WITH (
  connector = 'kafka', bootstrap_servers = 'localhost:9092', topic = 'orders', format = 'json'OPTION
);
CREATE SINK raw FROM orders WITH (connector = 'postgres', url = URL, table = 'raw');
"""


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    redaction.forget()
    yield
    redaction.forget()


def spec(
    *,
    variables: str = "",
    spark: str = "",
    profile: str = "",
    option: str = "",
    url: str = "'host=h'",
) -> CompileResult:
    text = SPEC.replace("VARIABLES", variables).replace("SPARK", spark)
    text = text.replace("PROFILE", profile)
    text = text.replace("OPTION", option and f", {option}")
    return compile_source(SourceFile("shop.stream", text.replace("URL", url)))


# What is secret.


@pytest.mark.parametrize(
    "name",
    """password sslpassword %70assword ssl.keystore.password spark.kafka.ssl.key.password
    spark.hadoop.fs.s3a.secret.key fs.s3a.access.key fs.s3a.session.token basic.auth.user.info
    spark.kafka.sasl.jaas.config ssl.keystore.key fs.azure.account.key.shop.blob.core.windows.net
    fs.azure.sas.shop spark.ssl.keyPassword javax.jdo.option.ConnectionPassword client_secret
    spark.authenticate.secret fs.s3a.encryption.key parquet.encryption.key.list apiKey API_TOKEN
    fs.gs.auth.service.account.private.key db_passwd passphrase DB_PASSWORD""".split(),
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert written_secret(name, SECRET) == SECRET
    assert written_secret(name, "${env:X}") is None


@pytest.mark.parametrize(
    "name",
    """url path user key keys table topic format ssl.keystore.location ssl.keystore.type
    fs.s3a.aws.credentials.provider basic.auth.credentials.source sasl.mechanism monkey author
    sasl.oauthbearer.token.endpoint.url spark.authenticate.secret.file tokenizer compass""".split(),
)
def test_names_of_what_is_no_secret(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:§@h/db",
        "postgres//u:§@h/db",
        "postgresql:u:§@h/db",
        "postgresql://h/db?user=u&password=§",
        "postgresql://h/db?sslpassword=§&sslmode=require",
        "postgresql://h/db?%70assword=§",
        "host=h password=§ user=u",
        "host=h password = '§'",
        "jdbc:postgresql://h/db?user=u&password=§",
        "s3a://§:§@bucket/in",
        "amqps://u:§@h:5671/%2f",
        "https://§@github.example/in",
        'org.apache.PlainLoginModule required username="u" password="§";',
        "-Dx=1 -Djavax.net.ssl.keyStorePassword=§",
        "AccountName=a;AccountKey=§;EndpointSuffix=x",
        "https://h/in?X-Amz-Signature=§",
        "Authorization: Bearer §",
        '{"token": "§"}',
        "{'password': '§'}",
    ],
)
def test_secrets_by_their_form(text: str) -> None:
    assert SECRET in str(written_secret("url", text.replace("§", SECRET)))
    whole = text.replace("§", SECRET)
    assert SECRET not in redaction.scrub(f"could not open {whole} (3 times)")
    assert written_secret("url", text.replace("§", "${env:X}")) is None
    masked = redaction.masked(whole)
    assert SECRET not in masked and len(masked) == len(whole)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user@h:5432/db",
        "host=h dbname=shop user=u sslmode=require",
        "hdfs://namenode:8020/in/user@home",
        "abfss://container@account.dfs.core.windows.net/in",
        "localhost:9092,other:9092",
        "s3a://bucket/in",
        "data/in/*.json",
        "${input}/day=${day}",
        "postgresql://u:${env:PW}@h/${db}",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert written_secret("url", text) is None
    assert redaction.scrub(f"cannot reach {text}") == f"cannot reach {text}"


def test_a_known_secret_goes_in_every_spelling() -> None:
    redaction.remember("p@ss wörd/1")
    shown = redaction.scrub(
        "p@ss wörd/1 p%40ss%20w%C3%B6rd%2F1 p%40ss+w%C3%B6rd%2F1 p@ss w\\u00f6rd/1 and 1"
    )
    assert shown == "*** *** *** *** and 1"
    redaction.remember("1")
    assert redaction.scrub("11 files, 1, 0.1") == "11 files, ***, 0.1"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "unit", ["a", "a=", "//a:b", "a:", "'", "a-", "x ", "${", "a@", "password="]
)
def test_long_texts_take_no_long_time(unit: str) -> None:
    redaction.scrub(unit * (30_000 // len(unit)))


# In a spec.


@pytest.mark.parametrize(
    "given",
    [
        {"option": f"spark.kafka.ssl.truststore.password = '{SECRET}'"},
        {"option": f"spark.kafka.basic.auth.user.info = 'me:{SECRET}'"},
        {
            "option": "spark.kafka.sasl.jaas.config = "
            f"""'a.PlainLoginModule required username="u" password="{SECRET}";'"""
        },
        {"option": f"spark.kafka.ssl.keystore.key = '{SECRET}'"},
        {"url": f"'postgresql://u:{SECRET}@h/db'"},
        {"url": f"'postgresql://h/db?sslpassword={SECRET}'"},
        {"url": f"'postgresql://h/db?%70assword={SECRET}'"},
        {"url": "'${db}'", "variables": f"db: 'postgresql://u:{SECRET}@h/db'"},
        {"url": "'${db}'", "variables": "db: null", "profile": f"db: 'host=h password={SECRET}'"},
        {"url": "'postgresql://u:${db}@h/db'", "variables": f"db: {SECRET}"},
        {
            "url": "'postgresql://u:${db}@h/db'",
            "variables": "db: null",
            "profile": f"db: {SECRET}",
        },
        {"variables": f"db_password: {SECRET}"},
        {"spark": f"spark.hadoop.fs.s3a.secret.key: {SECRET}"},
        {"spark": f"spark.executorEnv.X: 'token={SECRET}'"},
    ],
    ids=str,
)
def test_a_secret_that_is_written_out_is_refused(given: dict[str, str]) -> None:
    result = spec(**given)
    found = [one for one in result.diagnostics if one.code.number == "SC0523"]
    assert len(found) == 1
    assert "${env:" in str(found[0].help)
    for how in ("full", "concise", "json"):
        assert SECRET not in render([result.diagnostics], how)


@pytest.mark.parametrize("key", ["state", "description"])
def test_no_setting_holds_a_key(key: str) -> None:
    text = f"---\n{key}: 's3a://KEY:{SECRET}@bucket/state'\n---\n"
    result = compile_source(SourceFile("shop.stream", text))
    assert "SC0523" in {one.code.number for one in result.diagnostics}
    assert SECRET not in render([result.diagnostics])


def test_lines_with_other_mistakes_show_no_secret() -> None:
    """Neither where the front matter is no YAML, nor where a statement does not parse."""
    texts = (
        f"---\nspark.x.password: {SECRET}: y\n---\n",
        f"CREATE SINK s FROM t WITH (password = '{SECRET}' nonsense);",
        f"CREATE SOURCE s (x STRING) WITH (conector = 'files', password = '{SECRET}');",
    )
    for text in texts:
        result = compile_source(SourceFile("shop.stream", text))
        assert len(result.diagnostics)
        assert SECRET not in render([result.diagnostics])


def test_references_are_in_script_and_plan_and_values_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pw").write_text(f"{SECRET}-2\n", encoding="utf-8")
    result = spec(
        variables=f"db: '${{file:{tmp_path}/pw}}', user: u",
        spark="spark.hadoop.fs.s3a.secret.key: '${env:SHOP_KEY}'",
        option="spark.kafka.ssl.truststore.password = '${env:SHOP_KEY}'",
        url=f"'postgresql://${{user}}:${{db}}@${{env:SHOP_HOST}}/${{file:{tmp_path}/pw}}'",
    )
    assert not list(result.diagnostics)
    for path, text in output_files(result, tmp_path).items():
        path.write_text(text, encoding="utf-8")
    script = str(result.script)
    assert '"kafka.ssl.truststore.password": job.env("SHOP_KEY"),' in script
    assert (
        "url=f\"postgresql://{job.var('user')}:{job.var('db')}@{job.env('SHOP_HOST')}"
        f"/{{job.file('{tmp_path}/pw')}}\"," in script
    )
    plan = load_plan(tmp_path / "shop.plan.json")
    with pytest.raises(RuntimeFault) as caught:
        resolve_settings(plan, Arguments(), {})
    assert caught.value.code.number == "SR0110"
    assert "SHOP_KEY" in caught.value.message and "export SHOP_KEY=" in str(caught.value.help)
    monkeypatch.setenv("SHOP_KEY", SECRET)
    settings = resolve_settings(plan, Arguments(), os.environ)
    assert settings.spark["spark.hadoop.fs.s3a.secret.key"] == SECRET
    assert settings.variables["db"] == f"{SECRET}-2"
    assert SECRET not in redaction.scrub(f"{settings}")
    given = Arguments(variables={"user": "${env:SHOP_KEY}"})
    assert resolve_settings(plan, given, os.environ).variables["user"] == SECRET
    # The environment holds a value, whatever it looks like.
    raw = {**os.environ, "STREAMC_USER": "${env:SHOP_KEY}"}
    assert resolve_settings(plan, Arguments(), raw).variables["user"] == "${env:SHOP_KEY}"
    # Tests read no secrets.
    left = resolve_settings(plan, Arguments(), {}, secrets=False)
    assert "spark.hadoop.fs.s3a.secret.key" not in left.spark


@pytest.mark.parametrize("text", ["${env:}", "${env:A B}", "${file:}", "${file:a'b}", "${ENV:X}"])
def test_references_that_name_nothing(text: str) -> None:
    quoted = text.replace("'", "''")
    result = spec(url=f"'postgresql://u:{quoted}@h/db'")
    assert [one.code.number for one in result.diagnostics] == ["SC0608"]


def test_values_are_not_looked_through_again(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert fill("a${env:A}b", {"A": "${env:B}"}) == "a${env:B}b"
    for text in ("${env:B}", f"${{file:{tmp_path}/none}}", f"${{file:{tmp_path}/binary}}"):
        with pytest.raises(UnresolvedReference):
            fill(text, {})


def test_comments_of_a_spec_go_along_without_secrets() -> None:
    text = f"""---
version: 2  # was password={SECRET}
---
-- url = 'postgresql://u:{SECRET}@h/db'
CREATE SOURCE s (x STRING, y AS x = 'password=kept') /* token = {SECRET} */
WITH (connector = 'files', path = 'in', format = 'json');
CREATE SINK out FROM s WITH (connector = 'memory');
"""
    result = compile_source(SourceFile("shop.stream", text))
    texts = output_files(result, Path("build"))
    assert all(SECRET not in written for written in texts.values())
    copy = texts[Path("build/shop.spec")]
    assert "'password=kept'" in copy
    again = compile_source(SourceFile("shop.stream", copy))
    assert (again.script, again.plan_json) == (result.script, result.plan_json)


# What a run says.


def test_a_fault_holds_no_secret() -> None:
    redaction.remember(SECRET)
    fault = RuntimeFault(BAD_OPTION, f"{SECRET} of s3a://K:abc@b", f"set password={SECRET}x")
    assert fault.render().splitlines()[0].endswith("*** of s3a://***@b")
    assert SECRET not in f"{fault!r} {fault} {fault.help}"


def test_streams_let_no_secret_and_no_control_character_through() -> None:
    redaction.remember(SECRET)
    out = io.StringIO()
    stream = SafeStream(out)
    print(f"{SECRET} \x1b[31mred\x07\x9b \u202eturned \udcff é日 \t.", file=stream)
    assert out.getvalue() == "*** \\u001b[31mred\\u0007\\u009b \\u202eturned \\udcff é日 \t.\n"
    assert json.loads(f'"{out.getvalue().strip()}"'.replace("\t", "")).startswith("*** \x1b[31m")


def test_what_files_hold_steers_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "a\x1b[2Jb\r\u202e"
    spec = f"CREATE SOURCE `{evil}` (x STRING) WITH (connector = '{evil}');\n"
    Path(f"{evil}.stream").write_text(spec, encoding="utf-8")
    commands = [
        ("check", f"{evil}.stream"),
        ("check", f"{evil}.stream", "--format", "json"),
        ("check", f"{evil}.stream", "--format", "concise"),
        ("run", f"{evil}.stream", f"--{evil}"),
        ("status", "--state", evil),
        ("fmt", "--diff", f"{evil}.stream"),
        ("explain", evil),
    ]
    for command in commands:
        monkeypatch.setattr("sys.argv", ["streamc", *command])
        with pytest.raises(SystemExit):
            main()
        out, err = capsys.readouterr()
        assert out + err
        assert not {"\x1b", "\r", "\u202e"} & set(out + err), command
        if "json" in command:
            assert evil in json.loads(out)["diagnostics"][0]["message"]
    assert aligned([["a\nb", "\x1b"]]) == ["a\\nb  \\u001b"]


# Servers.


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:§%TER@h/db",
        "postgresql//u:§@h",
        "postgresql:u:§@h",
        "u:§@h",
        "postgresql://u:§",
        "postgresql://u:1/§@h/db",
        "postgresql://u:§/x@h/db",
        "postgresql://u:§@x@h/db",
        "host=h port=1 password='§",
        "postgresql://u:§@[::1/db",
        "postgresql://u:§@h/db?sslmoed=§",
        "host=h password=§ nonsense",
        "\udc80§",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    pytest.importorskip("psycopg")
    from streamc.runtime.connectors.postgres.server import check_server

    with pytest.raises(RuntimeFault) as caught:
        check_server("raw", url.replace("§", SECRET))
    shown = caught.value.render()
    assert caught.value.code is BAD_OPTION
    assert "the `url` of sink `raw`" in shown
    assert SECRET not in shown and caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p%40ss@h:5432/db?sslmode=require",
        "postgresql://h1,h2:1,2/db",
        "host=/tmp dbname='a@b' user=u",
        "postgresql://[::1]:5/db",
        "service=shop",
    ],
)
def test_urls_of_servers(url: str) -> None:
    pytest.importorskip("psycopg")
    from streamc.runtime.connectors.postgres.server import check_server

    check_server("raw", url)
