"""The plan of the last run on a state, and the text of its spec."""

from __future__ import annotations

from ..json_records import Json, Malformed
from ..plan import Plan
from ..records import dataclass

_SPEC = "spec_text"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A plan, and the text of its spec: None if that was not next to the script."""

    plan: Plan
    spec: str | None

    @classmethod
    def from_json(cls, value: object) -> RunPlan:
        """Read a plan with the spec among its fields; raises ``Malformed``."""
        if not isinstance(value, dict):
            raise Malformed("is not an object")
        spec = value.get(_SPEC)
        if not isinstance(spec, str | None):
            raise Malformed("is not a text", _SPEC)
        plan = {name: one for name, one in value.items() if name != _SPEC}
        return cls(Plan.from_json(plan), spec)

    def to_json(self) -> Json:
        """Return the plan with the spec as its last field."""
        return {**self.plan.to_json(), _SPEC: self.spec}
