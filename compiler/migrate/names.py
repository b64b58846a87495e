"""What a migration may name of an operator, and what its expressions may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...dsl.ast.expressions import ColumnRef, Expression, Lambda
from ...dsl.format import identifier, sql
from ...dsl.parse import parse_expression
from ...dsl.source import SourceFile
from ...dsl.suggest import closest
from ...dsl.walk import walk
from ..model.same import canonical
from ..plan.origins import Columns, reference, substitute
from .joins import SIDES
from .verdicts import Json
from .versions import aggregates_of, side_columns, waiting_columns


class BadExpression(Exception):
    """An expression that can't be read; the text says why, ``help`` how to mend it."""

    def __init__(self, message: str, help_: str | None = None) -> None:
        super().__init__(message)
        self.help = help_


def readable(plan: Json, id_: str) -> dict[str, Expression]:
    """Return what an expression over the state of an operator may read, by name.

    That is keys, cells, timers, the window; and what comes out of an aggregate, where cells alone
    tell it.
    """
    entry = plan["operators"][id_]
    names = [key["name"] for key in entry.get("keys", ())]
    results: dict[str, Expression] = {}
    for aggregate in aggregates_of(plan, id_):
        cells = [cell["id"] for cell in aggregate["cells"]]
        names += cells
        if len(cells) == 1:
            results[aggregate["id"]] = reference(cells[0])
        elif aggregate["function"] == "sum":
            total, is_empty = map(identifier, cells)
            results[aggregate["id"]] = _parsed(f"CASE WHEN NOT {is_empty} THEN {total} END")
    names += [cell["id"] for cell in entry.get("cells", ()) if cell["kind"] == "value"]
    names += [timer["id"] for timer in entry.get("timers", ())]
    names += ["window"] if entry.get("window") is not None else []
    found: dict[str, Expression] = {name: reference(name) for name in names}
    for column, text in entry.get("columns", {}).items():
        if text in results:
            found.setdefault(column, results[text])
    return found


def settable(plan: Json, id_: str) -> dict[str, str]:
    """Return what ``set`` may give a value, each with the part of the state that it is in."""
    entry = plan["operators"][id_]
    found = {cell["id"]: "state" for one in aggregates_of(plan, id_) for cell in one["cells"]}
    for cell in entry.get("cells", ()):
        found[cell["id"]] = "state" if cell["kind"] == "value" else "entries"
    if entry["kind"] == "join":
        for place, word in enumerate(SIDES):
            for column in side_columns(plan, id_, place):
                found[f"{word}.{column['name']}"] = word
    for given in entry.get("inputs", ()):
        for column in waiting_columns(plan, id_, given["alias"]) or ():
            found[f"{given['alias']}.{column['name']}"] = given["alias"]
    return found


def columns_of(plan: Json, id_: str, word: str) -> dict[str, Expression]:
    """Return the columns of rows that wait: on a side of a join, or of an input."""
    entry = plan["operators"][id_]
    if entry["kind"] == "join" and word in SIDES:
        found = side_columns(plan, id_, SIDES.index(word))
    else:
        found = waiting_columns(plan, id_, word) or []
    return {column["name"]: reference(column["name"]) for column in found}


def renameable(plan: Json, id_: str) -> list[str]:
    """Return the parts of an operator that may get or have another name."""
    entry = plan["operators"][id_]
    return [
        *(one["id"] for one in aggregates_of(plan, id_)),
        *(cell["id"] for cell in entry.get("cells", ())),
        *(timer["id"] for timer in entry.get("timers", ())),
    ]


def expression(text: str, names: Mapping[str, Expression]) -> str:
    """Return an expression over some names as SQL; raises ``BadExpression``."""
    tree = _parsed(text)
    bound = {
        parameter.text
        for node in walk(tree)
        if isinstance(node, Lambda)
        for parameter in node.parameters
    }
    for node in walk(tree):
        if isinstance(node, ColumnRef) and node.parts[0].text not in {*names, *bound}:
            raise _unknown(node.parts[0].text, names)
    columns: Columns = {(name,): value for name, value in names.items() if name not in bound}
    return sql(substitute(tree, columns))


def _parsed(text: str) -> Expression:
    tree, diagnostics = parse_expression(SourceFile("expression", text))
    first = next(iter(diagnostics), None)
    if tree is None or first is not None:
        raise BadExpression(first.message if first is not None else "it is no expression")
    return tree


def _unknown(name: str, names: Iterable[str]) -> BadExpression:
    names = tuple(names)
    near = closest(name, names)
    listed = ", ".join(f"`{known}`" for known in names)
    help_ = f"did you mean `{near[0]}`?" if near else f"known: {listed}" if names else None
    return BadExpression(f"there is no `{name}` in the old state", help_)


def same_text(text: str) -> str:
    """Return what a call is known by: ``MAX( amount )`` is ``max(amount)``."""
    tree, diagnostics = parse_expression(SourceFile("call", text))
    return text if tree is None or len(diagnostics) else sql(canonical(tree))


def known_as(text: str, ids: list[str]) -> str:
    """Return the id of an aggregate however it is written; the text itself if none is meant."""
    if text in ids:
        return text
    found = [id_ for id_ in ids if same_text(id_) == same_text(text)]
    return found[0] if found else text
