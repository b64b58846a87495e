"""What the compiler knows of a kind of step: an interface, one class a kind against it.

Nothing has a default that decides anything: a kind that leaves a part out can't be made, and so the
package that registers it can't be imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from ..model.steps import Stateful, Step
from ..pyspark.layout import Chain

S = TypeVar("S", bound=Step)
K = TypeVar("K", bound=Stateful)


class StepKind(ABC, Generic[S]):
    """What holds of every kind; each one is a ``RowKind`` or a ``RootKind``, or both."""

    @property
    @abstractmethod
    def step(self) -> type[S]:
        """The class of its steps."""

    @abstractmethod
    def lines(self, step: S) -> Iterable[str]:
        """Return the lines that say what a step does, resolved and typed."""

    @abstractmethod
    def words(self, step: S) -> str:
        """Return what a step does in a few words, none where the script says it as well."""


class RowKind(StepKind[S]):
    """A kind of step over the rows of the step before it."""

    @abstractmethod
    def script(self, step: S, rows: Chain) -> Chain:
        """Return the DataFrame that a step makes of another."""


class RootKind(StepKind[S]):
    """A kind of step that a relation begins with: it reads inputs of its own."""

    @abstractmethod
    def frame(self, step: S) -> Chain:
        """Return the DataFrame that a step makes of its inputs."""


class OperatorKind(StepKind[K]):
    """A kind of step that keeps state."""

    @abstractmethod
    def says(self, step: K) -> tuple[type[Step], ...]:
        """Return the classes of the steps before it that its words speak for."""
