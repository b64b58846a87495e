"""WINDOW: named windows of OVER, and what an OVER takes from them.

OVER w … WINDOW w AS (PARTITION BY k ORDER BY ts ROWS 5 PRECEDING)
OVER (w ROWS 5 PRECEDING)
"""

from __future__ import annotations

from dataclasses import replace

from ....dsl.ast import expressions as e
from ....dsl.ast import queries as q
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest


class NamedWindows:
    """The windows of one SELECT by name; a mistake in one is reported once."""

    def __init__(self, select: q.Select, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._named: dict[str, q.NamedWindow] = {}
        self._used: set[str] = set()
        for named in select.windows:
            first = self._named.setdefault(named.name.text.lower(), named)
            if first is not named:
                diagnostics.add(_twice(named, first))

    def unused(self) -> None:
        """Report the windows that no OVER names."""
        for name, named in self._named.items():
            if name not in self._used:
                self._diagnostics.add(unused_window(named))

    def whole(self, spec: e.WindowSpec, path: tuple[str, ...] = ()) -> e.WindowSpec | None:
        """Return a window completed by the one that it names, None after a report.

        ``path`` are the names that lead to it.
        """
        if spec.name is None:
            return spec
        name = spec.name.text.lower()
        self._used.add(name)
        named = self._named.get(name)
        if named is None or name in path:
            self._diagnostics.add(_unknown(spec.name.span, spec.name.text, self._named, path))
            # It may refer to one of them.
            self._used |= self._named.keys()
            return None
        below = self.whole(named.window, (*path, name))
        if below is None:
            return None
        for own, taken, words in (
            (spec.partition_by, below.partition_by, "PARTITION BY"),
            (spec.order_by, below.order_by, "ORDER BY"),
            ((spec.frame,) if spec.frame else (), (below.frame,) if below.frame else (), "a frame"),
        ):
            if own and taken:
                self._diagnostics.add(_stated_twice(spec, named, words))
                return None
        return replace(
            spec,
            name=None,
            partition_by=spec.partition_by or below.partition_by,
            order_by=spec.order_by or below.order_by,
            frame=spec.frame or below.frame,
        )


def _twice(named: q.NamedWindow, first: q.NamedWindow) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        f"two windows are called `{named.name}`",
        Label(named.name.span, "named again here"),
        secondary=(Label(first.name.span, "first named here"),),
        help="give one of them another name: names are case-insensitive",
    )


def unused_window(named: q.NamedWindow) -> Diagnostic:
    """Return the diagnostic for a WINDOW that no OVER names."""
    return Diagnostic(
        codes.OVER_FORM,
        f"nothing uses window `{named.name}`",
        Label(named.span),
        help=f"write `OVER {named.name}`, or remove it",
    )


def _unknown(
    span: Span, name: str, named: dict[str, q.NamedWindow], path: tuple[str, ...]
) -> Diagnostic:
    known = [one.name.text for one in named.values()]
    near = closest(name, known)
    fix = f"add `WINDOW {name} AS (PARTITION BY k ORDER BY ts …)` after the query"
    if known:
        fix = f"did you mean `{near[0]}`?" if near else f"the windows are: {', '.join(known)}"
    in_circle = name.lower() in path
    return Diagnostic(
        codes.OVER_FORM,
        f"window `{name}` is defined by itself" if in_circle else f"there is no window `{name}`",
        Label(span),
        help="write its definition" if in_circle else fix,
    )


def _stated_twice(spec: e.WindowSpec, named: q.NamedWindow, words: str) -> Diagnostic:
    return Diagnostic(
        codes.OVER_FORM,
        f"window `{named.name}` already has {words}",
        Label(spec.span),
        secondary=(Label(named.span, "here"),),
        help="state it in one of them",
    )
