"""The meaning of names in one SELECT: the columns of its relations and of its window."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ...model import types
from ...model.schema import Duration, Field, Schema
from ...model.steps import Window
from ...model.typed import Typed
from ..foreign.functions import PSEUDO_COLUMNS
from .fields import field_of, unknown_field

WINDOW_COLUMNS = ("window_start", "window_end", "window_time")


@dataclass(frozen=True, slots=True)
class Visible:
    """A relation in FROM under the qualifier of its columns.

    ``window`` is that of a side of a window join. ``optional`` says that a row of a join may have
    no row of this relation: all its columns are then NULL. ``is_table``: its rows are looked up.
    """

    alias: str
    schema: Schema
    span: Span
    window: Window | None = None
    optional: bool = False
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class PaneRef(e.ColumnRef):
    """``pane``: which pane of its window a row is."""


class BlockScope:
    """The scope of a SELECT block.

    References become exact: the declared spelling, qualified by the alias when the block joins
    (``qualified``), bare otherwise. The columns of a window become Spark's: ``window.start``,
    ``window.end``, ``window_time(window)``. ``panes`` says that a window has several panes,
    distinguished by ``pane``.
    """

    def __init__(
        self,
        relations: tuple[Visible, ...],
        diagnostics: Diagnostics,
        *,
        qualified: bool = False,
        window: Window | None = None,
        panes: bool = False,
    ) -> None:
        self.relations = relations
        self.qualified = qualified
        self.window = window
        self.panes = panes
        self._diagnostics = diagnostics

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a reference; None after a report."""
        head = ref.parts[0]
        window = self._window_column(ref)
        if window is not None:
            return window
        owners = [r for r in self.relations if r.alias.lower() == head.text.lower()]
        if len(ref.parts) > 1 and owners:
            found = owners[0].schema.find(ref.parts[1].text)
            if found is None:
                self._diagnostics.add(_unknown_column(ref.parts[1], owners))
                return None
            return self._typed(ref, owners[0], found, ref.parts[2:])
        holders = [(r, f) for r in self.relations if (f := r.schema.find(head.text)) is not None]
        if not holders and self.panes and [p.text.lower() for p in ref.parts] == ["pane"]:
            return Typed(PaneRef(ref.span, ref.parts), types.STRING, nullable=False)
        if not holders:
            sides = [r for r in self.relations if r.window is not None]
            if sides and len(ref.parts) == 1 and head.text.lower() in WINDOW_COLUMNS:
                self._diagnostics.add(_ambiguous(head, sides))
            else:
                self._diagnostics.add(_unknown_column(head, self.relations, self._window_names()))
            return None
        if len(holders) > 1:
            self._diagnostics.add(_ambiguous(head, [r for r, _ in holders]))
            return None
        return self._typed(ref, *holders[0], ref.parts[1:])

    def quiet(self) -> BlockScope:
        """Return a scope of the same names that reports nothing."""
        silent = Diagnostics(self._diagnostics.source)
        return BlockScope(
            self.relations,
            silent,
            qualified=self.qualified,
            window=self.window,
            panes=self.panes,
        )

    def is_part(self, expression: e.Expression) -> TypeGuard[e.ColumnRef]:
        """Return whether a resolved expression is a field of a column that is a struct."""
        if not isinstance(expression, e.ColumnRef):
            return False
        return self.field(expression) is None and self.window_at(expression) is None

    def knows(self, name: str) -> bool:
        """Return whether a relation has a column of a name."""
        return any(r.schema.find(name) is not None for r in self.relations)

    def field(self, expression: e.Expression) -> Field | None:
        """Return the column that a resolved expression is, or None when it is computed."""
        window = self.window_at(expression)
        if window is not None and is_window_time(expression):
            return self._time_field(window)
        if isinstance(expression, PaneRef):
            return Field("pane", types.STRING, nullable=False, pane=True)
        if not isinstance(expression, e.ColumnRef):
            return None
        parts = [p.text for p in expression.parts]
        if not self.qualified:
            found = self.relations[0].schema.find(parts[0])
            return found if len(parts) == 1 else None
        owner = next((r for r in self.relations if r.alias == parts[0]), None)
        return owner.schema.find(parts[1]) if owner and len(parts) == 2 else None

    def window_at(self, expression: e.Expression) -> Window | None:
        """Return the window whose start, end or time a resolved expression is, None for others."""
        if is_window_time(expression):
            assert isinstance(expression, e.Call)
            expression = expression.arguments[0]
            parts = [p.text for p in getattr(expression, "parts", ())]
        elif isinstance(expression, e.ColumnRef):
            parts = [p.text for p in expression.parts][:-1]
        else:
            return None
        if self.window is not None:
            return self.window if parts == [self.window.struct] else None
        for relation in self.relations:
            if relation.window and parts == [relation.alias, relation.window.struct]:
                return relation.window
        return None

    def event_times(self) -> tuple[Typed, ...]:
        """Return the columns that carry a watermark; for a window, the one that it is over.

        A row without an instant is in no window.
        """
        if self.window is not None:
            return (replace(self.window.column, nullable=False),)
        found = [
            self._typed(e.ColumnRef(r.span, ()), r, field, ())
            for r in self.relations
            for field in r.schema.event_times()
        ]
        return tuple(typed for typed in found if typed is not None)

    def star(self, star: e.Star) -> list[tuple[str, Typed]] | None:
        """Return what ``*`` or ``alias.*`` stands for, or None after a report."""
        chosen = self.relations
        if star.qualifier is not None:
            wanted = star.qualifier.text.lower()
            chosen = tuple(r for r in self.relations if r.alias.lower() == wanted)
            if not chosen:
                self._diagnostics.add(_unknown_qualifier(star.qualifier, self.relations))
                return None
        columns = [
            (f.name, self._typed(e.ColumnRef(star.span, ()), r, f, ()))
            for r in chosen
            for f in r.schema
        ]
        if self.window is not None:
            for name in WINDOW_COLUMNS:
                ref = e.ColumnRef(star.span, (Name(star.span, name),))
                columns.append((name, self._window_column(ref)))
        for relation in chosen:
            if relation.window is not None:
                columns += [(name, _part_of(star.span, relation, name)) for name in WINDOW_COLUMNS]
        return [(name, typed) for name, typed in columns if typed is not None]

    def _typed(
        self, ref: e.ColumnRef, owner: Visible, field: Field, path: tuple[Name, ...]
    ) -> Typed | None:
        names = [Name(ref.span, field.name)]
        if self.qualified:
            names.insert(0, Name(ref.span, owner.alias))
        type_, nullable = field.type, field.nullable
        for part in path:
            if type_ is types.UNKNOWN:
                return Typed(e.ColumnRef(ref.span, ref.parts), types.UNKNOWN)
            inner = field_of(type_, part.text)
            if inner is None:
                written = ".".join(name.text for name in names[self.qualified :])
                or_ = ", or qualify by the relation's alias"
                self._diagnostics.add(unknown_field(type_, part, written, or_))
                return None
            names.append(Name(part.span, inner.name))
            type_, nullable = inner.type, True
        return Typed(e.ColumnRef(ref.span, tuple(names)), type_, nullable)

    def _window_names(self) -> tuple[str, ...]:
        return WINDOW_COLUMNS if self.window is not None else ()

    def _window_column(self, ref: e.ColumnRef) -> Typed | None:
        if ref.parts[-1].text.lower() not in WINDOW_COLUMNS:
            return None
        if self.window is None:
            return self._window_of_side(ref)
        if len(ref.parts) > 2 or (
            len(ref.parts) == 2
            and ref.parts[0].text.lower() not in [r.alias.lower() for r in self.relations]
        ):
            return None
        name = ref.parts[-1].text.lower()
        struct = Name(ref.span, self.window.struct)
        if name == "window_time":
            call = e.Call(
                ref.span, Name(ref.span, "window_time"), (e.ColumnRef(ref.span, (struct,)),)
            )
            return Typed(call, types.TIMESTAMP, nullable=False)
        part = Name(ref.span, name.removeprefix("window_"))
        return Typed(e.ColumnRef(ref.span, (struct, part)), types.TIMESTAMP, nullable=False)

    def _time_below(self, window: Window) -> Field | None:
        """Return the column that a window is over; that of a join's side without its alias."""
        time = window.column.expression
        for side in self.relations:
            if side.window == window and isinstance(time, e.ColumnRef):
                return side.schema.find(time.parts[-1].text)
        return self.field(time)

    def _window_of_side(self, ref: e.ColumnRef) -> Typed | None:
        """Return ``o.window_start`` of a side of a window join."""
        if len(ref.parts) != 2:
            return None
        alias, name = (part.text.lower() for part in ref.parts)
        owner = next((r for r in self.relations if r.alias.lower() == alias), None)
        if owner is None or owner.window is None:
            return None
        return _part_of(ref.span, owner, name)

    def _time_field(self, window: Window) -> Field:
        below = self._time_below(window)
        delay = below.watermark if below else None
        return Field("window_time", types.TIMESTAMP, False, delay or Duration(0, "0 seconds"))


