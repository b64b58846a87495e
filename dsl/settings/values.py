"""The settings in the front matter of a spec, with defaults; plain data for every later phase."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from ...contracts.records import dataclass

AS_FAST_AS_POSSIBLE = "as fast as possible"
AVAILABLE_NOW = "available now"

NAME = re.compile(r"[a-z_][a-z0-9_]*")
"""Valid names of pipelines and variables."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile overrides; None and absent keys change nothing."""

    state: str | None = None
    trigger: str | None = None
    state_backend: str | None = None
    max_epochs_in_flight: int | None = None
    variables: Mapping[str, str | None] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a pipeline.

    ``trigger`` is ``as fast as possible``, ``available now`` or a duration (``10 seconds``);
    ``state_backend`` is ``auto``, ``memory`` or ``rocksdb``; ``max_epochs_in_flight`` is how many
    epochs may be open and not yet finished by all queries. A variable whose value is None has to be
    given when the pipeline is started. Mappings keep the order of the spec. ``allow`` lists what is
    refused by default: ``java``.
    """

    pipeline: str
    version: int
    description: str | None
    state: str
    trigger: str
    state_backend: str
    max_epochs_in_flight: int
    variables: Mapping[str, str | None]
    spark: Mapping[str, str]
    profiles: Mapping[str, Profile]
    allow: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        pipeline: str,
        *,
        version: int = 1,
        description: str | None = None,
        state: str | None = None,
        trigger: str = AS_FAST_AS_POSSIBLE,
        state_backend: str = "auto",
        max_epochs_in_flight: int = 1,
        variables: Mapping[str, str | None] | None = None,
        spark: Mapping[str, str] | None = None,
        profiles: Mapping[str, Profile] | None = None,
        allow: Iterable[str] = (),
    ) -> Settings:
        """Return settings with the defaults of the language for what is not given."""
        return cls(
            pipeline=pipeline,
            version=version,
            description=description,
            state=f"state/{pipeline}" if state is None else state,
            trigger=trigger,
            state_backend=state_backend,
            max_epochs_in_flight=max_epochs_in_flight,
            variables=variables or {},
            spark=spark or {},
            profiles=profiles or {},
            allow=tuple(sorted(set(allow))),
        )
