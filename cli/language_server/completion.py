"""What can come at the cursor: keywords, relations, columns, functions, options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp

from ...compiler.connectors.interface import Role
from ...compiler.connectors.registry import SINKS, SOURCES, TABLES
from ...compiler.model import types as t
from ...compiler.model.functions import function_names
from ...compiler.model.signature_text import signature_text
from ...dsl.parsing.unfinished import Unfinished, end_of_statement, parse_statement, unfinished
from ...dsl.reports.source import SourceFile, Span
from ...dsl.syntax.place import is_plain_name
from .documents import Analysis, Documents
from .names import names_of_statement
from .occurrences import Found
from .positions import Places
from .relations import Column, Relations, Visible

_PREFIX = re.compile(r"`?[^\W\d]\w*$|`$")
_EXPRESSION = frozenset({"NAME", "INTEGER", "STRING", "CASE"})
_TYPE = frozenset({"NAME", "MAP", "STRUCT"})
_PLACEHOLDER = "streamc_"
_KEYWORD, _FIELD = lsp.CompletionItemKind.Keyword, lsp.CompletionItemKind.Field
_FUNCTION, _RELATION = lsp.CompletionItemKind.Function, lsp.CompletionItemKind.Class
_PROPERTY, _VALUE = lsp.CompletionItemKind.Property, lsp.CompletionItemKind.Value

_ROLES = {"SOURCE": SOURCES, "TABLE": TABLES, "SINK": SINKS}


def at(documents: Documents, uri: str, position: lsp.Position) -> list[lsp.CompletionItem]:
    """Return what can come at a position of a document."""
    last, source = documents.last(uri), documents.source(uri)
    return completion(source, last, Places(source.text).offset(position))


def completion(source: SourceFile, last: Analysis, offset: int) -> list[lsp.CompletionItem]:
    """Return what can come at a place; ``last`` is the spec as it was when it was last checked."""
    prefix = _PREFIX.search(source.text, 0, offset)
    start = offset if prefix is None else prefix.start()
    here = unfinished(source, start)
    if here is None:
        return []
    items = list(_Completion(source, last, here, start, offset).items())
    places = Places(source.text).range(Span(start, offset))
    for item in items:
        # Editors differ in whether a backtick belongs to the word that is replaced.
        if item.label.startswith("`"):
            item.text_edit = lsp.TextEdit(places, item.label)
            quoted = source.text.startswith("`", start) and start < offset
            item.filter_text = item.label if quoted else item.label.strip("`")
    return items


class _Completion:
    def __init__(
        self, source: SourceFile, last: Analysis, here: Unfinished, start: int, offset: int
    ) -> None:
        self._source = source
        self._last = last
        self._here = here
        self._start = start
        self._offset = offset

    def items(self) -> Iterator[lsp.CompletionItem]:
        here = self._here
        if here.kind(1) == "ERROR":
            if here.text(1)[:1] in ("'", '"'):
                yield from self._option_values()
            return
        if here.kind(1) == ".":
            yield from self._after_dot()
            return
        if "NAME" in here.expected:
            yield from self._names()
        for number, word in enumerate(here.words()):
            yield lsp.CompletionItem(word, kind=_KEYWORD, sort_text=f"5{number:03}")

    def _names(self) -> Iterator[lsp.CompletionItem]:
        here = self._here
        if here.expected >= _EXPRESSION:
            yield from self._columns()
            yield from self._functions()
        elif here.kind(1) in ("FROM", "JOIN") or self._in_window():
            yield from self._relations()
        elif here.expected >= _TYPE:
            for name in t.type_names():
                kind = lsp.CompletionItemKind.TypeParameter
                yield lsp.CompletionItem(name, kind=kind, sort_text=f"4{name}")
        elif self._in_options():
            yield from self._option_names()
        elif here.kind(1) == "FOR" or here.kind(1) == "USING" or here.kind(2) == "USING":
            yield from self._columns()
        elif here.kind(1) == "ON" and here.kind(3) == "OPERATOR":
            yield from self._relations()

    def _in_window(self) -> bool:
        return self._here.kind(1) == "(" and self._here.kind(2) in ("WINDOWING", "COUNT_WINDOW")

    # Relations and columns.

    def _relations(self) -> Iterator[lsp.CompletionItem]:
        readable = ("source", "table", "stream", "operator", "side stream")
        for name, symbol in self._last.names.declared.items():
            if symbol.kind in readable:
                yield lsp.CompletionItem(
                    name, kind=_RELATION, detail=symbol.kind, sort_text=f"1{name}"
                )
        for name in self._here.common_tables():
            yield lsp.CompletionItem(name, kind=_RELATION, detail="WITH", sort_text=f"0{name}")

    def _columns(self) -> Iterator[lsp.CompletionItem]:
        rows, words = self._visible()
        for word, kind in words.items():
            yield lsp.CompletionItem(
                word, kind=lsp.CompletionItemKind.Variable, detail=kind, sort_text=f"0{word}"
            )
        seen = set()
        for one in rows:
            for column in one.columns:
                if column.name not in seen:
                    seen.add(column.name)
                    yield _column(column, one.alias)
        if len(rows) > 1:
            for one in rows:
                yield lsp.CompletionItem(one.alias, kind=_RELATION, sort_text=f"2{one.alias}")

    def _after_dot(self) -> Iterator[lsp.CompletionItem]:
        """Yield the columns of a qualifier, or the fields of a column."""
        path = [self._here.text(2).strip("`")]
        while self._here.kind(2 * len(path) + 1) == ".":
            path.append(self._here.text(2 * len(path) + 2).strip("`"))
        path.reverse()
        rows, _ = self._visible()
        owner = next((one for one in rows if one.alias.lower() == path[0].lower()), None)
        if owner is not None and len(path) == 1:
            yield from (_column(column, owner.alias) for column in owner.columns)
            return
        if owner is not None:
            rows, path = [owner], path[1:]
        column = next((c for one in rows if (c := one.find(path[0])) is not None), None)
        type_ = None if column is None or column.field is None else column.field.type
        for name in path[1:]:
            inside = _fields(type_)
            type_ = next((f.type for f in inside if f.name.lower() == name.lower()), None)
        for field in _fields(type_):
            yield lsp.CompletionItem(_written(field.name), kind=_FIELD, detail=str(field.type))

    def _visible(self) -> tuple[list[Visible], dict[str, str]]:
        """Return the relations and the words whose names can come here."""
        start = self._here.start
        end = end_of_statement(self._source, start)
        before, after = self._source.text[: self._start], self._source.text[self._offset : end]
        for rest in (after, ""):
            filled = SourceFile(self._source.name, f"{before}{_PLACEHOLDER}{rest};")
            statement = parse_statement(filled, start)
            if statement is not None:
                last = self._last
                found = names_of_statement(statement, last.spec, last.schemas, filled)
                return list(found.visible(self._start)), _words(found, self._start)
        return self._by_tokens(f"{before[start:]}{_PLACEHOLDER}{after}"), {}

    def _by_tokens(self, text: str) -> list[Visible]:
        """Return the relations that a statement with mistakes names after FROM and JOIN."""
        relations = Relations(self._last.spec, self._last.schemas)
        found: list[Visible] = []
        for match in _READ.finditer(text):
            name, alias = match["name"], match["alias"]
            if name in self._last.names.declared and name not in [v.alias for v in found]:
                written = alias if alias and is_plain_name(alias) else name
                found.append(Visible(written, None, relations.declared(name)))
        return found

    def _functions(self) -> Iterator[lsp.CompletionItem]:
        for symbol in self._last.names.functions.values():
            yield lsp.CompletionItem(
                symbol.name, kind=_FUNCTION, detail=symbol.kind, sort_text=f"3{symbol.name}"
            )
        for name in function_names():
            yield lsp.CompletionItem(
                name, kind=_FUNCTION, detail=signature_text(name), sort_text=f"7{name}"
            )

    # Options.

    def _in_options(self) -> bool:
        """Return whether the innermost open bracket is that of WITH."""
        depth, back = 0, 1
        while kind := self._here.kind(back):
            if kind == "(" and depth == 0:
                follows = self._here.kind(1) in ("(", ",")
                return follows and self._here.kind(back + 1) == "WITH"
            depth += {")": 1, "(": -1}.get(kind, 0)
            back += 1
        return False

    def _role(self) -> Role | None:
        roles = _ROLES.get(self._here.tokens.kinds[self._here.first + 1])
        end = end_of_statement(self._source, self._here.start)
        named = re.search(r"\bconnector\s*=\s*'([^']*)'", self._source.text[self._here.start : end])
        return None if roles is None or named is None else roles.get(named[1])

    def _option_names(self) -> Iterator[lsp.CompletionItem]:
        role = self._role()
        if role is None:
            if self._here.tokens.kinds[self._here.first + 1] in _ROLES:
                yield lsp.CompletionItem("connector", kind=_PROPERTY)
            else:
                for name in ("uid", "unbounded"):
                    yield lsp.CompletionItem(name, kind=_PROPERTY)
            return
        for option in role.accepted:
            detail = "required" if option.required else option.default
            yield lsp.CompletionItem(
                option.name, kind=_PROPERTY, detail=detail, documentation=option.doc
            )

    def _option_values(self) -> Iterator[lsp.CompletionItem]:
        if self._here.kind(2) != "=":
            return
        name = self._here.text(3)
        if name == "connector":
            roles = _ROLES.get(self._here.tokens.kinds[self._here.first + 1], {})
            values: Iterable[str] = roles
        else:
            role = self._role()
            option = None if role is None else role.option(name)
            values = () if option is None else option.choices
            if option is not None and option.kind.words == "`true` or `false`":
                values = ("true", "false")
        for value in values:
            yield lsp.CompletionItem(value, kind=_VALUE)


_READ = re.compile(
    r"\b(?:FROM|JOIN|TUMBLE\s*\(|HOP\s*\(|SESSION\s*\(|CUMULATE\s*\()\s*(?P<name>\w+)"
    r"(?:\s+(?:AS\s+)?(?P<alias>\w+))?",
    re.IGNORECASE,
)


def _words(found: Found, offset: int) -> dict[str, str]:
    """Return the cells, locals and parameters that are declared before a place."""
    kinds = ("cell", "local", "parameter", "accumulator")
    return {
        one.symbol.name: one.symbol.kind
        for one in found.occurrences
        if one.declares and one.symbol.kind in kinds and one.span.start < offset
    }


def _column(column: Column, alias: str) -> lsp.CompletionItem:
    type_ = None if column.field is None else str(column.field.type)
    return lsp.CompletionItem(
        _written(column.name),
        kind=_FIELD,
        detail=type_,
        label_details=lsp.CompletionItemLabelDetails(description=alias),
        sort_text=f"1{column.name}",
    )


def _written(name: str) -> str:
    return name if is_plain_name(name) else "`" + name.replace("`", "``") + "`"


def _fields(type_: t.Type | None) -> tuple[t.Field, ...]:
    return type_.fields if isinstance(type_, t.Struct) else ()
