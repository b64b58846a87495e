"""Pictures of pipelines, and their operators explained."""

from __future__ import annotations

import random
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from compiled import compiled
from golden_extension import cases
from streamc.cli.app import main
from streamc.compiler.driver import CompileResult
from streamc.compiler.views.dot import dot
from streamc.compiler.views.explain import WIDTH, explain
from streamc.compiler.views.flow import Flow, flow
from streamc.compiler.views.mermaid import mermaid
from streamc.compiler.views.placing import Placed, place
from streamc.compiler.views.svg import svg

ROOT = Path(__file__).parent.parent
CASES = sorted((ROOT / "tests" / "views").iterdir())


def result(case: Path) -> CompileResult:
    """Return what the spec of a case compiles to; a case without one has it under ``specs``."""
    spec = case / "spec.stream"
    if not spec.exists():
        spec = ROOT / "specs" / case.name / f"{case.name}.stream"
    return compiled(spec, f"{case.name}.stream")


def flow_of(case: Path) -> Flow:
    found = result(case)
    assert found.graph is not None and found.plan is not None
    return flow(found.graph, found.plan)


@pytest.mark.parametrize(
    ("front", "checkpoint", "words"),
    [
        ("", "TOLERATE 0 FAILURES", ["the first that fails ends the run", "before all have"]),
        ("", "RETAIN 1 TOLERATE 1 FAILURES", ["only the newest can", "a second one in a row"]),
        ("max_epochs_in_flight: 3", "", ["up to 3 epochs ahead"]),
    ],
)
def test_the_policy_in_words(front: str, checkpoint: str, words: list[str], tmp_path: Path) -> None:
    spec = tmp_path / "two.stream"
    spec.write_text(
        f"---\npipeline: two\n{front}\n---\n"
        f"CHECKPOINT EVERY INTERVAL 5 SECONDS {checkpoint};\n"
        "CREATE SOURCE a (value BIGINT) WITH (connector = 'rate');\n"
        "CREATE STREAM b AS SELECT value FROM a WHERE value > 1;\n"
        "CREATE SINK c FROM a WITH (connector = 'memory');\n"
        "CREATE SINK d FROM b WITH (connector = 'memory');\n",
        encoding="utf-8",
    )
    found = compiled(spec, "two.stream")
    assert found.graph is not None
    told = " ".join(explain(found.graph, found.spec).split())
    assert all(word in told for word in ["every 5 seconds", *words])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(
    ("name", "draw"), [("graph.mmd", mermaid), ("graph.dot", dot), ("graph.svg", svg)]
)
def test_pictures(
    case: Path, name: str, draw: Callable[[Flow], str], golden: Callable[[str, str], None]
) -> None:
    golden(name, draw(flow_of(case)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_svg_is_well_formed_and_holds_what_is_in_it(case: Path) -> None:
    picture = ET.fromstring(svg(flow_of(case)))
    width, height = int(picture.attrib["width"]), int(picture.attrib["height"])
    boxes = picture.findall(".//{*}g/{*}rect")
    assert len(boxes) == len(flow_of(case).boxes)
    for box in boxes:
        assert int(box.attrib["x"]) + int(box.attrib["width"]) <= width
        assert int(box.attrib["y"]) + int(box.attrib["height"]) <= height


@pytest.mark.parametrize("seed", range(20))
def test_boxes_stand_apart_and_arrows_go_right(seed: int) -> None:
    dice = random.Random(seed)
    count = dice.randrange(1, 25)
    sizes = [(dice.randrange(40, 300), dice.randrange(20, 120)) for _ in range(count)]
    pairs = list(combinations(range(count), 2))
    arrows = dice.sample(pairs, min(len(pairs), dice.randrange(1, 40))) if pairs else []
    placed = place(sizes, arrows, between_layers=50, between_boxes=10)
    assert placed == place(sizes, arrows, between_layers=50, between_boxes=10)
    for start, end in arrows:
        assert placed.spots[start].x + placed.spots[start].width + 50 <= placed.spots[end].x
    for one, other in combinations(range(count), 2):
        assert _are_apart(placed, one, other)


def _are_apart(placed: Placed, one: int, other: int) -> bool:
    a, b = placed.spots[one], placed.spots[other]
    return a.layer != b.layer or abs(a.y - b.y) >= (a.height + b.height) / 2 + 9


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_explanations(case: Path, golden: Callable[[str, str], None]) -> None:
    found = result(case)
    assert found.graph is not None and found.spec is not None
    golden("explain.txt", explain(found.graph, found.spec))


@pytest.mark.parametrize("case", cases("golden"), ids=lambda case: case.name)
def test_every_operator_has_a_picture_and_an_explanation(case: Path) -> None:
    found = compiled(case / "spec.stream", f"{case.name}.stream")
    assert found.graph is not None and found.spec is not None and found.plan is not None
    text = explain(found.graph, found.spec)
    assert max(map(len, text.split("\n"))) <= WIDTH
    for _, step in found.graph.stateful():
        assert f"\n{step.id}: " in text
    for draw in (mermaid, dot, svg):
        assert draw(flow(found.graph, found.plan))


def test_the_command_draws(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = str(CASES[0] / "spec.stream")
    monkeypatch.setattr(sys, "argv", ["streamc", "graph", spec, "--format", "dot"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith('digraph "spec" {')


def test_the_command_refuses_a_broken_spec(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.stream").write_text("CREATE SINK s FROM nothing WITH (connector = 'console');")
    monkeypatch.setattr(sys, "argv", ["streamc", "graph", str(tmp_path / "x.stream")])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (2, "")
    assert "SC0201" in captured.err


def test_the_command_explains_a_spec(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["streamc", "explain", str(CASES[0] / "spec.stream")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("pipeline spec: 1 query, 3 operators with state")
