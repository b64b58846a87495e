"""Metrics of a run: their values, a port, a file, what `deploy/` makes of them. No Spark."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import make_metrics
import pytest
import yaml
from compiled import compiled_text
from prometheus_client import parser as plain
from prometheus_client.core import Metric as Family
from prometheus_client.openmetrics import parser as openmetrics
from streamc.contracts.notes.barrier import Manifest, OperatorState, QueryCut
from streamc.contracts.notes.ledger import LeakNote, LedgerNote
from streamc.contracts.notes.status import OperatorProgress, QueryProgress, Stall
from streamc.contracts.plan import Plan
from streamc.runtime import Arguments, RuntimeFault, SilentView, Standing
from streamc.runtime.execution.metrics import export
from streamc.runtime.execution.metrics.export import MetricsFile, address_of, offered, registry_of
from streamc.runtime.execution.metrics.meter import Meter, MeteredView
from streamc.runtime.execution.metrics.registry import METRICS
from streamc.runtime.execution.views import View

ROOT = Path(__file__).parent.parent
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "streamc.json"
SPEC = """\
---
pipeline: cards
version: 3
variables: {key: '${env:SECRET_KEY}'}
---

CREATE SOURCE payments (
  card STRING, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 1 MINUTE
) WITH (connector = 'files', path = '${key}', format = 'json');
CREATE STREAM per_minute AS
SELECT card, window_start, SUM(v) AS total FROM TUMBLE(payments, ts, INTERVAL 1 MINUTE)
GROUP BY card, window_start;
CREATE SINK out FROM per_minute WITH (connector = 'files', path = 'out', format = 'json');
"""
QUERY = "per_minute"
OPERATOR = ("aggregate", QUERY, QUERY)
"""Labels in the order of their names: kind, operator, query."""
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def plan() -> Plan:
    found = compiled_text(SPEC, "cards.stream").plan
    assert found is not None
    return found


def progress(**changed: Any) -> QueryProgress:
    operator = OperatorProgress(QUERY, "aggregate", 7, 2)
    found: dict[str, Any] = {"query": QUERY, "batch": 4, "rows_in": 120, "rows_out": 10}
    found |= {"rate_in": 1.0, "rate_processed": 1.0, "watermark": NOON, "lag_seconds": 60.0}
    found |= {"operators": (operator,), "active": True, "batch_seconds": 1.5}
    return QueryProgress(**(found | changed))


def ledger(batch: int, leaks: tuple[LeakNote, ...] = ()) -> LedgerNote:
    source = {"kind": "source", "in": 60, "out": 50, "malformed": 3, "filtered": 7}
    operator = {"kind": "aggregate", "in": 50, "out": 5, "late": 1, "expired": 5, "held": 7}
    return LedgerNote(QUERY, batch, {"payments": source, QUERY: operator}, leaks=leaks)


def manifest() -> Manifest:
    operator = OperatorState(QUERY, 0, "aggregate", 7, 4096, 2)
    cut = QueryCut(4, NOON, 10, (operator,), 120, 10)
    files = {"a": (100, "0"), "b": (23, "0")}
    return Manifest(
        *(9, 4, "0001", "cards", 3, NOON, NOON, 250, {QUERY: cut}, {}, {}, {}),
        files=files,
    )


def run_shown_to(view: View, plan: Plan) -> None:
    """Show a run of two batches."""
    view.start(plan)
    view.ledger(ledger(3))
    view.ledger(ledger(4, (LeakNote(4, "sinks", "a = b"),)))
    view.standing(Standing("running", 4, None, 1.0, Stall(5.0, "it waits", False)))
    view.update([progress()])
    view.barrier(manifest())
    view.barrier_failed("too late")


Values = Mapping[tuple[str, tuple[str, ...]], float]


def values_of(families: Iterable[Family]) -> Values:
    """Return samples by their names and labels but for the pipeline."""
    found = {}
    for family in families:
        for sample in family.samples:
            assert sample.labels["pipeline"] == "cards"
            labels = tuple(
                value for name, value in sorted(sample.labels.items()) if name != "pipeline"
            )
            found[sample.name, labels] = sample.value
    return found


def expected() -> Values:
    query, source = (QUERY,), (QUERY, "payments")
    return {
        ("streamc_run_version", ()): 3,
        ("streamc_run_active", ()): 1,
        ("streamc_run_failures", ()): 0,
        ("streamc_lease_age_seconds", ()): 2.5,
        ("streamc_epoch", ()): 4,
        ("streamc_stalled_seconds", ()): 5,
        ("streamc_query_active", query): 1,
        ("streamc_query_batches_total", query): 2,
        ("streamc_query_batch_duration_seconds", query): 1.5,
        ("streamc_query_rows_in_total", query): 120,
        ("streamc_query_rows_out_total", query): 10,
        ("streamc_query_watermark_timestamp_seconds", query): NOON.timestamp(),
        ("streamc_query_watermark_lag_seconds", query): 60,
        ("streamc_query_leaks_total", query): 1,
        ("streamc_source_rows_in_total", source): 120,
        ("streamc_source_rows_out_total", source): 100,
        ("streamc_source_malformed_rows_total", source): 6,
        ("streamc_source_filtered_rows_total", source): 14,
        ("streamc_operator_rows_in_total", OPERATOR): 100,
        ("streamc_operator_rows_out_total", OPERATOR): 10,
        ("streamc_operator_late_rows_total", OPERATOR): 2,
        ("streamc_operator_duplicate_rows_total", OPERATOR): 0,
        ("streamc_operator_filtered_rows_total", OPERATOR): 0,
        ("streamc_operator_expired_entries_total", OPERATOR): 10,
        ("streamc_operator_state_entries", OPERATOR): 7,
        ("streamc_operator_state_bytes", OPERATOR): 4096,
        ("streamc_sink_rows_total", (QUERY, "out")): 10,
        ("streamc_barriers_total", ()): 1,
        ("streamc_barrier_failures_total", ()): 1,
        ("streamc_barrier_number", ()): 9,
        ("streamc_barrier_completed_timestamp_seconds", ()): NOON.timestamp(),
        ("streamc_barrier_duration_seconds", ()): 0.25,
        ("streamc_barrier_size_bytes", ()): 123,
    }


def metered(plan: Plan) -> Meter:
    meter = Meter(plan)
    meter.lease_age = lambda: 2.5
    run_shown_to(MeteredView(SilentView(), meter, lambda: None), plan)
    return meter


def test_the_values_of_a_run(plan: Plan) -> None:
    """All metrics are there, as the library's own parser of OpenMetrics reads them."""
    from prometheus_client.openmetrics.exposition import generate_latest

    text = generate_latest(registry_of(metered(plan))).decode()
    families = list(openmetrics.text_string_to_metric_families(text))
    found = dict(values_of(families))
    assert found.pop(("streamc_run_started_timestamp_seconds", ())) <= time.time()
    assert found == expected()
    shown = {one.name: (one.type, one.unit, one.documentation) for one in families}
    assert shown == {one.name: (one.kind, one.unit, one.help) for one in METRICS}
    assert "SECRET_KEY" not in text


