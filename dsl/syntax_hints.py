"""Parse errors told as the mistake that was made.

Each hint looks at the place where the parser could not go on and returns a diagnostic if it knows
the mistake; the first one that does is heard. What no hint knows is told as what was found and what
would have been expected.
"""

from __future__ import annotations

from collections.abc import Callable

from . import codes
from .diagnostics import Code, Diagnostic, Label
from .expectations import is_clause, keywords, phrase
from .lalr import RESERVED, Parser, SyntaxFailure
from .records import dataclass
from .source import Span
from .suggest import closest
from .tokens import UNITS, Tokens, plain_kind

_BATCH = (
    "LIMIT ORDER FETCH OFFSET SORT CLUSTER DISTRIBUTE INTERSECT EXCEPT MINUS TABLESAMPLE".split()
)
_TOP_N = (
    "the top rows of a window are "
    "`QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY n DESC) <= 10`"
)
_CLAUSES = "FROM WHERE GROUP HAVING QUALIFY UNION".split()
_STATEMENTS = "SOURCE TABLE STREAM SINK FUNCTION AGGREGATE OPERATOR".split()


@dataclass(frozen=True, slots=True)
class Place:
    """Where the parser could not go on: token ``at`` of the statement that begins at ``first``."""

    parser: Parser
    tokens: Tokens
    first: int
    at: int
    states: list[int]
    expected: frozenset[str]

    def kind(self, offset: int = 0) -> str:
        """Return the kind of a token counted from the failing one; empty outside the statement."""
        index = self.at + offset
        inside = self.first <= index < len(self.tokens.kinds)
        return plain_kind(self.tokens.kinds[index], self.tokens.texts[index]) if inside else ""

    def text(self, offset: int = 0) -> str:
        """Return the text of a token counted from the failing one; empty outside the statement."""
        index = self.at + offset
        inside = self.first <= index < len(self.tokens.kinds)
        return self.tokens.texts[index] if inside else ""

    def word(self, offset: int = 0) -> str:
        """Return a token's text in upper case."""
        return self.text(offset).upper()

    def span(self, offset: int = 0) -> Span:
        """Return the place of a token counted from the failing one."""
        return self.tokens.span(self.at + offset)

    def would_take(self, *kinds: str) -> bool:
        """Return whether tokens of these kinds could come instead, one after the other."""
        return self.parser.accepts(self.states, *kinds)

    def open_bracket(self) -> int | None:
        """Return the innermost bracket of the statement that is still open, as an offset."""
        depth = 0
        for index in range(self.at - 1, self.first - 1, -1):
            if self.tokens.kinds[index] == ")":
                depth += 1
            elif self.tokens.kinds[index] == "(":
                if depth == 0:
                    return index - self.at
                depth -= 1
        return None

    def report(
        self,
        code: Code,
        message: str,
        label: str = "",
        help: str | None = None,
        offset: int = 0,
        secondary: tuple[Label, ...] = (),
    ) -> Diagnostic:
        """Return a diagnostic at a token counted from the failing one."""
        return Diagnostic(code, message, Label(self.span(offset), label), secondary, help=help)


def explain(
    parser: Parser, failure: SyntaxFailure, tokens: Tokens, first: int
) -> Diagnostic | None:
    """Return what there is to say about a failure; None for a token already reported."""
    if failure.kind == "ERROR":
        return None
    expected = parser.expected(failure.states)
    place = Place(parser, tokens, first, failure.index, failure.states, expected)
    for hint in HINTS:
        if diagnostic := hint(place):
            return diagnostic
    return _unexpected(place)


def _unexpected(place: Place) -> Diagnostic:
    wanted = phrase(place.expected)
    label = f"expected {wanted}" if wanted else ""
    near = closest(place.text(), keywords(place.expected)) if place.kind() == "NAME" else ()
    help_ = f"did you mean `{near[0]}`?" if near else None
    if place.kind() == "EOF":
        return place.report(codes.SYNTAX, "the file ends inside a statement", label, help_, -1)
    return place.report(codes.SYNTAX, f"unexpected `{place.text()}`", label, help_)


