"""What the compiler knows of the name at the cursor."""

from __future__ import annotations

from lsprotocol import types as lsp

from ...compiler.model.signature_text import signature_text
from ...compiler.views.explain import explain_stream
from ...dsl.ast import statements as st
from .documents import Analysis
from .occurrences import Occurrence
from .relations import Column, Relations


def hover(analysis: Analysis, position: lsp.Position) -> lsp.Hover | None:
    """Return the type of a column, the columns and state of a relation, a function's signature."""
    found = analysis.names.at(analysis.places.offset(position))
    text = None if found is None else _text(analysis, found)
    if found is None or text is None:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
    return lsp.Hover(content, analysis.places.range(found.span))


def _text(analysis: Analysis, found: Occurrence) -> str | None:
    symbol = found.symbol
    match symbol.kind:
        case "built-in":
            signature = signature_text(symbol.name)
            return None if signature is None else _code(signature)
        case "column":
            column = analysis.names.types.get(found.span)
            return _code(_column(column or Column(symbol.name, symbol.declared)))
        case "function" | "aggregate" | "sink" | "variable" | "cell" | "timer" | "local":
            return _code(_written(analysis, found))
        case "source" | "table" | "stream" | "operator" | "side stream":
            return _relation(analysis, symbol.name, symbol.kind)
    return _code(f"{symbol.kind} {symbol.name}")


def _relation(analysis: Analysis, name: str, kind: str) -> str:
    columns = Relations(analysis.spec, analysis.schemas).declared(name)
    lines = [f"{kind} {name}", *(f"  {_column(column)}" for column in columns)]
    graph = analysis.result.graph
    state = "" if graph is None else explain_stream(graph, analysis.spec, name)
    return _code("\n".join(lines)) + (f"\n\n{_code(state)}" if state else "")


def _column(column: Column) -> str:
    return column.name if column.field is None else str(column.field)


def _written(analysis: Analysis, found: Occurrence) -> str:
    """Return a declaration as it is written, without its body."""
    symbol = found.symbol
    for statement in analysis.spec.statements:
        match statement:
            case st.CreateFunction(name=name) if name.span == symbol.declared:
                end = statement.returns.span.end
            case st.CreateAggregate(name=name) if name.span == symbol.declared:
                end = statement.lifts[0].span.start
                head = analysis.source.text[statement.span.start : end]
                return head[: head.upper().rindex("LIFT")].rstrip()
            case st.CreateSink(name=name) if name.span == symbol.declared:
                end = statement.stream.span.end
            case st.CreateOperator(state=state):
                cell = next((c for c in state if c.name.span == symbol.declared), None)
                if cell is None:
                    continue
                return f"{symbol.kind} {analysis.source.excerpt(cell.span)}"
            case _:
                continue
        return analysis.source.text[statement.span.start : end]
    return f"{symbol.kind} {symbol.name}"


def _code(text: str) -> str:
    return f"```text\n{text}\n```"
