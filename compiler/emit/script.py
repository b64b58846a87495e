"""The whole script: a fixed frame around one paragraph for each source, relation and sink."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.graph import OperatorGraph
from .endpoints import emit_sink, emit_source, emit_table
from .functions import emit_function
from .relations import emit_relation

if TYPE_CHECKING:
    import jinja2

_OF_THE_RUNTIME = ("cumulate", "program")
"""What a script may import besides Job; no relation can have these names, nor `F`."""

_TEMPLATES = Path(__file__).parent / "templates"


def emit(graph: OperatorGraph, comments: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Return the PySpark script of a pipeline; the same text for the same graph on any machine.

    ``comments`` are those of the spec above each declaration, by name. A stream with several
    paragraphs has them above the first.
    """
    pipeline = graph.pipeline
    modes = {name: query.output_mode for query in graph.queries for name in query.sinks}
    paragraphs = [
        *((f.name, emit_function(f)) for f in pipeline.python_functions()),
        *((s.name, emit_source(s)) for s in pipeline.sources),
        *((t.name, emit_table(t)) for t in pipeline.tables),
        *((r.stream, emit_relation(r)) for r in pipeline.relations),
        *((s.name, emit_sink(s, modes[s.name])) for s in pipeline.sinks),
    ]
    left = dict(comments or {})
    body = "\n\n".join(
        "\n".join([*(f"    # {line}".rstrip() for line in left.pop(name, ())), *lines])
        for name, lines in paragraphs
    )
    used = _names_used(body)
    return _template().render(
        title=_title(pipeline.settings.pipeline, pipeline.settings.description),
        spec=pipeline.spec_name,
        uses_functions="F" in used,
        runtime=", ".join(["Job", *(name for name in _OF_THE_RUNTIME if name in used)]),
        body=body,
    )


def _names_used(body: str) -> set[str]:
    """Return the names that a function's body reads as Python code, without texts and comments."""
    tree = ast.parse(f"def build(job):\n    pass\n{body}")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _title(name: str, description: str | None) -> str:
    """Return the first line of the docstring; nothing in it can end the docstring."""
    if not description:
        return f"Pipeline {name}."
    words = " ".join(description.split()).rstrip(".").replace("\\", "/").replace('"""', "'''")
    return f"Pipeline {name}: {words.rstrip(chr(34))}."


@cache
def _template() -> jinja2.Template:
    import jinja2  # only here: a check does not need it

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("script.py.j2")
