"""CHECKPOINT: the policy of barriers, with the defaults of the language."""

from __future__ import annotations

from ....dsl.ast import statements as st
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ...model.pipeline import Checkpoint
from ...model.schema import Duration
from .durations import duration

DEFAULT = Checkpoint(
    every=Duration(60_000_000, "1 minute"),
    retain=5,
    timeout=Duration(600_000_000, "10 minutes"),
    tolerate=3,
)


def resolve_checkpoint(spec: st.Spec, diagnostics: Diagnostics) -> Checkpoint:
    """Return the policy of a spec.

    Mistakes are reported and replaced by the default.
    """
    found = [s for s in spec.statements if isinstance(s, st.Checkpoint)]
    if not found:
        return DEFAULT
    node, *more = found
    for extra in more:
        diagnostics.add(
            Diagnostic(
                codes.DUPLICATE_NAME,
                "a pipeline has one checkpoint policy",
                Label(extra.span, "stated again"),
                secondary=(Label(node.span, "first stated here"),),
                help="keep one of them",
            )
        )
    every = duration(node.every, "the time between checkpoints", diagnostics) or DEFAULT.every
    timeout = DEFAULT.timeout
    if node.timeout is not None:
        timeout = duration(node.timeout, "the timeout of a checkpoint", diagnostics) or timeout
    if node.retain is not None and node.retain < 1:
        diagnostics.add(
            Diagnostic(
                codes.CHECKPOINT_FORM,
                "RETAIN 0 would keep no checkpoint to restart from",
                Label(node.span),
                help="write `RETAIN 1` or more",
            )
        )
    retain = DEFAULT.retain if node.retain is None else node.retain
    tolerate = DEFAULT.tolerate if node.tolerate is None else node.tolerate
    return Checkpoint(every, retain, timeout, tolerate)
