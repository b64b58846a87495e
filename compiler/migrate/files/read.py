"""A migration file to decisions: every name is in one of the specs, every expression is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Mapping as Names
from functools import partial

from ....contracts.plan import Operator, Plan, Source, keys_of, timers_of
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostics
from ....dsl.reports.source import Span
from ....dsl.yaml.diagnostics import described
from ....dsl.yaml.nodes import Mapping, Node, Scalar, read_documents
from ....dsl.yaml.slips import slip_of
from ....dsl.yaml.tree import YamlSyntaxError
from ...model.typed import Typed
from ..columns.sources import NEW
from ..compared.versions import aggregates_of, alive
from ..findings.decisions import Decisions
from ..findings.verdicts import Path
from ..types.conversions import type_of
from .diagnostics import Teller
from .expressions import BadExpression, expression
from .names import (
    column,
    columns_of,
    entry_types,
    known_as,
    readable,
    renameable,
    settable,
    types_of,
)
from .nulls import NULLS

WORDS = ("drop", "empty", "backfill")
"""Decisions about a whole operator."""
_TOP = ("from", "to", "operators", "sources", "sinks")
_PARTS = ("from", "key", "set", "rename", "timers", "where", "rewindow", "add", "accept")
ACCEPTED = ("empty", "backfill", "mixed", "incomplete", "drop", NULLS)
"""The words that accept a part as it will be."""


def read_migration(old: Plan, new: Plan, diagnostics: Diagnostics) -> Decisions:
    """Return the decisions of a file; mistakes are reported and left out."""
    return _Reader(old, new, diagnostics).read(diagnostics.source.text)


def tell_unused(decisions: Decisions, diagnostics: Diagnostics) -> None:
    """Report decisions that nothing asked for, after a plan has been made with them."""
    for path in decisions.unused():
        name = ": ".join(path[1:])
        Teller(diagnostics).tell(
            codes.MIGRATION_UNUSED,
            f"`{name}` decides what is no question between these versions",
            decisions.spans[path],
            "remove it",
        )


class _Reader:
    def __init__(self, old: Plan, new: Plan, diagnostics: Diagnostics) -> None:
        self._old, self._new = old, new
        self._teller = Teller(diagnostics)
        self._found = Decisions()

    def read(self, text: str) -> Decisions:
        try:
            documents = read_documents(text)
        except YamlSyntaxError as error:
            slip = slip_of(str(error), error.offset, text)
            message = f"this is not valid YAML: {slip.problem}"
            self._teller.tell(codes.MIGRATION_SYNTAX, message, slip.span, slip.help)
            return self._found
        if len(documents) != 1 or not isinstance(documents[0], Mapping):
            help_ = "write `from: 1`, `to: 2` and `operators: {…}`"
            span = documents[0].span if documents else Span(0, 1)
            self._teller.tell(codes.MIGRATION_FORM, "the file is no migration", span, help_)
            return self._found
        root = documents[0]
        for key, value in root:
            match key.text:
                case "operators":
                    self._named(key, value, self._operator)
                case "sources" | "sinks" as group:
                    self._named(key, value, partial(self._end, group))
                case "from" | "to":
                    pass
                case _:
                    self._teller.unknown_part("part of a migration", key, _TOP)
        self._version(root, "from", self._old)
        self._version(root, "to", self._new)
        return self._found

    def _version(self, root: Mapping, key: str, plan: Plan) -> None:
        node = root.get(key)
        if node is None:
            self._teller.form(
                f"the migration has no `{key}`", root, f"write `{key}: {plan.version}`"
            )
        elif not isinstance(node, Scalar) or node.text != str(plan.version):
            which = "old" if key == "from" else "new"
            self._teller.tell(
                codes.MIGRATION_VERSION,
                f"`{key}` is {described(node)}, and the {which} spec has version {plan.version}",
                node.span,
                f"write `{key}: {plan.version}`, or set `version` in the front matter",
            )

    def _named(self, key: Scalar, node: Node, each: Callable[[Scalar, Node], None]) -> None:
        if not isinstance(node, Mapping):
            self._teller.form(f"`{key.text}` is {described(node)}, not a mapping", node)
            return
        for name, value in node:
            each(name, value)

    def _put(self, path: Path, value: str, span: Span) -> None:
        self._found.values[path] = value
        self._found.spans[path] = span

    # Operators.

    def _operator(self, name: Scalar, node: Node) -> None:
        old, new = alive(self._old), alive(self._new)
        if name.text not in old and name.text not in new:
            self._teller.unknown_name("operator of either spec", name, {**new, **old})
            return
        if isinstance(node, Scalar):
            self._word(name, node, new)
            return
        if not isinstance(node, Mapping):
            help_ = f"write `{name.text}: drop` or `{name.text}: {{…}}`"
            self._teller.form(f"`{name.text}` is {described(node)}", node, help_)
            return
        if name.text not in new:
            help_ = f"write `{name.text}: drop`, or say it of the operator that it becomes"
            self._teller.form(f"`{name.text}` is not in the new spec", name, help_)
            return
        source = self._source_of(name.text, node, old)
        for key, value in sorted(node, key=lambda entry: entry[0].text != "rename"):
            self._part(name.text, source, key, value)

    def _word(self, name: Scalar, node: Scalar, new: Names[str, Operator]) -> None:
        if node.text not in WORDS:
            self._teller.unknown_part("word for an operator", node, WORDS)
        elif node.text != "drop" and name.text not in new:
            self._teller.form(f"`{name.text}` is not in the new spec", node, "write `drop`")
        else:
            self._put(("operators", name.text), node.text, name.span)

    def _source_of(self, id_: str, node: Mapping, old: Names[str, Operator]) -> str | None:
        """Return the old operator that one continues."""
        given = node.get("from")
        if isinstance(given, Scalar):
            if given.text in old:
                self._put(("operators", id_, "from"), given.text, given.span)
                return given.text
            self._teller.unknown_name("operator of the old spec", given, old)
            return None
        return id_ if id_ in old else None

    def _part(self, id_: str, source: str | None, key: Scalar, node: Node) -> None:
        match key.text:
            case "from":
                if not isinstance(node, Scalar):
                    self._teller.form(f"`from` is {described(node)}, not a name", node)
            case "rewindow":
                self._choice((id_, "rewindow"), key, node, ("auto",))
            case "where":
                names = {} if source is None else readable(self._old, source)
                self._expression(("operators", id_, "where"), node, names, "BOOLEAN")
            case "key" | "timers" | "rename" | "add" | "accept" | "set" as part:
                self._named(key, node, partial(self._inner, part, id_, source))
            case _:
                self._teller.unknown_part("part of an operator's migration", key, _PARTS)

    def _choice(self, path: Path, key: Scalar, node: Node, words: Iterable[str]) -> None:
        words = tuple(words)
        if not isinstance(node, Scalar):
            self._teller.form(f"`{key.text}` is {described(node)}, not a word", node)
        elif node.text not in words:
            self._teller.unknown_part(f"word for `{key.text}`", node, words)
        else:
            self._put(("operators", *path), node.text, key.span)

    def _inner(self, part: str, id_: str, source: str | None, key: Scalar, node: Node) -> None:
        operator = self._new.operators[id_]
        names = {} if source is None else readable(self._old, source)
        match part:
            case "key":
                keys = {one.name: one.type for one in keys_of(operator)}
                if self._is_known("key of it", key, keys):
                    path = ("operators", id_, "key", key.text)
                    self._expression(path, node, names, keys[key.text])
            case "timers":
                known = [one.id for one in timers_of(operator)]
                if self._is_known("timer of it", key, known):
                    path = ("operators", id_, "timers", key.text)
                    self._expression(path, node, names, "TIMESTAMP")
            case "set":
                self._set(id_, source, key, node, names)
            case "rename":
                self._rename(id_, source, key, node)
            case "add":
                self._add(id_, key, node)
            case "accept":
                aggregates = [one.id for one in aggregates_of(self._new, id_)]
                self._choice((id_, "accept", known_as(key.text, aggregates)), key, node, ACCEPTED)

    def _is_known(self, what: str, name: Scalar, known: Iterable[str]) -> bool:
        known = tuple(known)
        if name.text not in known:
            self._teller.unknown_name(what, name, known)
        return name.text in known

    def _set(
        self, id_: str, source: str | None, key: Scalar, node: Node, names: Names[str, Typed]
    ) -> None:
        known = settable(self._new, id_)
        if not self._is_known("cell or column of it", key, known):
            return
        path, place = ("operators", id_, "set", key.text), known[key.text]
        if place == "entries":
            self._entries(path, key, node, source, names)
        elif place == "state":
            self._expression(path, node, names, types_of(self._new, id_)[key.text])
        else:
            columns = {} if source is None else columns_of(self._old, source, place)
            self._expression(path, node, columns, types_of(self._new, id_)[key.text])

    def _entries(
        self, path: Path, key: Scalar, node: Node, source: str | None, names: Names[str, Typed]
    ) -> None:
        """Read the expressions of entries, over the parts of the old ones, or by the same name."""
        if not isinstance(node, Mapping):
            help_ = f"write `{key.text}: {{key: …, value: …}}`"
            message = f"`{key.text}` has entries, and {described(node)} is none"
            self._teller.form(message, node, help_)
            return
        before = {} if source is None else entry_types(self._old, source, self._was(path))
        after = entry_types(self._new, path[1], key.text)
        entry = {name: column(name, type_) for name, type_ in before.items()}
        for part, value in node:
            if part.text not in after:
                self._teller.unknown_part("part of an entry", part, after)
            else:
                full = (*path, part.text)
                self._expression(full, value, {**names, **entry}, after[part.text])

    def _was(self, path: Path) -> str:
        """Return the old name of a target of ``set``."""
        renamed = self._found.below("operators", path[1], "rename")
        return next((old for old, new in renamed.items() if new == path[3]), path[3])

    def _rename(self, id_: str, source: str | None, key: Scalar, node: Node) -> None:
        before = [] if source is None else renameable(self._old, source)
        after = renameable(self._new, id_)
        old = known_as(key.text, before)
        if old not in before:
            self._teller.unknown_name("part of the old state", key, before)
        elif not isinstance(node, Scalar):
            self._teller.form(f"`{key.text}` is {described(node)}, not a name", node)
        elif known_as(node.text, after) not in after:
            self._teller.unknown_name("part of the new state", node, after)
        else:
            self._put(("operators", id_, "rename", old), known_as(node.text, after), key.span)

    def _add(self, id_: str, key: Scalar, node: Node) -> None:
        known = [one.id for one in aggregates_of(self._new, id_)]
        if not isinstance(node, Scalar):
            self._teller.form(f"`{key.text}` is {described(node)}, not an aggregate", node)
        elif known_as(node.text, known) not in known:
            self._teller.unknown_name("aggregate of it", node, known)
        else:
            self._put(("operators", id_, "add", key.text), known_as(node.text, known), key.span)

    def _expression(
        self, path: Path, node: Node, names: Names[str, Typed], type_: str | None
    ) -> None:
        if not isinstance(node, Scalar):
            self._teller.form(f"`{path[-1]}` is {described(node)}, not an expression", node)
            return
        try:
            text = "NULL" if node.kind == "null" else node.text
            self._put(path, expression(text, names, type_of(type_)), node.span)
        except BadExpression as error:
            message = f"`{node.text}` can't be taken: {error}"
            self._teller.tell(codes.MIGRATION_EXPRESSION, message, node.span, error.help)

    # Sources and sinks.

    def _end(self, group: str, name: Scalar, node: Node) -> None:
        old, new = _ends(self._old, group), _ends(self._new, group)
        word = group.removesuffix("s")
        if name.text not in old and name.text not in new:
            self._teller.unknown_name(f"{word} of either spec", name, [*new, *old])
        elif isinstance(node, Scalar):
            if node.text != "drop" or name.text in new:
                help_ = f"write `{name.text}: {{from: …}}`"
                self._teller.form(f"`{name.text}` is {described(node)}", node, help_)
            else:
                self._put((group, name.text), "drop", name.span)
        elif not isinstance(node, Mapping) or name.text not in new:
            self._teller.form(f"`{name.text}` is no {word} of the new spec", name, "write `drop`")
        else:
            for key, value in sorted(node, key=lambda entry: entry[0].text != "from"):
                self._end_part(group, name.text, key, value)

    def _end_part(self, group: str, name: str, key: Scalar, node: Node) -> None:
        known = ("from", "start", "rename", "accept") if group == "sources" else ("from",)
        if key.text not in known:
            self._teller.unknown_part(f"part of a {group.removesuffix('s')}", key, known)
        elif key.text in ("rename", "accept"):
            self._named(key, node, partial(self._source_column, name, key.text))
        elif not isinstance(node, Scalar):
            self._teller.form(f"`{key.text}` is {described(node)}, not a name", node)
        elif key.text == "start" and node.text != "earliest":
            self._teller.unknown_part("place to start", node, ("earliest",))
        elif key.text == "from" and node.text not in _ends(self._old, group):
            word = group.removesuffix("s")
            self._teller.unknown_name(f"{word} of the old spec", node, _ends(self._old, group))
        else:
            self._put((group, name, key.text), node.text, key.span)

    def _source_column(self, name: str, part: str, key: Scalar, node: Node) -> None:
        """Read the old name of a column, or that it is new."""
        was = self._found.values.get(("sources", name, "from"), name)
        before = _column_names(self._old.sources.get(was))
        after = _column_names(self._new.sources.get(name))
        if not isinstance(node, Scalar):
            self._teller.form(f"`{key.text}` is {described(node)}, not a name", node)
        elif part == "accept":
            if self._is_known("column of it", key, after):
                if node.text == NEW:
                    self._put(("sources", name, part, key.text), node.text, key.span)
                else:
                    self._teller.unknown_part("word for a column", node, (NEW,))
        elif self._is_known("column of the old source", key, before) and self._is_known(
            "column of it", node, after
        ):
            self._put(("sources", name, part, key.text), node.text, key.span)


def _ends(plan: Plan, group: str) -> list[str]:
    """Return the names of the sources or sinks of a plan."""
    return list(plan.sources if group == "sources" else plan.sinks)


def _column_names(source: Source | None) -> list[str]:
    return [] if source is None else [one.name for one in source.columns]
