"""Build the parser's tables from the grammar: ``python -m streamc.grammar.generate``.

Lark reads the grammar and computes the LALR(1) automaton in its strict mode, in which a conflict is
an error. The result is written as JSON, with states in the order of a walk from the start rules, so
that the same grammar gives the same bytes. Lark is needed here only: the parser reads the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule, Symbol
from lark.lexer import Lexer, PatternStr
from lark.parsers.lalr_analysis import Shift

HERE = Path(__file__).parent
PARTS = ("statements", "queries", "programs", "expressions", "terminals")
STARTS = ("statement", "query", "expression")


class _NoLexer(Lexer):
    """Stands in for the tokenizer, which plays no part in building tables."""

    def __init__(self, _conf: object) -> None:
        pass

    def lex(self, _lexer_state: object, _parser_state: object) -> Iterator[Any]:
        raise NotImplementedError


def grammar_text() -> str:
    """Return the whole grammar: its parts concatenated."""
    return "\n".join((HERE / f"{part}.lark").read_text("utf-8") for part in PARTS)


def build(text: str) -> str:
    """Return the tables of a grammar as JSON; raises ``lark.GrammarError`` if it has a conflict."""
    lark: Any = Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        start=list(STARTS),
        strict=True,
        maybe_placeholders=True,
    )
    table = lark.parser.parser._parse_table
    spelling = {
        t.name: t.pattern.value for t in lark.terminals if isinstance(t.pattern, PatternStr)
    }
    return _Writer(table, spelling).text()


def main() -> None:
    """Write the tables next to the grammar."""
    text = build(grammar_text())
    (HERE / "tables.json").write_text(text, "utf-8")
    print(f"grammar/tables.json: {len(text)} characters")


class _Writer:
    """Numbers states and rules and writes them; terminals keep their names."""

    def __init__(self, table: Any, spelling: dict[str, str]) -> None:
        self._table = table
        self._spelling = spelling
        self._order = self._walk()
        used = (act for row in table.states.values() for act in row.values())
        rules = {rule for kind, rule in used if kind is not Shift}
        self._rules = sorted(rules, key=lambda rule: (rule.origin.name, rule.order, str(rule)))

    def text(self) -> str:
        rules = {rule: number for number, rule in enumerate(self._rules, 1)}
        origins = {rule.origin.name for rule in self._rules}
        table = self._table
        starts = {
            s: (self._order[table.start_states[s]], self._order[table.end_states[s]])
            for s in STARTS
        }
        actions, gotos, terminals = [], [], set()
        for state in self._order:
            acts, goes = {}, {}
            for symbol, (kind, to) in table.states[state].items():
                if symbol in origins:
                    goes[symbol] = self._order[to]
                else:
                    name = self._spelling.get(symbol, symbol)
                    terminals.add(name)
                    acts[name] = self._order[to] if kind is Shift else -rules[to]
            actions.append(acts)
            gotos.append(goes)
        parts = {
            "starts": [json.dumps(starts, sort_keys=True)],
            "terminals": [json.dumps(sorted(terminals))],
            "rules": _array(_rule(rule) for rule in self._rules),
            "actions": _array(actions),
            "gotos": _array(gotos),
        }
        return (
            "{\n" + ",\n".join(f'"{name}": ' + "\n".join(p) for name, p in parts.items()) + "\n}\n"
        )

    def _walk(self) -> dict[Any, int]:
        order: dict[Any, int] = {}
        queue = [self._table.start_states[start] for start in STARTS]
        for state in queue:
            if state not in order:
                order[state] = len(order)
                row = self._table.states[state]
                queue.extend(row[symbol][1] for symbol in sorted(row) if row[symbol][0] is Shift)
        return order


def _array(items: Iterator[Any] | list[Any]) -> list[str]:
    lines = [json.dumps(item, sort_keys=True, separators=(",", ":")) for item in items]
    return ["[", ",\n".join(lines), "]"]


def _rule(rule: Rule) -> list[Any]:
    """Return origin, length, action and arguments of a rule.

    The action is the name of a function in ``dsl.actions``, ``"list"`` for the helper rules that
    Lark makes of ``*`` and ``+``, or None when the only argument is passed on. An argument is the
    position of a symbol, ``~position`` of a list to be spread, or None for a missing optional part.
    """
    arguments = list(_arguments(rule))
    helper = rule.origin.name.startswith("_")
    if helper:
        action = "list"
    elif rule.alias is None and rule.options.expand1 and len(arguments) == 1:
        action = None
    else:
        action = rule.alias or str(rule.origin.name)
    return [str(rule.origin.name), len(rule.expansion), action, arguments]


def _arguments(rule: Rule) -> Iterator[int | None]:
    missing = "".join(str(int(empty)) for empty in rule.options.empty_indices)
    gaps = [len(run) for run in missing.split("0")] if missing else [0] * (len(rule.expansion) + 1)
    for position, symbol in enumerate(rule.expansion):
        yield from [None] * gaps[position]
        if _is_kept(symbol):
            yield ~position if symbol.name.startswith("_") and not symbol.is_term else position
    yield from [None] * gaps[len(rule.expansion)]


def _is_kept(symbol: Symbol) -> bool:
    return not (symbol.is_term and getattr(symbol, "filter_out", False))


if __name__ == "__main__":
    main()
