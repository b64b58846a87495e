"""An emitted script as a module, and the function in it that builds the dataflow."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from ..base.errors import SCRIPT_UNUSABLE, RuntimeFault
from .job import Job

Build = Callable[[Job], None]
"""The function that builds a script's dataflow."""


def load_build(script: Path) -> Build:
    """The `build` of a script, loaded as a module of its own."""
    name = f"streamc_script_{script.stem}"
    spec = importlib.util.spec_from_file_location(name, script)
    if spec is None or spec.loader is None or not script.is_file():
        raise RuntimeFault(
            SCRIPT_UNUSABLE, f"{script} is not a script", "pass a .py that was compiled"
        )
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, ImportError) as error:
        raise RuntimeFault(
            SCRIPT_UNUSABLE,
            f"{script} cannot be loaded: {error}",
            "compile the spec again",
        ) from None
    build = getattr(module, "build", None)
    if not callable(build):
        raise RuntimeFault(
            SCRIPT_UNUSABLE,
            f"{script} has no function `build`",
            "compile the spec again",
        )
    return build  # type: ignore[no-any-return]
