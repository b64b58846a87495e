"""A flow in the language of Graphviz."""

from __future__ import annotations

from .flow import Box, Flow
from .mermaid import kind_of

_SHAPES = {
    "source": 'shape=box, style="rounded,filled", fillcolor="#e3f4ea", color="#2f8f5b"',
    "table": 'shape=cylinder, style=filled, fillcolor="#e3f4ea", color="#2f8f5b"',
    "stream": 'shape=box, style=filled, fillcolor="#f6f8fa", color="#8793a0"',
    "state": 'shape=box, style=filled, fillcolor="#e4eefb", color="#2b6cb0", peripheries=2',
    "side": 'shape=box, style="filled,dashed", fillcolor="#fdf1de", color="#c77d1a"',
    "sink": 'shape=box, style="rounded,filled", fillcolor="#f1e9fa", color="#7b4bb7"',
}


def dot(flow: Flow) -> str:
    """Return a flow as a directed graph."""
    lines = [f"digraph {_quoted(flow.title)} {{", "  rankdir=LR;"]
    lines.append('  node [fontname="Helvetica", fontsize=11];')
    lines += [
        f"  {_quoted(box.name)} [{_label(box)}, {_SHAPES[kind_of(box)]}];" for box in flow.boxes
    ]
    for arrow in flow.arrows:
        style = " [style=dashed]" if arrow.is_side else ""
        lines.append(f"  {_quoted(arrow.start)} -> {_quoted(arrow.end)}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def _label(box: Box) -> str:
    lines = [f"<b>{_escaped(box.name)}</b>", *(_escaped(line.text) for line in box.lines)]
    return f"label=<{'<br/>'.join(lines)}>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
