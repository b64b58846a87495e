"""``streamc explain``: what a code means, or what a spec keeps and promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .pages import find_codes, known_codes, read_page
from .report import Format, UserError, print_diagnostics
from .spec_files import SUFFIX, read_spec


def explain(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE or SPEC]",
            help="A code as it is printed (SC0401) or its name (missing-watermark); or a spec.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Explain a code, or a spec; list all codes without one.

    Of a code: what it means, a spec that fails and the same spec mended. Of a spec: what each
    operator keeps, what bounds it, when its rows come out and when they are dropped, and what each
    sink promises.
    """
    if what is None:
        _list_codes()
    elif what.endswith(SUFFIX):
        _explain_spec(Path(what))
    else:
        _explain_code(what)


def _explain_spec(path: Path) -> None:
    if not path.exists():
        raise UserError(f"there is no {path}")
    source = read_spec(path)

    from ..compiler.driver import compile_source
    from ..compiler.views.explain import explain as explained

    result = compile_source(source, stop_after="graph")
    if print_diagnostics([result.diagnostics], Format.FULL):
        raise typer.Exit(2)
    assert result.graph is not None and result.spec is not None
    print(explained(result.graph, result.spec), end="")


def _list_codes() -> None:
    known = known_codes()
    width = max(len(code.slug) for code in known)
    for code in known:
        print(f"{code.number}  {code.slug:<{width}}  {code.summary}")


def _explain_code(word: str) -> None:
    from ..dsl.suggest import did_you_mean

    known = known_codes()
    found = find_codes(word, known)
    if not found:
        names = [name for code in known for name in (code.number, code.slug)]
        help_ = did_you_mean(word, names) or "`streamc explain` lists all codes"
        raise UserError(f"there is no code `{word}`", help_)
    print("\n".join(read_page(code.number).text() for code in found), end="")
