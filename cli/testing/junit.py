"""Outcomes of tests as JUnit XML: one suite per file, one case per test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from ..shared.xml_text import xml_document, xml_text
from .report import failure_lines
from .run import Outcome


def junit_xml(outcomes: Sequence[Outcome]) -> str:
    """Return the document."""
    root = ElementTree.Element("testsuites", _counts(outcomes))
    for name, group in groupby(outcomes, key=lambda outcome: outcome.test.source.name):
        tests = list(group)
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, **_counts(tests)})
        for outcome in tests:
            _add(suite, name, outcome)
    return xml_document(root)


def _add(suite: ElementTree.Element, file: str, outcome: Outcome) -> None:
    about = {"classname": file, "name": outcome.test.name, "time": f"{outcome.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", about)
    if outcome.passed:
        return
    lines = failure_lines(outcome)
    kind = "error" if outcome.fault is not None else "failure"
    told = ElementTree.SubElement(case, kind, {"message": xml_text(lines[0])})
    told.text = xml_text("\n".join(lines))


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(sum(not o.passed and o.fault is None for o in outcomes)),
        "errors": str(sum(o.fault is not None for o in outcomes)),
        "time": f"{sum(o.seconds for o in outcomes):.3f}",
    }
