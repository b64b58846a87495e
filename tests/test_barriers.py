"""Barriers over whole pipelines: at each, every sink holds the results of the same input."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from compiled import compiled_text, written
from harness import cuts
from harness.oracle import expected
from harness.outputs import differences, visible
from harness.shop import FILES, QUERIES, Shop, batch_of
from run_case import FIRST_ARRIVAL
from streamc.contracts.notes.barrier import Manifest
from streamc.runtime import Arguments, SilentView, Stop, run_script

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


class Witness(SilentView):
    """Keeps each manifest, and which files readers saw when it was complete."""

    def __init__(self, shop: Shop, stop: Stop | None = None) -> None:
        self.manifests: list[Manifest] = []
        self.seen: list[set[Path]] = []
        self._shop = shop
        self._stop = stop

    def barrier(self, manifest: Manifest) -> None:
        self.manifests.append(manifest)
        self.seen.append({file for sink in FILES for file in visible(self._shop.out / sink)})
        if self._stop is not None:
            self._stop.request()


def run(
    spark: SparkSession, shop: Shop, *, to_the_end: bool = True, stop: Stop | None = None
) -> Witness:
    """Run the shop in this process; return what was observed."""
    witness = Witness(shop, stop)
    arguments = Arguments(to_the_end, shop.variables, state=str(shop.state))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in shop.environment.items():
            patch.setenv(name, value)
        ended = run_script(shop.script, arguments, view=witness, spark=spark, stop=stop)
    assert ended.exit_code == 0, [failure.render() for failure in ended.failures]
    return witness


def check_barriers(shop: Shop, witness: Witness) -> None:
    """At each barrier all sinks hold what plain Python computes from the files that it covers."""
    for manifest, seen in zip(witness.manifests, witness.seen, strict=True):
        files = cuts.files_up_to(shop.generation, "events", manifest.positions["events"])
        batches = {sink: cut.batch for sink, cut in manifest.sinks.items()}
        found = shop.found_up_to(batches)
        right = expected(files)
        assert found == right, (manifest.barrier, differences(found, right))
        # What counts was visible to readers when the manifest was written.
        own = {
            f for sink in FILES for f in visible(shop.out / sink) if batch_of(f) <= batches[sink]
        }
        assert own <= seen


def check_cuts(shop: Shop, queries: Sequence[str] = QUERIES) -> None:
    """Every query has planned the cuts that the log of epochs holds, as far back as it is kept."""
    log = cuts.epochs(shop.generation)
    assert len(log) > 1
    for query in queries:
        batches = cuts.planned(shop.generation, query)
        assert batches
        for number in batches.keys() & log.keys():
            positions = {str(source["at"]) for source in batches[number]}
            assert positions == {str(cut) for cut in log[number]["cuts"].values()}, (query, number)
            assert {source["epoch"] for source in batches[number]} == {number}


def test_all_sinks_hold_the_same_input_at_every_barrier(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the four is slow; an epoch holds one file."""
    monkeypatch.setenv("SHOP_SLEEP", "0.4")
    shop = Shop(tmp_path, seed=1, files_per_epoch=1, every="1 SECOND")
    shop.writer.add(7)
    witness = run(spark, shop)
    shop.writer.close()
    last = run(spark, shop)
    numbers = [manifest.barrier for manifest in witness.manifests + last.manifests]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 4
    covered = [
        len(cuts.files_up_to(shop.generation, "events", manifest.positions["events"]))
        for manifest in witness.manifests
    ]
    assert covered == sorted(covered) and covered[-1] == 7
    for each in (witness, last):
        check_barriers(shop, each)
    check_cuts(shop)
    assert shop.found() == shop.right()
    assert shop.found()["windows"].total() >= 6 and shop.found()["pairs"].total() > 12


@pytest.mark.long
def test_a_stop_at_every_barrier(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path, seed=2, files_per_epoch=2)
    witnesses = []
    for _ in range(2):
        shop.writer.add(4)
        witnesses.append(run(spark, shop, to_the_end=False, stop=Stop()))
    shop.writer.close()
    witnesses.append(run(spark, shop))
    for witness in witnesses:
        check_barriers(shop, witness)
    check_cuts(shop)
    assert shop.found() == shop.right()
    numbers = [manifest.barrier for witness in witnesses for manifest in witness.manifests]
    assert numbers == sorted(set(numbers)) and len(numbers) >= 3


