"""The meaning of names in a program: columns, keys, cells, locals, the instant of a timer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from ....contracts.records import dataclass
from ....dsl.ast import expressions as e
from ....dsl.ast.node import Name
from ....dsl.format import sql
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import Span
from ....dsl.reports.suggest import closest
from ...model import types as t
from ...model.programs import Cell, ProgramInput, ProgramKey, Timer
from ...model.reads import CellRef, InstantRef, KeyRef, LocalRef
from ...model.typed import Typed
from ..foreign.functions import PSEUDO_COLUMNS
from ..scopes.fields import field_of, unknown_field


@dataclass(frozen=True, slots=True)
class Names:
    """The names of an operator, those of cells, keys and timers in lower case."""

    operator: str
    inputs: tuple[ProgramInput, ...]
    keys: dict[str, ProgramKey]
    cells: dict[str, Cell]
    timers: dict[str, Timer]

    @property
    def has_event_time(self) -> bool:
        """Whether an input has a watermark."""
        return any(given.event_time is not None for given in self.inputs)


@dataclass(frozen=True, slots=True)
class Local:
    """A name of DECLARE or FOR."""

    name: str
    type: t.Type
    span: Span


@dataclass
class ProgramScope:
    """The names visible to a statement; ``given`` is the input whose row is handled.

    ``timer`` is the timer that fired instead. References become the reads of ``model.reads``; a
    column is qualified by the alias where its bare name is ambiguous.
    """

    names: Names
    diagnostics: Diagnostics
    given: ProgramInput | None = None
    timer: Timer | None = None
    blocks: list[dict[str, Local]] = field(default_factory=lambda: [{}])

    def column(self, ref: e.ColumnRef) -> Typed | None:
        """Resolve a reference; None after a report."""
        if len(ref.parts) > 1:
            head = ref.parts[0].text.lower()
            owner = next((i for i in self.names.inputs if i.alias.lower() == head), None)
            if owner is not None:
                return self._qualified(ref, owner)
            if head == self.names.operator.lower():
                return self._of_operator(ref)
        return self._bare(ref)

    def knows(self, name: str) -> bool:
        """Return whether a bare name is that of a local, a cell, a column, a key or the timer."""
        return any(name.lower() == known.lower() for known in self._visible())

    def event_times(self) -> tuple[Typed, ...]:
        """Return none: a program has no aggregates, which would need them."""
        return ()

    def local(self, name: str) -> Local | None:
        """Return the local of a name, from the innermost block."""
        return next((b[name.lower()] for b in reversed(self.blocks) if name.lower() in b), None)

    def declare(self, name: Name, type_: t.Type) -> None:
        """Add a local to the innermost block; one that would hide a name is reported."""
        taken = self._taken(name)
        if taken is not None:
            self.diagnostics.add(taken)
        self.blocks[-1][name.text.lower()] = Local(name.text, type_, name.span)

    def _taken(self, name: Name) -> Diagnostic | None:
        """Return the diagnostic for a local whose name already has a meaning."""
        folded = name.text.lower()
        local = self.local(folded)
        if local is not None:
            first = (Label(local.span, "first declared here"),)
            return hidden_name(name, f"`{name}` is already declared", first)
        what = next((what for known, what in self._meanings() if known == folded), None)
        return None if what is None else hidden_name(name, f"`{name}` is already {what}")

    def _meanings(self) -> Iterator[tuple[str, str]]:
        """Yield names that a local may not have, with what they mean."""
        names = self.names
        yield names.operator.lower(), "the name of the operator"
        yield from ((given.alias.lower(), "an input") for given in names.inputs)
        yield from ((name, "a cell of state") for name in names.cells)
        yield from ((name, "a key") for name in names.keys)
        yield from ((name, "a timer") for name in names.timers)
        if self.given is not None:
            yield from ((f.name.lower(), "a column of the row") for f in self.given.schema)

    def _qualified(self, ref: e.ColumnRef, owner: ProgramInput) -> Typed | None:
        name = ref.parts[1]
        if self.given is not owner:
            self.diagnostics.add(self._no_row(ref, owner))
            return None
        if owner.schema.find(name.text) is None:
            self.diagnostics.add(_unknown_column(name, owner))
            return None
        return self._column(ref, owner, name, ref.parts[2:])

    def _of_operator(self, ref: e.ColumnRef) -> Typed | None:
        name = ref.parts[1]
        cell = self.names.cells.get(name.text.lower())
        if cell is not None:
            return self._cell(ref, cell, ref.parts[2:])
        near = closest(name.text, (cell.name for cell in self.names.cells.values()))
        self.diagnostics.add(
            Diagnostic(
                codes.UNKNOWN_IN_PROGRAM,
                f"there is no cell `{name}` in `{self.names.operator}`",
                Label(name.span),
                help=f"did you mean `{near[0]}`?" if near else f"add it: `STATE ({name} …)`",
            )
        )
        return None

    def _bare(self, ref: e.ColumnRef) -> Typed | None:
        name, path = ref.parts[0], ref.parts[1:]
        folded = name.text.lower()
        local = self.local(folded)
        if local is not None:
            return self._read(LocalRef, ref.span, local.name, local.type, path)
        cell = self.names.cells.get(folded)
        column = self.given.schema.find(name.text) if self.given is not None else None
        key = self.names.keys.get(folded)
        if column is not None and self.given is not None and self._is_more(folded):
            self.diagnostics.add(self._ambiguous(name, self.given, cell))
            return None
        if cell is not None:
            return self._cell(ref, cell, path)
        if column is not None and self.given is not None:
            return self._column(ref, self.given, name, path)
        if key is not None:
            return self._read(KeyRef, ref.span, key.name, key.type, path)
        if self.timer is not None and self.timer.name.lower() == folded:
            return self._read(InstantRef, ref.span, self.timer.name, t.TIMESTAMP, path)
        self.diagnostics.add(self._unknown(name))
        return None

    def _is_more(self, name: str) -> bool:
        """Return whether the name of a column of the row has another meaning too."""
        other_key = name in self.names.keys and not self._is_key(name)
        return name in self.names.cells or other_key

    def _is_key(self, name: str) -> bool:
        """Return whether a column of the row is the key of that name, not another column."""
        assert self.given is not None
        places = [key.lower() for key in self.names.keys]
        value = self.given.keys[places.index(name.lower())].expression
        return isinstance(value, e.ColumnRef) and [p.text.lower() for p in value.parts] == [
            name.lower()
        ]

    def _cell(self, ref: e.ColumnRef, cell: Cell, path: tuple[Name, ...]) -> Typed | None:
        return self._read(CellRef, ref.span, cell.name, cell.type, path)

    def _column(
        self, ref: e.ColumnRef, owner: ProgramInput, name: Name, path: tuple[Name, ...]
    ) -> Typed | None:
        found = owner.schema.find(name.text)
        assert found is not None
        is_more = self._is_more(found.name.lower())
        head = (owner.alias, found.name) if is_more else (found.name,)
        read = self._read(e.ColumnRef, ref.span, head, found.type, path)
        return read and Typed(read.expression, read.type, found.nullable or bool(path))

    def _read(
        self,
        node: type[e.ColumnRef],
        span: Span,
        head: str | tuple[str, ...],
        type_: t.Type,
        path: tuple[Name, ...],
    ) -> Typed | None:
        """Return a name with the fields after it; None after reporting an unknown field."""
        texts = (head,) if isinstance(head, str) else head
        names = [Name(span, text) for text in texts]
        for part in path:
            inner = None if type_ is t.UNKNOWN else field_of(type_, part.text)
            if type_ is not t.UNKNOWN and inner is None:
                written = ".".join(name.text for name in names)
                self.diagnostics.add(unknown_field(type_, part, written))
                return None
            names.append(Name(part.span, part.text if inner is None else inner.name))
            type_ = t.UNKNOWN if inner is None else inner.type
        return Typed(node(span, tuple(names)), type_)

    def _visible(self) -> list[str]:
        """Return the names allowed here."""
        found = [local.name for block in self.blocks for local in block.values()]
        found += [cell.name for cell in self.names.cells.values()]
        found += [key.name for key in self.names.keys.values()]
        if self.given is not None:
            found += self.given.schema.names()
        if self.timer is not None:
            found.append(self.timer.name)
        return list(dict.fromkeys(found))

    def _unknown(self, name: Name) -> Diagnostic:
        known, folded = self._visible(), name.text.lower()
        holder = next((i for i in self.names.inputs if i.schema.find(name.text)), None)
        if holder is not None:
            return self._no_row(e.ColumnRef(name.span, (name,)), holder)
        near = closest(name.text, known)
        fix = f"did you mean `{near[0]}`?" if near else f"the names here are: {', '.join(known)}"
        fix = PSEUDO_COLUMNS.get(folded, fix)
        if folded in self.names.timers:
            fix = f"`{name}` can be read only in ON TIMER {name}: keep the instant in a cell"
        elif self.given is None and self.timer is None:
            fix = "a default is the same for all keys: a literal, or a call on literals"
        return Diagnostic(
            codes.UNKNOWN_IN_PROGRAM,
            f"there is no `{name}` in {self._where()}",
            Label(name.span),
            help=fix,
        )

    def _where(self) -> str:
        if self.given is not None:
            return f"ON EVENT {self.given.alias}"
        return f"ON TIMER {self.timer.name}" if self.timer is not None else "a default"

    def _no_row(self, ref: e.ColumnRef, owner: ProgramInput) -> Diagnostic:
        """A column of a row other than the current one."""
        column = ref.parts[-1]
        fix = f"keep it in a cell: `SET last_{column} = {column};` in ON EVENT {owner.alias}"
        return Diagnostic(
            codes.UNKNOWN_IN_PROGRAM,
            f"{self._where()} has no row of `{owner.alias}`",
            Label(ref.span, f"a column of `{owner.alias}`"),
            help=fix,
        )

    def _ambiguous(self, name: Name, given: ProgramInput, cell: Cell | None) -> Diagnostic:
        fix = f"write `{given.alias}.{name}` for the column"
        if cell is not None:
            fix += f", `{self.names.operator}.{name}` for the cell"
        else:
            place = list(self.names.keys).index(name.text.lower())
            fix += f", `{given.alias}.{sql(given.keys[place].expression)}` for the key"
        return Diagnostic(
            codes.AMBIGUOUS_IN_PROGRAM,
            f"`{name}` is a column of `{given.alias}` and a {'key' if cell is None else 'cell'} of "
            f"`{self.names.operator}`",
            Label(name.span),
            help=fix,
        )


def hidden_name(name: Name, what: str, first: tuple[Label, ...] = ()) -> Diagnostic:
    """Return the diagnostic for a name of a program that would hide another."""
    return Diagnostic(
        codes.DUPLICATE_NAME,
        what,
        Label(name.span, "declared again" if first else ""),
        secondary=first,
        help="give it another name: in a program each name means one thing, case-insensitively",
    )


def _unknown_column(name: Name, owner: ProgramInput) -> Diagnostic:
    known = owner.schema.names()
    near = closest(name.text, known)
    return Diagnostic(
        codes.UNKNOWN_COLUMN,
        f"there is no column `{name}` in `{owner.alias}`",
        Label(name.span),
        help=f"did you mean `{near[0]}`?" if near else f"the columns are: {', '.join(known)}",
    )