def _unknown_statement(place: Place) -> Diagnostic | None:
    created = place.kind(-1) == "CREATE"
    if not created and "CREATE" not in place.expected:
        return None
    word = place.word()
    forms = {
        "SELECT": "name the query: `CREATE STREAM name AS SELECT …`",
        "WITH": "name the query: `CREATE STREAM name AS WITH …`",
        "INSERT": "`CREATE SINK name FROM stream WITH (connector = …)`",
        "VIEW": "`CREATE STREAM name AS SELECT …`",
        "MATERIALIZED": "`CREATE STREAM name AS SELECT …`",
        "TEMPORARY": "`CREATE STREAM name AS SELECT …`",
        "EXTERNAL": "`CREATE TABLE name (…) WITH (connector = …)`",
        "OR": "a spec says what there is: leave out `OR REPLACE`",
        "DROP": "a spec says what there is: delete the statement that creates it",
        "SET": "settings stand in the front matter, between two lines of `---`",
    }
    near = closest(place.text(), _STATEMENTS if created else ("CREATE", "CHECKPOINT"))
    default = f"did you mean `{near[0]}`?" if near else "statements are CREATE … and CHECKPOINT"
    if created and not near:
        default = f"what can be created: {', '.join(_STATEMENTS)}"
    label = "" if created else "no statement begins like this"
    found = f"CREATE {place.text()}" if created else place.text()
    help_ = forms.get(word, default)
    return place.report(codes.UNKNOWN_STATEMENT, f"`{found}` is not a statement", label, help_)


def _created_from_query(place: Place) -> Diagnostic | None:
    """``CREATE TABLE x AS SELECT``, ``CREATE SOURCE x AS``, ``CREATE STREAM x (…)``."""
    start = place.first - place.at
    what, name = place.word(start + 1), place.text(start + 2)
    if place.at != place.first + 3 or place.word(start) != "CREATE":
        return None
    if what in ("TABLE", "SOURCE", "SINK") and place.kind() == "AS":
        message = f"`CREATE {what}` takes no query"
        help_ = f"`CREATE STREAM {name} AS SELECT …`"
    elif what == "STREAM" and place.kind() == "(":
        message = "`CREATE STREAM` takes a query, not columns"
        help_ = f"`CREATE SOURCE {name} (…) WITH (connector = …)`"
    else:
        return None
    return place.report(codes.UNKNOWN_STATEMENT, message, help=help_)


def _missing_semicolon(place: Place) -> Diagnostic | None:
    if place.word() not in ("CREATE", "CHECKPOINT", "") or not place.would_take("$END"):
        return None
    help_ = f"put `;` behind `{place.text(-1)}`"
    return place.report(
        codes.MISSING_SEMICOLON, "a statement has no `;`", "the statement ends here", help_, -1
    )


def _interval(place: Place) -> Diagnostic | None:
    amount = place.kind() in ("INTEGER", "NUMBER", "STRING")
    if place.kind(-1) == "INTERVAL" and amount:
        return _bad_unit(place, 0)
    if amount and "INTERVAL" in place.expected and "NAME" not in place.expected:
        text = f"{place.text()} {place.word(1)}" if place.kind(1) == "UNIT" else "30 SECONDS"
        message = "an interval begins with `INTERVAL`"
        return place.report(codes.INTERVAL, message, help=f"`INTERVAL {text}`")
    if place.kind(-1) == "STRING" and place.kind(-2) == "INTERVAL" and place.kind() == "NAME":
        return _bad_unit(place, -1)
    return None