@pytest.mark.long
def test_an_epoch_holds_no_more_files_than_a_batch_may(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path, seed=3, files_per_epoch=3)
    shop.writer.add(10)
    run(spark, shop)
    # The log of epochs begins at the oldest barrier; Spark's own log goes further back.
    planned = cuts.planned(shop.generation, "copied")
    counts = [
        len(cuts.files_up_to(shop.generation, "events", planned[number][0]["at"]))
        for number in sorted(planned)
    ]
    steps = [after - before for before, after in itertools.pairwise(counts)]
    assert [step for step in steps if step] == [3, 3, 3, 1]


@pytest.mark.long
def test_two_jobs_in_one_process_do_not_meet(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have sources, queries and sinks of the same names."""
    shops = [Shop(tmp_path / name, seed=seed) for seed, name in enumerate(("a", "b"))]
    for shop, files in zip(shops, (9, 4), strict=True):
        shop.writer.add(files)
        shop.writer.close()
    # The python sinks find their database by the environment, which both jobs share: omitted.
    with monkeypatch.context() as patch:
        patch.setenv("SHOP_TOTALS", ":memory:")
        codes: dict[int, int] = {}

        def work(number: int) -> None:
            shop = shops[number]
            arguments = Arguments(True, shop.variables, state=str(shop.state))
            codes[number] = run_script(shop.script, arguments, spark=spark).exit_code

        threads = [threading.Thread(target=work, args=[number]) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert codes == {0: 0, 1: 0}
    for shop in shops:
        found, right = shop.found(), shop.right()
        assert {sink: found[sink] for sink in FILES} == {sink: right[sink] for sink in FILES}
        check_cuts(shop)


# Pipelines of their own.

FILES_SOURCE = """
CREATE SOURCE events (id BIGINT NOT NULL)
WITH (connector = 'files', path = '${root}/in', format = 'json', max_files_per_trigger = 1);
"""
RATE_SOURCE = """
CREATE SOURCE ticks (value BIGINT, timestamp TIMESTAMP)
WITH (connector = 'rate', rows_per_second = 20);
"""


def sink(name: str, of: str) -> str:
    """A stream with the numbers of a source, and a python sink that keeps its batches."""
    column = {"events": "id", "ticks": "value"}[of]
    return f"""
CREATE STREAM {name} AS SELECT {column} FROM {of};
CREATE SINK {name}_out FROM {name} WITH (connector = 'python', function = 'probes:{name}');
"""


class Probes(ModuleType):
    """A module whose functions keep the batches that they get, in the order of their ends."""

    def __init__(self, **seconds: float) -> None:
        super().__init__("probes")
        self.batches: list[tuple[str, int]] = []
        self.instants: dict[str, list[float]] = {name: [] for name in seconds}
        self.kept: dict[str, list[int]] = {name: [] for name in seconds}
        for name, pause in seconds.items():
            setattr(self, name, partial(self._take, name, pause))

    def _take(self, name: str, pause: float, batch: DataFrame, batch_id: int) -> None:
        time.sleep(pause)
        rows = [row[0] for row in batch.collect()]
        self.kept[name] += rows
        if rows:
            self.instants[name].append(time.monotonic())
        self.batches.append((name, batch_id))

    def count(self, name: str) -> int:
        return len(self.kept[name])

    def lead(self, fast: str, slow: str) -> int:
        """By how many batches the one was ahead of the other at most."""
        done = {fast: 0, slow: 0}
        leads = [0]
        for name, batch in self.batches:
            done[name] = batch
            leads.append(done[fast] - done[slow])
        return max(leads)


def run_own(
    spark: SparkSession,
    root: Path,
    probes: Probes,
    text: str,
    *,
    settings: str = "",
    until: Callable[[], bool] | None = None,
) -> None:
    """Run a spec to the end of its input, or until a condition holds."""
    front = f"---\npipeline: own\nvariables: {{root: null}}\n{settings}---\n"
    result = compiled_text(front + text, "own.stream")
    assert not len(result.diagnostics), [each.message for each in result.diagnostics]
    stop = Stop()
    if until is not None:
        threading.Thread(target=_request, args=[stop, until], daemon=True).start()
    arguments = Arguments(until is None, {"root": str(root)}, state=str(root / "state"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "probes", probes)
        ended = run_script(written(result, root), arguments, spark=spark, stop=stop)
    assert ended.exit_code == 0, [failure.render() for failure in ended.failures]


def _request(stop: Stop, until: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end and not until():
        time.sleep(0.05)
    stop.request()


def put(root: Path, count: int) -> None:
    """One file per number, in this order."""
    (root / "in").mkdir(exist_ok=True)
    for number in range(count):
        path = root / "in" / f"{number:03d}.json"
        path.write_text(f'{{"id": {number}}}\n', encoding="utf-8")
        os.utime(path, (FIRST_ARRIVAL + number,) * 2)


def test_sources_of_two_kinds_are_cut_together(spark: SparkSession, tmp_path: Path) -> None:
    """Numbers continue without a gap over a restart, and both queries have planned equal cuts."""
    put(tmp_path, 4)
    probes = Probes(files=0, rate=0)
    text = FILES_SOURCE + RATE_SOURCE + sink("files", "events") + sink("rate", "ticks")
    for files, ticks in ((1, 20), (4, 60)):
        enough = partial(_enough, probes, files, ticks)
        run_own(spark, tmp_path, probes, text, until=enough)
    # A batch that was not committed is repeated, with the same numbers.
    assert set(probes.kept["rate"]) == set(range(max(probes.kept["rate"]) + 1))
    assert set(probes.kept["files"]) == {0, 1, 2, 3}
    generation = tmp_path / "state" / "generations" / "0001"
    log = cuts.epochs(generation)
    for query, source in (("files", "events"), ("rate", "ticks")):
        batches = cuts.planned(generation, query)
        for number in batches.keys() & log.keys():
            assert batches[number] == [{"epoch": number, "at": log[number]["cuts"][source]}]


def _enough(probes: Probes, files: int, ticks: int) -> bool:
    return len(set(probes.kept["files"])) >= files and probes.count("rate") >= ticks


def test_a_trigger_is_the_cadence_of_epochs(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, 4)
    probes = Probes(numbers=0)
    run_own(
        spark,
        tmp_path,
        probes,
        FILES_SOURCE + sink("numbers", "events"),
        settings="trigger: 2 seconds\n",
        until=lambda: probes.count("numbers") >= 4,
    )
    log = cuts.epochs(tmp_path / "state" / "generations" / "0001")
    opened = [_instant(note["opened_at"]) for _, note in sorted(log.items()) if note["rows"]]
    pauses = [after - before for before, after in itertools.pairwise(opened)]
    # The first epoch opens at once, the others at multiples of the interval.
    assert len(pauses) == 3 and all(1.7 < pause < 4 for pause in pauses[1:]), pauses


def test_a_stateless_pipeline_needs_no_empty_epochs(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, 3)
    probes = Probes(numbers=0)
    run_own(spark, tmp_path, probes, FILES_SOURCE + sink("numbers", "events"))
    assert probes.kept["numbers"] == [0, 1, 2]
    assert [batch for _, batch in probes.batches] == [0, 1, 2, 3]


@pytest.mark.parametrize("ahead", [pytest.param(1, marks=pytest.mark.long), 3])
def test_a_fast_query_runs_ahead_no_further_than_allowed(
    spark: SparkSession, tmp_path: Path, ahead: int
) -> None:
    put(tmp_path, 8)
    probes = Probes(fast=0, slow=0.6)
    run_own(
        spark,
        tmp_path,
        probes,
        FILES_SOURCE + sink("fast", "events") + sink("slow", "events"),
        settings=f"max_epochs_in_flight: {ahead}\n",
    )
    assert probes.kept == {"fast": list(range(8)), "slow": list(range(8))}
    assert probes.lead("fast", "slow") == ahead


def _instant(text: str) -> float:
    return datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00").timestamp()
