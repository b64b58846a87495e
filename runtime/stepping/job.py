"""A job fed step by step: its input is replaced, its parsing is its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.formats import LINES
from ...contracts.plan import Plan, Query
from ...contracts.readers import READERS
from ...contracts.references import REFERENCE
from ..base.errors import MISSING_VARIABLE, RuntimeFault
from ..base.options import choose
from ..connectors.reading import FAIL
from ..dataflow.job import Job
from ..storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..dataflow.job import InitialState

_OF_JSON = ("lenient", "timestamp_unit", "timestamp_format", "timestamp_zone")
"""Options of a source for reading JSON from anywhere."""


class StepJob(Job):
    """A job whose sources read the folder of a run, with their own options for parsing rows."""

    wakes = False

    def __init__(
        self,
        plan: Plan,
        spark: SparkSession,
        storage: Storage,
        variables: Mapping[str, str],
        root: Path,
        folders: Sequence[str] = (),
        initial: InitialState | None = None,
    ) -> None:
        super().__init__(plan, spark, storage, variables, folders, initial)
        self._root = root

    def read(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        metadata: Mapping[str, str] | None = None,
        malformed_rows: str = FAIL,
        **options: Any,
    ) -> DataFrame:
        options = self._own_options(f"source `{name}`", connector, options, f"rows/{name}")
        return super().read(
            name,
            connector="files",
            schema=schema,
            metadata=metadata,
            malformed_rows=malformed_rows,
            **options,
        )

    def table(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        refresh: str | None = None,
        **options: Any,
    ) -> DataFrame:
        options = self._own_options(f"table `{name}`", connector, options, f"tables/{name}")
        every = None if refresh is None else "0 seconds"
        return super().table(name, connector="files", schema=schema, refresh=every, **options)

    def env(self, name: str) -> str:
        """The reference itself: nothing outside is read or written here."""
        return f"${{env:{name}}}"

    def file(self, path: str) -> str:
        """The reference itself, as for the environment."""
        return f"${{file:{path}}}"

    def frame_of(self, query: Query) -> DataFrame:
        """The frame shared by a query's sinks."""
        return self.calls_of(query)[0].frame

    def _own_options(
        self, owner: str, connector: str, options: Mapping[str, Any], folder: str
    ) -> dict[str, Any]:
        """The options for reading a folder of the run with the pipeline's parsing.

        Rows of formats that do not consist of lines are provided as JSON.
        """
        reads_files = choose(connector, READERS, owner, "connector").reads_files
        parsed = reads_files and options.get("format") in LINES
        # Parquet files can hold NaN, which json has no literal for.
        nan = {"spark.allowNonNumericNumbers": "true"}
        own: dict[str, Any] = dict(options) if parsed else {"format": "json", "options": nan}
        if options.get("format") == "json":
            own |= {name: options[name] for name in _OF_JSON if name in options}
        if own["format"] != "text":
            passed: dict[str, str] = own.get("options", {})
            own["options"] = {**passed, "spark.streamc.given": "true"}
        own.pop("max_files_per_trigger", None)
        own["path"] = str(self._root / folder)
        # `check --spark` creates a job without a run.
        (self._root / folder).mkdir(parents=True, exist_ok=True)
        for option, value in own.items():
            self._refuse_unset(owner, option, str(value))
        return own

    def _refuse_unset(self, owner: str, option: str, value: str) -> None:
        if (reference := REFERENCE.search(value)) is not None:
            raise RuntimeFault(
                MISSING_VARIABLE,
                f"`{option}` of {owner} needs `{reference[0]}`, and secrets are not read here",
                "write a variable in its place, and give that a value in the test",
            )
        for variable in self._variables:
            if f"${{{variable}}}" in value:
                raise RuntimeFault(
                    MISSING_VARIABLE,
                    f"`{option}` of {owner} needs the variable `{variable}`, which has no value",
                    f"give it one in the test: `variables: {{{variable}: …}}`",
                )
