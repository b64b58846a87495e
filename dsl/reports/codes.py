"""The registry of diagnostics: one line per code; a number is never reused.

SC01xx syntax, SC02xx names, SC03xx types, SC04xx time and state, SC05xx what a connector or Spark
cannot do, SC06xx settings (front matter, options), SC07xx tests of specs, SC08xx what streamc does
not build yet, SC09xx migration files.
"""

from __future__ import annotations

from .diagnostics import Code, Severity

_REGISTRY: dict[str, Code] = {}


def _error(number: str, slug: str, summary: str, since: str = "0.1.0") -> Code:
    return _register(Code(number, slug, Severity.ERROR, summary, since))


def _warning(number: str, slug: str, summary: str, since: str = "0.1.0") -> Code:
    return _register(Code(number, slug, Severity.WARNING, summary, since))


def _register(code: Code) -> Code:
    if code.number in _REGISTRY:
        raise ValueError(f"{code.number} is taken by {_REGISTRY[code.number].slug}")
    _REGISTRY[code.number] = code
    return code


def all_codes() -> tuple[Code, ...]:
    """Return every code in the order of its number."""
    return tuple(_REGISTRY[number] for number in sorted(_REGISTRY))


# Syntax.
SYNTAX = _error("SC0101", "syntax", "the text is not what the grammar expects here")
UNCLOSED = _error("SC0102", "unclosed", "a string, name, comment or front matter is not closed")
UNCLOSED_BRACKET = _error("SC0103", "unclosed-bracket", "a bracket is not closed")
MISSING_COMMA = _error("SC0104", "missing-comma", "a comma is missing between two items of a list")
MISSING_SEMICOLON = _error("SC0105", "missing-semicolon", "a statement does not end with `;`")
KEYWORD_AS_NAME = _error("SC0106", "keyword-as-name", "a reserved word is used as a name")
TRAILING_COMMA = _error("SC0107", "trailing-comma", "a list ends with a comma")
UNREADABLE = _error(
    "SC0108", "unreadable", "a character or number that is not part of the language"
)
UNKNOWN_STATEMENT = _error(
    "SC0109", "unknown-statement", "a statement that is not part of the language"
)
MISSING_FROM = _error("SC0110", "missing-from", "a SELECT has no FROM")
COMMA_JOIN = _error("SC0111", "comma-join", "relations in FROM are separated by a comma")
BATCH_CLAUSE = _error("SC0112", "batch-clause", "a clause that needs a finite result")
SUBQUERY = _error("SC0113", "subquery", "a query is used inside an expression")
WINDOW_IN_GROUP_BY = _error("SC0114", "window-in-group-by", "a window is opened in GROUP BY")
WINDOW_WORDS = _error("SC0115", "window-words", "TABLE or DESCRIPTOR in a window function")
WATERMARK_WORDS = _error("SC0116", "watermark-words", "a watermark has the wrong form")
INTERVAL = _error("SC0117", "interval", "an interval has the wrong form")
ASSIGNMENT = _error("SC0118", "assignment", "`==` is used for `=`")
NOT_A_NAME = _error("SC0119", "not-a-name", "an expression is used where a name is expected")
REPEATED_CLAUSE = _error("SC0120", "repeated-clause", "a clause is given twice")
TOO_DEEP = _error("SC0121", "too-deep", "an expression is nested too deeply to be compiled")
OPTION_FORM = _error("SC0122", "option-form", "options have the wrong form")
PRIMARY_KEY = _error("SC0123", "primary-key", "a key is declared for input rows")
WATERMARK_PLACE = _error("SC0124", "watermark-place", "a watermark is declared outside of a source")
WINDOW_CLAUSE = _error("SC0125", "window-clause", "a window is opened in a clause after FROM")
JOIN_WITHIN = _error("SC0126", "join-within", "a join's time bound is in a separate clause")
EMIT_WORDS = _error("SC0127", "emit-words", "EMIT with an unknown mode")
PARTITION_BY = _error("SC0128", "partition-by", "a query partitions its rows explicitly")
SELECT_INTO = _error("SC0129", "select-into", "a query names the target of its rows")
TABLE_FUNCTION = _error("SC0130", "table-function", "a table-generating function in FROM")
FOREIGN_TYPE = _error("SC0131", "foreign-type", "a type in another engine's syntax")
COLUMN_WORDS = _error("SC0132", "column-words", "a column has an unsupported clause")
STATEMENT_WORDS = _error("SC0133", "statement-words", "CREATE has an unsupported clause")
JOIN_WORDS = _error("SC0134", "join-words", "an unsupported kind of join")
FOREIGN_EXPRESSION = _error("SC0135", "foreign-expression", "another engine's expression")
WINDOW_FUNCTION = _error("SC0136", "window-function", "a window function in an expression")
COMPARED_WITH_NULL = _error("SC0137", "compared-with-null", "a comparison that is never true")

