"""The class of an operator: found next to the script, checked, and sent to the workers."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

from ..base.errors import OPERATOR_CLASS, OPERATOR_PACKAGE, RuntimeFault, first_line
from ..base.modules import load_named
from ..python.functions import send_along

ON_EVENT = ("row", "state", "timers")
ON_TIMER = ("at", "state", "timers")


def load_class(
    target: str, operator: str, folders: Sequence[str], methods: Mapping[str, Sequence[str]]
) -> type:
    """The class `module:Class`, which has methods with these names and parameters.

    It is sent to the workers with all modules that it uses from its folder, and so is this package.
    Raises RuntimeFault when it or what it needs cannot be loaded, or when it lacks methods.
    """
    owner = f"operator `{operator}`"
    _check_packages(owner)
    form = "\n".join(["class {name}:", *(f"    {_head(name, methods[name])}" for name in methods)])
    found = load_named(target, owner, folders, "class", form)
    if not isinstance(found, type):
        raise _unfit(owner, target, "is not a class", form.format(name=target.partition(":")[2]))
    for name, parameters in methods.items():
        _check_method(owner, target, found, name, parameters)
    if not _takes(found, 0):
        raise _unfit(owner, target, "cannot be made without arguments", "def __init__(self): …")
    send_along(found, folders)
    _send_own()
    return found


def _check_packages(owner: str) -> None:
    from pyspark.sql.pandas.utils import (
        require_minimum_pandas_version,
        require_minimum_pyarrow_version,
    )

    try:
        require_minimum_pandas_version()
        require_minimum_pyarrow_version()
        importlib.import_module("pyspark.sql.streaming.proto.StateMessage_pb2")
    except Exception as error:
        # Packages in a version that PySpark does not accept raise errors of their own.
        raise RuntimeFault(
            OPERATOR_PACKAGE,
            f"{owner} is a class in Python, for which PySpark lacks a package: {first_line(error)}",
            "pip install 'streamc[python-operators]', on all machines",
        ) from None


def _check_method(
    owner: str, target: str, found: type, name: str, parameters: Sequence[str]
) -> None:
    method = getattr(found, name, None)
    if method is None:
        raise _unfit(owner, target, f"has no `{name}`", _head(name, parameters))
    if not callable(method) or not _takes(method, len(parameters) + 1):
        listed = ", ".join(parameters)
        raise _unfit(
            owner, target, f"has a `{name}` that does not take {listed}", _head(name, parameters)
        )


def _takes(function: object, arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arguments))  # type: ignore[arg-type]
    except TypeError:
        return False
    except ValueError:
        # Not written in Python: unknown.
        return True
    return True


def _head(name: str, parameters: Sequence[str]) -> str:
    return f"def {name}(self, {', '.join(parameters)}): …"


def _unfit(owner: str, target: str, what: str, form: str) -> RuntimeFault:
    return RuntimeFault(OPERATOR_CLASS, f"{owner}: `{target}` {what}", f"write:\n{form}")


def _send_own() -> None:
    from pyspark import cloudpickle

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    register(sys.modules[__package__])
