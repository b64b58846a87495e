"""``streamc init``: a folder with a pipeline to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..shared.output import write_if_changed
from ..shared.report import UserError
from ..shared.spec_files import SUFFIX

_TEMPLATES = Path(__file__).parent / "templates"
_FILES = {
    f"{{name}}{SUFFIX}": "spec.stream.j2",
    "data/orders/10-00.json": "orders.json.j2",
    "tests/sales.yaml": "test.yaml.j2",
    "README.md": "README.md.j2",
    ".gitignore": "gitignore.j2",
}
"""The files of the folder and their templates."""


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="NAME", help="The pipeline's name, also used for its folder."),
    ],
) -> None:
    """Create a folder with a spec, sample data and a test."""
    name = folder.resolve().name
    _check_name(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(
            f"{folder} already exists" + (", and is not empty" if folder.is_dir() else ""),
            "choose another name, or move it away",
        )
    written = write_if_changed(_texts(folder, name))
    for path in written:
        print(f"wrote {path}")
    print(f"\nnext:\n    cd {folder}")
    for command in (f"check {name}{SUFFIX}", "test", f"run {name}{SUFFIX} --until-caught-up"):
        print(f"    streamc {command}")


def _check_name(name: str) -> None:
    """Raise ``UserError`` for a name that no pipeline can have, with a similar one that it can."""
    import re

    from ...dsl.settings.values import NAME

    if NAME.fullmatch(name):
        return
    near = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    help_ = "use lower-case letters, digits and `_`, starting with a letter"
    if NAME.fullmatch(near):
        help_ += f", as in `{near}`"
    raise UserError(f"`{name}` cannot name a pipeline", help_)


def _texts(folder: Path, name: str) -> dict[Path, str]:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return {
        folder / path.format(name=name): environment.get_template(template).render(name=name)
        for path, template in _FILES.items()
    }
