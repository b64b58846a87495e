"""``streamc explain``: what a code means, or what a spec keeps and promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..shared.incompleteness import mark_lines
from ..shared.pages import find_codes, known_codes, read_page
from ..shared.report import Format, UserError, faults, print_diagnostics
from ..shared.spec_files import SUFFIX, read_spec


def explain(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE or SPEC]",
            help="A code as printed (SC0401) or its name (missing-watermark); or a spec.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            metavar="DIR",
            help="For a spec: show marked parts and partitions of this state.",
        ),
    ] = None,
) -> None:
    """Explain a code or a spec; without an argument, list all codes.

    For a code: what it means, a failing spec and the same spec fixed. For a spec: what each
    operator keeps, what bounds it, when its rows come out and when they are dropped, and what each
    sink guarantees; with a state, which parts of it are marked, and until when.
    """
    if state is not None and not (what or "").endswith(SUFFIX):
        raise UserError("`--state` goes with a spec", "`streamc explain SPEC --state DIR`")
    if what is None:
        _list_codes()
    elif what.endswith(SUFFIX):
        _explain_spec(Path(what), state)
    else:
        _explain_code(what)


def _explain_spec(path: Path, state: str | None) -> None:
    if not path.exists():
        raise UserError(f"there is no {path}")
    source = read_spec(path)

    from ...compiler.driver import compile_source
    from ...compiler.views.explain import explain as explained

    result = compile_source(source, stop_after="graph")
    if print_diagnostics([result.diagnostics], Format.FULL):
        raise typer.Exit(2)
    assert result.graph is not None and result.spec is not None
    told = explained(result.graph, result.spec)
    lines = () if state is None else _state(state, result.graph.pipeline.settings.pipeline)
    print(told, end="")
    if lines:
        print("\nState")
        for line in lines:
            print(f"  {line}")


def _state(state: str, pipeline: str) -> tuple[str, ...]:
    """Return a line for each marked part of a state, and one for its partitions."""
    from ...runtime import read_status

    with faults():
        found = read_status(state)
    if found.pipeline != pipeline:
        raise UserError(f"{state} is of pipeline `{found.pipeline}`, not of `{pipeline}`")
    complete = ("complete: every part is what the spec computes from all rows",)
    marks = tuple(mark_lines(found.marks)) or complete
    if found.partitions is None:
        return marks
    return (*marks, f"in {found.partitions} partitions")


def _list_codes() -> None:
    known = known_codes()
    width = max(len(code.slug) for code in known)
    for code in known:
        print(f"{code.number}  {code.slug:<{width}}  {code.summary}")


def _explain_code(word: str) -> None:
    from ...dsl.reports.suggest import did_you_mean

    known = known_codes()
    found = find_codes(word, known)
    if not found:
        names = [name for code in known for name in (code.number, code.slug)]
        help_ = did_you_mean(word, names) or "`streamc explain` lists all codes"
        raise UserError(f"there is no code `{word}`", help_)
    print("\n".join(read_page(code.number).text() for code in found), end="")
