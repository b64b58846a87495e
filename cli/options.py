"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from .columns import Output

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
