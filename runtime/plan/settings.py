"""The settings of one run: the plan's, overridden by a profile's, overridden by arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...contracts.migration import Migration
from ...contracts.plan import Plan, Profile
from ..base.errors import (
    MISSING_VARIABLE,
    PLAN_UNREADABLE,
    UNKNOWN_PROFILE,
    UNKNOWN_VARIABLE,
    RuntimeFault,
    nearest,
)
from ..base.java_code import check_settings
from ..base.secrets import filled, remember_options, without_references
from .arguments import Arguments

AS_FAST_AS_POSSIBLE = "as fast as possible"
AVAILABLE_NOW = "available now"
_UNITS = {"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run: every choice is made, every variable has its value.

    It starts from `savepoint`, migrated by `migration`, if there is one.
    """

    state: str
    trigger: str
    state_backend: str
    variables: Mapping[str, str]
    spark: Mapping[str, str]
    max_epochs_in_flight: int = 1
    savepoint: str | None = None
    migration: Migration | None = None

    @property
    def cadence(self) -> float:
        """The seconds between epochs with input; 0 without a pause."""
        untimed = self.trigger in (AS_FAST_AS_POSSIBLE, AVAILABLE_NOW)
        return 0.0 if untimed else seconds(self.trigger)


def resolve_settings(
    plan: Plan, arguments: Arguments, environment: Mapping[str, str], *, secrets: bool = True
) -> RunSettings:
    """Applies the profile and the arguments.

    A variable is taken from `--var`, then STREAMC_NAME, then the profile, then the plan. With
    `secrets`, references are filled with their values; without, settings that have one are left
    out, and variables keep it. Raises RuntimeFault for a profile or variable that is not declared,
    and for one without a value.
    """
    profile = profile_of(plan, arguments.profile)
    base = plan.settings
    trigger = AVAILABLE_NOW if arguments.until_caught_up else None
    settings = {**base.spark, **profile.spark}
    spark = without_references(settings)
    if secrets:
        spark = {name: filled(value, f"setting `{name}`") for name, value in settings.items()}
        remember_options(spark)
    check_settings(spark, base.allow)
    return RunSettings(
        state=state_folder(plan, arguments.state, arguments.profile),
        trigger=trigger or profile.trigger or base.trigger or AS_FAST_AS_POSSIBLE,
        state_backend=profile.state_backend or base.state_backend or "auto",
        variables=_variables(plan, profile, arguments, environment, secrets=secrets),
        spark=spark,
        max_epochs_in_flight=profile.max_epochs_in_flight or base.max_epochs_in_flight or 1,
        savepoint=arguments.savepoint,
        migration=arguments.migration,
    )


def state_folder(plan: Plan, asked: str | None, profile: str | None) -> str:
    """The state folder: as requested, else of the profile or the plan.

    Raises RuntimeFault for a profile that is not declared.
    """
    own = profile_of(plan, profile).state
    return asked or own or plan.settings.state or f"state/{plan.pipeline}"


def seconds(interval: str) -> float:
    """The length of `10 seconds` or `1 minute 30 seconds`; raises RuntimeFault for other text."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([a-z]+?)s?(?:\s|,|$)", interval.strip().lower())
    if not parts or any(unit not in _UNITS for _, unit in parts):
        raise RuntimeFault(
            PLAN_UNREADABLE,
            f"`{interval}` is not an interval",
            "write one such as `10 seconds`",
        )
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def profile_of(plan: Plan, name: str | None) -> Profile:
    """A profile by its name, an empty one without; raises RuntimeFault for an unknown one."""
    profiles = plan.settings.profiles
    if name is None:
        return Profile("")
    if name not in profiles:
        raise RuntimeFault(
            UNKNOWN_PROFILE,
            f"pipeline `{plan.pipeline}` has no profile `{name}`",
            _known(name, list(profiles), "it declares no profiles"),
        )
    return profiles[name]


def _variables(
    plan: Plan,
    profile: Profile,
    arguments: Arguments,
    environment: Mapping[str, str],
    *,
    secrets: bool,
) -> dict[str, str]:
    declared = {**plan.settings.variables, **profile.variables}
    for name in arguments.variables:
        if name not in declared:
            raise RuntimeFault(
                UNKNOWN_VARIABLE,
                f"pipeline `{plan.pipeline}` has no variable `{name}`",
                _known(name, list(declared), "it declares no variables"),
            )
    values = {}
    for name, default in declared.items():
        own = environment.get(f"STREAMC_{name.upper()}")
        value = arguments.variables.get(name, default if own is None else own)
        if value is None:
            raise RuntimeFault(
                MISSING_VARIABLE,
                f"variable `{name}` has no value",
                f"pass `--var {name}=…` or set STREAMC_{name.upper()}",
            )
        # A value from the environment is literal, whatever it looks like.
        if secrets and (name in arguments.variables or own is None):
            value = filled(value, f"variable `{name}`")
        values[name] = value
    if secrets:
        remember_options(values)
    return values


def _known(name: str, known: list[str], none: str) -> str:
    near = nearest(name, known)
    if near is not None:
        return f"did you mean `{near}`?"
    return f"declared: {', '.join(sorted(known))}" if known else none
