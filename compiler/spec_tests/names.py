"""The names of a version of a spec that a test may use."""

from __future__ import annotations

from collections.abc import Mapping as Names

from ...dsl.reports import codes
from ...dsl.yaml.nodes import Node
from ..connectors.registry import reader_of
from ..model.pipeline import Pipeline, Source, Table
from ..model.programs import Operator
from .diagnostics import Teller
from .model import Column
from .rows import Lines


class SpecNames:
    """The sources, tables, sinks and operators of a pipeline."""

    def __init__(self, pipeline: Pipeline, variables: Names[str, str], profile: str | None) -> None:
        """``variables`` are those set by the test; they are filled into options."""
        settings = pipeline.settings
        chosen = settings.profiles.get(profile or "")
        values = {**settings.variables, **(chosen.variables if chosen else {}), **variables}
        self.sources = {source.name: source for source in pipeline.sources}
        self.tables = {table.name: table for table in pipeline.tables}
        given: list[Source | Table] = [*pipeline.sources, *pipeline.tables]
        self.lines = {one.name: Lines.of(one, values) for one in given}
        schemas = {source.name: source.schema for source in pipeline.sources}
        schemas |= {relation.name: relation.schema for relation in pipeline.relations}
        self.sinks = {
            sink.name: tuple(Column(f.name, f.type) for f in schemas[sink.relation])
            for sink in pipeline.sinks
        }
        steps = [step for relation in pipeline.relations for step in relation.steps]
        declared = (step for step in steps if isinstance(step, Operator) and step.declared)
        self.operators = {step.id: step for step in declared}

    def first_lines(self) -> dict[str, tuple[str, ...]]:
        """Return the lines with which every file of a source or table begins, if any."""
        return {name: lines.first for name, lines in self.lines.items() if lines.first}

    def tell_unset(self, node: Node, teller: Teller) -> None:
        """Report variables without a value that are needed to parse a source's rows."""
        for name, lines in self.lines.items():
            for option, variable in lines.unset:
                teller.form(
                    f"`{option}` of `{name}` needs the variable `{variable}`, which has no value",
                    node,
                    f"give it one: `variables: {{{variable}: …}}`",
                )

    def tell_metadata(self, node: Node, teller: Teller) -> None:
        """Report columns that only the connector, which is replaced in tests, could fill."""
        for name, source in self.sources.items():
            if source.metadata and not reader_of(source).reads_files:
                teller.tell(
                    codes.NOT_BUILT,
                    f"tests can't give the METADATA columns of `{name}` yet",
                    node.span,
                )
