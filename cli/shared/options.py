"""Options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .columns import Output
from .report import UserError

StateOption = Annotated[
    str, typer.Option("--state", metavar="DIR", help="The state folder of a job.")
]
OutputOption = Annotated[Output, typer.Option("--format", help="Output format.")]
VariablesOption = Annotated[
    list[str] | None,
    typer.Option("--var", metavar="NAME=VALUE", help="Value of a variable; repeatable."),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="KEY=VALUE",
        help="A setting of Spark, for a state on HDFS or S3; repeatable.",
    ),
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="Settings of this profile.")
]
AdoptOption = Annotated[
    bool,
    typer.Option("--adopt", help="If the state is a copy, make it the state from now on."),
]
AsCopyOption = Annotated[
    bool,
    typer.Option(
        "--as-copy", help="If the state is a copy, make it a separate state with its own outputs."
    ),
]


def copied(*, adopt: bool, as_copy: bool) -> str | None:
    """Return what a copied state is to become."""
    from ...runtime.plan.arguments import ADOPT, AS_COPY

    if adopt and as_copy:
        raise UserError("`--adopt` and `--as-copy` contradict each other", "pass only one of them")
    return ADOPT if adopt else AS_COPY if as_copy else None
