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


def jars_of_the_broker() -> Path:
    jars = broker_jars()
    if jars is None:
        pytest.skip("the broker's jars need Maven and its repository")
    return jars


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_broker(jars_of_the_broker(), tmp_path_factory.mktemp("broker")) as address:
        yield address


def streamc(
    root: Path, brokers: str, *arguments: str, **variables: Path | str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: Spark can be given the Kafka part at start only."""
    main = "from streamc.cli.app import main; main()"
    command = [sys.executable, "-c", main, *arguments]
    for name, value in variables.items():
        command += ["--var", f"{name}={value}"]
    environment = {**os.environ, "STREAMC_BROKERS": brokers}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=root, env=environment
    )


def run(
    spec: str, root: Path, brokers: str, **variables: Path | str
) -> subprocess.CompletedProcess[str]:
    state = ["--until-caught-up", "--state", str(root / "state" / spec)]
    return streamc(root, brokers, "run", str(SPECS / f"{spec}.stream"), *state, **variables)


def produce(root: Path, brokers: str, name: str, *lines: str, topic: str = "payments") -> None:
    (root / "in").mkdir(exist_ok=True)
    (root / "in" / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    done = run("produce", root, brokers, **{"in": root / "in"}, topic=topic)
    assert done.returncode == 0, done.stderr


def consume(root: Path, brokers: str) -> None:
    done = run("consume", root, brokers, out=root / "out")
    assert done.returncode == 0, done.stderr


def copies(root: Path) -> list[tuple[object, ...]]:
    rows = read_output(root / "out" / "copies", "json")
    return sorted((row["place"], row["sent_by"], row["card"], row["amount"]) for row in rows)


def test_messages_come_and_go(tmp_path: Path, brokers: str) -> None:
    first = '{"card": "a", "amount": 1, "paid_at": "2026-01-01T10:00:00Z"}'
    second = '{"card": "b", "amount": 2, "paid_at": "2026-01-01T10:10:00Z", "more": [1]}'
    third = '{"card": "a", "amount": 4, "paid_at": "2026-01-01T10:20:00Z"}'
    wrong = '{"card": "a", "amount": "many"}'
    produce(tmp_path, brokers, "1.csv", f"a|{first}", f"b|{second}")
    consume(tmp_path, brokers)
    assert copies(tmp_path) == [(0, "a", "a", 1), (1, "b", "b", 2)]

    # A restart continues after the last message; a malformed one goes to the side stream.
    produce(tmp_path, brokers, "2.csv", f"a|{third}", f"c|{wrong}")
    consume(tmp_path, brokers)
    assert copies(tmp_path) == [(0, "a", "a", 1), (1, "b", "b", 2), (2, "a", "a", 4)]
    (rejected,) = read_output(tmp_path / "out" / "rejected", "json")
    assert (rejected["raw"], rejected["position"]) == (wrong, "payments-0@3")

    done = run("look", tmp_path, brokers, out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    messages = [(row["k"], row["v"]) for row in read_output(tmp_path / "out" / "texts", "json")]
    sent = [("a", first), ("a", third), ("b", second), ("c", wrong)]
    assert sorted(m for m in messages if m in sent) == sent
    hour = "2026-01-01T10:00:00.000Z"
    totals = [(json.loads(k), json.loads(v)["total"]) for k, v in messages if (k, v) not in sent]
    assert sorted(totals, key=lambda one: (one[0]["card"], one[1])) == [
        ({"card": "a", "hour": hour}, 1),
        ({"card": "a", "hour": hour}, 5),
        ({"card": "b", "hour": hour}, 2),
    ]


@pytest.mark.parametrize(
    ("topic", "amounts", "told"),
    [
        ("zeros", [2, 0], "in `100 / amount`\n  at zeros-0@1, where `amount` is 0\n"),
        ("ones", [2, 2], "  in batch 1, which read `payments`: ones-0@0 to @1\n"),
    ],
)
def test_a_message_on_which_an_expression_fails(
    topic: str, amounts: list[int], told: str, tmp_path: Path, brokers: str
) -> None:
    at = "2026-01-01T10:00:00Z"
    sent = [json.dumps({"card": "a", "amount": n, "paid_at": at}) for n in amounts]
    produce(tmp_path, brokers, "1.csv", *(f"a|{line}" for line in sent), topic=topic)
    done = run("divide", tmp_path, brokers, topic=topic)
    assert done.returncode == 1
    assert told in done.stderr


def spend(card: str, amount: int, at: str) -> str:
    message = {"card": card, "amount": amount, "at": f"2026-01-01T{at}:00Z"}
    return f"{card}|{json.dumps(message)}"


def test_a_cell_is_computed_from_messages_up_to_a_savepoint(tmp_path: Path, brokers: str) -> None:
    place = ["--state", str(tmp_path / "state" / "spending")]
    before = [spend("a", 1, "10:00"), spend("a", 7, "10:05"), spend("b", 2, "10:10")]
    produce(tmp_path, brokers, "1.csv", *before, topic="spends")
    done = run("spending", tmp_path, brokers, out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    done = streamc(tmp_path, brokers, "savepoint", "create", *place, "--name", "cut")
    assert done.returncode == 0, done.stderr
    # These exist when the cell is computed, and must be ignored.
    after = [spend("a", 4, "10:20"), spend("c", 3, "11:30"), spend("c", 9, "13:00")]
    produce(tmp_path, brokers, "2.csv", *after, topic="spends")

    asked = ["backfill", str(SPECS / "spending_2.stream"), "--from-savepoint", "cut", *place]
    asked += ["--migration", str(SPECS / "spending-1-to-2.yaml")]
    folder = tmp_path / "other"
    folder.mkdir()
    with running_broker(jars_of_the_broker(), folder) as other:
        lost = streamc(tmp_path, other, *asked, out=tmp_path / "out")
    assert "Some data may have been lost" in lost.stderr
    assert "Traceback" not in lost.stderr
    done = streamc(tmp_path, brokers, "savepoint", "list", *place)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["savepoint", "cut"]

    done = streamc(tmp_path, brokers, *asked, out=tmp_path / "out")
    assert done.returncode == 0, done.stderr
    begin = ["--from-savepoint", "cut-backfilled", "--until-caught-up", *place]
    done = streamc(
        *(tmp_path, brokers, "run", str(SPECS / "spending_2.stream")), *begin, out=tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    rows = read_output(tmp_path / "out" / "hours", "json")
    assert sorted(
        (row["hour"][11:13], row["card"], row["total"], row["largest"]) for row in rows
    ) == [
        ("10", "a", 12, 7),
        ("10", "b", 2, 2),
        ("11", "c", 3, 3),
    ]


WITHOUT_THE_PART = f"""
from pathlib import Path
from pyspark.sql import SparkSession
from compiled import compiled, written
from streamc.runtime import Arguments, RuntimeFault, run_script

spec = Path({str(SPECS / "look.stream")!r})
script = written(compiled(spec, spec.name), Path())
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
variables = dict(brokers="localhost:1", out="out")
try:
    run_script(script, Arguments(True, variables, state="state"), spark=spark)
except RuntimeFault as fault:
    print(fault.render())
"""


def test_a_spark_without_the_part_for_kafka(tmp_path: Path) -> None:
    folders = f"{Path(__file__).parent}:{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_PART],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": folders},
    )
    assert "error[SR0320] package-missing" in done.stdout, done.stderr
    assert "spark-sql-kafka-0-10_2.13:4.2.0" in done.stdout
