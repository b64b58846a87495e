"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from .columns import Output
from .report import UserError

StateOption = Annotated[
    str, typer.Option("--state", metavar="DIR", help="The state folder of a job.")
]
OutputOption = Annotated[Output, typer.Option("--format", help="How to print it.")]
VariablesOption = Annotated[
    list[str] | None,
    typer.Option("--var", metavar="NAME=VALUE", help="Value of a variable; repeatable."),
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="Settings of this profile.")
]
AdoptOption = Annotated[
    bool,
    typer.Option("--adopt", help="If the state is a copy, it is the state from now on."),
]
AsCopyOption = Annotated[
    bool,
    typer.Option("--as-copy", help="If it is a copy, it becomes one with outputs of its own."),
]


def copied(*, adopt: bool, as_copy: bool) -> str | None:
    """Return what a state that is a copy is to be."""
    from ..runtime.plan.arguments import ADOPT, AS_COPY

    if adopt and as_copy:
        raise UserError("`--adopt` and `--as-copy` say two things of one state", "leave one out")
    return ADOPT if adopt else AS_COPY if as_copy else None
