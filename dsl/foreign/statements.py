"""Statements of other engines, and their clauses of CREATE, with the form used here."""

from __future__ import annotations

from collections.abc import Callable

from ..reports import codes
from ..reports.diagnostics import Diagnostic
from ..reports.suggest import closest
from ..syntax.place import Place, is_plain_name
from .options import here, told

_CREATED = "SOURCE TABLE STREAM SINK FUNCTION AGGREGATE OPERATOR".split()
_QUERY = "`CREATE STREAM {name} AS SELECT …`"
_FORMS = {
    "SELECT": "name the query: `CREATE STREAM name AS SELECT …`",
    "WITH": "name the query: `CREATE STREAM name AS WITH …`",
    "INSERT": "write the query as a stream, `CREATE STREAM {name}_rows AS SELECT …`, and "
    "`CREATE SINK {name} FROM {name}_rows WITH (connector = …)`",
    "VIEW": _QUERY,
    "MATERIALIZED": _QUERY,
    "TEMPORARY": _QUERY,
    "EXTERNAL": "`CREATE TABLE {name} (…) WITH (connector = …)`",
    "OR": "a spec declares what exists: leave out `OR REPLACE`",
    "DROP": "a spec declares what exists: delete the statement that creates it",
    "ALTER": "a spec declares what exists: change the statement that creates it",
    "SET": "settings go in the front matter, between two lines of `---`",
    "STREAMING": _QUERY,
    "LIVE": _QUERY,
    "APPLY": "changes are written by a sink with `mode = 'upsert'` and a `key`",
    "MERGE": "changes are written by a sink with `mode = 'upsert'` and a `key`",
    "USE": "names belong to the file: leave it out",
    "SHOW": "`streamc check` and `streamc compile --stop-after graph` show what a spec has",
    "DESCRIBE": "`streamc compile --stop-after model` shows the columns of each relation",
    "EXPLAIN": "`streamc explain CODE` and `streamc compile` are commands",
    "EXECUTE": "all sinks of a file run together: leave it out",
    "BEGIN": "all sinks of a file run together: leave it out",
    "END": "all sinks of a file run together: leave it out",
    "/": "a comment begins with `--`",
}
_TWO_WORDS = ("STREAMING", "LIVE", "INSERT", "MATERIALIZED", "TEMPORARY", "EXTERNAL", "OR")
_NAMED_LATER = {
    "STREAMING": 2,
    "LIVE": 2,
    "INSERT": 2,
    "VIEW": 1,
    "MATERIALIZED": 2,
    "TEMPORARY": 2,
    "EXTERNAL": 2,
}
"""How far after the word the name is that the help repeats."""

_CLAUSES = {
    "COMMENT": "use a comment: `-- …`",
    "PARTITIONED": "partition columns are ordinary columns: list them among the columns",
    "PARTITION": "a table is read as a whole: leave it out",
    "USING": "name it in the options: `WITH (connector = 'files', format = 'parquet', path = …)`",
    "OPTIONS": "options go in WITH: `WITH (connector = …, path = …)`",
    "LOCATION": "the location is an option: `WITH (connector = 'files', path = …, format = …)`",
    "STORED": "the format is an option: `WITH (connector = 'files', format = 'parquet', path = …)`",
    "ROW": "the format is an option: `WITH (connector = 'files', format = 'csv', path = …)`",
    "FORMAT": "the format is an option: `WITH (connector = …, format = 'json')`",
    "INCLUDE": "metadata is a column: `arrived_at TIMESTAMP METADATA FROM 'timestamp'`",
    "APPEND": "rows are only ever added to a source: leave it out",
    "LIKE": "write the columns and options out",
    "TBLPROPERTIES": "options go in WITH: `WITH (connector = …)`",
    "CLUSTER": "a table is read as a whole: leave it out",
    "DISTRIBUTED": "leave it out: Spark distributes rows by the keys of each step",
}


