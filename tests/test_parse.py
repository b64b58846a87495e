"""The parser: every rule of the grammar, soft keywords, spans, recovery."""

from __future__ import annotations

from streamc.dsl.ast.statements import CreateSource, CreateStream
from streamc.dsl.parse import parse
from streamc.dsl.source import SourceFile


def test_a_source_and_a_stream() -> None:
    parsed = parse(
        SourceFile(
            "x.stream",
            """---
pipeline: x
---
CREATE SOURCE s (key STRING NOT NULL, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL 5 SECONDS)
WITH (connector = 'files');
CREATE STREAM t AS SELECT key, COUNT(*) AS n FROM TUMBLE(s, ts, INTERVAL 1 MINUTE) GROUP BY key;
""",
        )
    )
    assert not list(parsed.diagnostics)
    assert parsed.spec is not None
    assert [type(s) for s in parsed.spec.statements] == [CreateSource, CreateStream]
    assert parsed.spec.front_matter is not None
    assert parsed.spec.front_matter.text == "pipeline: x\n"
