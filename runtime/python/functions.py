"""Python functions in SQL: registered under their names, called with whole columns of a batch."""

from __future__ import annotations

import os
import sys
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..base.errors import PANDAS_MISSING, RuntimeFault
from ..base.modules import load_function
from ..spark.failures import FAILED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_FORM = "def {name}(column: pd.Series, …) -> pd.Series"


def register_function(
    spark: SparkSession, name: str, target: str, returns: str, folders: Sequence[str]
) -> None:
    """Registers `module:name` for the session's SQL as `name`.

    It gets a pandas Series for each argument, or an Arrow array where its parameters are annotated
    so, and returns one of equal length. Its module, and imported modules next to it, are sent to
    the executors with it. Raises RuntimeFault when it or pandas cannot be loaded.
    """
    owner = f"function `{name}`"
    _check_packages(owner)
    function = load_function(target, owner, folders, _FORM)
    send_along(function, folders)
    use_own_python(spark)
    from pyspark.sql.pandas.functions import arrow_udf, pandas_udf

    call = _guarded(function, f"function `{name}` ({target})")
    make: Any = arrow_udf if _takes_arrow(function) else pandas_udf
    spark.udf.register(name, make(call, returns))


def _check_packages(owner: str) -> None:
    from pyspark.errors import PySparkImportError
    from pyspark.sql.pandas.utils import (
        require_minimum_pandas_version,
        require_minimum_pyarrow_version,
    )

    try:
        require_minimum_pandas_version()
        require_minimum_pyarrow_version()
    except PySparkImportError as error:
        raise RuntimeFault(
            PANDAS_MISSING,
            f"{owner} is called with pandas Series: {str(error).split('] ')[-1]}",
            "install pandas (below 3) and pyarrow with PySpark, on all machines",
        ) from None


def _takes_arrow(function: Callable[..., object]) -> bool:
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        # Annotations with names that are imported only for type checkers.
        return False
    return any(getattr(hint, "__module__", "").startswith("pyarrow") for hint in hints.values())


def use_own_python(spark: SparkSession) -> None:
    """On one machine, functions run in this process's Python, whatever else is on the path."""
    context: Any = spark.sparkContext
    chosen = "PYSPARK_PYTHON" in os.environ or context.getConf().contains("spark.pyspark.python")
    if str(context.master).startswith("local") and not chosen:
        context.pythonExec = sys.executable


def send_along(function: Callable[..., object], folders: Sequence[str]) -> None:
    """Has the user's modules pickled by value: executors need not have their folder.

    Installed modules are left out: every machine has them.
    """
    from pyspark import cloudpickle

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    roots = [Path(f).resolve() for f in folders]
    root = next((r for r in roots if file and r in Path(file).resolve().parents), None)
    if root is None:
        return
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and root in Path(path).resolve().parents and "site-packages" not in path:
            register(module)


def _guarded(function: Callable[..., object], name: str) -> Callable[..., object]:
    """The function with errors that name it, and a check of its result.

    It is pickled with all that it uses, so it imports nothing of this package.
    """
    begin = FAILED

    def call(first: Any, *rest: Any) -> Any:
        import traceback

        try:
            result: Any = function(first, *rest)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[1:]
            told = "".join([*traceback.format_list(frames), f"{type(error).__name__}: {error}"])
            raise RuntimeError(f"{begin} {name} raised\n{told}") from None
        if not hasattr(result, "__len__") or len(result) != len(first):
            given = f"{len(result)} values" if hasattr(result, "__len__") else repr(result)
            raise RuntimeError(f"{begin} {name} gave {given} for {len(first)} rows")
        return result

    # PySpark treats a function without annotations as one of Series, or of arrays.
    call.__annotations__ = {}
    return call
