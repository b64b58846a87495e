"""Manifests of barriers as files: whole, damaged, of another form."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from streamc.contracts.notes.barrier import Manifest, OperatorState, QueryCut, SinkCut, SourceCut
from streamc.runtime.state.manifests import load_manifest, manifest_name, manifest_text
from streamc.runtime.storage.notes import seal

QUERY = QueryCut(
    batch=12,
    watermark=datetime(2026, 3, 1, 9, 55, tzinfo=UTC),
    acknowledged_ms=900,
    operators=(
        OperatorState("per_minute", 0, "aggregate", 2, 2048, 2),
        OperatorState("once", 1, "dedup", 40, 1000, 2),
    ),
    rows_in=7,
    rows_out=3,
)
MANIFEST = Manifest(
    barrier=4,
    epoch=12,
    generation="0001",
    pipeline="card_spend",
    version=1,
    requested_at=datetime(2026, 3, 1, 10, 5, tzinfo=UTC),
    completed_at=datetime(2026, 3, 1, 10, 5, 1, 250000, tzinfo=UTC),
    duration_ms=1250,
    queries={"per_minute": QUERY, "raw": replace(QUERY, watermark=None, operators=())},
    sources={"payments": SourceCut({"logOffset": 3}), "quiet": SourceCut(None)},
    sinks={"spend": SinkCut(12, 3, 1, 912), "seen": SinkCut(12, 3)},
    ledger={"per_minute": {"clicks": {"kind": "source", "in": 1204, "out": 1203, "blank": 1}}},
    files={"epochs/000000012.json": (120, "1a2b3c4d")},
)


def test_a_manifest_is_what_was_written() -> None:
    assert load_manifest(seal(MANIFEST.to_json())) == MANIFEST
    assert MANIFEST.positions == {"payments": {"logOffset": 3}, "quiet": None}


ODD = ["sources/p/a b", 'queries/q/"x"/\\', "queries/ü/\u2028/\x7f\t", "epochs/1.json"]


@pytest.mark.parametrize("paths", [[], ODD[:1], ODD])
def test_a_manifest_is_written_as_any_note_is(paths: list[str]) -> None:
    found = replace(MANIFEST, files={path: (len(path), "1a2b3c4d") for path in paths})
    assert manifest_text(found) == seal(found.to_json())
    assert load_manifest(manifest_text(found)) == found


def test_sums() -> None:
    assert (MANIFEST.state_rows, MANIFEST.state_bytes) == (42, 3048)
    assert (MANIFEST.rows_in, MANIFEST.rows_out) == (14, 6)
    assert manifest_name(4) == "000000004.json"


def test_a_digit_that_differs_is_damage() -> None:
    text = seal(MANIFEST.to_json()).replace('"batch": 12', '"batch": 13', 1)
    with pytest.raises(ValueError, match="checksum"):
        load_manifest(text)


@pytest.mark.parametrize("change", [{"queries": {"q": {}}}, {"files": {"a": [1]}}, {"sinks": []}])
def test_a_note_that_is_no_manifest(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (any text will do)
        load_manifest(seal({**MANIFEST.to_json(), **change}))
