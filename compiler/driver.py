"""The compiler as one function: phases in order, stopping where there are errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from ..contracts.plan import Plan
from ..contracts.records import dataclass
from ..dsl.ast.statements import Spec
from ..dsl.ast.walk import dump
from ..dsl.parsing.depth import deep_calls, too_deep
from ..dsl.parsing.parse import parse
from ..dsl.reports.diagnostics import Diagnostics, InternalError
from ..dsl.reports.source import SourceFile
from ..dsl.settings.front_matter import read_front_matter
from .checks import CHECKS
from .emit import emit
from .emit.comments import comments_above
from .emit.spec_copy import spec_copy
from .graph import build
from .graph.text import graph_text
from .model.graph import OperatorGraph
from .model.pipeline import Pipeline
from .model.schema import Schema
from .plan.lower import lower
from .resolve import resolve
from .resolve.declarations.secrets import note_secrets
from .views.model_text import pipeline_text

PHASES = ("ast", "model", "graph", "plan", "script")
"""The phases after which compilation can stop, in order."""


@dataclass(frozen=True)
class CompileResult:
    """The result of each phase; None if it was not reached.

    ``schemas`` are the columns of relations by name, as far as they are known, errors or not.
    """

    source: SourceFile
    diagnostics: Diagnostics
    spec: Spec | None = None
    model: Pipeline | None = None
    graph: OperatorGraph | None = None
    plan: Plan | None = None
    script: str | None = None
    schemas: Mapping[str, Schema] = field(default_factory=dict)

    @property
    def plan_json(self) -> str | None:
        """The plan as the text of its file."""
        return None if self.plan is None else self.plan.to_text()

    def text(self, phase: str) -> str:
        """Return the text form of a phase's result.

        Raises ``InternalError`` if it was not reached.
        """
        forms: dict[str, Callable[[], str | None]] = {
            "ast": lambda: None if self.spec is None else dump(self.spec) + "\n",
            "model": lambda: None if self.model is None else pipeline_text(self.model),
            "graph": lambda: None if self.graph is None else graph_text(self.graph),
            "plan": lambda: self.plan_json,
            "script": lambda: self.script,
        }
        text = forms[phase]()
        if text is None:
            raise InternalError(f"phase {phase} was not reached")
        return text


def compile_source(source: SourceFile, stop_after: str = "script") -> CompileResult:
    """Compile a spec up to a phase of ``PHASES``; all mistakes are in the diagnostics.

    Names, types and structure are checked even when some statements do not parse, so that one run
    reports everything.
    """
    with deep_calls():
        try:
            return _compile(source, PHASES.index(stop_after))
        except RecursionError:
            diagnostics = Diagnostics(source)
            diagnostics.add(too_deep(source))
            return CompileResult(source, diagnostics)


def _compile(source: SourceFile, last: int) -> CompileResult:
    parsed = parse(source)
    diagnostics, spec = parsed.diagnostics, parsed.spec
    if spec is not None:
        note_secrets(spec, source)
    if spec is None or last == 0:
        return CompileResult(source, diagnostics, spec)
    settings = read_front_matter(spec.front_matter, source.stem, diagnostics)
    resolved = resolve(spec, settings, diagnostics)
    model, schemas = resolved.pipeline, resolved.schemas
    if model is None:
        return CompileResult(source, diagnostics, spec, schemas=schemas)
    graph = build(model)
    for check in CHECKS:
        diagnostics.extend(check(graph))
    if diagnostics.has_errors or last == 1:
        return CompileResult(source, diagnostics, spec, model, schemas=schemas)
    if last == 2:
        return CompileResult(source, diagnostics, spec, model, graph, schemas=schemas)
    plan = lower(graph, source.folder)
    script = emit(graph, comments_above(spec, source.text)) if last == 4 else None
    return CompileResult(source, diagnostics, spec, model, graph, plan, script, schemas)


def output_files(result: CompileResult, folder: Path) -> dict[Path, str]:
    """Return the files that a spec becomes: the script, its plan and the text of the spec.

    The runtime keeps the text with the state, so that a savepoint includes its spec. Secrets in
    comments are left out of it. Raises ``InternalError`` for a spec with errors, or one that was
    not fully compiled.
    """
    if result.model is None or result.script is None or result.plan_json is None:
        raise InternalError("a spec that is not compiled has no output")
    name = result.model.settings.pipeline
    return {
        folder / f"{name}.py": result.script,
        folder / f"{name}.plan.json": result.plan_json,
        folder / f"{name}.spec": spec_copy(result.source.text),
    }