# Names.
UNKNOWN_NAME = _error("SC0201", "unknown-name", "a relation that is not declared")
DUPLICATE_NAME = _error("SC0202", "duplicate-name", "a name is declared more than once")
UNKNOWN_COLUMN = _error("SC0203", "unknown-column", "a column that its relation does not have")
AMBIGUOUS_COLUMN = _error(
    "SC0204", "ambiguous-column", "a column name that both sides of a join have"
)
CYCLE = _error("SC0205", "cycle", "streams read each other in a cycle")
RESERVED_NAME = _error("SC0206", "reserved-name", "a name cannot be an id")
DUPLICATE_COLUMN = _error("SC0207", "duplicate-column", "two columns of a relation share a name")
UNNAMED_COLUMN = _error("SC0208", "unnamed-column", "an expression has no column name")
UNUSED = _warning("SC0209", "unused", "nothing reads a declaration")
SECOND_STEP = _error("SC0210", "second-step", "two steps of one kind would share an id")
BUILT_IN_NAME = _error("SC0211", "built-in-name", "a function has the name of a Spark function")
UNKNOWN_PARAMETER = _error(
    "SC0212", "unknown-parameter", "a function uses a name that is not a parameter"
)
RECURSIVE_FUNCTION = _error("SC0213", "recursive-function", "a function calls itself")
TABLE_AS_STREAM = _error("SC0214", "table-as-stream", "a table is used as a stream")
NAME_CHARACTERS = _error("SC0215", "name-characters", "a name has invisible characters")

# Types.
UNKNOWN_TYPE = _error("SC0301", "unknown-type", "a type name that does not exist")
BAD_TYPE_PARAMETERS = _error(
    "SC0302", "bad-type-parameters", "the parameters of a type are invalid"
)
STATE_ONLY_TYPE = _error("SC0303", "state-only-type", "a type that only operator state supports")
OPERAND_TYPE = _error("SC0304", "operand-type", "an operator does not support values of this type")
TEXT_AND_NUMBER = _error("SC0305", "text-and-number", "a string is compared or mixed with a number")
INCOMPARABLE = _error("SC0306", "incomparable", "values of two types cannot be compared")
NOT_BOOLEAN = _error("SC0307", "not-boolean", "a condition is not boolean")
NO_COMMON_TYPE = _error("SC0308", "no-common-type", "alternatives have incompatible types")
UNKNOWN_FUNCTION = _error("SC0309", "unknown-function", "a function that does not exist")
ARGUMENT_COUNT = _error("SC0310", "argument-count", "a function has too few or too many arguments")
ARGUMENT_TYPE = _error(
    "SC0311", "argument-type", "an argument has a type that the function does not accept"
)
MISPLACED_AGGREGATE = _error("SC0312", "misplaced-aggregate", "an aggregate is not allowed here")
NESTED_AGGREGATE = _error("SC0313", "nested-aggregate", "an aggregate is nested in another")
NOT_AN_AGGREGATE = _error("SC0314", "not-an-aggregate", "a clause that is for aggregates only")
MISPLACED_WINDOW = _error("SC0315", "misplaced-window", "OVER is not allowed here")
UNKNOWN_FIELD = _error("SC0316", "unknown-field", "a struct has no such field")
IMPOSSIBLE_CAST = _error("SC0317", "impossible-cast", "a cast that can never succeed")
BAD_LITERAL = _error("SC0318", "bad-literal", "a literal is not a value of its type")
MISPLACED_EXPRESSION = _error("SC0319", "misplaced-expression", "`*`, `->` or `=>` without a call")
BAD_INTERVAL = _error("SC0320", "bad-interval", "an interval cannot be parsed")
UNKNOWN_DATE_PART = _error("SC0321", "unknown-date-part", "EXTRACT has no such field")
FUNCTION_RESULT = _error(
    "SC0322", "function-result", "a function's body has another type than declared"
)
PYTHON_FUNCTION = _error("SC0323", "python-function", "a Python function is declared incorrectly")
PYTHON_PLACE = _error("SC0324", "python-place", "Spark cannot call a Python function here")
ACCUMULATOR = _error("SC0325", "accumulator", "an accumulator is not lifted and combined correctly")