def test_counters_begin_with_zero(plan: Plan) -> None:
    found = values_of(registry_of(Meter(plan)).collect())
    counters = {name for name, _ in expected() if name.endswith("_total")}
    assert {name for (name, _), value in found.items() if name in counters and value == 0} == (
        counters
    )


def test_everything_is_passed_on(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []

    class Recorder:
        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: calls.append(name)

    view: Any = MeteredView(Recorder(), Meter(plan), lambda: calls.append("updated"))  # type: ignore[arg-type]
    run_shown_to(view, plan)
    view.message("x")
    view.note("x")
    view.finish([progress(active=False)], "x")
    view.close()
    assert calls.count("updated") == 1
    assert set(calls) - {"updated"} == {name for name in dir(View) if not name.startswith("_")}


# A port.


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def get(port: int, accept: str) -> tuple[str, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_a_port_serves_both_formats_until_the_end(plan: Plan) -> None:
    port = free_port()
    with offered(Arguments(metrics_port=str(port)), plan, SilentView()) as (view, meter):
        assert meter is not None
        run_shown_to(view, plan)
        kind, text = get(port, "application/openmetrics-text; version=1.0.0")
        assert kind.startswith("application/openmetrics-text")
        new = values_of(openmetrics.text_string_to_metric_families(text))
        kind, text = get(port, "text/plain")
        assert kind.startswith("text/plain")
        assert values_of(plain.text_string_to_metric_families(text)) == new
        assert new["streamc_query_rows_in_total", (QUERY,)] == 120
        with socket.socket() as other, pytest.raises(OSError, match="refused"):
            # Other addresses of this machine are not listened on.
            other.connect(("127.0.0.2", port))
    with pytest.raises(OSError, match="refused"):
        get(port, "text/plain")


def test_a_port_in_use(plan: Plan) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        with (
            pytest.raises(RuntimeFault, match=rf"127\.0\.0\.1, port {port}: "),
            offered(Arguments(metrics_port=port), plan, SilentView()),
        ):
            pass


@pytest.mark.parametrize("text", ["", "x", "-1", "65536", "localhost", "localhost:", "1.5"])
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(RuntimeFault, match="is not a port for metrics"):
        address_of(text)


def test_addresses() -> None:
    assert address_of("9464") == ("127.0.0.1", 9464)
    assert address_of("0.0.0.0:9464") == ("0.0.0.0", 9464)
    assert address_of("[::1]:1") == ("::1", 1)


# A file.


def test_a_file_is_replaced_as_a_whole(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "cards.prom"
    with offered(Arguments(metrics_file=path), plan, SilentView()) as (view, meter):
        assert meter is not None
        assert read(path)["streamc_query_rows_in_total", (QUERY,)] == 0
        before = path.stat().st_ino
        run_shown_to(view, plan)
        assert path.stat().st_ino != before
        assert read(path)["streamc_query_rows_in_total", (QUERY,)] == 120
        meter.ended(2)
    ended = read(path)
    assert (ended["streamc_run_active", ()], ended["streamc_run_failures", ()]) == (0, 2)
    assert list(tmp_path.iterdir()) == [path]


def read(path: Path) -> Values:
    return values_of(plain.text_string_to_metric_families(path.read_text(encoding="utf-8")))


def test_a_run_that_cannot_start_has_failed(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "cards.prom"
    with (
        pytest.raises(KeyError),
        offered(Arguments(metrics_file=path), plan, SilentView()),
    ):
        raise KeyError
    assert read(path)["streamc_run_failures", ()] == 1


def test_a_file_that_cannot_be_written(plan: Plan, tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeFault, match="cannot be written: No such file"),
        offered(Arguments(metrics_file=tmp_path / "gone" / "x.prom"), plan, SilentView()),
    ):
        pass
    folder = tmp_path / "there"
    folder.mkdir()
    said: list[str] = []
    file = MetricsFile(folder / "x.prom", registry_of(Meter(plan)), said.append)
    file.begin()
    shutil.rmtree(folder)
    file.write()
    file.write()
    assert len(said) == 1
    folder.mkdir()
    file.write()
    assert (folder / "x.prom").exists()


def test_nothing_is_imported_unasked(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "prometheus_client", None)
    shown = SilentView()
    with offered(Arguments(), plan, shown) as (view, meter):
        assert (view, meter) == (shown, None)
    with (
        pytest.raises(RuntimeFault, match="prometheus_client"),
        offered(Arguments(metrics_port="0"), plan, shown),
    ):
        pass


# What others make of them.


def named_in(text: str) -> set[str]:
    return set(re.findall(r"\bstreamc_\w+", text))


def test_the_page_is_fresh() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page == make_metrics.with_table(page), "make metrics"
    assert named_in(page) == {metric.sample for metric in METRICS}


def test_alerts_and_dashboard_name_metrics_that_exist() -> None:
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    rules = [rule["expr"] for group in groups for rule in group["rules"]]
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    exist = {metric.sample for metric in METRICS}
    assert named_in(" ".join(rules)) <= exist
    assert named_in(" ".join(shown)) <= exist
    assert len(rules) > 10
    assert len(shown) > 15
    assert len({panel["id"] for panel in panels}) == len(panels)


def run_tool(program: str, *arguments: str, cwd: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}: it comes with Debian's package `prometheus`")
    ended = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_promtool_accepts_the_rules() -> None:
    run_tool("promtool", "check", "config", "prometheus.yml", cwd=ALERTS.parent)


def test_rules_fire(tmp_path: Path) -> None:
    """What is wrong in these series, and only that, is an alert."""
    pipeline = '{pipeline="cards"}'
    series = {
        f"streamc_run_failures{pipeline}": "0x20 2x20",
        f"streamc_run_active{pipeline}": "1x40",
        f"streamc_stalled_seconds{pipeline}": "0x40",
    }
    wanted = {"labels": {"severity": "page", "pipeline": "cards"}}
    annotations = {"exp_annotations": {"summary": "cards has ended with 2 failures"}}
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": one} for name, one in series.items()],
        "alert_rule_test": [
            {"eval_time": "10m", "alertname": "StreamcFailed", "exp_alerts": []},
            {
                "eval_time": "30m",
                "alertname": "StreamcFailed",
                "exp_alerts": [{"exp_labels": wanted["labels"], **annotations}],
            },
            {"eval_time": "30m", "alertname": "StreamcStalled", "exp_alerts": []},
            {"eval_time": "30m", "alertname": "StreamcGone", "exp_alerts": []},
        ],
    }
    document = {"rule_files": [str(ALERTS)], "tests": [test]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(document), encoding="utf-8")
    run_tool("promtool", "test", "rules", "test.yml", cwd=tmp_path)


@pytest.mark.slow
def test_prometheus_scrapes_it(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("there is no prometheus: Debian has a package of this name")
    monkeypatch.setattr(export, "_EVERY", 0.0)
    job, server = free_port(), free_port()
    target = {"job_name": "streamc", "static_configs": [{"targets": [f"127.0.0.1:{job}"]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [target]}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    options = ("--config.file=prometheus.yml", "--storage.tsdb.path=data")
    listen = f"--web.listen-address=127.0.0.1:{server}"
    with ExitStack() as stack:
        view, _ = stack.enter_context(offered(Arguments(metrics_port=str(job)), plan, SilentView()))
        run_shown_to(view, plan)
        process = subprocess.Popen(
            [program, *options, listen],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        found = queried(server, "streamc_operator_rows_in_total")
    (one,) = found
    assert one["metric"]["operator"] == QUERY
    assert one["value"][1] == "100"


def queried(port: int, query: str) -> Sequence[Any]:
    """Ask a server for a metric until it has one."""
    url = f"http://127.0.0.1:{port}/api/v1/query?query={query}"
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                result = json.load(answer)["data"]["result"]
        except OSError:
            result = []
        if result:
            assert isinstance(result, list)
            return result
        time.sleep(0.5)
    raise AssertionError("Prometheus has not scraped the job")
