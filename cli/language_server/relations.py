"""The columns that a relation has, and where each of them is declared.

Types are those that the compiler found; a relation with mistakes has names only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...compiler.model.schema import Field, Schema
from ...compiler.model.types import TIMESTAMP
from ...compiler.resolve.scopes.relation_builder import part_name
from ...compiler.resolve.scopes.scope import WINDOW_COLUMNS
from ...dsl.ast import expressions as e
from ...dsl.ast import queries as q
from ...dsl.ast import statements as st
from ...dsl.ast.node import Name
from ...dsl.reports.source import Span


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``declared`` is the name that makes it, None where no name does.

    ``implicit`` says that this name is a reference in a select list, without an alias.
    """

    name: str
    declared: Span | None
    field: Field | None = None
    implicit: bool = False


Columns = tuple[Column, ...]
Local = Mapping[str, Columns]
"""The relations of WITH by name."""


@dataclass(frozen=True, slots=True)
class Visible:
    """A relation in FROM: the qualifier of its columns, the name that this is, and the columns."""

    alias: str
    name: Span | None
    columns: Columns

    def find(self, name: str) -> Column | None:
        """Return the column of a name in any case."""
        folded = name.lower()
        return next((c for c in self.columns if c.name.lower() == folded), None)


class Relations:
    """The relations of a spec; ``schemas`` are those that the compiler could resolve."""

    def __init__(self, spec: st.Spec, schemas: Mapping[str, Schema]) -> None:
        self.schemas = schemas
        self._statements: dict[str, st.Statement] = {}
        for statement in spec.statements:
            name = getattr(statement, "name", None)
            if isinstance(name, Name):
                self._statements.setdefault(name.text, statement)
        self._known: dict[str, Columns] = {}

    def declared(self, name: str) -> Columns:
        """Return the columns of a source, table, stream or operator; none for other names."""
        if name not in self._known:
            self._known[name] = ()  # What reads itself has no columns.
            self._known[name] = self._declared(name)
        return self._known[name]

    def _declared(self, name: str) -> Columns:
        match self._statements.get(name):
            case st.CreateSource(columns=columns) | st.CreateTable(columns=columns):
                return tuple(self._named(c.name, name) for c in columns)
            case st.CreateStream(query=query):
                return self.of_query(query, {}, name)
            case st.CreateOperator(returns=returns):
                return tuple(self._named(p.name, name) for p in returns)
        # A side stream, or a statement with a syntax error.
        return tuple(Column(f.name, None, f) for f in self.schemas.get(name, ()))

    def _named(self, name: Name, owner: str) -> Column:
        return Column(name.text, name.span, self._field(owner, name.text))

    def _field(self, owner: str, name: str) -> Field | None:
        schema = self.schemas.get(owner)
        return None if schema is None else schema.find(name)

    def local(self, query: q.Query, outer: Local, owner: str) -> dict[str, Columns]:
        """Return the relations that a query can read besides declared ones."""
        found = dict(outer)
        for table in query.with_:
            columns = self.of_query(table.query, found, part_name(owner, table.name))
            found[table.name.text] = columns
        return found

    def of_query(self, query: q.Query, outer: Local, owner: str) -> Columns:
        """Return the columns of a query, which the first of its branches names."""
        return self.of_select(query.branches[0], self.local(query, outer, owner), owner)

    def of_select(self, select: q.Select, local: Local, owner: str) -> Columns:
        """Return the columns that a block selects; those without a name are left out."""
        rows = list(self.visible(select.relation, local, owner))
        return tuple(c for item in select.items for c in self._of_item(item, rows, owner))

    def _of_item(self, item: q.SelectItem, rows: list[Visible], owner: str) -> Iterator[Column]:
        expression = item.expression
        if isinstance(expression, e.Star):
            wanted = expression.qualifier
            for one in rows:
                if wanted is None or wanted.text.lower() == one.alias.lower():
                    for c in one.columns:
                        field = self._field(owner, c.name) or c.field
                        yield Column(c.name, c.declared, field, c.implicit)
        elif item.alias is not None:
            yield self._named(item.alias, owner)
        elif isinstance(expression, e.ColumnRef):
            last = expression.parts[-1]
            field = self._field(owner, last.text)
            if field is None and len(expression.parts) <= 2:
                found = (one.find(last.text) for one in rows)
                field = next((c.field for c in found if c is not None), None)
            yield Column(last.text, last.span, field, implicit=True)

    def visible(self, node: q.Relation, local: Local, owner: str) -> Iterator[Visible]:
        """Yield the relations in FROM under their qualifiers."""
        match node:
            case q.Join(right=q.UnnestRef(alias=alias)):
                for one in self.visible(node.left, local, owner):
                    yield Visible(one.alias, one.name, one.columns + self._element(alias, owner))
            case q.Join():
                yield from self.visible(node.left, local, owner)
                yield from self.visible(node.right, local, owner)
            case q.TableRef(name=name, alias=alias):
                columns = local.get(name.text)
                written = alias or name
                yield Visible(
                    written.text,
                    written.span,
                    self.declared(name.text) if columns is None else columns,
                )
            case q.SubqueryRef(query=query, alias=alias):
                part = owner if alias is None else part_name(owner, alias)
                yield _named(alias, self.of_query(query, local, part))
            case q.WindowTable(relation=relation, alias=alias):
                for one in self.visible(relation, local, owner):
                    window = tuple(Column(n, None, Field(n, TIMESTAMP)) for n in WINDOW_COLUMNS)
                    yield _renamed(one, alias, one.columns + window)
            case q.MatchRecognize(relation=relation, alias=alias):
                for one in self.visible(relation, local, owner):
                    yield _renamed(one, alias, self._of_matches(node, one, owner))

    def _element(self, name: Name | None, owner: str) -> Columns:
        return () if name is None else (self._named(name, part_name(owner, name)),)

    def _of_matches(self, node: q.MatchRecognize, rows: Visible, owner: str) -> Columns:
        measures = tuple(self._named(measure.name, owner) for measure in node.measures)
        if node.rows == "ALL":
            return rows.columns + measures
        keys = [k.parts[-1].text for k in node.partition_by if isinstance(k, e.ColumnRef)]
        found = (rows.find(key) for key in keys)
        return tuple(c for c in found if c is not None) + measures


def _named(alias: Name | None, columns: Columns) -> Visible:
    return Visible("", None, columns) if alias is None else Visible(alias.text, alias.span, columns)


def _renamed(one: Visible, alias: Name | None, columns: Columns) -> Visible:
    return Visible(one.alias, one.name, columns) if alias is None else _named(alias, columns)
