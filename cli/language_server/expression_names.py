"""The names in expressions and queries: columns, aliases, relations, functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ...dsl.ast import expressions as e
from ...dsl.ast import queries as q
from ...dsl.ast.node import Name, Node
from ...dsl.ast.walk import children, walk
from ...dsl.reports.source import Span
from .occurrences import Found, Symbol
from .relations import Column, Columns, Local, Relations, Visible


@dataclass(frozen=True)
class Scope:
    """What a name in an expression may be.

    ``words`` are names that take precedence over columns (locals, cells, parameters of a lambda),
    in lower case; ``aliases`` those of the select list, which columns take precedence over.
    """

    rows: tuple[Visible, ...] = ()
    words: Mapping[str, Symbol] = field(default_factory=dict)
    aliases: Mapping[str, Symbol] = field(default_factory=dict)

    def with_words(self, symbols: Iterable[Symbol]) -> Scope:
        """Return the scope with more words."""
        return replace(self, words={**self.words, **{s.name.lower(): s for s in symbols}})


class ExpressionNames:
    """Finds the names in expressions, and in queries."""

    def __init__(self, relations: Relations, found: Found) -> None:
        self._relations = relations
        self.found = found

    # Queries.

    def query(self, node: q.Query, outer: Local, owner: str) -> None:
        """Find the names in the query of a relation."""
        local: dict[str, Columns] = dict(outer)
        for table in node.with_:
            self.found.declares(table.name, "common table")
            self.query(table.query, local, f"{owner}__{table.name}")
            inside = self._relations.local(
                q.Query(node.span, (table,), node.branches), local, owner
            )
            local[table.name.text] = inside[table.name.text]
            self.found.relations[table.name.text, owner] = table.name.span
        first: Columns = ()
        for branch in node.branches:
            columns = self._relations.of_select(branch, local, owner)
            first = first or columns
            self._select(branch, local, owner, list(zip(columns, first, strict=False)))

    def _select(
        self, node: q.Select, local: Local, owner: str, columns: list[tuple[Column, Column]]
    ) -> None:
        """Find the names in a block; its columns are those of the first block of a union."""
        self._relation(node.relation, local, owner)
        rows = tuple(self._relations.visible(node.relation, local, owner))
        self.found.scope(node.span, rows)
        named = {own.declared: column for own, column in columns}
        aliases = {}
        for item in node.items:
            self.expression(item.expression, Scope(rows))
            if item.alias is not None:
                column = named.get(item.alias.span, Column(item.alias.text, item.alias.span))
                symbol = Symbol("column", column.name, column.declared)
                self.found.add(item.alias.span, symbol, declares=column.declared == item.alias.span)
                self.found.types[item.alias.span] = column
                aliases[item.alias.text.lower()] = symbol
        for own, column in columns:
            if own.implicit and own.declared is not None and _inside(own.declared, node):
                symbol = Symbol("column", column.name, column.declared)
                self.found.implicit[own.declared] = symbol
        scope = Scope(rows, aliases=aliases)
        for child in children(node):
            if not isinstance(child, q.SelectItem | q.Relation):
                self.expression(child, scope)

    def _relation(self, node: q.Relation, local: Local, owner: str) -> None:
        match node:
            case q.TableRef():
                self._table(node, local, owner)
            case q.SubqueryRef(query=query, alias=alias):
                part = owner if alias is None else f"{owner}__{alias}"
                self.query(query, local, part)
                self._alias(alias)
            case q.Join():
                self._relation(node.left, local, owner)
                if isinstance(node.right, q.UnnestRef):
                    self._unnest(node, node.right, local, owner)
                else:
                    self._relation(node.right, local, owner)
                rows = tuple(self._relations.visible(node, local, owner))
                if node.condition is not None:
                    self.expression(node.condition, Scope(rows))
                if isinstance(node.right, q.TableRef) and node.right.as_of is not None:
                    self.expression(node.right.as_of, Scope(rows))
                for name in node.using:
                    self._bare(name, rows)
            case q.WindowTable() | q.MatchRecognize():
                self._above(node, local, owner)

    def _unnest(self, node: q.Join, ref: q.UnnestRef, local: Local, owner: str) -> None:
        rows = tuple(self._relations.visible(node.left, local, owner))
        self.expression(ref.array, Scope(rows))
        if ref.alias is not None:
            self.found.declares(ref.alias, "column")

    def _table(self, node: q.TableRef, local: Local, owner: str) -> None:
        if node.name.text in local:
            declared = self._common_table(node.name.text, owner)
            self.found.add(node.name.span, Symbol("common table", node.name.text, declared))
        else:
            self.found.reads(node.name)
        self._alias(node.alias)

    def _common_table(self, name: str, owner: str) -> Span | None:
        """Return where WITH declares a name: in the query of a relation, or around it."""
        found = self.found.relations.get((name, owner))
        if found is not None or "__" not in owner:
            return found
        return self._common_table(name, owner.rpartition("__")[0])

    def _alias(self, alias: Name | None) -> None:
        if alias is not None:
            self.found.declares(alias, "alias")

    def _above(self, node: q.WindowTable | q.MatchRecognize, local: Local, owner: str) -> None:
        """Find the names in a window or pattern: they are of the rows that it reads."""
        self._relation(node.relation, local, owner)
        self._alias(node.alias)
        rows = tuple(self._relations.visible(node.relation, local, owner))
        self.found.scope(node.span, rows)
        scope = Scope(rows)
        if isinstance(node, q.MatchRecognize):
            scope = scope.with_words(self._variables(node))
            for measure in node.measures:
                self.found.declares(measure.name, "column")
            if node.skip_to is not None and node.skip_to.text.lower() in scope.words:
                self.found.add(node.skip_to.span, scope.words[node.skip_to.text.lower()])
        for child in children(node):
            if not isinstance(child, q.Relation | Name):
                self.expression(child, scope)

    def _variables(self, node: q.MatchRecognize) -> list[Symbol]:
        """Return the variables of a pattern; one without a condition is declared by the pattern."""
        in_pattern = [n.name for n in walk(node.pattern) if isinstance(n, q.PatternVariable)]
        found: dict[str, Symbol] = {}
        for name in (*(d.variable for d in node.define), *in_pattern):
            if name.text.lower() not in found:
                found[name.text.lower()] = self.found.declares(name, "pattern variable")
        return list(found.values())

    # Expressions.

    def expression(self, node: Node, scope: Scope) -> None:
        """Find the names in an expression, or in a part of a query that holds some."""
        match node:
            case e.ColumnRef():
                self.column(node, scope)
                return
            case e.Star(qualifier=qualifier):
                if qualifier is not None and qualifier.text.lower() in scope.words:
                    self.found.add(qualifier.span, scope.words[qualifier.text.lower()])
                elif qualifier is not None:
                    self._qualifier(qualifier, scope)
                return
            case e.Lambda(parameters=parameters):
                for name in parameters:
                    self.found.declares(name, "parameter")
                scope = scope.with_words(Symbol("parameter", n.text, n.span) for n in parameters)
                self.expression(node.body, scope)
                return
            case e.Call(name=name):
                self.found.calls(name)
            case e.NamedArgument():
                self.expression(node.value, scope)
                return
            case q.LateRows(stream=stream):
                if stream is not None:
                    self.found.declares(stream, "side stream")
                return
            case q.PatternVariable(name=name) if name.text.lower() in scope.words:
                self.found.add(name.span, scope.words[name.text.lower()])
        for child in children(node):
            self.expression(child, scope)

    def column(self, node: e.ColumnRef, scope: Scope) -> None:
        """Find what each part of a reference stands for."""
        head = node.parts[0]
        word = scope.words.get(head.text.lower())
        if word is not None:
            self.found.add(head.span, word)
            if word.kind == "pattern variable" and len(node.parts) > 1:
                self._bare(node.parts[1], scope.rows)
        elif len(node.parts) > 1 and (owner := self._qualifier(head, scope)) is not None:
            self._of(node.parts[1], owner)
        elif not self._bare(head, scope.rows) and head.text.lower() in scope.aliases:
            self.found.add(head.span, scope.aliases[head.text.lower()])

    def _qualifier(self, name: Name, scope: Scope) -> Visible | None:
        for one in scope.rows:
            if one.alias.lower() == name.text.lower():
                if one.name is not None:
                    self.found.same(name, one.name)
                return one
        return None

    def _bare(self, name: Name, rows: tuple[Visible, ...]) -> bool:
        return any([self._of(name, one) for one in rows if one.find(name.text) is not None][:1])

    def _of(self, name: Name, owner: Visible) -> bool:
        column = owner.find(name.text)
        if column is None:
            return False
        self.refer(name.span, column)
        return True

    def refer(self, span: Span, column: Column) -> None:
        """Note a name that stands for a column."""
        self.found.add(span, Symbol("column", column.name, column.declared))
        self.found.types[span] = column


def _inside(span: Span, node: q.Select) -> bool:
    """Return whether a name is in the select list of a block, which precedes what it reads."""
    return node.span.start <= span.start and span.end <= node.relation.span.start
