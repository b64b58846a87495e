"""Keys of groups, ids and programs: each new key from the old ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....contracts.migration import Made
from ....contracts.records import dataclass
from ....dsl.ast.expressions import ColumnRef, Expression
from ....dsl.ast.node import Node
from ....dsl.ast.walk import rewrite, walk
from ....dsl.format import identifier, sql
from ...model.same import canonical
from ...operators.rows.origins import reference
from ..compared.versions import Meaning, Versions
from ..findings.changes import made_part, reads_of
from ..findings.verdicts import Decision, Finding, Verdict
from ..texts.parsing import parsed_expression
from ..types.conversions import cast, holds_all
from ..types.structs import converted

_SEVERAL = " or "
"""Separates the terms of a program's key in the branches of an input."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its name, its type, and its terms.

    ``column`` is the name of its column in a savepoint, if different.
    """

    name: str
    type: str | None
    meaning: Meaning
    column: str | None = None

    @property
    def held(self) -> str:
        """The name of its column in a savepoint."""
        return self.column or self.name


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """The findings on keys, the SQL of each new one, and whether several old ones merge."""

    findings: tuple[Finding, ...]
    expressions: tuple[tuple[str, str], ...]
    merges: bool

    def made(self) -> list[Made]:
        """Return the keys in the runtime's form."""
        return [made_part(name, expression) for name, expression in self.expressions]


def plan_keys(versions: Versions, id_: str, old: Sequence[Key], new: Sequence[Key]) -> KeyPlan:
    """Return the migration of the keys of an operator."""
    decided = versions.decisions.below("operators", id_, "key")
    pairs = _pairs(old, new, decided)
    findings: list[Finding] = []
    expressions: list[tuple[str, str]] = []
    alone: set[str] = set()
    for key in new:
        expression = versions.decisions.get("operators", id_, "key", key.name)
        if expression is not None:
            whole = next((k for k in old if expression == identifier(k.held)), None)
            alone |= set() if whole is None else {whole.name}
            read = [k.name for k in old if k.held in reads_of(expression)]
            is_meant = expression == _made_of(old, key)
            findings.append(_decided(key, whole, expression, read, is_meant=is_meant))
        else:
            whole = pairs.get(key.name)
            finding = _same(id_, key, whole, old) if whole is not None else _added(id_, key, old)
            alone |= set() if whole is None else {whole.name}
            expression = identifier(key.held if whole is None else whole.held)
            if whole is not None and whole.type != key.type:
                expression = converted(expression, whole.type, key.type)
            findings.append(finding)
        expressions.append((key.held, expression))
    gone = [key for key in old if key.name not in alone]
    findings += _dropped(gone, {finding.old for finding in findings})
    merges = bool(gone)
    return KeyPlan(tuple(findings), tuple(expressions), merges)


def _pairs(old: Sequence[Key], new: Sequence[Key], decided: Mapping[str, str]) -> dict[str, Key]:
    """Return the old key of each new one: by name if that means the same, then by meaning."""
    pairs: dict[str, Key] = {}
    waiting = [key for key in new if key.name not in decided]
    for rule in (_as_before, _of_one_meaning, _of_one_name):
        for key in waiting:
            free = [k for k in old if k.name not in {pair.name for pair in pairs.values()}]
            found = [other for other in free if rule(other, key)]
            if key.name not in pairs and len(found) == 1:
                pairs[key.name] = found[0]
    return pairs


def _as_before(old: Key, new: Key) -> bool:
    return old.name == new.name and old.meaning == new.meaning


def _of_one_meaning(old: Key, new: Key) -> bool:
    return old.meaning == new.meaning


def _of_one_name(old: Key, new: Key) -> bool:
    return old.name == new.name


def _same(id_: str, key: Key, old: Key, keys: Sequence[Key]) -> Finding:
    path = ("operators", id_, "key", key.name)
    if old.meaning != key.meaning:
        was, now = " or ".join(old.meaning), " or ".join(key.meaning)
        made = _made_of(keys, key)
        draft = made or identifier(old.held)
        if old.type != key.type and made is None:
            draft = converted(draft, old.type, key.type)
        return Finding(
            *("key", old.name, key.name, Verdict.KEPT),
            f"it was `{was}` and is `{now}`: groups would be taken for others",
            f"say what it is of the old keys: `key: {{{key.name}: …}}`",
            marked=True,
            open=Decision(path, draft),
        )
    if not holds_all(old.type, key.type):
        return Finding(
            *("key", old.name, key.name, Verdict.CONVERTED),
            f"{key.type} does not hold all of {old.type}",
            "say how, or keep the type",
            open=Decision(path, converted(identifier(old.held), old.type, key.type)),
        )
    if old.type != key.type:
        why = f"{old.type} to {key.type}, exactly"
        return Finding("key", old.name, key.name, Verdict.CONVERTED, why)
    why = f"it was called `{old.name}`" if old.name != key.name else ""
    return Finding("key", old.name, key.name, Verdict.KEPT, why)


def _made_of(keys: Sequence[Key], new: Key) -> str | None:
    """Return the SQL of a key that is computed from old keys; None for others."""
    several = any(len(key.meaning) != 1 or _SEVERAL in key.meaning[0] for key in (*keys, new))
    if several and new.type != "BOOLEAN":
        return None
    held = {key.meaning[0]: reference(key.held) for key in keys}
    made: list[ColumnRef] = []

    def change(node: Node) -> Node | None:
        found = held.get(sql(canonical(node))) if isinstance(node, Expression) else None
        if found is not None:
            made.append(found)
        return found

    tree = parsed_expression(new.meaning[0])
    if tree is None:
        return None
    tree = rewrite(tree, change)
    columns = [node for node in walk(tree) if isinstance(node, ColumnRef)]
    # Only keys are kept; a key may have the name of a column used by another one.
    if not made or not all(any(node is one for one in made) for node in columns):
        return None
    return sql(tree)


def _added(id_: str, key: Key, keys: Sequence[Key]) -> Finding:
    made = _made_of(keys, key)
    return Finding(
        *("key", None, key.name, Verdict.CONVERTED),
        "groups that are there lack it",
        f"say what they get: `key: {{{key.name}: \"'…'\"}}`",
        marked=True,
        open=Decision(("operators", id_, "key", key.name), made or cast("NULL", key.type)),
    )


def _decided(
    key: Key, whole: Key | None, expression: str, read: Sequence[str], *, is_meant: bool
) -> Finding:
    if whole is None:
        was = read[0] if len(read) == 1 else None
        why = f"as decided: {expression}"
        return Finding("key", was, key.name, Verdict.CONVERTED, why, marked=not is_meant)
    if whole.type != key.type:
        exact = ", exactly" if holds_all(whole.type, key.type) else ""
        why = f"{whole.type} to {key.type}{exact}"
        return Finding("key", whole.name, key.name, Verdict.CONVERTED, why)
    same = whole.meaning == key.meaning
    why = "" if same and whole.name == key.name else f"it was `{whole.name}`, as decided"
    return Finding("key", whole.name, key.name, Verdict.KEPT, why, marked=not same)


def _dropped(gone: Sequence[Key], told: set[str | None]) -> Iterator[Finding]:
    for key in gone:
        if key.name not in told:
            why = "groups that differ in it alone become one"
            yield Finding("key", key.name, None, Verdict.DROPPED, why)