# Time and state.
MISSING_WATERMARK = _error(
    "SC0401", "missing-watermark", "an event time is required, but there is none"
)
UNBOUNDED_STATE = _error("SC0402", "unbounded-state", "state would grow forever")
NO_FIXED_LENGTH = _error("SC0403", "no-fixed-length", "a duration is not fixed, or is zero")
WINDOW_ARGUMENTS = _error("SC0404", "window-arguments", "a window function has wrong arguments")
WINDOW_NOT_GROUPED = _error("SC0405", "window-not-grouped", "a window is opened but not grouped by")
NOT_GROUPED = _error("SC0406", "not-grouped", "a column is neither a key nor inside an aggregate")
GROUP_BY_FORM = _error("SC0407", "group-by-form", "GROUP BY contains something unsupported")
EMIT_FORM = _error("SC0408", "emit-form", "EMIT requests rows that the query can't produce")
CHANGES_INPUT = _error("SC0409", "changes-input", "a stateful step reads changing rows")
JOIN_BOUND = _error("SC0410", "join-bound", "a join has no time bound")
JOIN_KEYS = _error("SC0411", "join-keys", "a join has no equality of keys")
TOP_N_FORM = _error("SC0412", "top-n-form", "QUALIFY is not a top-N of a closed window")
DISTINCT_ON_FORM = _error("SC0413", "distinct-on-form", "DISTINCT ON has an unsupported form")
WATERMARK_FORM = _error("SC0414", "watermark-form", "a watermark is not column minus interval")
UNION_FORM = _error("SC0415", "union-form", "the branches of a union are incompatible")
CHECKPOINT_FORM = _error("SC0416", "checkpoint-form", "a checkpoint policy is inconsistent")
LOOKUP_FORM = _error("SC0417", "lookup-form", "a table can't be joined in this way")
UNBOUNDED_LATENESS = _error(
    "SC0418", "unbounded-lateness", "rows that are in time would be dropped as late"
)
AGGREGATE_ORDER = _error("SC0420", "aggregate-order", "an aggregate has no order")
AGGREGATE_FORM = _error("SC0421", "aggregate-form", "an aggregate can't have this clause")
WINDOW_JOIN = _error("SC0423", "window-join", "the windows of a window join do not match")
AGGREGATE_CONSTANT = _error(
    "SC0422", "aggregate-constant", "an argument is not a suitable constant"
)

