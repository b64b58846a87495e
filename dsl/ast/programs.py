"""The statements inside CREATE OPERATOR, as written."""

from __future__ import annotations

from ...contracts.records import dataclass
from .expressions import Expression
from .node import Name, Node
from .types import TypeNode


@dataclass(frozen=True, slots=True)
class ProgramStatement(Node):
    """A statement of a handler."""


@dataclass(frozen=True, slots=True)
class SetStatement(ProgramStatement):
    """``SET x = e``."""

    target: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class DeclareStatement(ProgramStatement):
    """``DECLARE x TYPE [= e]``."""

    name: Name
    type: TypeNode
    value: Expression | None


@dataclass(frozen=True, slots=True)
class IfBranch(Node):
    """A condition with the statements under it."""

    condition: Expression
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class IfStatement(ProgramStatement):
    """``IF … THEN … [ELSEIF … THEN …]… [ELSE …] END IF``."""

    branches: tuple[IfBranch, ...]
    otherwise: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class WhileStatement(ProgramStatement):
    """``WHILE c DO … END WHILE``."""

    condition: Expression
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class ForStatement(ProgramStatement):
    """``FOR x IN list DO … END FOR``."""

    variable: Name
    values: Expression
    body: tuple[ProgramStatement, ...]


@dataclass(frozen=True, slots=True)
class PutStatement(ProgramStatement):
    """``PUT m[k] = e``."""

    target: Name
    key: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class RemoveKeyStatement(ProgramStatement):
    """``REMOVE m[k]``."""

    target: Name
    key: Expression


@dataclass(frozen=True, slots=True)
class AddStatement(ProgramStatement):
    """``ADD e TO s``."""

    value: Expression
    target: Name


@dataclass(frozen=True, slots=True)
class RemoveStatement(ProgramStatement):
    """``REMOVE e FROM s``."""

    value: Expression
    target: Name


@dataclass(frozen=True, slots=True)
class AppendStatement(ProgramStatement):
    """``APPEND e TO l``."""

    value: Expression
    target: Name


@dataclass(frozen=True, slots=True)
class ClearStatement(ProgramStatement):
    """``CLEAR x``, or ``CLEAR STATE`` (target None)."""

    target: Name | None


@dataclass(frozen=True, slots=True)
class StartTimerStatement(ProgramStatement):
    """``START TIMER t AT e``."""

    timer: Name
    at: Expression


@dataclass(frozen=True, slots=True)
class StopTimerStatement(ProgramStatement):
    """``STOP TIMER t``."""

    timer: Name


@dataclass(frozen=True, slots=True)
class EmitStatement(ProgramStatement):
    """``EMIT e, …``."""

    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Handler(Node):
    """``ON EVENT [input]`` or ``ON TIMER timer`` with its statements, or USING PYTHON.

    ``kind`` is ``EVENT`` or ``TIMER``; ``name`` is the input or the timer (None for the only
    input).
    """

    kind: str
    name: Name | None
    body: tuple[ProgramStatement, ...]
    python: str | None = None
