"""Diagnostics as JUnit XML: one suite per file, one failed case per error."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ...dsl.reports.diagnostics import Diagnostic, Diagnostics, Severity
from ...dsl.reports.render import render_concise, render_one
from ..shared.xml_text import xml_document, xml_text


def render_junit(files: Sequence[Diagnostics]) -> str:
    """Return the document; a file without errors is one case that passed."""
    counts = {
        "tests": str(sum(max(found.errors, 1) for found in files)),
        "failures": str(sum(found.errors for found in files)),
        "errors": "0",
    }
    root = ElementTree.Element("testsuites", counts)
    for found in files:
        _add_suite(root, found)
    return xml_document(root)


def _add_suite(root: ElementTree.Element, found: Diagnostics) -> None:
    name = xml_text(found.source.name)
    counts = {"tests": str(max(found.errors, 1)), "failures": str(found.errors), "errors": "0"}
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    errors = [one for one in found if one.code.severity is Severity.ERROR]
    for one in errors:
        _add_failure(suite, one, found)
    if not errors:
        ElementTree.SubElement(suite, "testcase", {"classname": name, "name": "check"})
    warnings = Diagnostics(found.source)
    warnings.extend(one for one in found if one.code.severity is Severity.WARNING)
    if len(warnings):
        ElementTree.SubElement(suite, "system-out").text = xml_text(render_concise([warnings]))


def _add_failure(suite: ElementTree.Element, one: Diagnostic, found: Diagnostics) -> None:
    line, column = found.source.position(one.primary.span.start)
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": xml_text(found.source.name),
            "name": f"{line}:{column} {one.code.number} {one.code.slug}",
        },
    )
    text = xml_text(render_one(one, found.source))
    title = text.partition("\n")[0]
    failure = ElementTree.SubElement(case, "failure", {"type": one.code.number, "message": title})
    failure.text = text
