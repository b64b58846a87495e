"""How a run ends: on request, by a signal, by a fault of a sink's function, on a state in use."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamc.contracts.notes.status import QueryProgress
from streamc.contracts.plan import Plan
from streamc.runtime import Arguments, RuntimeFault, SilentView, Stop, run_script
from streamc.runtime.kernel.build import kernel_jar
from streamc.runtime.kernel.load import load_kernel
from streamc.runtime.state.state import State
from streamc.runtime.storage.file_system import Storage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
FIXTURES = Path(__file__).parent / "runtime_fixtures"
SCRIPT = FIXTURES / "spending.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "payments").mkdir()
    row = {"payment_id": "p", "card_id": "c", "amount": 1, "paid_at": "2026-01-01T00:00:00Z"}
    (tmp_path / "payments/1.json").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


class UntilFirstBatch(SilentView):
    """Asks for a stop once every query has run a batch."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self.plans: list[str] = []

    def start(self, plan: Plan) -> None:
        self.plans.append(plan.pipeline)

    def update(self, queries: Sequence[QueryProgress]) -> None:
        if all(query.rows_in == 1 for query in queries):
            self.stop.request()


def test_stop_on_request(spark: SparkSession, root: Path) -> None:
    stop = Stop()
    view = UntilFirstBatch(stop)
    arguments = Arguments(variables={"root": str(root)}, state=f"{root}/state")
    threading.Timer(120, stop.request).start()
    result = run_script(SCRIPT, arguments, spark=spark, stop=stop, view=view)
    assert (result.exit_code, result.failures, view.plans) == (0, (), ["spending"])
    by_query = {query.query: query for query in result.progress}
    assert by_query["payments"].rows_in == by_query["payments"].rows_out == 1
    (operator,) = by_query["per_minute"].operators
    assert (operator.id, operator.late_rows) == ("per_minute", 0)
    assert not any(query.active for query in result.progress)
    assert not spark.streams.active


def test_state_in_use(spark: SparkSession, root: Path) -> None:
    storage = Storage(load_kernel(spark, kernel_jar(print)), spark)
    arguments = Arguments(True, {"root": str(root)}, state=f"{root}/state")
    holder = State(storage, f"{root}/state", "spending")
    with pytest.raises(RuntimeFault) as caught:
        run_script(SCRIPT, arguments, spark=spark)
    assert caught.value.code.number == "SR0401"
    holder.close()
    assert run_script(SCRIPT, arguments, spark=spark).exit_code == 0
    with pytest.raises(RuntimeFault) as caught:
        State(storage, f"{root}/state", "other")
    assert caught.value.code.number == "SR0402"


def test_function_of_a_sink_raises(spark: SparkSession, root: Path) -> None:
    plan = json.loads((FIXTURES / "spending.plan.json").read_text(encoding="utf-8"))
    script = SCRIPT.read_text(encoding="utf-8").replace(
        'connector="memory",', 'connector="python",\n        function="streamc_test_alarm:ring",'
    )
    (root / "alarm.py").write_text(script, encoding="utf-8")
    (root / "alarm.plan.json").write_text(json.dumps(plan), encoding="utf-8")
    arguments = Arguments(True, {"root": str(root)}, state=f"{root}/state")
    with pytest.raises(RuntimeFault) as caught:
        run_script(root / "alarm.py", arguments, spark=spark)
    assert caught.value.code.number == "SR0305"
    module = root / "streamc_test_alarm.py"
    module.write_text("def ring(batch, id):\n    raise ValueError('too loud')\n", encoding="utf-8")
    result = run_script(root / "alarm.py", arguments, spark=spark)
    assert result.exit_code == 1
    (failure,) = result.failures
    assert failure.message.splitlines() == [
        "query `per_minute` failed: the function of sink `seen` raised",
        f'  File "{module}", line 2, in ring',
        "    raise ValueError('too loud')",
        "ValueError: too loud",
    ]


def test_plan_and_script_of_different_specs(spark: SparkSession, root: Path) -> None:
    plan = json.loads((FIXTURES / "spending.plan.json").read_text(encoding="utf-8"))
    del plan["sinks"]["all_payments"], plan["queries"]["payments"]
    shutil.copy(SCRIPT, root / "spending.py")
    (root / "spending.plan.json").write_text(json.dumps(plan), encoding="utf-8")
    arguments = Arguments(True, {"root": str(root)}, state=f"{root}/state")
    with pytest.raises(RuntimeFault) as caught:
        run_script(root / "spending.py", arguments, spark=spark)
    assert caught.value.code.number == "SR0107"


ENDS = [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]


@pytest.mark.parametrize(("number", "code"), ENDS)
def test_signals_end_a_script(root: Path, number: int, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), f"--var=root={root}", f"--state={root}/state"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    commits = root / "state/generations/0001/queries/payments/commits/0"
    deadline = time.monotonic() + 180
    while not commits.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(number)
    shown, _ = process.communicate(timeout=180)
    assert process.returncode == code, shown
    assert shown.splitlines()[-1] == "spending: stopped"
    assert "Exception" not in shown and "WARN" not in shown
