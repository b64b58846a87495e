"""Sources and sinks against a real Kafka: `make test-kafka`. Two sets of jars are fetched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from broker import broker_jars, running_broker
from run_case import read_output

pytestmark = pytest.mark.kafka
SPECS = Path(__file__).parent / "kafka"


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    jars = broker_jars()
    if jars is None:
        pytest.skip("the broker's jars need Maven and its repository")
    with running_broker(jars, tmp_path_factory.mktemp("broker")) as address:
        yield address


def run(spec: str, root: Path, brokers: str, **variables: Path) -> subprocess.CompletedProcess[str]:
    """Run a spec in a process of its own: Spark can be given the Kafka part at its start only."""
    main = "from streamc.cli.app import main; main()"
    command = [sys.executable, "-c", main, "run", str(SPECS / f"{spec}.stream")]
    command += ["--until-caught-up", "--state", str(root / "state" / spec)]
    for name, value in variables.items():
        command += ["--var", f"{name}={value}"]
    environment = {**os.environ, "STREAMC_BROKERS": brokers}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=root, env=environment
    )


def produce(root: Path, brokers: str, name: str, *lines: str) -> None:
    (root / "in").mkdir(exist_ok=True)
    (root / "in" / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    done = run("produce", root, brokers, **{"in": root / "in"})
    assert done.returncode == 0, done.stderr


def consume(root: Path, brokers: str) -> subprocess.CompletedProcess[str]:
    return run("consume", root, brokers, out=root / "out")


def copies(root: Path) -> list[tuple[object, ...]]:
    rows = read_output(root / "out" / "copies", "json")
    return sorted((row["card"], row.get("amount")) for row in rows)


def test_messages_come_and_go(tmp_path: Path, brokers: str) -> None:
    first = '{"card": "a", "amount": 1, "paid_at": "2026-01-01T10:00:00Z"}'
    second = '{"card": "b", "amount": 2, "paid_at": "2026-01-01T10:10:00Z", "more": [1]}'
    third = '{"card": "a", "amount": 4, "paid_at": "2026-01-01T10:20:00Z"}'
    produce(tmp_path, brokers, "1.csv", f"a|{first}", f"b|{second}")
    done = consume(tmp_path, brokers)
    assert done.returncode == 0, done.stderr
    assert copies(tmp_path) == [("a", 1), ("b", 2)]

    # A restart goes on behind the last message.
    produce(tmp_path, brokers, "2.csv", f"a|{third}")
    done = consume(tmp_path, brokers)
    assert done.returncode == 0, done.stderr
    assert copies(tmp_path) == [("a", 1), ("a", 4), ("b", 2)]

    done = run("look", tmp_path, brokers, out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    messages = [(row["k"], row["v"]) for row in read_output(tmp_path / "out" / "texts", "json")]
    sent = [("a", first), ("a", third), ("b", second)]
    assert sorted(m for m in messages if m in sent) == sorted(sent)
    hour = "2026-01-01T10:00:00.000Z"
    totals = [(json.loads(k), json.loads(v)["total"]) for k, v in messages if (k, v) not in sent]
    assert sorted(totals, key=lambda one: (one[0]["card"], one[1])) == [
        ({"card": "a", "hour": hour}, 1),
        ({"card": "a", "hour": hour}, 5),
        ({"card": "b", "hour": hour}, 2),
    ]

    # A message that is none of the declared kind stops the query that reads it.
    produce(tmp_path, brokers, "3.csv", 'a|{"card": "a", "amount": "many"}')
    done = consume(tmp_path, brokers)
    assert done.returncode == 1, done.stderr
    assert "error[SR0501] query-failed: query `" in done.stderr
    assert "Traceback" not in done.stderr
    assert copies(tmp_path) == [("a", 1), ("a", 4), ("b", 2)]
