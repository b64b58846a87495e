"""How a source or table writes its instants: options, and which of them go together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...contracts.records import dataclass
from ...dsl.ast import statements as st
from ...dsl.reports import codes
from ...dsl.reports.diagnostics import Diagnostic, Label
from ..model import types
from ..model.pipeline import Endpoint
from ..model.schema import Field
from .columns import no_such_column
from .interface import Declares
from .options import LENIENT, TEXT, Concern, Kind, Option

_FORMATS = ("json", "csv")
_WHERE = "see [timestamps](language.md#timestamps)"

_ZONE = re.compile(r"UTC|Z|[+-](?:0[0-9]|1[0-8]):[0-5][0-9]|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")

UNIT = Option(
    "timestamp_unit",
    Concern.VALUES,
    "what numbers count that are instants, "
    "see [numeric timestamps](language.md#numeric-timestamps)",
    kind=TEXT,
    choices=("seconds", "millis", "micros", "nanos"),
    formats=_FORMATS,
)
FORMAT = Option(
    "timestamp_format",
    Concern.VALUES,
    f"the pattern of texts that are instants, {_WHERE}",
    kind=TEXT,
    formats=_FORMATS,
    spark=("timestampformat",),
)
ZONE = Option(
    "timestamp_zone",
    Concern.VALUES,
    f"the time zone of texts that name none, {_WHERE}",
    kind=Kind(
        "`UTC`, an offset such as `+01:00`, or a zone such as `Europe/Oslo`",
        lambda text: _ZONE.fullmatch(text) is not None,
        "`{name}` can't be `{text}`",
        "write 'UTC', an offset such as '+01:00', or a zone such as 'Europe/Oslo'",
    ),
    default="UTC",
    formats=_FORMATS,
    spark=("timezone",),
)
PARSING = (LENIENT, UNIT, FORMAT, ZONE)
"""How lines and messages are parsed."""

_LETTERS = "GyMLdDahHkKmsSVzOXx"
"""The letters of Spark's patterns that it parses."""
_ZONES = "VzOXx"
_INSTEAD = {
    "Y": "the year is `yyyy`",
    "u": "the year is `yyyy`",
    "n": "fractions of a second are `SSS`",
    "N": "fractions of a second are `SSS`",
    "E": "a day of the week is not parsed",
    "e": "a day of the week is not parsed",
    "c": "a day of the week is not parsed",
    "T": "quote a letter that stands for itself: `'yyyy-MM-dd''T''HH:mm:ss'`",
}


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The letters of a pattern: those of every text, and those of optional sections too."""

    always: frozenset[str]
    ever: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Pattern:
        bare = re.sub("'[^']*'?", "", text)
        whole = bare
        while (shorter := re.sub(r"\[[^\[\]]*\]", "", whole)) != whole:
            whole = shorter
        return cls(
            frozenset(c for c in whole if c.isascii() and c.isalpha()),
            frozenset(c for c in bare if c.isascii() and c.isalpha()),
        )

    @property
    def names_zone(self) -> bool:
        """Whether some texts name a zone."""
        return not self.ever.isdisjoint(_ZONES)

    def wrong(self) -> tuple[str, str] | None:
        """Return what is wrong with it, and what to write."""
        for letter in sorted(self.ever):
            if letter not in _LETTERS:
                help_ = _INSTEAD.get(
                    letter, "letters that stand for themselves are quoted: `''at''`"
                )
                return f"has the letter `{letter}`, which is not parsed", help_
        if "y" not in self.always:
            return "has no year", "the year is `yyyy`"
        if self.always.isdisjoint("dD"):
            return "has no day", "the day of the month is `dd`"
        if "D" not in self.always and self.always.isdisjoint("ML"):
            return "has no month", "the month is `MM`, and `mm` is the minute"
        if "D" in self.ever and not self.ever.isdisjoint("MLd"):
            return "has `D`, the day of the year, beside a month", "the day of the month is `dd`"
        if not self.ever.isdisjoint("hK") and "a" not in self.always:
            return (
                "has hours up to 12 without `a`",
                "the hour from 0 to 23 is `HH`; `hh` needs AM or PM, `a`",
            )
        return None


def check_instants(
    node: Declares, point: Endpoint, columns: tuple[Field, ...]
) -> Iterator[Diagnostic]:
    """Yield the options of instants that mean nothing, or exclude each other."""
    given = {option.name.text: option for option in node.options}
    written = given.get(FORMAT.name)
    if written is None:
        return
    if point.option("format") == "csv" and UNIT.name in given:
        yield Diagnostic(
            codes.OPTION_VALUE,
            f"`{FORMAT.name}` excludes `{UNIT.name}` in csv, where a number is a text",
            Label(written.name.span),
            secondary=(Label(given[UNIT.name].name.span),),
            help="keep one of them, and declare columns of the other kind as STRING or BIGINT: "
            "`at AS TIMESTAMP_MILLIS(at_millis)`",
        )
    if "${" in written.value:
        return
    pattern = _Pattern.of(written.value)
    if (found := pattern.wrong()) is not None:
        wrong, help_ = found
        yield Diagnostic(
            codes.OPTION_VALUE,
            f"the pattern `{written.value}` {wrong}",
            Label(written.value_span),
            help=help_,
        )
        return
    yield from _zones(node, given, pattern, columns)


def _zones(
    node: Declares, given: dict[str, st.Option], pattern: _Pattern, columns: tuple[Field, ...]
) -> Iterator[Diagnostic]:
    if ZONE.name in given and not pattern.always.isdisjoint(_ZONES):
        yield Diagnostic(
            codes.OPTION_VALUE,
            f"`{ZONE.name}` has no meaning: by `{FORMAT.name}` every text names its zone",
            Label(given[ZONE.name].name.span),
            secondary=(Label(given[FORMAT.name].value_span),),
            help="leave it out; in the pattern, `[XXX]` is a zone that a text may lack",
        )
    own = any(name.lower() == "spark.timestampntzformat" for name in given)
    for field in columns if pattern.names_zone and not own else ():
        if _holds(field.type, types.TIMESTAMP_NTZ):
            yield no_such_column(
                node,
                field,
                f"`{field.name}` has TIMESTAMP_NTZ, and by `{FORMAT.name}` texts have a zone",
                "declare TIMESTAMP, or give TIMESTAMP_NTZ another pattern: "
                "`spark.timestampNTZFormat = '…'`",
            )


def _holds(type_: types.Type, wanted: types.Type) -> bool:
    match type_:
        case types.Array(element):
            return _holds(element, wanted)
        case types.Map(_, value):
            return _holds(value, wanted)
        case types.Struct(fields):
            return any(_holds(field.type, wanted) for field in fields)
    return type_ == wanted
