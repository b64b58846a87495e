"""A stop requested at any moment of a run: it is carried out, and the answer is true."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from compiled import compiled_text, written
from streamc.runtime import Arguments, Result, RuntimeFault, run_script, stop_pipeline
from streamc.runtime.barriers.coordinator import Coordinator
from streamc.runtime.execution import run as run_module
from streamc.runtime.execution.queries import Queries
from streamc.runtime.execution.watch import Watch
from streamc.runtime.state import state as state_module
from streamc.runtime.state.state import State

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SPEC = """
---
variables: {root: null}
state_backend: memory
spark: {spark.sql.shuffle.partitions: 1}
---
CREATE SOURCE numbers (n BIGINT) WITH (connector = 'files', path = '${root}/in', format = 'json');
CREATE SINK every FROM numbers WITH (connector = 'files', path = '${root}/out', format = 'json');
CHECKPOINT EVERY INTERVAL 1 HOUR RETAIN 5;
""".lstrip()


class Asker:
    """Another process that requests a stop of the job, at a moment that a test chooses."""

    def __init__(self, state: Path, *, drain: bool = False) -> None:
        self.state = state
        self.told: list[str] = []
        self.fault: RuntimeFault | None = None
        self._drain = drain
        self._thread = threading.Thread(target=self._ask)
        self._asked = False

    def ask(self) -> None:
        """Requests it once, and returns when the request has been written."""
        if self._asked:
            return
        self._asked = True
        self._thread.start()
        until = time.monotonic() + 20
        while not any(line.startswith("asked") for line in self.told):
            assert self._thread.is_alive() and time.monotonic() < until, self.fault
            time.sleep(0.01)

    def end(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()
        for kind in ("requests", "answers"):
            assert not list((self.state / "control" / kind).glob("*"))

    def _ask(self) -> None:
        try:
            stop_pipeline(str(self.state), drain=self._drain, timeout=50, show=self.told.append)
        except RuntimeFault as fault:
            self.fault = fault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.json").write_text('{"n": 1}\n{"n": 2}\n', encoding="utf-8")
    return tmp_path


def run(spark: SparkSession, root: Path, *, until_caught_up: bool = False) -> Result:
    script = written(compiled_text(SPEC, "requests.stream"), root)
    asked = Arguments(until_caught_up, {"root": str(root)}, state=f"{root}/state")
    return run_script(script, asked, spark=spark)


@contextmanager
def before(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, do: Callable[[], None]
) -> Iterator[None]:
    """Runs a callback each time that a function of the runtime is about to be called."""
    with monkeypatch.context() as patch:
        own = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            do()
            return own(*arguments, **named)

        patch.setattr(owner, name, call)
        yield


MOMENTS = {
    "it has its lease": (state_module, "settle"),
    "its state is looked at": (run_module, "recover"),
    "its queries are prepared": (Queries, "_prepare"),
    "the gate opens": (Queries, "_open_gate"),
    "its queries start": (Coordinator, "start"),
    "it runs": (Watch, "_goes_on"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_stop_while_a_job_starts_is_heard(
    spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    asker = Asker(root / "state", drain=moment == "the gate opens")
    with before(monkeypatch, *MOMENTS[moment], asker.ask):
        result = run(spark, root)
    asker.end()
    assert (result.exit_code, asker.fault) == (0, None), asker.told
    assert asker.told[-1].startswith("stopped with barrier 1, epoch ")
    barriers = list((root / "state/generations/0001/barriers").glob("*.json"))
    assert len(barriers) == 1, "and there is that barrier"


@pytest.mark.parametrize(
    "moment", [(Coordinator, "_manifest"), (Watch, "ended"), (State, "close")], ids=str
)
@pytest.mark.parametrize("drain", [False, True])
def test_a_stop_of_a_job_that_ends_by_itself(
    spark: SparkSession,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: tuple[Any, str],
    drain: bool,
) -> None:
    asker = Asker(root / "state", drain=drain)
    with before(monkeypatch, *moment, asker.ask):
        result = run(spark, root, until_caught_up=True)
    asker.end()
    assert result.exit_code == 0
    drained = json.loads(newest_epoch(root).rpartition("{")[0])["drain"]
    if drain and not drained:
        assert asker.fault is not None
        assert asker.fault.message.endswith("without a drain: it was ending already")
    else:
        assert asker.told[-1].startswith("stopped with barrier 1, epoch "), asker.fault


def newest_epoch(root: Path) -> str:
    folder = root / "state/generations/0001/epochs"
    return max(folder.glob("*.json")).read_text(encoding="utf-8")


def test_a_job_that_does_not_come_to_run_says_why(
    spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = root / "other"
    (other / "in").mkdir(parents=True)
    run(spark, other, until_caught_up=True)
    (other / "out").rename(root / "out")
    asker = Asker(root / "state")
    with (
        before(monkeypatch, run_module, "recover", asker.ask),
        pytest.raises(RuntimeFault) as caught,
    ):
        run(spark, root)
    asker.end()
    assert caught.value.code.number == "SR0303"
    assert asker.fault is not None and asker.fault.code.number == "SR0409"
    assert "has ended with: " in asker.fault.message
    assert "wrote with another state" in asker.fault.message
