"""Sources, tables, sinks, settings and Python functions, as their entries in the plan."""

from __future__ import annotations

from pathlib import Path

from ...contracts import plan
from ...dsl.format import sql
from ...dsl.settings.values import Profile, Settings
from ..model.declared import PythonFunction
from ..model.pipeline import Checkpoint, Endpoint, Sink, Source, Table
from ..model.schema import Field
from ..model.steps import Column
from ..operators.entries import type_text
from .modules import module_code


def describe_settings(settings: Settings) -> plan.Settings:
    """Return the settings that the running job needs."""
    return plan.Settings(
        state=settings.state,
        trigger=settings.trigger,
        state_backend=settings.state_backend,
        max_epochs_in_flight=settings.max_epochs_in_flight,
        variables=dict(settings.variables),
        spark=dict(settings.spark),
        profiles={name: _profile(name, one) for name, one in settings.profiles.items()},
        allow=settings.allow,
    )


def _profile(name: str, profile: Profile) -> plan.Profile:
    return plan.Profile(
        name=name,
        state=profile.state,
        trigger=profile.trigger,
        state_backend=profile.state_backend,
        max_epochs_in_flight=profile.max_epochs_in_flight,
        variables=dict(profile.variables),
        spark=dict(profile.spark),
    )


def describe_policy(policy: Checkpoint) -> plan.Checkpoint:
    """Return the policy of barriers."""
    return plan.Checkpoint(
        every=policy.every.text,
        retain=policy.retain,
        timeout=policy.timeout.text,
        tolerate=policy.tolerate,
    )


def describe_function(function: PythonFunction, folder: Path | None) -> plan.Function:
    """Return a function that a job loads."""
    return plan.Function(
        name=function.name,
        target=function.target,
        parameters=tuple(plan.Column(p.name, type_text(p.type.type)) for p in function.parameters),
        returns=type_text(function.returns.type),
        code=module_code(folder, function.target),
    )


def describe_source(source: Source) -> plan.Source:
    """Describe what a source reads, and which of its rows it keeps."""
    mark, malformed, future = source.watermark, source.malformed_rows, source.future_rows
    return plan.Source(
        name=source.name,
        connector=source.endpoint.connector,
        options=options_of(source.endpoint),
        columns=_read_columns(source.columns),
        metadata=tuple(
            plan.MetadataColumn(m.field.name, type_text(m.field.type), m.key)
            for m in source.metadata
        ),
        computed=_computed(source.computed),
        watermark=plan.Watermark(mark.column, mark.delay.text) if mark else None,
        malformed_rows=None
        if malformed.action == "fail"
        else plan.MalformedRows(_action(malformed.to), malformed.to),
        future_rows=None
        if future is None
        else plan.FutureRows(future.beyond.text, _action(future.to), future.to),
    )


def describe_table(table: Table) -> plan.Table:
    """Describe reference data."""
    return plan.Table(
        name=table.name,
        connector=table.endpoint.connector,
        options=options_of(table.endpoint),
        columns=_read_columns(table.columns),
        computed=_computed(table.computed),
        refresh=None if table.refresh is None else table.refresh.text,
    )


def describe_sink(sink: Sink, output_mode: str) -> plan.Sink:
    """Describe what a sink writes, and how it replaces rows."""
    return plan.Sink(
        name=sink.name,
        relation=sink.relation,
        connector=sink.endpoint.connector,
        options=options_of(sink.endpoint),
        output_mode=output_mode,
        mode="upsert" if sink.upsert else None,
        key=tuple(sink.key),
        latest_by=sink.latest_by or None,
    )


def _read_columns(fields: tuple[Field, ...]) -> tuple[plan.ReadColumn, ...]:
    return tuple(plan.ReadColumn(f.name, type_text(f.type), f.nullable) for f in fields)


def _computed(columns: tuple[Column, ...]) -> tuple[plan.ComputedColumn, ...]:
    return tuple(
        plan.ComputedColumn(c.name, type_text(c.value.type), sql(c.value.expression))
        for c in columns
    )


def _action(to: str | None) -> str:
    return "skip" if to is None else "send"


def options_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the options of an endpoint, those for Spark with their prefix."""
    return dict(endpoint.options) | {f"spark.{n}": v for n, v in endpoint.passed}
