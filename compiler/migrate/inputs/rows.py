"""Whether the rows that reach an operator are still the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....contracts.plan import Branch, Operator
from ..compared.versions import Versions, below, column_meaning
from ..findings.verdicts import Decision, Finding, Verdict
from ..texts.computed import calls
from .upstream import changes_below

NOT_SEEN = "its module is compared, not what that imports"


def input_findings(
    versions: Versions,
    id_: str,
    old: Sequence[Branch],
    new: Sequence[Branch],
    name: str = "",
    *,
    columns: bool = False,
) -> Iterator[Finding]:
    """Yield a finding when rows come from elsewhere, or passed other conditions.

    With ``columns`` also when one of them is computed differently: for a program, where nothing
    else shows it. What was counted before stays counted: state mixes both selections of rows until
    it expires.
    """
    before, after = below(old, versions.renamed), below(new, {})
    reasons = [*_differences(before, after), *(_columns(old, new) if columns else ())]
    reasons += changes_below(versions, new)
    if reasons:
        yield marked(versions, id_, "input", name, "; ".join(reasons), "mixed")


def _columns(old: Sequence[Branch], new: Sequence[Branch]) -> Iterator[str]:
    """Yield the columns with the same name that are computed differently."""
    before, after = (
        {name for branch in side for name in branch.columns or {}} for side in (old, new)
    )
    for name in sorted(before & after):
        was, now = (" or ".join(column_meaning(side, name)) for side in (old, new))
        if was != now:
            yield f"`{name}` was `{was}` and is `{now}`"


def _differences(
    before: set[tuple[str, tuple[str, ...]]], after: set[tuple[str, tuple[str, ...]]]
) -> Iterator[str]:
    gone, came = ({source for source, _ in one} for one in (before, after))
    for source in sorted(gone - came):
        yield f"rows of `{source}` come no more"
    for source in sorted(came - gone):
        yield f"rows of `{source}` come too"
    for source in sorted(gone & came):
        was = {text for below, where in before if below == source for text in where}
        now = {text for below, where in after if below == source for text in where}
        yield from (f"`{text}` is asked of rows now" for text in sorted(now - was))
        yield from (f"`{text}` is asked of rows no more" for text in sorted(was - now))


def function_findings(versions: Versions, operator: Operator) -> Iterator[Finding]:
    """Yield a finding for each function called by an operator that now does something else."""
    for name in versions.changed_functions():
        if calls(operator, name):
            why = (
                f"`{name}` is another function: what it gave before stays in the state ({NOT_SEEN})"
            )
            yield marked(versions, operator.id, "function", name, why, "mixed")


def marked(
    versions: Versions,
    id_: str,
    part: str,
    name: str,
    why: str,
    word: str,
    verdict: Verdict = Verdict.KEPT,
) -> Finding:
    """Return a finding about temporarily inexact results, which have to be accepted."""
    path = ("operators", id_, "accept", f"{part} {name}".rstrip())
    accepted = versions.decisions.get(*path) == word
    open_ = None if accepted else Decision(path, word, (word,))
    fix = None if accepted else "accept it, or drop the state"
    return Finding(part, name, name, verdict, why, fix, marked=True, open=open_)


def listed(names: Iterable[str]) -> str:
    """Return names as a list in words."""
    return ", ".join(f"`{name}`" for name in names)
