"""Diagnostics as a SARIF 2.1.0 log of one run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ... import __version__
from ...contracts.redaction import masked
from ...dsl.reports.codes import all_codes
from ...dsl.reports.diagnostics import Code, Diagnostic, Diagnostics, Label
from ...dsl.reports.source import SourceFile
from ..shared.pages import read_page

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render_sarif(files: Sequence[Diagnostics]) -> str:
    """Return the log; its rules are the codes that were found, each with its page."""
    found = {one.code.number for diagnostics in files for one in diagnostics}
    rules = [code for code in all_codes() if code.number in found]
    places = {code.number: index for index, code in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "streamc",
                "version": __version__,
                "rules": [_rule(code) for code in rules],
            }
        },
        # Columns count characters, not UTF-16 code units.
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(d.source)}} for d in files],
        "results": [
            _result(one, diagnostics.source, places[one.code.number])
            for diagnostics in files
            for one in diagnostics
        ],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(code: Code) -> dict[str, Any]:
    page = read_page(code.number)
    return {
        "id": code.number,
        "name": "".join(word.capitalize() for word in code.slug.split("-")),
        "shortDescription": {"text": code.summary},
        "help": {"text": page.text(), "markdown": f"# {page.heading}\n{page.body}"},
        "defaultConfiguration": {"level": code.severity.value},
    }


def _result(one: Diagnostic, source: SourceFile, rule: int) -> dict[str, Any]:
    lines = [one.message, *one.notes]
    if one.help is not None:
        lines.append(f"help: {one.help}")
    result = {
        "ruleId": one.code.number,
        "ruleIndex": rule,
        "level": one.code.severity.value,
        "message": {"text": masked("\n".join(lines), source.hidden)},
        "locations": [_location(one.primary, source)],
    }
    related = [_location(label, source) for label in one.secondary]
    if related:
        result["relatedLocations"] = [{"id": i, **place} for i, place in enumerate(related, 1)]
    return result


def _location(label: Label, source: SourceFile) -> dict[str, Any]:
    start, end = source.position(label.span.start), source.position(label.span.end)
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(source)},
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        }
    }
    if label.text:
        location["message"] = {"text": masked(label.text, source.hidden)}
    return location


def _uri(source: SourceFile) -> str:
    """Return the path of a file as given; a colon is quoted, for it would end a scheme."""
    return quote(source.name, safe="/")
