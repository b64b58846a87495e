"""What every name in a spec stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...compiler.connectors.options import COLUMNS
from ...compiler.connectors.registry import SINKS
from ...compiler.model.schema import Schema
from ...compiler.resolve.scopes.names import KINDS, late_streams
from ...dsl.ast import statements as st
from ...dsl.ast.node import Name
from ...dsl.reports.source import SourceFile, Span
from ...dsl.yaml.tree import YamlSyntaxError, read_yaml
from .expression_names import ExpressionNames, Scope
from .occurrences import Found, Symbol
from .program_names import ProgramNames
from .relations import Relations, Visible

_VARIABLE = re.compile(r"\$\{([^}:$]*)\}")
_KIND = re.compile(r"\b([A-Za-z]+)\s+$")


def find_names(spec: st.Spec, source: SourceFile, schemas: Mapping[str, Schema]) -> Found:
    """Return the names of a spec; statements with syntax errors only have their declarations."""
    return _Names(spec, source, schemas).find()


class _Names:
    def __init__(self, spec: st.Spec, source: SourceFile, schemas: Mapping[str, Schema]) -> None:
        self._spec = spec
        self._source = source
        self._relations = Relations(spec, schemas)
        self._found = Found()
        self._expressions = ExpressionNames(self._relations, self._found)

    def find(self) -> Found:
        for statement in self._spec.statements:
            self._declare(statement)
        for name in self._spec.broken:
            kind = broken_kind(self._source, name)
            self._found.declared.setdefault(name.text, self._found.declares(name, kind))
        for statement in self._spec.statements:
            self._statement(statement)
        self._variables()
        self._found.sort()
        return self._found

    def find_in(self, statement: st.Statement) -> Found:
        """Find the names of one statement only."""
        self._declare(statement)
        self._statement(statement)
        self._found.sort()
        return self._found

    def _declare(self, statement: st.Statement) -> None:
        kind = KINDS.get(type(statement))
        if kind is None:
            return
        name: Name = statement.name  # type: ignore[attr-defined]
        symbol = self._found.declares(name, kind)
        if kind in ("function", "aggregate"):
            self._found.functions.setdefault(name.text.lower(), symbol)
        else:
            self._found.declared.setdefault(name.text, symbol)
        for side in self._sides(statement):
            self._found.declared.setdefault(side.text, self._found.declares(side, "side stream"))

    @staticmethod
    def _sides(statement: st.Statement) -> list[Name]:
        sides = list(late_streams(statement))
        if isinstance(statement, st.CreateSource):
            policies = (statement.malformed, statement.future)
            sides += [p.stream for p in policies if p is not None and p.stream is not None]
        return sides

    def _statement(self, statement: st.Statement) -> None:
        match statement:
            case st.CreateSource() | st.CreateTable():
                self._inputs(statement)
            case st.CreateStream(name=name, query=query):
                self._expressions.query(query, {}, name.text)
            case st.CreateSink():
                self._sink(statement)
            case st.CreateFunction(parameters=parameters, body=body):
                scope = self._parameters(parameters)
                if body is not None:
                    self._expressions.expression(body, scope)
            case st.CreateAggregate():
                self._aggregate(statement)
            case st.CreateOperator():
                ProgramNames(statement, self._relations, self._expressions).find()

    def _inputs(self, statement: st.CreateSource | st.CreateTable) -> None:
        name = statement.name
        rows = (Visible(name.text, name.span, self._relations.declared(name.text)),)
        self._found.scope(statement.span, rows)
        for column in statement.columns:
            self._found.declares(column.name, "column")
            declared = rows[0].find(column.name.text)
            if declared is not None:
                self._found.types[column.name.span] = declared
        for column in statement.columns:
            if column.expression is not None:
                self._expressions.expression(column.expression, Scope(rows))
        if isinstance(statement, st.CreateSource):
            for mark in statement.watermarks:
                self._column(mark.column.span, mark.column.text, rows[0])
                self._expressions.expression(mark.expression, Scope(rows))

    def _column(self, span: Span, name: str, rows: Visible) -> None:
        column = rows.find(name)
        if column is not None:
            self._expressions.refer(span, column)

    def _sink(self, statement: st.CreateSink) -> None:
        self._found.reads(statement.stream)
        stream = statement.stream
        rows = Visible("", None, self._relations.declared(stream.text))
        connector = next((o.value for o in statement.options if o.name.text == "connector"), "")
        role = SINKS.get(connector)
        for option in statement.options:
            known = None if role is None else role.option(option.name.text)
            if known is None or known.kind is not COLUMNS:
                continue
            text = self._source.excerpt(option.value_span)
            for word in re.finditer(r"[^\s,'\"]+", text):
                start = option.value_span.start
                span = Span(start + word.start(), start + word.end())
                self._column(span, word[0], rows)

    def _parameters(self, parameters: tuple[st.Parameter, ...]) -> Scope:
        names = [self._found.declares(one.name, "parameter") for one in parameters]
        return Scope().with_words(names)

    def _aggregate(self, statement: st.CreateAggregate) -> None:
        scope = self._parameters(statement.parameters)
        for lift in statement.lifts:
            self._expressions.expression(lift.expression, scope)
        parts = [self._found.declares(lift.name, "accumulator") for lift in statement.lifts]
        named = {part.name.lower(): part for part in parts}
        for combine in statement.combines:
            if combine.name.text.lower() in named:
                self._found.add(combine.name.span, named[combine.name.text.lower()])
        self._expressions.expression(statement.lower, Scope().with_words(parts))

    def _variables(self) -> None:
        """Note ``${name}`` in options and front matter, and the variables of the front matter."""
        declared: dict[str, Symbol] = {}
        front = self._spec.front_matter
        if front is not None:
            try:
                keys = read_yaml(front.text, front.span.start).keys
            except YamlSyntaxError:
                keys = {}
            for path, span in keys.items():
                if len(path) == 2 and path[0] == "variables":
                    declared[path[1]] = self._found.declares(Name(span, path[1]), "variable")
                elif len(path) == 4 and path[2] == "variables" and path[3] in declared:
                    self._found.add(span, declared[path[3]])
        texts = [o.value_span for s in self._spec.statements for o in getattr(s, "options", ())]
        for place in texts if front is None else [front.span, *texts]:
            for match in _VARIABLE.finditer(self._source.excerpt(place)):
                if match[1] in declared:
                    start = place.start + match.start(1)
                    self._found.add(Span(start, start + len(match[1])), declared[match[1]])


def broken_kind(source: SourceFile, name: Name) -> str:
    """Return what a statement with a syntax error declares by a name."""
    word = _KIND.search(source.text[: name.span.start])
    kind = "" if word is None else word[1].lower()
    return kind if kind in KINDS.values() else "side stream"


def names_of_statement(
    statement: st.Statement, spec: st.Spec, schemas: Mapping[str, Schema], source: SourceFile
) -> Found:
    """Return the names of one statement, which may be newer than the rest of the spec."""
    others = [s for s in spec.statements if _name(s) != _name(statement)]
    whole = st.Spec(spec.span, None, (*others, statement), ())
    return _Names(whole, source, schemas).find_in(statement)


def _name(statement: st.Statement) -> str | None:
    name = getattr(statement, "name", None)
    return name.text if isinstance(name, Name) else None
