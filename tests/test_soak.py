"""The soak's own parts: its input, its expectations, and what counts as a stall or a leak."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from compiled import compiled_text
from harness.outputs import Difference
from soaking import outputs, report
from soaking.flatness import growths, second_half, slope
from soaking.inputs import Feeder, rows_of
from soaking.oracle import Oracle, micros
from soaking.pipeline import PIPELINES, Policy, spec
from soaking.positions import Positions
from soaking.samples import MEGABYTE, Sample
from soaking.soak import START, Fault, Outcome, Watch

FULL = (*PIPELINES["full"], "postgres", "kafka")
COMPILED = (
    (FULL, Policy(10, retain=5, trigger=0.5, in_flight=3)),
    (PIPELINES["small"], Policy()),
    (PIPELINES["swift"], Policy(0.3, retain=1)),
)


@pytest.mark.parametrize(("parts", "policy"), COMPILED, ids=["full", "small", "swift"])
def test_a_pipeline_compiles(parts: tuple[str, ...], policy: Policy) -> None:
    text = spec(parts, policy)
    assert ("CHECKPOINT" in text) == (policy.every is not None)
    assert compiled_text(text, "soak").script


def test_the_same_seed_gives_the_same_rows() -> None:
    assert rows_of(7, 3) == rows_of(7, 3)
    assert rows_of(7, 3) != rows_of(8, 3)
    ids = Counter(row["id"] for number in (2, 3) for row in rows_of(7, number))
    assert set(ids.values()) == {1, 2}
    # No two rows that differ have one instant.
    instants: dict[object, object] = {}
    for number in range(20):
        for row in rows_of(7, number):
            assert instants.setdefault(row["at"], row["id"]) == row["id"]


@pytest.mark.parametrize("format", ["json", "csv", "parquet"])
def test_each_format_holds_what_was_meant(tmp_path: Path, format: str) -> None:
    feeder = Feeder(tmp_path, 5, [format], rows=30)
    feeder.add(2)
    feeder.close()
    columns = ("id", "kind", "shop", "number", "amount")
    right = Counter(
        (*(row[name] for name in columns), micros(str(row["at"]))) for row in feeder.all_rows()
    )
    assert outputs.rows_in_folder(tmp_path / format) == right
    assert feeder.written == 3


def event(id: int, kind: str, number: int, at: str, amount: int = 1) -> dict[str, object]:
    instant = f"2026-01-01T{at}Z"
    return {
        "id": id,
        "kind": kind,
        "shop": "s",
        "number": number,
        "amount": amount,
        "at": instant,
    }


def test_the_oracle_by_hand() -> None:
    rows = [
        event(1, "order", 1, "00:00:10", 5),
        event(1, "order", 1, "00:00:10", 5),
        event(2, "payment", 1, "00:01:10", 7),
        event(3, "order", 2, "00:00:20", 9),
        event(4, "payment", 2, "00:01:20.000001", 1),
        event(5, "payment", 2, "00:02:20", 2),
        event(6, "payment", 3, "00:00:30", 3),
        {**event(-1, "end", -1, "23:00:00", 0), "shop": "none"},
    ]
    oracle = Oracle(rows)

    def at(text: str) -> int:
        return micros(f"2026-01-01T{text}Z")

    assert oracle.answers() == Counter(
        {(1, "paid", at("00:01:10")): 1, (2, "missed", at("00:01:20")): 1}
    )
    first, second = (1, "s", 5, at("00:00:10")), (2, "s", 9, at("00:00:20"))
    assert oracle.pairs() == Counter(
        {
            (*first, 7, at("00:01:10")): 1,
            (*second, 1, at("00:01:20.000001")): 1,
            (*second, 2, at("00:02:20")): 1,
        }
    )
    assert oracle.windows() == Counter(
        {
            ("s", at("00:00:00"), 3, 17): 1,
            ("s", at("00:01:00"), 2, 8): 1,
            ("s", at("00:02:00"), 1, 2): 1,
        }
    )
    assert oracle.totals() == Counter(
        {("s", at("00:00:00"), 7, 32): 1, ("none", at("23:00:00"), 1, 0): 1}
    )
    assert oracle.reminded() == Counter({(1, "s"): 1, (2, "s"): 1})
    assert oracle.copy().total() == len(rows)


def test_rows_that_a_console_shows(tmp_path: Path) -> None:
    log = tmp_path / "log"
    table = (
        "+----+-------------------+-+------+\n|shop|window_start       |n|amount|\n"
        "+----+-------------------+-+------+\n|s   |2026-01-01 00:01:00|2|8     |\n"
        "+----+-------------------+-+------+\n"
    )
    log.write_text(
        f"windows_shown, batch 3:\n{table}per_minute: batch 3\nwindows_shown, batch 3:\n{table}",
        "utf-8",
    )
    minute = micros("2026-01-01T00:01:00Z")
    assert outputs.shown_rows(log) == Counter({("s", minute, 2, 8): 1})


def test_the_latest_row_of_a_key_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    rows = [{"shop": "s", "hour": "2026-01-01 00:00:00", "n": n, "amount": n * 10} for n in (1, 2)]
    kept.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    hour = micros("2026-01-01T00:00:00Z")
    assert outputs.kept_rows(kept) == Counter({("s", hour, 2, 20): 1})


def state(root: Path, epoch: int, read: int) -> Positions:
    """A state whose newest epoch is this one, and whose source has taken so many files in."""
    generation = root / "generations" / "0001"
    for folder in ("epochs", "sources/events/0"):
        (generation / folder).mkdir(parents=True, exist_ok=True)
    (generation / "epochs" / f"{epoch:09d}.json").touch()
    lines = [json.dumps({"path": f"file:///in/{n:06d}.json", "batchId": 0}) for n in range(read)]
    for name in ("9.compact", "10"):
        (generation / "sources/events/0" / name).write_text("\n".join(["v1", *lines]), "utf-8")
    return Positions(root)


def test_a_job_that_stalls_is_seen(tmp_path: Path) -> None:
    now = 0.0
    feeder = Feeder(tmp_path / "in", 1, rows=2)
    feeder.add(4)
    positions = state(tmp_path, 1, 3)
    watch = Watch(feeder, positions, ["events"], 60, lambda: now)
    now = START - 1
    watch.look()
    state(tmp_path, 2, 3)
    watch.look()
    now += 59
    watch.look()
    now += 2
    with pytest.raises(Fault, match="STALLED: epoch 2 is the last for 61 s, 1 files are unread"):
        watch.look()
    # Without anything to read there is nothing to open.
    state(tmp_path, 2, 4)
    watch.look()
    now += 1000
    watch.look()


def test_what_all_queries_have_committed(tmp_path: Path) -> None:
    positions = state(tmp_path, 7, 1)
    assert positions.committed == -1
    for query, last in (("copied", 7), ("per_minute", 6)):
        log = positions.generation / "queries" / query / "commits"
        log.mkdir(parents=True)
        for number in range(last + 1):
            (log / str(number)).touch()
            (log / f".{number}.crc").touch()
    assert positions.committed == 6


def samples(count: int, **figures: float) -> list[Sample]:
    """Samples of a figure that grows by so much with each."""
    return [
        {
            "at": 5.0 * n,
            "life": 1,
            **{name: 100 * MEGABYTE + n * by for name, by in figures.items()},
        }
        for n in range(count)
    ]


def test_what_grows_is_reported() -> None:
    found = {one.name: one for one in growths(samples(100, heap=MEGABYTE, direct=10))}
    assert not found["heap"].flat and found["direct"].flat
    assert found["heap"].grown == pytest.approx(49 * MEGABYTE)
    assert growths(samples(10, heap=MEGABYTE)) == []


def test_growth_is_not_judged_before_spark_forgets_the_first_epochs() -> None:
    taken = [{**one, "epoch": n} for n, one in enumerate(samples(100, heap=MEGABYTE))]
    right = {"copy": Difference(rows=1, lost=0, doubled=0)}
    outcome = Outcome(taken, [], right, growths(taken), warm_up=60)
    assert outcome.right and not outcome.warm
    assert "not judged: fewer than 60 epochs" in report.table(with_rates(outcome))
    outcome.warm_up = 40
    assert outcome.warm and not outcome.right
    assert "NOT FLAT" in report.table(with_rates(outcome))


def with_rates(outcome: Outcome) -> Outcome:
    names = ("barrier", "written", "lag", "rows_in", "rows_out", "output_files")
    zero = dict.fromkeys([*names, "state_bytes", "output_bytes", "log_bytes"], 0.0)
    return replace(outcome, samples=[{**zero, **sample} for sample in outcome.samples])


def test_state_is_judged_by_the_rows_that_it_is_of() -> None:
    """Fewer and larger batches keep more, at any time; a leak keeps more of the same batches."""

    def taken(leak: float, slower: int = 400) -> list[Sample]:
        found: list[Sample] = []
        rows = [0]
        for n in range(400):
            epochs = 4 if n < slower else 2
            rows += [rows[-1] + 4_000 * k // epochs for k in range(1, epochs + 1)]
            kept = 200 * (rows[-1] - rows[max(len(rows) - 101, 0)])
            now: Sample = {"at": 5.0 * n, "life": 1, "epoch": len(rows), "rows_in": rows[-1]}
            found.append({**now, "state_bytes": kept + n * leak})
        return found

    loaded = taken(0, slower=250)
    (steady,) = growths(loaded)
    assert steady.flat and loaded[-1]["state_bytes"] == 2 * loaded[200]["state_bytes"]
    (leaking,) = growths(taken(MEGABYTE / 4))
    assert not leaking.flat


def test_a_few_outliers_are_no_growth() -> None:
    points = [(float(n), 100.0 + (900 if n > 95 else 0)) for n in range(100)]
    assert slope(points) == 0


def test_only_the_last_life_is_judged() -> None:
    taken = samples(100, heap=0)
    for sample in taken[70:]:
        sample["life"] = 2
    judged = second_half(taken)
    assert judged[0]["at"] == 400 and {sample["life"] for sample in judged} == {2}