def unknown_statement(place: Place) -> Diagnostic | None:
    """A statement, or something to create, that the language does not have."""
    created = place.kind(-1) == "CREATE"
    if not created and "CREATE" not in place.expected:
        return None
    word = place.word()
    near = closest(place.text(), _CREATED if created else ("CREATE", "CHECKPOINT"))
    default = f"did you mean `{near[0]}`?" if near else "statements are CREATE … and CHECKPOINT"
    if created and not near:
        default = f"what can be created: {', '.join(_CREATED)}"
    help_ = _FORMS.get(word, default)
    if word == "TEMPORARY" and place.word(1) in ("FUNCTION", "SYSTEM"):
        help_ = "`CREATE FUNCTION name(x TYPE) RETURNS TYPE AS 'module:function'`"
    elif word == "TEMPORARY" and place.word(1) == "TABLE":
        help_ = _FORMS["EXTERNAL"]
    name = place.text(_NAMED_LATER.get(word, 1))
    if created and "TABLE" in (place.word(1), place.word(2)):
        name = place.text(2 if place.word(1) == "TABLE" else 3)
    if (word, place.word(1)) == ("OR", "REFRESH"):
        help_ = "a spec declares what exists: `CREATE STREAM name AS SELECT …`"
    help_ = help_.replace("{name}", name if is_plain_name(name) else "name")
    label = "" if created else "no statement starts like this"
    two = word in _TWO_WORDS and place.is_word(1)
    shown = f"{word} {place.word(1)}" if two else place.text()
    found = f"CREATE {shown}".rstrip() if created else shown
    return place.report(codes.UNKNOWN_STATEMENT, f"`{found}` is not a statement", label, help_)


def created_from_query(place: Place) -> Diagnostic | None:
    """``CREATE TABLE x AS SELECT``, ``CREATE SOURCE x AS``, ``CREATE STREAM x (…)``."""
    what, name = place.of_statement(1), place.created
    if place.at != place.first + 3 or place.of_statement(0) != "CREATE":
        return None
    if what in ("TABLE", "SOURCE", "SINK") and place.kind() == "AS":
        message = f"`CREATE {what}` takes no query"
        help_ = f"`CREATE STREAM {name} AS SELECT …`"
        if what == "SINK":
            help_ = f"`CREATE STREAM {name}_rows AS SELECT …` and `CREATE SINK {name} FROM "
            help_ += f"{name}_rows WITH (connector = …)`"
    elif what == "STREAM" and place.kind() == "(":
        message = "`CREATE STREAM` takes a query, not columns"
        help_ = f"`CREATE SOURCE {name} (…) WITH (connector = …)`"
    else:
        return None
    return place.report(codes.UNKNOWN_STATEMENT, message, help=help_)


def existence(place: Place) -> Diagnostic | None:
    """``CREATE STREAM IF NOT EXISTS x``."""
    if place.at != place.first + 3 or not place.words("IF", "NOT", "EXISTS", offset=-1):
        return None
    return place.report(
        codes.STATEMENT_WORDS,
        "`IF NOT EXISTS` has no meaning in a spec: each name is declared once",
        help="leave it out",
        offset=-1,
    )


def statement_clause(place: Place) -> Diagnostic | None:
    """A clause of another engine's CREATE: ``PARTITIONED BY``, ``USING``, ``COMMENT``."""
    if not place.creates(*_CREATED) or place.open_bracket() is not None:
        return None
    if place.creates("STREAM") and place.kind(-1) not in ("STREAM", ")"):
        return None
    what, word = place.of_statement(1), place.word()
    help_ = _CLAUSES.get(word)
    if what == "SINK":
        at_name = place.at == place.first + 3
        reads = f"`CREATE SINK {place.created} FROM stream WITH (connector = …)`"
        if at_name and word == "(":
            message = "a sink has the columns of the stream that it writes"
            return place.report(codes.STATEMENT_WORDS, message, help=reads)
        if at_name and word == "INTO":
            message = "a sink writes to a connector, not to a table of the file"
            return place.report(codes.STATEMENT_WORDS, message, help=reads)
    if help_ is None or not {"WITH", "(", "FROM", "$END"} & place.expected:
        return None
    if place.creates("STREAM") and "AS" not in place.expected:
        return None
    message = f"`{word}` is not a clause of CREATE {what}"
    return place.report(codes.STATEMENT_WORDS, message, help=help_)


