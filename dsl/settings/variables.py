"""``${name}`` in the texts of options: the only templating in a spec.

``${env:NAME}`` and ``${file:PATH}`` are filled in too, where the job runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...contracts.records import dataclass
from ...contracts.references import KINDS, malformed
from ..reports import codes
from ..reports.diagnostics import Diagnostic, Diagnostics, Label
from ..reports.source import SourceFile, Span
from ..reports.suggest import did_you_mean
from .values import NAME


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable where it is used."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A value of the environment (``env``) or of a file (``file``) where it is used."""

    kind: str
    name: str


Part = str | Variable | Reference
"""A piece of an option's text: literal, or filled in when the pipeline is started."""


def split_variables(text: str, span: Span, diagnostics: Diagnostics) -> tuple[Part, ...]:
    """Return the pieces of an option's text, which is written at ``span``.

    A malformed ``${…}`` is reported and stays in the text. ``$`` alone means nothing.
    """
    if other := _OTHER_TEMPLATE.search(text):
        where = _within(span, *other.span(), text, diagnostics.source)
        diagnostics.add(_of_a_template(other[0], where))
        return (text,)
    parts: list[Part] = []
    taken = 0
    while (start := text.find("${", taken)) >= 0:
        end = text.find("}", start)
        name = text[start + 2 : end] if end >= 0 else None
        stop = end + 1 if end >= 0 else len(text)
        where = _within(span, start, stop, text, diagnostics.source)
        kind, colon, inner = (name or "").partition(":")
        reference = colon != "" and kind in KINDS
        wrong = malformed(kind, inner) if reference else None
        if wrong is not None:
            diagnostics.add(malformed_reference(kind, wrong, where))
            return (text,)
        if name is None or not (reference or NAME.fullmatch(name)):
            diagnostics.add(_malformed(name, where))
            return (text,)
        if start > taken:
            parts.append(text[taken:start])
        parts.append(Reference(kind, inner) if reference else Variable(name, where))
        taken = stop
    if taken < len(text):
        parts.append(text[taken:])
    return tuple(parts)


def check_variables(
    parts: Iterable[Part],
    declared: Mapping[str, str | None],
    span: Span,
    diagnostics: Diagnostics,
) -> None:
    """Report variables that the front matter does not declare, unless it could not be read.

    So is one that is declared but not written as a variable; ``span`` is that of the whole text.
    """
    if any(found.code is codes.FRONT_MATTER_SYNTAX for found in diagnostics):
        return
    for part in parts:
        told = None
        if isinstance(part, str):
            told = _bare(part, declared, span)
        elif isinstance(part, Variable) and part.name not in declared:
            told = _unknown(part, declared)
        diagnostics.extend([told] if told else [])


def malformed_reference(kind: str, wrong: str, span: Span) -> Diagnostic:
    """Return the diagnostic about a reference that can't be resolved anywhere."""
    example = "${env:NAME}" if kind == "env" else "${file:PATH}"
    return Diagnostic(codes.MALFORMED_VARIABLE, wrong, Label(span), help=f"write `{example}`")


def _within(span: Span, start: int, stop: int, text: str, source: SourceFile) -> Span:
    """Return the span of ``text[start:stop]``, or of the whole text where escapes shift it."""
    offset = source.excerpt(span).find(text)
    if offset < 0:
        return span
    return Span(span.start + offset + start, span.start + offset + stop)


def _malformed(name: str | None, span: Span) -> Diagnostic:
    if name is None:
        message, help_ = "`${` is not closed", "close it: `${name}`"
    elif not name.strip():
        message, help_ = "`${}` names no variable", "write its name: `${name}`"
    else:
        message = f"`{name}` cannot name a variable"
        help_ = "use lower-case letters, digits and `_`, starting with a letter"
        if name.partition(":")[0].lower().strip() in KINDS:
            help_ = "write `${env:NAME}`, or `${file:PATH}`"
    return Diagnostic(codes.MALFORMED_VARIABLE, message, Label(span), help=help_)


_OTHER_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\([A-Za-z_]\w*\)|%\([A-Za-z_]\w*\)s")
"""A variable as other tools write it; none of these forms is useful in a path or an address."""
_WORDS_OF_TEMPLATES = ("var", "vars", "env", "env_var", "config", "params", "s")
_BARE = re.compile(r"\$([A-Za-z_]\w*)|(?<!\$)\{([A-Za-z_]\w*)\}")


def _of_a_template(written: str, span: Span) -> Diagnostic:
    words = [w.lower() for w in re.findall(r"[A-Za-z_]\w*", written)]
    name = next((word for word in words if word not in _WORDS_OF_TEMPLATES), "name")
    return Diagnostic(
        codes.MALFORMED_VARIABLE,
        f"`{written}` is not a variable, and would be taken literally",
        Label(span),
        help=f"write `${{{name}}}`, and declare it in the front matter: "
        f"`variables: {{{name}: null}}`",
    )


def _bare(text: str, declared: Mapping[str, str | None], span: Span) -> Diagnostic | None:
    """Return the diagnostic for ``$name`` or ``{name}`` of a variable, None if there is none."""
    for found in _BARE.finditer(text):
        name = found[1] or found[2]
        if name in declared:
            return Diagnostic(
                codes.MALFORMED_VARIABLE,
                f"`{found[0]}` is not a variable, and would be taken literally",
                Label(span),
                help=f"write `${{{name}}}`",
            )
    return None


def _unknown(variable: Variable, declared: Mapping[str, str | None]) -> Diagnostic:
    name = variable.name
    return Diagnostic(
        codes.UNKNOWN_VARIABLE,
        f"there is no variable `{name}`",
        Label(variable.span),
        help=did_you_mean(name, declared)
        or f"declare it in the front matter: `variables: {{{name}: null}}`, or with a default",
    )
