"""Measure how long the language server takes on a spec of 200 statements.

    python benchmarks/language_server.py      one warm-up and ten rounds

Each round changes a line in the middle of the spec, as typing does, and then sends the requests of
an editor. What counts is processor time, which a busy machine disturbs less than elapsed time. The
pause after the last change, in which nothing is compiled, comes on top. With diagnostics above the
goal the exit code is 1.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from compile import spec
from lsprotocol import types as lsp
from streamc.cli.language_server import completion, formatting, hover, symbols
from streamc.cli.language_server.debounce import DELAY
from streamc.cli.language_server.diagnostics import of_spec
from streamc.cli.language_server.documents import Documents, uri_of
from streamc.cli.language_server.positions import Places

ROUNDS = 10
GOAL = 0.1
CHANGED = "CAST(amount * 100 AS BIGINT)"


def main() -> None:
    """Measure, print, and compare."""
    documents = Documents()
    uri = uri_of(Path("shop.stream"))
    seconds: dict[str, list[float]] = {}
    for number in range(ROUNDS + 1):
        text = spec()
        middle = text.index(CHANGED, len(text) // 2)
        changed = CHANGED.replace("100", str(1000 + number))
        text = text[:middle] + changed + text[middle + len(CHANGED) :]
        documents.open(uri, text, number)
        place = Places(text).position(middle + len("CAST(am"))
        tasks: dict[str, Callable[[], Any]] = {
            "completion": partial(completion.at, documents, uri, place),
            "diagnostics": partial(of_spec, documents, uri),
            "hover": partial(_hover, documents, uri, place),
            "symbols": partial(_symbols, documents, uri),
            "formatting": partial(_formatting, documents, uri),
        }
        for name, task in tasks.items():
            took = _timed(task)
            if number:
                seconds.setdefault(name, []).append(took)
    print(f"{'request':<12} {'median':>7} {'worst':>7}   (ms of processor time; pause {DELAY} s)")
    for name, all_of in seconds.items():
        print(f"{name:<12} {_ms(statistics.median(all_of)):>7} {_ms(max(all_of)):>7}")
    if statistics.median(seconds["diagnostics"]) > GOAL:
        sys.exit(f"diagnostics: above the goal of {_ms(GOAL)} ms")


def _hover(documents: Documents, uri: str, place: lsp.Position) -> lsp.Hover | None:
    return hover.hover(documents.analysis(uri), place)


def _symbols(documents: Documents, uri: str) -> list[lsp.DocumentSymbol]:
    return symbols.symbols(documents.analysis(uri))


def _formatting(documents: Documents, uri: str) -> list[lsp.TextEdit]:
    return formatting.formatting(documents.source(uri))


def _timed(task: Callable[[], Any]) -> float:
    begin = time.process_time()
    assert task() is not None
    return time.process_time() - begin


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f}"


if __name__ == "__main__":
    main()