def _part_of(span: Span, side: Visible, name: str) -> Typed:
    """Return start, end or time of the window of a side of a join."""
    assert side.window is not None
    struct = (Name(span, side.alias), Name(span, side.window.struct))
    if name == "window_time":
        call = e.Call(span, Name(span, name), (e.ColumnRef(span, struct),))
        return Typed(call, types.TIMESTAMP, side.optional)
    part = Name(span, name.removeprefix("window_"))
    return Typed(e.ColumnRef(span, (*struct, part)), types.TIMESTAMP, side.optional)


def is_window_time(expression: e.Expression) -> bool:
    """Return whether a resolved expression is the event time of a window of its block."""
    return isinstance(expression, e.Call) and expression.name.text == "window_time"


def named(field: Field, name: str) -> Field:
    """Return a column under another name, keeping its watermark."""
    return replace(field, name=name)


def _unknown_column(
    name: Name, relations: tuple[Visible, ...] | list[Visible], extra: tuple[str, ...] = ()
) -> Diagnostic:
    known = [f.name for r in relations for f in r.schema] + list(extra)
    near = closest(name.text, known)
    where = " or ".join(f"`{r.alias}`" for r in relations)
    hint = f"did you mean `{near[0]}`?" if near else f"the columns are: {', '.join(known)}"
    hint = PSEUDO_COLUMNS.get(name.text.lower(), hint)
    if name.text.lower() == "pane":
        hint = "`pane` is available in the select list and HAVING of a window with `EMIT EARLY …` "
        hint += "or `ALLOWED LATENESS …`"
    if not near and name.text.lower() in WINDOW_COLUMNS:
        hint = "open a window in FROM, as in `FROM TUMBLE(t, ts, INTERVAL 1 MINUTE)`"
    return Diagnostic(
        codes.UNKNOWN_COLUMN, f"there is no column `{name}` in {where}", Label(name.span), help=hint
    )


def _unknown_qualifier(name: Name, relations: tuple[Visible, ...]) -> Diagnostic:
    known = [r.alias for r in relations]
    near = closest(name.text, known)
    return Diagnostic(
        codes.UNKNOWN_NAME,
        f"there is no `{name}` in FROM",
        Label(name.span),
        help=f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}",
    )


def _ambiguous(name: Name, holders: list[Visible]) -> Diagnostic:
    choices = " or ".join(f"`{r.alias}.{name}`" for r in holders)
    return Diagnostic(
        codes.AMBIGUOUS_COLUMN,
        f"`{name}` is a column of {' and '.join(f'`{r.alias}`' for r in holders)}",
        Label(name.span),
        help=f"write {choices}",
    )
