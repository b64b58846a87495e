"""A job that is fed step by step: what it reads is replaced, how that is parsed is its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...contracts.plan import Plan, Query
from ...contracts.references import REFERENCE
from ..base.errors import MISSING_VARIABLE, RuntimeFault
from ..connectors.reading import FAIL
from ..dataflow.job import Job
from ..storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ..dataflow.job import InitialState

READ_AS_WRITTEN = ("json", "csv", "text")
"""Formats whose lines a step gives as they are; rows of all others are given as JSON."""

_OF_JSON = ("lenient", "timestamp_unit")
"""Options by which a source reads JSON, wherever it lies."""


class StepJob(Job):
    """A job whose sources read the folder of a run, by the options that say how rows are parsed."""

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
        """The reference: nothing outside is read or written here."""
        return f"${{env:{name}}}"

    def file(self, path: str) -> str:
        """The reference, as of the environment."""
        return f"${{file:{path}}}"

    def frame_of(self, query: Query) -> DataFrame:
        """The frame that the sinks of a query share."""
        return self.calls_of(query)[0].frame

    def _own_options(
        self, owner: str, connector: str, options: Mapping[str, Any], folder: str
    ) -> dict[str, Any]:
        """The options for reading a folder of the run with the parsing of the pipeline."""
        parsed = connector == "files" and options.get("format") in READ_AS_WRITTEN
        # Files of parquet hold NaN, which json has no word for.
        nan = {"spark.allowNonNumericNumbers": "true"}
        own = dict(options) if parsed else {"format": "json", "options": nan}
        if options.get("format") == "json":
            own |= {name: options[name] for name in _OF_JSON if name in options}
        own.pop("max_files_per_trigger", None)
        own["path"] = str(self._root / folder)
        # `check --spark` makes a job without a run.
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
