"""Sources, tables, sinks and functions in Python, as their entries in the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from ...dsl.format import sql
from ..model import types
from ..model.declared import PythonFunction
from ..model.pipeline import Endpoint, Sink, Source, Table
from ..model.programs import Operator
from ..model.schema import Field
from ..model.steps import Column, Stateful
from .modules import module_code

Document: TypeAlias = dict[str, Any]
"""A part of the plan, ready for JSON."""


def describe_functions(functions: tuple[PythonFunction, ...], folder: Path | None) -> Document:
    """Return the functions that a job loads; a plan without any does not speak of them."""
    described = {
        f.name: {
            "target": f.target,
            "parameters": [{"name": p.name, "type": type_text(p.type.type)} for p in f.parameters],
            "returns": type_text(f.returns.type),
        }
        | _code_of(f.target, folder)
        for f in functions
    }
    return {"functions": described} if described else {}


def describe_code(step: Stateful, folder: Path | None) -> Document:
    """Describe the code of a handler in Python; nothing for all else."""
    return _code_of(step.python if isinstance(step, Operator) else None, folder)


def _code_of(target: str | None, folder: Path | None) -> Document:
    found = None if target is None else module_code(folder, target)
    return {} if found is None else {"code": found}


def describe_source(source: Source) -> Document:
    """Describe what a source reads, and which of its rows."""
    mark, malformed, future = source.watermark, source.malformed_rows, source.future_rows
    policies: Document = {}
    if malformed.action != "fail":
        policies["malformed_rows"] = _policy(malformed.to)
    if future is not None:
        policies["future_rows"] = {"beyond": future.beyond.text} | _policy(future.to)
    metadata = [column_of(m.field) | {"key": m.key} for m in source.metadata]
    return {
        "connector": source.endpoint.connector,
        "options": options_of(source.endpoint),
        "columns": [column_of(f) | {"nullable": f.nullable} for f in source.columns],
        **({"metadata": metadata} if metadata else {}),
        "computed": _computed(source.computed),
        "watermark": {"column": mark.column, "delay": mark.delay.text} if mark else None,
        **policies,
    }


def describe_tables(tables: tuple[Table, ...]) -> Document:
    """Return the reference data; a plan without any does not speak of it."""
    described = {
        t.name: {
            "connector": t.endpoint.connector,
            "options": options_of(t.endpoint),
            "columns": [column_of(f) | {"nullable": f.nullable} for f in t.columns],
            "computed": _computed(t.computed),
            "refresh": None if t.refresh is None else t.refresh.text,
        }
        for t in tables
    }
    return {"tables": described} if described else {}


def _computed(columns: tuple[Column, ...]) -> list[Document]:
    return [
        {"name": c.name, "type": type_text(c.value.type), "expression": sql(c.value.expression)}
        for c in columns
    ]


def _policy(to: str | None) -> Document:
    return {"action": "skip"} if to is None else {"action": "send", "to": to}


def options_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the options of an end, those for Spark with their prefix."""
    return dict(endpoint.options) | {f"spark.{n}": v for n, v in endpoint.passed}


def mode_of(sink: Sink) -> Document:
    """Return how rows are replaced; nothing for a sink that only adds them."""
    parts = {
        "mode": "upsert" if sink.upsert else None,
        "key": list(sink.key),
        "latest_by": sink.latest_by,
    }
    return {name: value for name, value in parts.items() if value}


def column_of(field: Field) -> Document:
    """Describe a column."""
    return {"name": field.name, "type": type_text(field.type)}


def type_text(type_: types.Type) -> str | None:
    """Return a type as text, None for one that only Spark knows."""
    return str(type_) if types.is_known(type_) else None