def _bad_unit(place: Place, offset: int) -> Diagnostic:
    amount, word = place.text(offset), place.text(offset + 1)
    if place.kind(offset + 1) == "NAME":
        near = closest(word, [f"{unit}S" for unit in UNITS])
        help_ = f"did you mean `{near[0]}`?" if near else "units go from MICROSECONDS to YEARS"
        return place.report(
            codes.INTERVAL, f"`{word}` is not a unit of time", "", help_, offset + 1
        )
    help_ = f"`INTERVAL {amount} SECONDS`"
    return place.report(codes.INTERVAL, "an interval has no unit", help=help_, offset=offset)


def _watermark(place: Place) -> Diagnostic | None:
    for offset in (-1, -2, -3):
        if place.word(offset) == "WATERMARK" and place.text(offset - 1) in ("(", ","):
            after = offset + (2 if place.word(offset + 1) == "FOR" else 1)
            column = place.text(after) if after < 0 and place.kind(after) == "NAME" else "ts"
            return place.report(
                codes.WATERMARK_WORDS,
                "a watermark names its column and how far rows may be late",
                help=f"`WATERMARK FOR {column} AS {column} - INTERVAL 30 SECONDS`",
                offset=offset,
            )
    return None


def _window_table(place: Place) -> Diagnostic | None:
    if place.word(-1) != "TABLE" or place.text(-2) != "(" or place.kind(-3) != "WINDOWING":
        return None
    kind = place.word(-3)
    help_ = f"`{kind}({place.text()}, ts, INTERVAL …)`"
    message = f"`{kind}` takes a name as it is, without `TABLE`"
    return place.report(codes.WINDOW_WORDS, message, help=help_, offset=-1)


def _subquery(place: Place) -> Diagnostic | None:
    if place.kind() not in ("SELECT", "WITH") or place.text(-1) != "(":
        return None
    test = {"IN": "`IN (SELECT …)` is", "EXISTS": "`EXISTS (SELECT …)` is"}.get(place.word(-2))
    what = test or "a query in an expression is"
    help_ = "join with it: `JOIN other ON other.k = this.k AND …`; `FROM (SELECT …)` is fine"
    return place.report(
        codes.SUBQUERY, f"{what} nothing that a stream can keep up to date", "", help_
    )


def _batch_clause(place: Place) -> Diagnostic | None:
    if place.word(-1) == "UNION" and "ALL" in place.expected:
        help_ = "`UNION ALL`; `SELECT DISTINCT ON (id) …` over it drops repeated rows"
        message = "`UNION` would compare every row with every row before"
        return place.report(codes.BATCH_CLAUSE, message, help=help_, offset=-1)
    ends_query = {"$END", ")"} & place.expected and "WHERE" in place.expected
    ends_query = ends_query or {"QUALIFY", "EMIT", "UNION"} & place.expected
    if place.word() not in _BATCH or not ends_query:
        return None
    set_operation = place.word() in ("INTERSECT", "EXCEPT", "MINUS")
    help_ = "compare streams with a join on the columns" if set_operation else _TOP_N
    clause = "ORDER BY" if place.word() == "ORDER" else place.word()
    message = f"`{clause}` needs all rows at once, and a stream has no last one"
    return place.report(codes.BATCH_CLAUSE, message, help=help_)


def _missing_from(place: Place) -> Diagnostic | None:
    ends = place.kind() in (";", ")", "EOF", "WHERE", "GROUP", "UNION", "HAVING", "QUALIFY")
    if not ends or "FROM" not in place.expected or "," not in place.expected:
        return None
    offset = 0 if place.kind() != "EOF" else -1
    message = "`SELECT` reads from nothing"
    help_ = "name a source or stream: `FROM name`"
    return place.report(codes.MISSING_FROM, message, "`FROM` belongs here", help_, offset)


def _comma_join(place: Place) -> Diagnostic | None:
    if place.kind() != "," or "JOIN" not in place.expected:
        return None
    help_ = "`a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL …`"
    return place.report(codes.COMMA_JOIN, "relations are not joined by a comma", help=help_)


