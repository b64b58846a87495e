"""Faults of a run: what went wrong, where, and how to fix it, under a stable code.

>>> fault = RuntimeFault(MISSING_VARIABLE, "variable `input` has no value", "pass --var input=…")
>>> print(fault.render())
error[SR0101] missing-variable: variable `input` has no value
  = help: pass --var input=…
"""

from __future__ import annotations

from dataclasses import dataclass

from ...contracts.redaction import scrub

USER_ERROR = 2
FAILED = 1


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of fault: its number and slug are printed, `exit_code` ends the process."""

    number: str
    slug: str
    summary: str
    exit_code: int = USER_ERROR


MISSING_VARIABLE = Code("SR0101", "missing-variable", "a variable of the pipeline has no value")
UNKNOWN_VARIABLE = Code("SR0102", "unknown-variable", "--var names no variable of the pipeline")
UNKNOWN_PROFILE = Code("SR0103", "unknown-profile", "--profile names no profile of the pipeline")
BAD_ARGUMENT = Code("SR0104", "bad-argument", "an argument is not of the expected form")
PLAN_MISSING = Code("SR0105", "plan-missing", "there is no plan next to the script")
PLAN_UNREADABLE = Code("SR0106", "plan-unreadable", "the plan is invalid, or of another version")
PLAN_MISMATCH = Code("SR0107", "plan-mismatch", "script and plan do not belong together")
SCRIPT_UNUSABLE = Code("SR0108", "script-unusable", "the script cannot be loaded")
SPARK_REFUSES = Code("SR0109", "spark-refuses", "Spark refuses the script's dataflow")
SECRET_MISSING = Code("SR0110", "secret-missing", "a secret is not where the spec says it is")
JAVA_MISSING = Code("SR0201", "java-missing", "no Java was found")
JAVA_TOO_OLD = Code("SR0202", "java-too-old", "the Java that was found is older than 17")
KERNEL_BUILD = Code("SR0203", "kernel-build", "the Scala part of the runtime did not compile")
SPARK_START = Code("SR0204", "spark-start", "Spark did not start")
RESERVED_SETTING = Code(
    "SR0205", "reserved-setting", "a Spark setting that the runtime itself sets"
)
JAVA_NOT_ALLOWED = Code(
    "SR0207", "java-not-allowed", "a value would run code that the spec does not show"
)
SPARK_VERSION = Code("SR0206", "spark-version", "a Spark that the runtime was not built for")
INPUT_MISSING = Code("SR0301", "input-missing", "a source's path does not exist")
BAD_OPTION = Code("SR0302", "bad-option", "an option of a source or a sink has no such value")
FOREIGN_OUTPUT = Code("SR0303", "foreign-output", "another state has written a sink's output")
OUTPUT_GONE = Code("SR0304", "output-gone", "a sink's output is missing while its state is not")
FUNCTION_MISSING = Code("SR0305", "function-missing", "a Python function cannot be found")
INPUT_MOVED = Code("SR0306", "input-moved", "files that were read are in another folder, too")
PANDAS_MISSING = Code("SR0310", "pandas-missing", "a Python function is called without pandas")
MODULE_BROKEN = Code("SR0311", "module-broken", "the module of a Python function has an error")
TABLE_UNREADABLE = Code("SR0312", "table-unreadable", "reference data cannot be read")
OPERATOR_CLASS = Code("SR0313", "operator-class", "the class of an operator lacks a handler")
OPERATOR_PACKAGE = Code(
    "SR0314", "operator-package", "PySpark lacks a package for operators in Python"
)
PACKAGE_MISSING = Code("SR0320", "package-missing", "Spark lacks the package for a connector")
MODULE_MISSING = Code("SR0321", "module-missing", "something optional needs a Python package")
SERVER_UNREACHABLE = Code("SR0322", "server-unreachable", "the server of a sink does not answer")
SERVER_REFUSES = Code(
    "SR0323", "server-refuses", "the server of a sink does not allow what it needs"
)
OUTPUT_DAMAGED = Code("SR0330", "output-damaged", "a file of an output is missing or truncated")
OUTPUT_AHEAD = Code("SR0331", "output-ahead", "an output is ahead of its state")
OUTPUT_TAKEN = Code("SR0332", "output-taken", "another copy of the state has opened an output")
STATE_IN_USE = Code("SR0401", "state-in-use", "another process runs on the same state")
FOREIGN_STATE = Code("SR0402", "foreign-state", "the state belongs to another pipeline")
STATE_UNREADABLE = Code("SR0403", "state-unreadable", "a file of the state cannot be read")
LAYOUT_DIFFERS = Code("SR0404", "layout-differs", "Spark would keep other state than planned")
STATE_OF_OTHER_PLAN = Code(
    "SR0405", "state-of-other-plan", "the state was begun by another version of the spec"
)
LEASE_LOST = Code("SR0406", "lease-lost", "another process may now run on the state", FAILED)
NO_STATE_FOLDER = Code("SR0407", "no-state-folder", "a path is not a state folder")
NOTHING_RUNS = Code("SR0408", "nothing-runs", "no process runs on the state")
NOT_STOPPED = Code("SR0409", "not-stopped", "a job did not end as requested", FAILED)
STATE_DAMAGED = Code("SR0410", "state-damaged", "no barrier is restorable")
NO_SUCH_BARRIER = Code("SR0411", "no-such-barrier", "a barrier is not restorable")
SINK_STAYS = Code("SR0412", "sink-stays", "a sink cannot undo what it has written")
NOT_CONFIRMED = Code("SR0413", "not-confirmed", "a rollback or a rescaling was not confirmed")
STATE_DRAINED = Code("SR0414", "state-drained", "a drained state cannot be continued")
STATE_COPIED = Code("SR0415", "state-copied", "a state folder is a copy of another one")
STORE_UNSAFE = Code("SR0416", "store-unsafe", "a store does not keep two writers apart")
NOT_RESCALED = Code("SR0417", "not-rescaled", "a state cannot be rescaled as requested")
STORE_UNREACHABLE = Code("SR0418", "store-unreachable", "the store of a state does not answer")
STORE_REFUSES = Code("SR0419", "store-refuses", "the store of a state does not allow an access")
SAVEPOINT_UNUSABLE = Code("SR0420", "savepoint-unusable", "no savepoint can be used as requested")
NOT_MIGRATED = Code(
    "SR0421", "not-migrated", "a savepoint does not fit the spec without a migration"
)
NOT_REPLAYED = Code("SR0422", "not-replayed", "a backfill cannot read the rows that it needs")
QUERY_FAILED = Code("SR0501", "query-failed", "a query ended with an error", FAILED)
NOT_REPEATABLE = Code("SR0504", "not-repeatable", "a batch that ran again gave other rows", FAILED)
SPARK_LOST = Code("SR0502", "spark-lost", "Spark's process ended unexpectedly", FAILED)
BARRIERS_FAIL = Code("SR0503", "barriers-fail", "too many barriers in a row have failed", FAILED)
STALLED = Code("SR0506", "stalled", "a run made no progress for too long", FAILED)
FILE_FAILS = Code("SR0505", "file-fails", "a file could not be read or written", FAILED)
ROWS_LOST = Code("SR0508", "rows-lost", "rows of a batch are not accounted for", FAILED)

CODES = (
    MISSING_VARIABLE,
    UNKNOWN_VARIABLE,
    UNKNOWN_PROFILE,
    BAD_ARGUMENT,
    PLAN_MISSING,
    PLAN_UNREADABLE,
    PLAN_MISMATCH,
    SCRIPT_UNUSABLE,
    SPARK_REFUSES,
    SECRET_MISSING,
    JAVA_MISSING,
    JAVA_TOO_OLD,
    KERNEL_BUILD,
    SPARK_START,
    RESERVED_SETTING,
    SPARK_VERSION,
    JAVA_NOT_ALLOWED,
    INPUT_MISSING,
    INPUT_MOVED,
    BAD_OPTION,
    FOREIGN_OUTPUT,
    OUTPUT_GONE,
    FUNCTION_MISSING,
    PANDAS_MISSING,
    MODULE_BROKEN,
    TABLE_UNREADABLE,
    OPERATOR_CLASS,
    OPERATOR_PACKAGE,
    PACKAGE_MISSING,
    MODULE_MISSING,
    SERVER_UNREACHABLE,
    SERVER_REFUSES,
    OUTPUT_DAMAGED,
    OUTPUT_AHEAD,
    OUTPUT_TAKEN,
    STATE_IN_USE,
    FOREIGN_STATE,
    STATE_UNREADABLE,
    LAYOUT_DIFFERS,
    STATE_OF_OTHER_PLAN,
    LEASE_LOST,
    NO_STATE_FOLDER,
    NOTHING_RUNS,
    NOT_STOPPED,
    STATE_DAMAGED,
    NO_SUCH_BARRIER,
    SINK_STAYS,
    NOT_CONFIRMED,
    STATE_DRAINED,
    STATE_COPIED,
    STORE_UNSAFE,
    NOT_RESCALED,
    STORE_UNREACHABLE,
    STORE_REFUSES,
    SAVEPOINT_UNUSABLE,
    NOT_MIGRATED,
    NOT_REPLAYED,
    QUERY_FAILED,
    NOT_REPEATABLE,
    SPARK_LOST,
    BARRIERS_FAIL,
    STALLED,
    FILE_FAILS,
    ROWS_LOST,
)


class RuntimeFault(Exception):
    """Ends a run with a readable reason without secrets; never shown as a traceback."""

    def __init__(self, code: Code, message: str, help: str | None = None) -> None:
        self.code = code
        self.message = scrub(message)
        self.help = None if help is None else scrub(help)
        super().__init__(self.message)

    @property
    def exit_code(self) -> int:
        return self.code.exit_code

    def render(self) -> str:
        """The fault as lines for a terminal, without colour."""
        lines = [f"error[{self.code.number}] {self.code.slug}: {self.message}"]
        if self.help is not None:
            first, *rest = self.help.splitlines()
            lines.append(f"  = help: {first}")
            lines.extend(f"          {line}" for line in rest)
        return "\n".join(lines)


def reason(error: BaseException) -> str:
    """The reason in an error: the whole message of a fault, the first line of anything else."""
    return error.message if isinstance(error, RuntimeFault) else first_line(error)


def nearest(name: str, known: list[str]) -> str | None:
    """The known name that was most likely meant, or None when none is similar."""
    from difflib import get_close_matches

    found = get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else None


def first_line(error: BaseException) -> str:
    """The first line of an error's message; its name if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def unfit(operator: str, reason: str, help: str | None = None) -> RuntimeFault:
    """The fault for a state that can't be carried over to an operator."""
    return RuntimeFault(
        NOT_MIGRATED,
        f"the state of `{operator}` can't be carried over: {reason}",
        help or "`streamc savepoint plan` shows how each cell migrates",
    )
