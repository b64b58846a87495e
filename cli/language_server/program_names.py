"""The names in CREATE OPERATOR: inputs, cells of state, timers, locals."""

from __future__ import annotations

from collections.abc import Mapping

from ...dsl.ast import programs as p
from ...dsl.ast import statements as st
from ...dsl.ast.node import Name, Node
from ...dsl.ast.walk import children
from .expression_names import ExpressionNames, Scope
from .occurrences import Symbol
from .relations import Relations, Visible


class ProgramNames:
    """Finds the names of an operator."""

    def __init__(
        self, node: st.CreateOperator, relations: Relations, expressions: ExpressionNames
    ) -> None:
        self._node = node
        self._relations = relations
        self._expressions = expressions
        self._found = expressions.found
        self._inputs: dict[str, Visible] = {}
        self._timers: dict[str, Symbol] = {}
        self._cells: dict[str, Symbol] = {}

    def find(self) -> None:
        """Note all names."""
        node = self._node
        for given in node.inputs:
            self._input(given)
        if node.late_rows is not None:
            self._expressions.expression(node.late_rows, Scope())
        for cell in node.state:
            self._cells[cell.name.text.lower()] = self._found.declares(cell.name, "cell")
            if cell.default is not None:
                self._expressions.expression(cell.default, Scope())
        for limit in node.ttl:
            self._word(limit.cell, self._cells)
        for timer in node.timers:
            self._timers[timer.name.text.lower()] = self._found.declares(timer.name, "timer")
        for column in node.returns:
            self._found.declares(column.name, "column")
        for handler in node.handlers:
            self._handler(handler)

    def _input(self, given: st.OperatorInput) -> None:
        self._found.reads(given.stream)
        name = given.alias or given.stream
        if given.alias is not None:
            self._found.declares(given.alias, "alias")
        columns = self._relations.declared(given.stream.text)
        visible = Visible(name.text, name.span, columns)
        self._inputs.setdefault(name.text.lower(), visible)
        self._found.scope(given.span, (visible,))
        for expression in (*given.partition_by, given.order_by):
            if expression is not None:
                self._expressions.expression(expression, Scope((visible,)))

    def _handler(self, handler: p.Handler) -> None:
        rows = tuple(self._inputs.values())
        words = dict(self._cells)
        if handler.kind == "TIMER" and handler.name is not None:
            self._word(handler.name, self._timers)
            timer = self._timers.get(handler.name.text.lower())
            words.update({} if timer is None else {timer.name.lower(): timer})
        elif handler.name is not None:
            given = self._inputs.get(handler.name.text.lower())
            if given is not None:
                rows = (given,)
                if given.name is not None:
                    self._found.same(handler.name, given.name)
        self._found.scope(handler.span, rows)
        self._body(handler.body, Scope(rows, words))

    def _body(self, body: tuple[p.ProgramStatement, ...], scope: Scope) -> None:
        for statement in body:
            scope = self._statement(statement, scope)

    def _statement(self, node: Node, scope: Scope) -> Scope:
        """Note the names of a statement; return the scope of the next."""
        match node:
            case p.DeclareStatement(name=name, value=value):
                if value is not None:
                    self._expressions.expression(value, scope)
                return scope.with_words([self._found.declares(name, "local")])
            case p.ForStatement(variable=variable, values=values, body=body):
                self._expressions.expression(values, scope)
                local = self._found.declares(variable, "local")
                self._body(body, scope.with_words([local]))
            case (
                p.IfBranch(condition=condition, body=body)
                | p.WhileStatement(condition=condition, body=body)
            ):
                self._expressions.expression(condition, scope)
                self._body(body, scope)
            case p.IfStatement(branches=branches, otherwise=otherwise):
                for branch in branches:
                    self._statement(branch, scope)
                self._body(otherwise, scope)
            case p.StartTimerStatement(timer=timer) | p.StopTimerStatement(timer=timer):
                self._word(timer, self._timers)
                self._parts(node, scope)
            case _:
                for child in children(node):
                    if isinstance(child, Name):
                        self._word(child, scope.words)
                self._parts(node, scope)
        return scope

    def _parts(self, node: Node, scope: Scope) -> None:
        for child in children(node):
            if not isinstance(child, Name):
                self._expressions.expression(child, scope)

    def _word(self, name: Name, words: Mapping[str, Symbol]) -> None:
        symbol = words.get(name.text.lower())
        if symbol is not None:
            self._found.add(name.span, symbol)