def _trailing_comma(place: Place) -> Diagnostic | None:
    if place.kind(-1) != ",":
        return None
    if place.kind() in (")", ";", "EOF") or is_clause(place.kind()):
        help_ = "remove the comma"
        message = "a comma has nothing behind it"
        return place.report(codes.TRAILING_COMMA, message, help=help_, offset=-1)
    return None


def _keyword_as_name(place: Place) -> Diagnostic | None:
    if place.kind() not in RESERVED or "NAME" not in place.expected:
        return None
    after = plain_kind(place.tokens.kinds[place.at + 1], place.tokens.texts[place.at + 1])
    if not place.would_take("NAME", after):
        return None
    help_ = f"as a name it stands in backticks: `` `{place.text()}` ``"
    return place.report(codes.KEYWORD_AS_NAME, f"`{place.text()}` is a reserved word", help=help_)


def _string_as_name(place: Place) -> Diagnostic | None:
    if place.kind() != "STRING" or {"NAME", "INTEGER"} & place.expected != {"NAME"}:
        return None
    help_ = "names stand as they are, or in backticks"
    return place.report(codes.NOT_A_NAME, "a string stands where a name belongs", help=help_)


def _over_without_brackets(place: Place) -> Diagnostic | None:
    clause = (place.word(-2), place.word(-1))
    if place.kind(-3) != "OVER" or clause not in (("PARTITION", "BY"), ("ORDER", "BY")):
        return None
    help_ = f"`OVER ({' '.join(clause)} {place.text()})`"
    return place.report(codes.SYNTAX, "a window behind `OVER` has no brackets", "", help_, -2)


def _misspelt_clause(place: Place) -> Diagnostic | None:
    """``SELECT a FORM t``, where the misspelt word was read as an alias."""
    word = place.text(-1)
    if place.kind(-1) != "NAME" or place.kind() in (",", ";", ")", ".", "EOF"):
        return None
    near = [c for c in closest(word, _CLAUSES, len(_CLAUSES)) if abs(len(c) - len(word)) < 2]
    if not near:
        return None
    message = f"`{word}` is read as an alias, and nothing can follow it here"
    return place.report(codes.SYNTAX, message, help=f"did you mean `{near[0]}`?", offset=-1)


def _assignment(place: Place) -> Diagnostic | None:
    if place.text() != "==" or "=" not in place.expected:
        return None
    return place.report(codes.ASSIGNMENT, "`==` stands where one `=` belongs", help="write `=`")


def _unclosed_bracket(place: Place) -> Diagnostic | None:
    opened = place.open_bracket()
    if opened is None or not place.would_take(")"):
        return None
    kind = "$END" if place.kind() in (";", "EOF") else place.kind()
    if not place.would_take(")", kind):
        return None
    offset = -1 if place.kind() == "EOF" else 0
    return place.report(
        codes.UNCLOSED_BRACKET,
        "a bracket is not closed",
        "`)` belongs before this" if offset == 0 else "`)` belongs behind this",
        "add `)`",
        offset,
        (Label(place.span(opened), "opened here"),),
    )


def _missing_comma(place: Place) -> Diagnostic | None:
    if (
        "," not in place.expected
        or is_clause(place.kind())
        or not place.would_take(",", place.kind())
    ):
        return None
    if place.kind() in (",", ")", ";", "EOF", "-", "+", "*", "("):
        return None
    help_ = f"`{place.text(-1)}, {place.text()}`"
    message = f"no comma between `{place.text(-1)}` and `{place.text()}`"
    return place.report(codes.MISSING_COMMA, message, "a comma belongs before this", help_)


Hint = Callable[[Place], Diagnostic | None]

HINTS: tuple[Hint, ...] = (
    _unknown_statement,
    _created_from_query,
    _missing_semicolon,
    _interval,
    _watermark,
    _window_table,
    _subquery,
    _batch_clause,
    _missing_from,
    _comma_join,
    _trailing_comma,
    _keyword_as_name,
    _string_as_name,
    _over_without_brackets,
    _misspelt_clause,
    _assignment,
    _unclosed_bracket,
    _missing_comma,
)
