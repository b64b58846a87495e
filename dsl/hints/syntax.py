"""Parse errors reported as the mistake that was made.

Each hint looks at the place where the parser could not continue and returns a diagnostic if it
knows the mistake; the first that does wins. A mistake unknown to all hints is reported as what was
found and what was expected.
"""

from __future__ import annotations

from collections.abc import Callable

from ..foreign import columns, queries, statements
from ..reports import codes
from ..reports.diagnostics import Diagnostic, Label
from ..reports.suggest import closest
from ..syntax.lalr import RESERVED, Parser, SyntaxFailure
from ..syntax.place import Place, is_plain_name
from ..syntax.tokens import UNITS, Tokens, plain_kind
from . import programs
from .expectations import is_clause, keywords, phrase

_BATCH = (
    "LIMIT ORDER FETCH OFFSET SORT CLUSTER DISTRIBUTE INTERSECT EXCEPT MINUS TABLESAMPLE".split()
)
_TOP_N = (
    "for the top rows of a window, write `QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start "
    "ORDER BY n DESC) <= 10`"
)
_CLAUSES = "FROM WHERE GROUP HAVING QUALIFY UNION".split()


def explain(
    parser: Parser, failure: SyntaxFailure, tokens: Tokens, first: int
) -> Diagnostic | None:
    """Return the diagnostic about a failure; None for a token already reported."""
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


def _missing_semicolon(place: Place) -> Diagnostic | None:
    if place.word() not in ("CREATE", "CHECKPOINT", "") or not place.would_take("$END"):
        return None
    help_ = f"put `;` after `{place.text(-1)}`"
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
        help_ = f"did you mean `{near[0]}`?" if near else "units range from MICROSECONDS to YEARS"
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
            if place.text() in (".", "(", "[", ":") and after == -1:
                return _computed_watermark(place, offset, column)
            return place.report(
                codes.WATERMARK_WORDS,
                "a watermark names its column and how late rows may be",
                help=f"`WATERMARK FOR {column} AS {column} - INTERVAL 30 SECONDS`",
                offset=offset,
            )
    return None


def _computed_watermark(place: Place, offset: int, column: str) -> Diagnostic:
    """``WATERMARK FOR payload.ts AS …``, ``WATERMARK FOR to_timestamp(ts) AS …``."""
    last, depth = 0, 0
    while place.text(last) and (depth or place.word(last) != "AS"):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(place.text(last), 0)
        if depth < 0 or (not depth and place.text(last) in (",", ";")):
            break
        last += 1
    source = place.tokens.source
    written = source.text[place.span(-1).start : place.span(last - 1).end]
    words = [place.text(offset) for offset in range(-1, last) if place.kind(offset) == "NAME"]
    name = words[-1] if place.text() == "." and len(words) > 1 else f"{(words or [column])[-1]}_at"
    return place.report(
        codes.WATERMARK_WORDS,
        f"a watermark is for a column, and `{written}` is computed",
        help=f"compute a column first: `{name} AS {written}`, then "
        f"`WATERMARK FOR {name} AS {name} - INTERVAL 30 SECONDS`",
        offset=offset,
    )


def _subquery(place: Place) -> Diagnostic | None:
    if place.kind() not in ("SELECT", "WITH") or place.text(-1) != "(":
        return None
    test = {"IN": "`IN (SELECT …)` is", "EXISTS": "`EXISTS (SELECT …)` is"}.get(place.word(-2))
    what = test or "a query in an expression is"
    help_ = "join with it: `JOIN other ON other.k = this.k AND …`; `FROM (SELECT …)` is supported"
    return place.report(
        codes.SUBQUERY, f"{what} nothing that a stream can keep up to date", "", help_
    )


def _batch_clause(place: Place) -> Diagnostic | None:
    if place.word(-1) == "UNION" and "ALL" in place.expected:
        help_ = "`UNION ALL`; `SELECT DISTINCT ON (id) …` over it drops repeated rows"
        message = "`UNION` would compare every row with every previous row"
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
    message = "`SELECT` has no `FROM`"
    help_ = "name a source or stream: `FROM name`"
    return place.report(codes.MISSING_FROM, message, "`FROM` is expected here", help_, offset)


def _comma_join(place: Place) -> Diagnostic | None:
    if place.kind() != "," or "JOIN" not in place.expected:
        return None
    help_ = "`a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL …`"
    return place.report(codes.COMMA_JOIN, "a comma does not join relations", help=help_)


def _trailing_comma(place: Place) -> Diagnostic | None:
    if place.kind(-1) != ",":
        return None
    if place.kind() in (")", ";", "EOF") or is_clause(place.kind()):
        help_ = "remove the comma"
        message = "nothing follows this comma"
        return place.report(codes.TRAILING_COMMA, message, help=help_, offset=-1)
    return None


def _keyword_as_name(place: Place) -> Diagnostic | None:
    if place.kind() not in RESERVED or "NAME" not in place.expected:
        return None
    after = plain_kind(place.tokens.kinds[place.at + 1], place.tokens.texts[place.at + 1])
    if not place.would_take("NAME", after):
        return None
    help_ = f"as a name it needs backticks: `` `{place.text()}` ``"
    return place.report(codes.KEYWORD_AS_NAME, f"`{place.text()}` is a reserved word", help=help_)


def _string_as_name(place: Place) -> Diagnostic | None:
    if place.kind() != "STRING" or {"NAME", "INTEGER"} & place.expected != {"NAME"}:
        return None
    name = place.text()[1:-1]
    written = name if is_plain_name(name) else f"`` `{name}` ``"
    help_ = f"write {written}" if "`" in written else f"write `{name}`, without quotes"
    return place.report(codes.NOT_A_NAME, "a string is used where a name is expected", help=help_)


def _over_without_brackets(place: Place) -> Diagnostic | None:
    clause = (place.word(-2), place.word(-1))
    if place.kind(-3) != "OVER" or clause not in (("PARTITION", "BY"), ("ORDER", "BY")):
        return None
    help_ = f"`OVER ({' '.join(clause)} {place.text()})`"
    return place.report(codes.SYNTAX, "the window after `OVER` has no parentheses", "", help_, -2)


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
    return place.report(codes.ASSIGNMENT, "`==` is used for `=`", help="write `=`")


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
        "`)` is expected before this" if offset == 0 else "`)` is expected after this",
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
    return place.report(codes.MISSING_COMMA, message, "a comma is expected before this", help_)


Hint = Callable[[Place], Diagnostic | None]

HINTS: tuple[Hint, ...] = (
    *statements.HINTS,
    _missing_semicolon,
    *programs.HINTS,
    *columns.HINTS,
    *queries.HINTS,
    _interval,
    _watermark,
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
