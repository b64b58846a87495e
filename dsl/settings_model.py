"""The shape of the front matter, as a validator of pydantic's core.

Only ``front_matter`` imports this, and only for a spec that has front matter. The core alone does
what is needed here; model classes on top of it would cost more time than a small spec takes to
compile. Every scalar comes in as the text that was written, null as None, so that a variable
``NO`` or ``007`` stays what its author sees.
"""

from __future__ import annotations

import re

from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator
from pydantic_core import core_schema as shape

from .settings import AS_FAST_AS_POSSIBLE, AVAILABLE_NOW, NAME

_PROTECTED = (
    (
        "spark.sql.session.timeZone",
        "the time zone is UTC, so that windows do not depend on a machine",
    ),
    ("spark.sql.exchange.reuse", "equal branches of a union lose their watermark with it"),
    ("spark.sql.optimizer.serializer.nestedSchemaPruning.", "structs of programs rely on it"),
    ("spark.sql.streaming.statefulOperator.allowMultiple", "which rows are late relies on it"),
    ("spark.sql.streaming.checkpointLocation", "each query has its place under `state`"),
    ("spark.sql.streaming.queryEvolution.", "offsets are kept by the names of sources"),
    ("spark.sql.streaming.offsetLog.", "offsets are kept by the names of sources"),
    ("spark.sql.streaming.stateStore.providerClass", "`state_backend` chooses it"),
    ("spark.sql.streaming.stateStore.encodingFormat", "savepoints rely on how state is encoded"),
    ("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.", "checkpoints rely on it"),
    ("spark.sql.streaming.stateStore.rocksdb.formatVersion", "savepoints rely on it"),
    ("spark.sql.streaming.aggregation.stateFormatVersion", "savepoints rely on it"),
    ("spark.sql.streaming.join.stateFormatVersion", "savepoints rely on it"),
    ("spark.sql.streaming.sessionWindow.stateFormatVersion", "savepoints rely on it"),
)
"""Spark settings (or, with a dot at the end, families of them) that streamc sets, and why."""

_AMOUNT = re.compile(r"(\d+)\s*(millisecond|second|minute|hour|day)s?\s*", re.IGNORECASE)


def _pipeline(text: str) -> str:
    if not NAME.fullmatch(text):
        raise PydanticCustomError("pipeline_name", "{text}", {"text": text})
    return text


def _plain_path(text: str) -> str:
    if "${" in text:
        raise PydanticCustomError("no_variables", "variables are filled in options only")
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
        raise PydanticCustomError("spark_key", "not a Spark setting")
    for name, reason in _PROTECTED:
        if text.lower() == name.lower() or (name.endswith(".") and text.startswith(name)):
            raise PydanticCustomError("protected", "{reason}", {"reason": reason})
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
            **_OVERRIDABLE,
            "profiles": shape.dict_schema(shape.str_schema(), _keys(_OVERRIDABLE)),
        }
    )
)
"""Takes a mapping and returns the settings that are in it, as plain values."""
