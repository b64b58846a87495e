"""The shape of the front matter, as pydantic models.

Only ``front_matter`` imports this, and only for a spec that has front matter: pydantic costs more
time than parsing a spec. Every scalar comes in as the text that was written, null as None, so that
a variable ``NO`` or ``007`` stays what its author sees.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from .settings import AS_FAST_AS_POSSIBLE, AVAILABLE_NOW, NAME

_PROTECTED = (
    (
        "spark.sql.session.timeZone",
        "the time zone is UTC, so that windows do not depend on a machine",
    ),
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


class _Overridable(BaseModel):
    """What a profile may set as well as the pipeline."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: Annotated[str, Field(min_length=1), AfterValidator(_plain_path)] = ""
    trigger: Annotated[str, AfterValidator(_trigger)] = AS_FAST_AS_POSSIBLE
    state_backend: Literal["auto", "memory", "rocksdb"] = "auto"
    variables: dict[Annotated[str, AfterValidator(_variable_name)], str | None] = {}
    spark: dict[Annotated[str, AfterValidator(_spark_key)], str] = {}


class ProfileModel(_Overridable):
    """One entry of ``profiles``."""


class FrontMatterModel(_Overridable):
    """The whole of the front matter."""

    pipeline: Annotated[str, AfterValidator(_pipeline)] = ""
    version: Annotated[int, Field(ge=1)] = 1
    description: Annotated[str, Field(min_length=1)] = ""
    profiles: dict[str, ProfileModel] = {}
