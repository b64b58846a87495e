"""The process of a soak: it runs a script and measures its own memory now and then.

    python -m soaking.job SCRIPT FOLDER SECONDS [arguments of the script]

Every SECONDS the current figures, after a garbage collection in Python and in the JVM, are written
to `probe.json` in the folder; the rows of memory sinks are added to `kept.jsonl` when the run has
ended.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from streamc.runtime import Arguments, PlainView, Result, RuntimeFault, run_script
from streamc.runtime.plan.arguments import parse_arguments
from streamc.runtime.plan.plan import load_plan, plan_path
from streamc.runtime.spark.failures import spark_errors


def main(argv: list[str]) -> int:
    """Runs until the job is stopped; the exit code is that of the run."""
    script, folder, every = Path(argv[0]), Path(argv[1]), float(argv[2])
    probe = threading.Thread(target=_probe, args=(folder / "probe.json", every), daemon=True)
    probe.start()
    try:
        result = run_script(script, _arguments(script, argv[3:]), view=PlainView(), signals=True)
    except RuntimeFault as fault:
        print(fault.render(), file=sys.stderr)
        return fault.exit_code
    for failure in result.failures:
        print(failure.render(), file=sys.stderr)
    _keep(result, folder / "kept.jsonl")
    return result.exit_code


def _arguments(script: Path, argv: list[str]) -> Arguments:
    return parse_arguments(script, load_plan(plan_path(script)), argv)


def _keep(result: Result, file: Path) -> None:
    with file.open("a", encoding="utf-8") as kept:
        for rows in result.rows.values():
            for row in rows:
                kept.write(f"{json.dumps(row.asDict(), default=str)}\n")


def _probe(file: Path, every: float) -> None:
    while True:
        time.sleep(every)
        # # Spark may not have started yet, or may have stopped.
        with suppress(*spark_errors(), AttributeError):
            hidden = file.with_name(f".{file.name}")
            hidden.write_text(json.dumps({**_of_python(), **_of_jvm()}), encoding="utf-8")
            hidden.rename(file)


def _of_python() -> dict[str, Any]:
    gc.collect()
    objects = gc.get_objects()
    kinds = Counter(type(one).__name__ for one in objects)
    return {"python_objects": len(objects), "python_kinds": dict(kinds.most_common(12))}


def _of_jvm() -> dict[str, int]:
    from pyspark import SparkContext

    jvm: Any = SparkContext._active_spark_context._gateway.jvm  # type: ignore[union-attr]
    jvm.System.gc()
    beans = jvm.java.lang.management.ManagementFactory
    memory = beans.getMemoryMXBean()
    pools = beans.getPlatformMXBeans(
        jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean")
    )
    return {
        "heap": int(memory.getHeapMemoryUsage().getUsed()),
        "non_heap": int(memory.getNonHeapMemoryUsage().getUsed()),
        "direct": sum(int(pool.getMemoryUsed()) for pool in pools),
        "jvm_threads": int(beans.getThreadMXBean().getThreadCount()),
        "classes": int(beans.getClassLoadingMXBean().getLoadedClassCount()),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
