"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from .columns import Output

StateOption = Annotated[
    str, typer.Option("--state", metavar="DIR", help="The state folder of a job.")
]
OutputOption = Annotated[Output, typer.Option("--format", help="How to print it.")]
