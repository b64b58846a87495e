"""``streamc graph``: the flow of a pipeline as a picture."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..shared.report import Format, print_diagnostics
from ..shared.spec_files import read_spec


class Picture(StrEnum):
    """The languages of pictures."""

    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"


def graph(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A spec.", show_default=False)],
    format: Annotated[Picture, typer.Option("--format", help="Output language.")] = Picture.MERMAID,
) -> None:
    """Draw a pipeline: sources, streams with their state, sinks.

    Mermaid is for Markdown, dot for Graphviz; svg is a standalone picture.
    """
    source = read_spec(spec)

    from ...compiler.driver import compile_source

    result = compile_source(source, stop_after="plan")
    if print_diagnostics([result.diagnostics], Format.FULL):
        raise typer.Exit(2)

    from ...compiler.views.dot import dot
    from ...compiler.views.flow import flow
    from ...compiler.views.mermaid import mermaid
    from ...compiler.views.svg import svg

    assert result.graph is not None and result.plan is not None
    writers = {Picture.MERMAID: mermaid, Picture.DOT: dot, Picture.SVG: svg}
    sys.stdout.write(writers[format](flow(result.graph, result.plan)))