# Programs of operators.
UNKNOWN_IN_PROGRAM = _error("SC0430", "unknown-in-program", "a program uses an unknown name")
UNKNOWN_TIMER = _error("SC0431", "unknown-timer", "a program uses an unknown timer")
CELL_KIND = _error("SC0432", "cell-kind", "a statement does not support this kind of cell")
CELL_FORM = _error("SC0433", "cell-form", "a cell of state is declared incorrectly")
ASSIGNED_TYPE = _error("SC0434", "assigned-type", "a value does not fit its target")
EMIT_VALUES = _error("SC0435", "emit-values", "EMIT does not match the columns of RETURNS")
TIMER_UNSERVED = _error("SC0436", "timer-unserved", "a timer has no handler")
TIMER_NEVER_STARTED = _warning("SC0437", "timer-never-started", "a timer is never started")
CELL_NEVER_READ = _warning("SC0438", "cell-never-read", "a cell is never read")
CELL_NEVER_WRITTEN = _warning("SC0439", "cell-never-written", "a cell is never written")
UNKNOWN_INPUT = _error("SC0440", "unknown-input", "a handler is for an unknown input")
INPUT_UNSERVED = _error("SC0441", "input-unserved", "an input has no handler")
HANDLER_FORM = _error("SC0442", "handler-form", "handlers are ambiguous")
AMBIGUOUS_IN_PROGRAM = _error("SC0443", "ambiguous-in-program", "a name is ambiguous")
OPERATOR_KEYS = _error("SC0444", "operator-keys", "the keys of an operator do not match")
OPERATOR_ORDER = _error("SC0445", "operator-order", "rows can't be processed in this order")
ONE_CORE = _warning("SC0446", "one-core", "all rows of an operator have one key")
ARRIVAL_ORDER = _warning("SC0447", "arrival-order", "the result may depend on the order of arrival")
LOOP_VALUES = _error("SC0448", "loop-values", "FOR iterates over something without elements")
ENDLESS_LOOP = _error("SC0449", "endless-loop", "nothing in a loop changes its condition")
UNREACHABLE = _warning("SC0450", "unreachable", "statements are never reached")
PYTHON_OPERATOR = _error("SC0451", "python-operator", "a Python operator is declared incorrectly")
NO_OUTPUT = _error("SC0452", "no-output", "an operator outputs no rows")
LATE_ROWS_FORM = _error(
    "SC0453", "late-rows-form", "no row can be late, or late rows differ in columns"
)
LATE_ROWS_WATERMARK = _warning(
    "SC0455", "late-rows-watermark", "late rows are detected by a watermark of several sources"
)
STATE_BACKEND = _error("SC0454", "state-backend", "state of an operator can't be in memory")

OVER_FORM = _error("SC0460", "over-form", "OVER has an unsupported form")
OVER_FUNCTION = _error("SC0461", "over-function", "a function is not supported with OVER")
COUNT_WINDOW = _error("SC0462", "count-window", "a count window has an unsupported form")
PROGRAM_TYPE = _error("SC0463", "program-type", "a value of a program has no known type")
SHARED_NAME = _error("SC0464", "shared-name", "two values of a program would have the same name")

TEMPORAL_JOIN = _error("SC0470", "temporal-join", "FOR SYSTEM_TIME AS OF has an unsupported form")
VERSIONS_KEPT = _warning("SC0471", "versions-kept", "a version of each key is kept forever")
PATTERN_FORM = _error("SC0472", "pattern-form", "MATCH_RECOGNIZE has an unsupported form")
PATTERN_READ = _error("SC0473", "pattern-read", "a pattern reads rows that are not available")
UNNEST_FORM = _error("SC0474", "unnest-form", "UNNEST has an unsupported form")