def options(place: Place) -> Diagnostic | None:
    """Options with their names in quotes, their values without, a colon, or no brackets."""
    opened = place.open_bracket()
    if place.word(-1) == "WITH" and place.expected == {"("}:
        message = "options need parentheses"
        help_ = "`WITH (connector = 'files', …)`"
        return place.report(codes.OPTION_FORM, message, help=help_)
    if opened is None or place.word(opened - 1) != "WITH":
        return None
    if place.kind() == "STRING" and place.text(-1) in ("(", ","):
        message = "option names have no quotes"
        return place.report(codes.OPTION_FORM, message, help=_options_as_here(place, opened))
    if place.text() == ":" and "=" in place.expected:
        message = "an option gets its value with `=`"
        return place.report(codes.OPTION_FORM, message, help=f"write `{place.text(-1)} = …`")
    if place.text(-1) == "=" and {"STRING", "TRUE"} <= place.expected and place.kind() != ";":
        message = "an option value is a quoted string, a number, TRUE or FALSE"
        quoted = f"write `'{place.text()}'`" if is_plain_name(place.text()) else None
        return place.report(codes.OPTION_FORM, message, help=quoted)
    return None


def _options_as_here(place: Place, opened: int) -> str:
    """Return all options of a WITH in the form used here, and what to do about the others."""
    written, other = [], []
    offset = opened + 1
    while place.text(offset) not in (")", ";", "") and place.text(offset + 1) == "=":
        text, value = place.text(offset), place.text(offset + 2)
        name = text[1:-1] if place.kind(offset) == "STRING" else text
        pair = here(name, value[1:-1] if place.kind(offset + 2) == "STRING" else value)
        if pair is None:
            other.append(f"\n`{name}`: {told(name)}")
        elif all(is_plain_name(part) for part in pair[0].split(".")):
            written.append(f"{pair[0]} = '{pair[1]}'")
        else:
            other.append(f"\n`{name}`: options are words, as in `format = …`")
        offset += 3 if place.text(offset + 3) != "," else 4
    if not written:
        return "".join(other).strip() or "options are words, as in `format = …`"
    return f"write `{', '.join(written)}`{''.join(other)}"


def no_options(place: Place) -> Diagnostic | None:
    """``CREATE SINK x FROM y;``."""
    if place.kind() not in (";", "EOF") or place.expected != {"WITH"}:
        return None
    if not place.creates("SINK", "SOURCE", "TABLE"):
        return None
    where = "where it writes to" if place.creates("SINK") else "where its data is"
    offset = 0 if place.kind() == ";" else -1
    message = f"the {place.of_statement(1).lower()} does not say {where}"
    help_ = "add `WITH (connector = 'files', path = …, format = …)`"
    if place.creates("SINK"):
        help_ += ", or `WITH (connector = 'console')` to look at it"
    return place.report(codes.OPTION_FORM, message, help=help_, offset=offset)


def function_form(place: Place) -> Diagnostic | None:
    """``CREATE FUNCTION f AS 'com.example.F'``."""
    if not place.creates("FUNCTION") or place.at != place.first + 3 or place.kind() != "AS":
        return None
    message = "a function needs its parameters and its result type"
    help_ = f"`CREATE FUNCTION {place.created}(x TYPE) RETURNS TYPE AS 'module:function'`"
    return place.report(codes.STATEMENT_WORDS, message, help=help_)


def query_form(place: Place) -> Diagnostic | None:
    """``CREATE STREAM x SELECT …`` and ``CREATE STREAM x AS (SELECT …)``."""
    if not place.creates("STREAM"):
        return None
    if place.kind() == "SELECT" and "AS" in place.expected:
        help_ = f"`CREATE STREAM {place.created} AS SELECT …`"
        return place.report(codes.SYNTAX, "`AS` is missing before the query", help=help_)
    if place.text() == "(" and place.kind(-1) == "AS" and place.expected == {"SELECT", "WITH"}:
        message = "the query of a stream has no parentheses"
        return place.report(codes.SYNTAX, message, help="remove them")
    return None


HINTS: tuple[Callable[[Place], Diagnostic | None], ...] = (
    unknown_statement,
    created_from_query,
    existence,
    statement_clause,
    options,
    no_options,
    function_form,
    query_form,
)
