"""``streamc explain``: what a code means and how to mend it."""

from __future__ import annotations

from typing import Annotated

import typer

from .pages import find_codes, known_codes, read_page
from .report import UserError


def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="A code as it is printed (SC0401) or its name (missing-watermark).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Explain a code, with a spec that fails and the same spec mended; or list all codes."""
    if code is None:
        _list_codes()
    else:
        _explain_code(code)


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
