"""Functions and classes of the user's own modules, found next to the script."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from ...contracts.targets import target_parts
from .errors import FUNCTION_MISSING, MODULE_BROKEN, RuntimeFault


def load_function(
    target: str, owner: str, folders: Sequence[str], form: str
) -> Callable[..., object]:
    """`module:name`, looked for in the folders before the rest of the path.

    `owner` names the user of the function in messages, `form` is how such a function begins, with
    `{name}` for its name. Raises RuntimeFault when there is none, or when its module cannot be
    loaded.
    """
    return load_named(target, owner, folders, "function", form)


def load_named(
    target: str, owner: str, folders: Sequence[str], kind: str, form: str
) -> Callable[..., object]:
    """Like `load_function`, for a `kind` in messages."""
    parts = target_parts(target)
    if parts is None:
        raise RuntimeFault(
            FUNCTION_MISSING, f"{owner}: `{target}` is not `module:name`", "write 'module:name'"
        )
    module, name = parts
    found = getattr(_load(module, owner, folders), name, None)
    if not callable(found):
        shown = form.format(name=name)
        raise RuntimeFault(
            FUNCTION_MISSING,
            f"{owner}: module `{module}` has no {kind} `{name}`",
            f"define it:\n{shown}" if "\n" in shown else f"define it as `{shown}`",
        )
    return found  # type: ignore[no-any-return]


def _load(module: str, owner: str, folders: Sequence[str]) -> ModuleType:
    with _first_on_path(folders):
        try:
            return importlib.import_module(module)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name in _parents(module):
                listed = ", ".join(dict.fromkeys(folders))
                raise RuntimeFault(
                    FUNCTION_MISSING,
                    f"{owner}: there is no module `{module}`",
                    f"put {module.replace('.', '/')}.py into one of: {listed}",
                ) from None
            raise RuntimeFault(
                MODULE_BROKEN,
                f"{owner}: module `{module}` cannot be loaded: {type(error).__name__}: {error}",
                f"fix it until `python -c 'import {module}'` runs",
            ) from error


def _parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts) + 1)}


@contextmanager
def _first_on_path(folders: Sequence[str]) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before
