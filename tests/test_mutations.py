"""Whatever is in a file, the compiler answers with diagnostics located inside it."""

from __future__ import annotations

import pytest
from mutations import mutated
from streamc.compiler.driver import compile_source
from streamc.dsl.layout import format_source
from streamc.dsl.reports.diagnostics import Diagnostics
from streamc.dsl.reports.render import render
from streamc.dsl.reports.source import SourceFile, Span

FEW = 250
"""How many specs `make check` and `make test` try; `make test-long` tries all."""
ALL = 10_000
AT_ONCE = 250


@pytest.mark.parametrize("first", range(0, FEW, AT_ONCE))
def test_a_broken_spec_has_diagnostics_and_no_exception(first: int) -> None:
    _try(first)


@pytest.mark.long
@pytest.mark.parametrize("first", range(FEW, ALL, AT_ONCE))
def test_ten_thousand_broken_specs(first: int) -> None:
    _try(first)


def _try(first: int) -> None:
    failed = {
        number: f"{type(error).__name__}: {error}"
        for number in range(first, first + AT_ONCE)
        if (error := _fault(mutated(number)))
    }
    assert failed == {}, "the keys are arguments of `mutated`"


def _fault(text: str) -> Exception | None:
    """Return what goes wrong when a text is compiled and laid out, or None."""
    source = SourceFile("x.stream", text)
    try:
        result = compile_source(source)
        _check_places(result.diagnostics, text)
        if result.diagnostics.has_errors is (result.script is not None):
            raise AssertionError("a script, or else errors")
        made = format_source(source)
        _check_places(made.diagnostics, text)
        if made.text is not None and (
            format_source(SourceFile("x.stream", made.text)).text != made.text
        ):
            raise AssertionError("laid out again, it differs")
    except Exception as error:
        return error
    return None


def _check_places(diagnostics: Diagnostics, text: str) -> None:
    for one in diagnostics:
        spans = [label.span for label in (one.primary, *one.secondary)]
        for span in spans:
            if not _is_inside(span, text):
                raise AssertionError(f"{one.code.number} stands at {span} of {len(text)}")
    render([diagnostics])


def _is_inside(span: Span, text: str) -> bool:
    return 0 <= span.start <= span.end <= len(text)
