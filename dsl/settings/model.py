"""The shape of the front matter, as a validator of pydantic's core.

Only ``front_matter`` imports this, and only for a spec that has front matter. The core alone is
enough here; model classes on top of it would cost more time than a small spec takes to compile.
Every scalar comes in as the text that was written, null as None, so that a variable ``NO`` or
``007`` stays what its author sees.
"""

from __future__ import annotations

import re

from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator
from pydantic_core import core_schema as shape

from ...contracts.java import ALLOW
from ...contracts.reserved import reserved
from .spark import in_full, meant
from .values import AS_FAST_AS_POSSIBLE, AVAILABLE_NOW, NAME

_AMOUNT = re.compile(r"(\d+)\s*(millisecond|second|minute|hour|day)s?\s*", re.IGNORECASE)


def _pipeline(text: str) -> str:
    if not NAME.fullmatch(text):
        raise PydanticCustomError("pipeline_name", "{text}", {"text": text})
    return text


def _plain_path(text: str) -> str:
    if "${" in text or "{{" in text or re.search(r"\$\w", text):
        raise PydanticCustomError("no_variables", "variables are only substituted in options")
    return text


def _trigger(text: str) -> str:
    folded = " ".join(text.lower().split())
    if folded in (AS_FAST_AS_POSSIBLE, AVAILABLE_NOW):
        return folded
    amounts = [(int(m[1]), m[2].lower()) for m in _AMOUNT.finditer(text)]
    if not amounts or _AMOUNT.sub("", text).strip() or not sum(n for n, _ in amounts):
        raise PydanticCustomError("trigger", "not a trigger")
    return " ".join(f"{n} {unit}" if n == 1 else f"{n} {unit}s" for n, unit in amounts)


def _variable_name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise PydanticCustomError("variable_name", "not a variable's name")
    return text


def _spark_key(text: str) -> str:
    if not text.startswith("spark."):
        full = in_full(text)
        raise PydanticCustomError("spark_key", "not a Spark setting", {"meant": full})
    if (reason := reserved(text)) is not None:
        raise PydanticCustomError("protected", "{reason}", {"reason": reason})
    if near := meant(text):
        raise PydanticCustomError("spark_slip", "a slip of {meant}", {"meant": near})
    return text


def _keys(fields: dict[str, CoreSchema]) -> CoreSchema:
    """Return the schema of a mapping that may have these keys, and no others."""
    optional = {
        name: shape.typed_dict_field(field, required=False) for name, field in fields.items()
    }
    return shape.typed_dict_schema(optional, extra_behavior="forbid")


_TEXT = shape.str_schema(min_length=1)
_VARIABLE_NAME = shape.no_info_after_validator_function(_variable_name, shape.str_schema())
_SPARK_KEY = shape.no_info_after_validator_function(_spark_key, shape.str_schema())

_OVERRIDABLE: dict[str, CoreSchema] = {
    "state": shape.no_info_after_validator_function(_plain_path, _TEXT),
    "trigger": shape.no_info_after_validator_function(_trigger, _TEXT),
    "state_backend": shape.literal_schema(["auto", "memory", "rocksdb"]),
    "max_epochs_in_flight": shape.int_schema(ge=1),
    "variables": shape.dict_schema(_VARIABLE_NAME, shape.nullable_schema(shape.str_schema())),
    "spark": shape.dict_schema(_SPARK_KEY, shape.str_schema()),
}
"""What a profile may set as well as the pipeline."""

FRONT_MATTER = SchemaValidator(
    _keys(
        {
            "pipeline": shape.no_info_after_validator_function(_pipeline, _TEXT),
            "version": shape.int_schema(ge=1),
            "description": _TEXT,
            "allow": shape.list_schema(shape.literal_schema([ALLOW])),
            **_OVERRIDABLE,
            "profiles": shape.dict_schema(shape.str_schema(), _keys(_OVERRIDABLE)),
        }
    )
)
"""Takes a mapping and returns its settings as plain values."""