# Connectors and Spark's limits.
UNKNOWN_CONNECTOR = _error("SC0501", "unknown-connector", "there is no such connector")
UNKNOWN_OPTION = _error("SC0502", "unknown-option", "a connector or statement has no such option")
MISSING_OPTION = _error("SC0503", "missing-option", "a required option is missing")
OPTION_VALUE = _error("SC0504", "option-value", "an option has an invalid value")
SINK_MODE = _error("SC0505", "sink-mode", "a sink does not support changing rows")
SOURCE_COLUMNS = _error(
    "SC0506", "source-columns", "a connector does not provide the declared columns"
)
UNSUPPORTED_CHAIN = _error(
    "SC0507", "unsupported-chain", "Spark does not support this chain of steps"
)
PROCTIME_FORM = _error("SC0508", "proctime-form", "PROCTIME() is part of an expression")
METADATA_KEY = _error("SC0509", "metadata-key", "a connector has no such metadata")
NO_FUTURE_ROWS = _error("SC0510", "no-future-rows", "future rows need an event time")
NO_MALFORMED_ROWS = _error("SC0511", "no-malformed-rows", "a connector has no malformed rows")
SINK_KEY = _error("SC0520", "sink-key", "the key of an upsert is not the key of the rows")
SINK_KEY_ORDER = _error(
    "SC0521", "sink-key-order", "no event time decides which row of a key is kept"
)
SINK_KEY_TYPE = _error("SC0522", "sink-key-type", "a column of this type can't be a key")
SECRET = _error("SC0523", "secret", "the spec contains a secret")
SINK_COLUMNS = _error("SC0524", "sink-columns", "a sink can't write the columns of its stream")
DRAWN_TWICE = _error("SC0530", "drawn-twice", "several queries compute a nondeterministic value")
PICKED_TWICE = _warning("SC0531", "picked-twice", "several queries each pick a value of a group")
SPARK_REFUSES = _error("SC0590", "spark-refuses", "Spark rejects the emitted program")

# Settings.
FRONT_MATTER_SYNTAX = _error("SC0601", "front-matter-syntax", "the front matter is not valid YAML")
UNKNOWN_SETTING = _error("SC0602", "unknown-setting", "the front matter has an unknown key")
DUPLICATE_SETTING = _error("SC0603", "duplicate-setting", "the front matter has a key twice")
BAD_SETTING = _error("SC0604", "bad-setting", "a setting has an invalid value")
PIPELINE_NAME = _error("SC0605", "pipeline-name", "a pipeline's name is not valid for its files")
PROTECTED_SETTING = _error("SC0606", "protected-setting", "a Spark setting that state relies on")
UNKNOWN_VARIABLE = _error(
    "SC0607", "unknown-variable", "a variable that the front matter does not declare"
)
MALFORMED_VARIABLE = _error("SC0608", "malformed-variable", "`${` without a variable's name in it")
RUNS_JAVA = _error("SC0609", "runs-java", "Spark would run code that the spec does not show")

# Tests of specs.
TEST_SYNTAX = _error("SC0701", "test-syntax", "a test file is not valid YAML")
TEST_FORM = _error("SC0702", "test-form", "a test has the wrong form")
TEST_SPEC = _error("SC0703", "test-spec", "it is not clear which spec a test is for")
TEST_NAME = _error("SC0704", "test-name", "a test names something that its spec does not have")
TEST_COLUMN = _error("SC0705", "test-column", "a row of a test has an unknown or a missing column")
TEST_VALUE = _error("SC0706", "test-value", "a value of a test does not fit its column")
TEST_ORDER = _error("SC0707", "test-order", "a step of a test is in the wrong place")
TEST_UPGRADE = _error("SC0708", "test-upgrade", "a version cannot resume from the previous one")

# Not built yet.
NOT_BUILT = _error(
    "SC0801", "not-built", "part of the language, but not supported by this version yet"
)

# Migration files.
MIGRATION_SYNTAX = _error("SC0901", "migration-syntax", "a migration file is not valid YAML")
MIGRATION_FORM = _error("SC0902", "migration-form", "a migration has the wrong form")
MIGRATION_NAME = _error(
    "SC0903", "migration-name", "a migration names something that the specs do not have"
)
MIGRATION_EXPRESSION = _error(
    "SC0904", "migration-expression", "an expression of a migration is invalid"
)
MIGRATION_UNUSED = _error(
    "SC0905", "migration-unused", "a migration answers a question that is not asked"
)
MIGRATION_VERSION = _error("SC0906", "migration-version", "a migration is for other versions")
