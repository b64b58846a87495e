"""Settings and policies of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..json_records import KEY, Record
from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Profile(Record):
    """A profile: the settings that it changes."""

    name: str = field(metadata=KEY)
    state: str | None = None
    trigger: str | None = None
    state_backend: str | None = None
    max_epochs_in_flight: int | None = None
    variables: Mapping[str, str | None] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings(Record):
    """The settings of a pipeline; a variable that is None has to be set at the start.

    Plans of earlier versions lack ``max_epochs_in_flight``. ``allow`` are features that are
    rejected otherwise.
    """

    state: str | None
    trigger: str
    state_backend: str
    max_epochs_in_flight: int | None = None
    variables: Mapping[str, str | None] = field(kw_only=True)
    spark: Mapping[str, str] = field(kw_only=True)
    profiles: Mapping[str, Profile] = field(kw_only=True)
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint(Record):
    """The policy of barriers: how often, how many are kept, and which failures are tolerated.

    A barrier that is not complete after ``timeout`` has failed; ``tolerate`` consecutive failures
    are allowed.
    """

    every: str
    retain: int
    timeout: str
    tolerate: int
