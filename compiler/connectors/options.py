"""An option of a connector: its name, its values, and what a change of it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import KW_ONLY
from enum import Enum

from ...contracts.records import dataclass
from ...contracts.targets import target_parts

APPEND, UPSERT = "append", "upsert"
"""The modes of a sink: add each row, or replace the row of its key."""

_SIZE = re.compile(r"0*[1-9][0-9]* (KB|MB|GB)")


class Concern(Enum):
    """What an option is about, which decides what a change of it in another version means."""

    SERVER = "which server it is, and how that lets one in"
    PLACE = "where the rows are on it: what pictures show"
    FORM = "how rows are written there: it changes together with them"
    VALUES = "which values are made of the same rows"
    RUN = "how the job goes about it: no row is another"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the text of an option may be.

    ``takes`` decides that; ``message`` (``{name}`` and ``{text}`` are filled in) and ``help`` are
    for a text that it does not accept, ``words`` for the reference. ``literal`` gives the text as a
    Python literal; None leaves it a string.
    """

    words: str
    takes: Callable[[str], bool]
    message: str
    help: str
    literal: Callable[[str], str] | None = None


TEXT = Kind("text", bool, "`{name}` is empty", "give it a value")
ANY_TEXT = Kind("text, may be empty", lambda text: True, "", "")
INTEGER = Kind(
    "whole number from one",
    lambda text: text.isascii() and text.isdigit() and int(text) > 0,
    "`{name}` must be a whole number from 1",
    "for example '1'",
    lambda text: str(int(text)),
)
BOOLEAN = Kind(
    "`true` or `false`",
    lambda text: text in ("true", "false"),
    "`{name}` must be true or false",
    "write 'true' or 'false'",
    lambda text: str(text == "true"),
)
CHARACTER = Kind(
    "one character",
    lambda text: len(text) == 1,
    "`{name}` must be one character",
    "for example ';'",
)
FUNCTION = Kind(
    "`module:function`",
    lambda text: target_parts(text) is not None,
    "`{name}` must name a Python function",
    "write 'module:function'",
)
SIZE = Kind(
    "size, as in `128 MB`",
    lambda text: _SIZE.fullmatch(text) is not None,
    "`{name}` must be a size",
    "for example '128 MB': KB, MB or GB",
)
COLUMNS = Kind("column names separated by commas", lambda text: True, "", "")
"""Checked against the columns that a sink reads."""
DURATION = Kind("length of time, as in `10 minutes`", bool, "`{name}` is empty", "give it a value")
"""Checked where it is read as an interval."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a connector; ``doc`` says in the reference what it is for.

    ``choices`` limits its text; ``formats`` are those to which the option applies (empty: all).
    ``default`` is its default, for the reference. ``fixed``: it may not contain a variable.
    ``spark`` are Spark's names for it, in lower case: a spec must use ours.
    """

    name: str
    concern: Concern
    doc: str
    _: KW_ONLY
    kind: Kind
    default: str | None = None
    required: bool = False
    choices: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    fixed: bool = False
    spark: tuple[str, ...] = ()


def format_of(choices: tuple[str, ...]) -> Option:
    """Return the option that names the format of files or messages."""
    doc = "the format of the rows"
    return Option("format", Concern.FORM, doc, kind=TEXT, required=True, choices=choices)


_CSV = ("csv",)

HEADER = Option(
    "header",
    Concern.FORM,
    "whether a file begins with a line that names its columns",
    kind=BOOLEAN,
    default="true",
    formats=_CSV,
    spark=("header",),
)
DELIMITER = Option(
    "delimiter",
    Concern.FORM,
    "what stands between two values",
    kind=CHARACTER,
    default=",",
    formats=_CSV,
    spark=("delimiter", "sep"),
)
NULL_VALUE = Option(
    "null_value",
    Concern.FORM,
    "the text that stands for NULL",
    kind=ANY_TEXT,
    default="the empty text",
    formats=_CSV,
    spark=("nullvalue",),
)
LENIENT = Option(
    "lenient",
    Concern.FORM,
    "whether values are taken that the declared types don't have, "
    "see [how text is parsed](language.md#how-text-is-parsed)",
    kind=BOOLEAN,
    default="false",
    formats=("json", "csv"),
)
REFRESH = Option(
    "refresh",
    Concern.RUN,
    "after how long the table is read again",
    kind=DURATION,
    default="it is read once a run",
    fixed=True,
)
"""Of every table."""


def _mode(*choices: str) -> Option:
    doc = "whether each row is added, or takes the place of the one with its key"
    return Option("mode", Concern.FORM, doc, kind=TEXT, default=APPEND, choices=choices, fixed=True)


ADDING = (_mode(APPEND),)
REPLACING = (
    _mode(APPEND, UPSERT),
    Option(
        "key",
        Concern.FORM,
        "the columns by which rows replace each other",
        kind=COLUMNS,
        fixed=True,
    ),
)
"""Of every sink: of one that only adds rows, and of one that can replace them too."""
