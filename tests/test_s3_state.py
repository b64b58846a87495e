"""Commands on a state in S3, without a JVM: an S3 server of the test's own, and bad answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cli_run import Ended, Run, run
from json_outputs import output
from s3_bucket import Bucket, conf_of, running_bucket
from streamc.contracts.notes.answer import Answer
from streamc.runtime import Standing
from streamc.runtime.execution.status import StatusFile
from streamc.runtime.state.lease import Holder, lease_file
from streamc.runtime.state.mailbox import ENDED, Mailbox
from streamc.runtime.storage.notes import seal
from streamc.runtime.storage.store_settings import StoreSettings
from test_control import PLAN, QUERY, barrier, state

__all__ = ["run", "state"]

pytest.importorskip("moto")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture
def spark_conf(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "conf"
    folder.mkdir()
    lines = ["# how the bucket is reached", "", *conf_of(bucket.store)]
    text = "\n".join(line.replace("=", "   ", 1) for line in lines)
    (folder / "spark-defaults.conf").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))


def refused(ended: Ended, *told: str) -> None:
    assert (ended.code, ended.out) == (2, ""), ended
    for text in told:
        assert text in ended.err, ended.err


COMMANDS = (("stop",), ("status",), ("barriers", "list"), ("barriers", "show", "4"))


# The same answers as on a disk.


def barriers_in(state: Path) -> None:
    for number in (3, 4, 5):
        barrier(state, number, files={f"epochs/{number * 3:09d}.json": (2, "a3b2c1d0")})
    (state / "generations/0001/epochs/000000009.json").unlink()
    damaged = state / "generations/0001/barriers/000000005.json"
    damaged.write_text(damaged.read_text(encoding="utf-8").replace("15", "16", 1), "utf-8")


@pytest.mark.usefixtures("spark_conf")
@pytest.mark.parametrize("scheme", ["s3a", "s3"])
def test_barriers_are_those_of_the_disk(run: Run, state: Path, bucket: Bucket, scheme: str) -> None:
    barriers_in(state)
    url = bucket.copy(state, f"barriers-{scheme}").replace("s3a:", f"{scheme}:")
    for command in (("list",), ("list", "--format", "json"), ("show", "3"), ("show", "4")):
        here = run("barriers", *command, "--state", str(state))
        there = run("barriers", *command, "--state", url)
        assert there == here
    assert "epochs/000000009.json is missing" in run("barriers", "list", "--state", url).out
    refused(run("barriers", "show", "9", "--state", url), "SR0411", "it has 3, 4, 5")


@pytest.mark.usefixtures("spark_conf")
def test_status_is_that_of_the_disk(run: Run, state: Path, bucket: Bucket) -> None:
    holder = Holder.here(30.0)
    url = bucket.copy(state, "status")
    assert run("status", "--state", url) == run("status", "--state", str(state))
    (state / "lease.json").write_text(seal(holder.to_json()), encoding="utf-8")
    url = bucket.copy(state, "status")
    assert run("status", "--state", url).out.splitlines()[1:] == ["  starting"]
    written = StatusFile(bucket.files, url, holder)
    written.write(PLAN, "0001", Standing("running", 12, None, 25.0), [QUERY])
    ended = run("status", "--state", url, "--format", "json")
    found = output(ended.out)
    assert (ended.code, found["running"], found["epoch"]) == (0, True, 12)


@pytest.mark.usefixtures("spark_conf")
def test_a_lease_elsewhere_expires(run: Run, state: Path, bucket: Bucket) -> None:
    far = replace(Holder.here(60.0), host="far", place="elsewhere")
    url = bucket.copy(state, "expires")
    bucket.files.replace(lease_file(url), seal(far.to_json()))
    assert "far" in run("status", "--state", url).out
    bucket.files.replace(lease_file(url), seal(replace(far, seconds=0.5).to_json()))
    time.sleep(2.5)
    assert run("status", "--state", url).out == "card_spend: no job runs\n"
    refused(run("stop", "--state", url), "error[SR0408] nothing-runs")


# Stopping.


@contextmanager
def obeying(bucket: Bucket, url: str) -> Iterator[list[bool]]:
    """A run in a thread that does what it is asked, and then gives its lease back."""
    holder, over, seen = Holder.here(30.0), threading.Event(), list[bool]()
    bucket.files.replace(lease_file(url), seal(holder.to_json()))
    box = Mailbox(bucket.files, url, holder.owner)

    def look() -> None:
        while not over.wait(0.05):
            for request in box.requests():
                seen.append(request.drain)
                box.answer(request, Answer(ENDED, barrier=5, epoch=14))
                given = replace(holder, released=True)
                bucket.files.replace(lease_file(url), seal(given.to_json()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


@pytest.mark.usefixtures("spark_conf")
@pytest.mark.parametrize("options", [(), ("--drain",)], ids=["stop", "drain"])
def test_a_job_is_stopped(run: Run, state: Path, bucket: Bucket, options: tuple[str, ...]) -> None:
    url = bucket.copy(state, f"stop{len(options)}")
    with obeying(bucket, url) as seen:
        ended = run("stop", "--state", url, *options)
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "stopped with barrier 5, epoch 14"
    assert seen == [bool(options)]
    assert [path for path in bucket.files.tree(url) if path.startswith("control/")] == []


@pytest.mark.usefixtures("spark_conf")
def test_a_job_that_does_not_stop(run: Run, state: Path, bucket: Bucket) -> None:
    url = bucket.copy(state, "stays")
    bucket.files.replace(lease_file(url), seal(Holder.here(30.0).to_json()))
    ended = run("stop", "--state", url, "--timeout", "1")
    assert ended.code == 1 and "has not ended within 1 s; it has not answered" in ended.err
    left = [path for path in bucket.files.tree(url) if path.startswith("control/")]
    assert len(left) == 1 and left[0].startswith("control/requests/"), "the request remains"


# What there is nothing to do with.


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_no_state(run: Run, bucket: Bucket, command: tuple[str, ...]) -> None:
    conf = [part for one in conf_of(bucket.store) for part in ("--conf", one)]
    where = f"127.0.0.1:{bucket.store.settings['fs.s3a.endpoint'].rpartition(':')[2]}"
    missing = run(*command, "--state", "s3a://bucket/none", *conf)
    refused(missing, "error[SR0407]", "s3a://bucket/none is not a state folder")
    refused(
        run(*command, "--state", "s3a://other/state", *conf),
        "error[SR0407]",
        f"{where} has no bucket `other`",
    )
    for url in ("s3a://bucket", "s3a:///state", "s3a://bucket/", "s3a://key:secret@bucket/state"):
        ended = run(*command, "--state", url, *conf)
        refused(ended, "error[SR0407]", "is not a folder of a bucket")
        assert "secret@" not in ended.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_store_that_does_not_answer(run: Run, command: tuple[str, ...]) -> None:
    conf = [
        "spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:9",
        "spark.hadoop.fs.s3a.access.key=AKIA0TEST",
    ]
    conf.append("spark.hadoop.fs.s3a.secret.key=verysecret")
    given = [part for one in conf for part in ("--conf", one)]
    ended = run(*command, "--state", "s3a://bucket/state", *given)
    refused(
        ended, "error[SR0418] store-unreachable: 127.0.0.1:9 does not answer", "fs.s3a.endpoint"
    )
    assert "verysecret" not in ended.err


class Refusing(BaseHTTPRequestHandler):
    """S3 as it answers a wrong key."""

    kind, status = "InvalidAccessKeyId", 403

    def do_GET(self) -> None:
        told = f"<Error><Code>{self.kind}</Code><Message>no</Message></Error>".encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(told)

    do_HEAD = do_PUT = do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def refusing() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_key(run: Run, refusing: str, command: tuple[str, ...]) -> None:
    conf = ["access.key=AKIA0TEST", "secret.key=verysecret", f"endpoint={refusing}"]
    given = [part for one in conf for part in ("--conf", f"spark.hadoop.fs.s3a.{one}")]
    ended = run(*command, "--state", "s3a://bucket/state", *given)
    refused(ended, "error[SR0419] store-refuses: 127.0.0.1", "fs.s3a.access.key")
    assert "verysecret" not in ended.err


@pytest.mark.parametrize("given", ["nothing", "fs.s3a.endpoint=x", "=x"])
def test_settings_that_are_none(run: Run, given: str) -> None:
    ended = run("status", "--state", "s3a://bucket/state", "--conf", given)
    refused(ended, "error[SR0104] bad-argument: --conf takes a setting of Spark")


# Settings.


def test_what_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = "<property><name>fs.s3a.{}</name><value>of-site</value></property>"
    text = "".join(site.format(name) for name in ("endpoint", "endpoint.region", "access.key"))
    (tmp_path / "core-site.xml").write_text(f"<configuration>{text}</configuration>", "utf-8")
    lines = (
        "spark.hadoop.fs.s3a.endpoint.region=of-defaults\nspark.hadoop.fs.s3a.access.key defaults\n"
    )
    (tmp_path / "spark-defaults.conf").write_text(lines, "utf-8")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    found = StoreSettings.of(["spark.hadoop.fs.s3a.access.key=of-command"]).s3("b")
    names = ("endpoint", "endpoint.region", "access.key")
    assert [found.option(name) for name in names] == ["of-site", "of-defaults", "of-command"]
    own = StoreSettings.of(["spark.hadoop.fs.s3a.bucket.b.endpoint=own"])
    assert [own.s3(name).option("endpoint") for name in ("b", "c")] == ["own", "of-site"]


@pytest.fixture
def s3_arguments(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, object]]:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "SPARK_CONF_DIR", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)

    def arguments(*given: str) -> dict[str, object]:
        options = [f"spark.hadoop.fs.s3a.{one}" for one in given]
        return StoreSettings.of(options).s3("b").arguments

    return arguments


def test_what_reaches_a_bucket(s3_arguments: Callable[..., dict[str, object]]) -> None:
    assert s3_arguments() == {}, "Amazon's own, with the keys that its chain finds"
    assert s3_arguments("access.key=AKIA0TEST") == {}, "half a key is none"
    keys = (
        "access.key=AKIA0TEST",
        "secret.key=secret0AKIA0TEST",
        "session.token=token0AKIA0TEST",
    )
    assert s3_arguments(*keys) == {
        "access_key": "AKIA0TEST",
        "secret_key": "secret0AKIA0TEST",
        "session_token": "token0AKIA0TEST",
    }
    named = s3_arguments("endpoint=s3.example.org", "endpoint.region=eu-west-3")
    assert named == {
        "region": "eu-west-3",
        "endpoint_override": "s3.example.org",
        "scheme": "https",
        "force_virtual_addressing": True,
    }
    plain = s3_arguments("endpoint=10.0.0.1:9000", "connection.ssl.enabled=false")
    assert (plain["scheme"], plain["force_virtual_addressing"]) == ("http", False)
    anonymous = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
    assert s3_arguments(f"aws.credentials.provider={anonymous}") == {"anonymous": True}


@pytest.mark.parametrize(
    "option",
    [
        "aws.credentials.provider=org.example.Own",
        "encryption.algorithm=CSE-KMS",
        "assumed.role.arn=arn:aws:iam::1:role/x",
    ],
)
def test_what_only_hadoop_understands(option: str) -> None:
    found = StoreSettings.of([f"spark.hadoop.fs.s3a.{option}"]).s3("b")
    assert found.needs_hadoop == f"fs.s3a.{option.partition('=')[0]}"
    assert StoreSettings.of().s3("b").needs_hadoop is None
