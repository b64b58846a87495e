"""A flow in the language of Mermaid, which forges and editors render in Markdown."""

from __future__ import annotations

from .flow import Box, Flow

_SHAPES = {
    "source": ("([", "])"),
    "table": ("[(", ")]"),
    "stream": ("[", "]"),
    "state": ("[[", "]]"),
    "side": (">", "]"),
    "sink": ("[/", "/]"),
}
_STYLES = {
    "source": "fill:#e3f4ea,stroke:#2f8f5b,color:#111",
    "table": "fill:#e3f4ea,stroke:#2f8f5b,color:#111",
    "stream": "fill:#f6f8fa,stroke:#8793a0,color:#111",
    "state": "fill:#e4eefb,stroke:#2b6cb0,color:#111",
    "side": "fill:#fdf1de,stroke:#c77d1a,color:#111,stroke-dasharray:4 3",
    "sink": "fill:#f1e9fa,stroke:#7b4bb7,color:#111",
}


def mermaid(flow: Flow) -> str:
    """Return a flow as a flowchart."""
    ids = {box.name: f"n_{box.name}" for box in flow.boxes}
    lines = ["flowchart LR"]
    lines += [f"  {ids[box.name]}{_label(box)}:::{kind_of(box)}" for box in flow.boxes]
    for arrow in flow.arrows:
        sign = "-.->" if arrow.is_side else "-->"
        lines.append(f"  {ids[arrow.start]} {sign} {ids[arrow.end]}")
    used = {kind_of(box) for box in flow.boxes}
    lines += [f"  classDef {kind} {style}" for kind, style in _STYLES.items() if kind in used]
    return "\n".join(lines) + "\n"


def kind_of(box: Box) -> str:
    """Return how a box is drawn: as its kind, or as one that keeps state."""
    return "state" if box.is_stateful else box.kind


def _label(box: Box) -> str:
    opening, closing = _SHAPES[kind_of(box)]
    lines = [f"<b>{_escaped(box.name)}</b>", *(_escaped(line.text) for line in box.lines)]
    return f'{opening}"{"<br/>".join(lines)}"{closing}'


def _escaped(text: str) -> str:
    # Mermaid's entities begin with a hash, which therefore comes first.
    for sign, code in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(sign, code)
    return text
