"""The job that an emitted script builds its dataflow with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ...contracts.plan import Plan, Query
from ..base.errors import PLAN_MISMATCH, RuntimeFault
from ..base.java_code import check_options
from ..base.secrets import filled, refuse_keys, remember_options
from ..connectors.reading import FAIL, Declaration, Reading
from ..connectors.sources import read_source
from ..connectors.tables import Tables
from ..keyed import program
from ..python.functions import register_function
from ..storage.file_system import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    InitialState = Callable[[str, StructType], DataFrame | None]
    """The initial state of a Python program, by its name and the columns of that state."""


@dataclass(frozen=True, slots=True)
class SinkCall:
    """A sink as declared by the script."""

    name: str
    frame: DataFrame
    connector: str
    output_mode: str
    options: Mapping[str, Any]


class Job:
    """Collects what a script declares; the runtime then builds queries from it.

    `wakes` is whether its programs wake keys that neither a row nor a watermark reaches.
    """

    wakes = True
    main: ClassVar[Callable[..., None]]
    """A script's last call. It runs the job, so `execution.main` sets it."""

    def __init__(
        self,
        plan: Plan,
        spark: SparkSession,
        storage: Storage,
        variables: Mapping[str, str],
        folders: Sequence[str] = (),
        initial: InitialState | None = None,
    ) -> None:
        self.spark = spark
        self._folders = folders
        self._initial = initial
        self.tables = Tables(spark, storage)
        self._plan = plan
        self._storage = storage
        self._variables = variables
        self._sinks: dict[str, SinkCall] = {}
        self._readings: dict[str, Reading] = {}
        self._programs: dict[str, DataFrame] = {}

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
        """The rows of a source as a streaming frame; `schema` lists its columns in Spark's DDL.

        A row is malformed as a whole or has all its values. A malformed one fails the query that
        reads it; with `malformed_rows` "skip" or "send" it is left out, and with "send" it is among
        the rows of `Job.malformed_rows`. `metadata` names columns by the connector's keys. Raises
        RuntimeFault for a path that does not exist and for options that the connector does not
        have.
        """
        if name not in self._plan.sources:
            raise _mismatch(f"reads source `{name}`, which the plan does not have")
        self._look_at(f"source `{name}`", options)
        columns = _columns(schema)
        source = Declaration(name, connector, columns, metadata or {}, malformed_rows, options)
        self._readings[name] = read_source(self.spark, self._storage, source)
        return self._readings[name].rows

    def malformed_rows(self, source: str) -> DataFrame:
        """The malformed rows of a source that sends them and has already been read.

        The columns are `raw`, `reason`, `source`, `position` and `seen_at`.
        """
        reading = self._readings.get(source)
        if reading is None or reading.malformed is None:
            raise _mismatch(f"asks for malformed rows of `{source}`, which does not send them")
        return reading.malformed()

    def late_rows(
        self,
        frame: DataFrame,
        time: str,
        *,
        window: str | None = None,
        every: str | None = None,
        offset: str = "0 seconds",
        after: str = "0 seconds",
    ) -> DataFrame:
        """The rows that an operator over these rows drops, and the `watermark` that they missed.

        That is the watermark by which Spark's operators drop rows: of the previous batch. A row is
        late when it has reached the row's `time`; with a `window` of some size, one `every` slide,
        the end of the last window that the row belongs to; `after` adds an allowed lateness.
        """
        lengths = (window, every or window, offset, after)
        return type(frame)(self._storage.kernel.LateRows.of(frame._jdf, time, *lengths), self.spark)

    def every_row(self, frame: DataFrame) -> DataFrame:
        """The same rows, all of which move the watermark.

        Spark would otherwise push a filter on the groups of an aggregate above below the watermark,
        and the aggregate's late rows would depend on another watermark.
        """
        return type(frame)(self._storage.kernel.LateRows.every(frame._jdf), self.spark)

    def table(
        self,
        name: str,
        *,
        connector: str,
        schema: Sequence[str],
        refresh: str | None = None,
        **options: Any,
    ) -> DataFrame:
        """The rows of a table, to join streams with; `schema` is as in `read`.

        It is read once per run, or again when a batch begins after `refresh` has passed. All
        batches that begin until then see the same rows, in every query. A malformed row ends the
        run. Raises RuntimeFault for a path that does not exist and for options that the connector
        does not have.
        """
        if name not in self._plan.tables:
            raise _mismatch(f"reads table `{name}`, which the plan does not have")
        self._look_at(f"table `{name}`", options)
        return self.tables.add(name, connector, _columns(schema), refresh, options)

    def operator(
        self,
        name: str,
        *,
        keys: Mapping[str, str],
        inputs: Sequence[program.Rows],
        handlers: Sequence[program.Handler] = (),
        python: str | None = None,
        returns: Mapping[str, str],
        ordered: bool = False,
        state: Sequence[program.Cell] = (),
        timers: Sequence[program.Timer] = (),
        event_time: str | None = None,
    ) -> DataFrame:
        """The rows that a program emits, which is run for each key with a state of its own.

        `keys` and `returns` have types by name. If `ordered`, rows wait until the watermark has
        passed them, and are handled by event time. `event_time` is the column of `returns` that is
        an event time for later steps. `python` is a class, `module:Class`, that has the handlers
        instead; raises RuntimeFault when it cannot be loaded.
        """
        if name not in self._plan.operators:
            raise _mismatch(f"has an operator `{name}`, which the plan does not have")
        whole = program.document(
            name,
            keys,
            inputs,
            state,
            timers,
            handlers,
            returns,
            ordered=ordered,
            event_time=event_time,
            wakes=self.wakes,
        )
        kernel = self._storage.kernel
        if python is not None:
            from ..python_operator.frame import python_frame

            return python_frame(kernel, whole, inputs, python, self._folders, self._initial)
        self._programs[name] = program.frame_of(kernel, whole, inputs)
        return self._programs[name]

    def function(self, name: str, target: str, *, returns: str) -> None:
        """Registers a Python function, `module:name`, for SQL under a name.

        It is called with a pandas Series for each argument and returns one. Raises RuntimeFault
        when it cannot be loaded.
        """
        if name not in self._plan.functions:
            raise _mismatch(f"declares function `{name}`, which the plan does not have")
        register_function(self.spark, name, target, returns, self._folders)

    def var(self, name: str) -> str:
        """The value of a variable for this run."""
        if name not in self._variables:
            raise _mismatch(f"uses variable `{name}`, which the plan does not have")
        return self._variables[name]

    def env(self, name: str) -> str:
        """A secret from the environment; raises RuntimeFault when it is not set."""
        return filled(f"${{env:{name}}}", "the script")

    def file(self, path: str) -> str:
        """A secret from a file, without a trailing line break.

        Raises RuntimeFault when the file cannot be read.
        """
        return filled(f"${{file:{path}}}", "the script")

    def sink(
        self,
        name: str,
        frame: DataFrame,
        *,
        connector: str,
        output_mode: str,
        **options: Any,
    ) -> None:
        """Declares where a relation's rows go. Sinks of one relation share one query."""
        if name not in self._plan.sinks or name in self._sinks:
            raise _mismatch(f"has a sink `{name}`, which the plan does not have, or not twice")
        self._look_at(f"sink `{name}`", options)
        self._sinks[name] = SinkCall(name, frame, connector, output_mode, options)

    def _look_at(self, owner: str, options: Mapping[str, Any]) -> None:
        remember_options(options)
        refuse_keys(owner, str(options.get("path", "")))
        check_options(owner, options.get("options", {}), self._plan.settings.allow)

    def calls_of(self, query: Query) -> tuple[SinkCall, ...]:
        """The sinks of one query as the script declared them, in the plan's order."""
        missing = [name for name in query.sinks if name not in self._sinks]
        if missing:
            raise _mismatch(f"has no sink `{missing[0]}`, which the plan has")
        calls = tuple(self._sinks[name] for name in query.sinks)
        if any(call.frame is not calls[0].frame for call in calls):
            raise _mismatch(f"gives the sinks of `{query.id}` different frames")
        if any(call.output_mode != query.output_mode for call in calls):
            raise _mismatch(f"has another output mode for `{query.id}` than the plan")
        return calls

    def program(self, operator: str) -> DataFrame | None:
        """The rows that a program emits, None if its handlers are a class in Python."""
        return self._programs.get(operator)


def _columns(schema: Sequence[str]) -> StructType:
    from pyspark.sql.types import StructType

    ddl = schema if isinstance(schema, str) else ", ".join(schema)
    return cast(StructType, StructType.fromDDL(ddl))


def _mismatch(what: str) -> RuntimeFault:
    return RuntimeFault(PLAN_MISMATCH, f"the script {what}", "compile the spec again")
