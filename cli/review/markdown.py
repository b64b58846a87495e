"""A review as Markdown for a comment: GitHub and GitLab render it alike.

It begins with a comment by which a later run finds it, to replace it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ..shared.columns import size
from .escape import block, code, plain, prose

if TYPE_CHECKING:
    from ...contracts.outputs.migration_plan import PlannedPart
    from ...contracts.outputs.review import (
        Review,
        ReviewedChange,
        ReviewedEdit,
        ReviewedSavepoint,
        ReviewedSpec,
    )
    from ...contracts.outputs.specs import OneDiagnostic

MARKER = "<!-- streamc review -->"
LONGEST = 60_000
"""Characters of a comment; GitHub takes 65,536."""
_UNCHANGED = "unchanged"


def markdown(review: Review) -> str:
    """Return a review as Markdown, within the length of a comment.

    Where it is longer, code is left out, the longest first, and then whole specs, the last first.
    """
    specs = review["specs"]
    longest = sorted(specs, key=lambda spec: -len(spec["code"]["diff"] if spec["code"] else ""))
    without: set[str] = set()
    for spec in longest:
        if len(text := _whole(review, specs, without)) <= LONGEST:
            return text
        without.add(spec["file"])
    shown = len(specs)
    while shown and len(_whole(review, specs[:shown], without)) > LONGEST:
        shown -= 1
    return _whole(review, specs[:shown], without)


def _whole(review: Review, specs: Sequence[ReviewedSpec], without: set[str]) -> str:
    count, base = len(review["specs"]), code(review["base"])
    differ = (
        "1 spec differs"
        if count == 1
        else f"{count or 'No'} spec{'s differ' if count else ' differs'}"
    )
    parts = [f"{MARKER}\n## streamc review\n\n{differ} from {base}.\n"]
    parts += ["\n".join(_spec(spec, review["base"], without)) for spec in specs]
    if left := count - len(specs):
        parts.append(
            f"{left} more {'is' if left == 1 else 'are'} left out, since the comment would be too "
            "long; `streamc review` takes paths of specs.\n"
        )
    return "\n".join(parts)


def _spec(spec: ReviewedSpec, base: str, without: set[str]) -> Iterator[str]:
    yield f"### {code(spec['file'])}\n"
    yield f"{_title(spec)}\n"
    yield from _diagnostics(spec["diagnostics"])
    if spec["old_errors"]:
        yield f"The version at {code(base)} does not compile: there is nothing to compare with.\n"
    if spec["exit_code"] == 0:
        yield "Code and plan are the same.\n"
    migration = spec["migration"]
    if migration is not None:
        yield from _state(migration["parts"], spec["savepoint"])
        yield from _questions(spec)
    elif spec["savepoint"] is not None:
        yield from _sizes(spec["savepoint"])
    yield from _changes(spec["changes"])
    yield from _code(spec, spec["file"] in without)


def _title(spec: ReviewedSpec) -> str:
    words = [spec["change"].capitalize()]
    if spec["old_file"] not in (None, spec["file"]):
        link = " from" if spec["change"] == "moved" else ", the next version of"
        words.append(f"{link} {code(str(spec['old_file']))}")
    was, now = spec["from_version"], spec["to_version"]
    if spec["pipeline"] is not None:
        words.append(f": pipeline {code(spec['pipeline'])}")
        if was is not None and now is not None:
            same = f", still version {now}" if spec["migration"] else f", version {now}"
            words.append(same if was == now else f", version {was} to {now}")
        else:
            words.append(f", version {now if was is None else was}")
    text = "".join(words)
    if spec["old_pipeline"] not in (None, spec["pipeline"]):
        text += (
            f". It was pipeline {code(str(spec['old_pipeline']))}, and state does not go from one "
            "pipeline to another"
        )
    return f"{text}."


def _diagnostics(found: Iterable[OneDiagnostic]) -> Iterator[str]:
    lines = []
    for one in found:
        where = f"{one['file']}:{one['start']['line']}:{one['start']['column']}"
        line = f"- **{one['severity']}** {one['code']} at {code(where)}: {prose(one['message'])}"
        told = [*one["notes"], *([] if one["help"] is None else [f"help: {one['help']}"])]
        lines.append("<br>".join([line, *map(prose, told)]))
    if lines:
        yield "\n".join(lines) + "\n"


def _state(parts: Sequence[PlannedPart], savepoint: ReviewedSavepoint | None) -> Iterator[str]:
    yield "#### State\n"
    yield f"{_summary(parts)}.\n"
    if savepoint is not None:
        yield f"{_amount(savepoint)}\n"
    rows = [("of", "part", "verdict", "reason")]
    sizes = _by_operator(savepoint)
    for _, group in groupby(parts, lambda part: (part["group"], part["owner"])):
        same = list(group)
        owner = _owner(same[0])
        if same[0]["group"] == "operator":
            owner += sizes.get(same[0]["owner"], "")
        if all(_is_kept(part) for part in same):
            rows.append((owner, "all", "kept", ""))
            continue
        for part in same:
            rows.append((owner, _part(part), _verdict(part), prose(part["reason"])))
            owner = ""
    yield _table(rows)


def _owner(part: PlannedPart) -> str:
    if not part["kind"]:
        return part["group"]
    return f"{part['group']} {code(part['owner'])} ({plain(part['kind'])})"


def _is_kept(part: PlannedPart) -> bool:
    return part["verdict"] == "kept" and not part["reason"] and part["old"] == part["new"]


def _part(part: PlannedPart) -> str:
    old, new = part["old"], part["new"]
    if old and new and old != new:
        return f"{plain(part['part'])} {code(old)} → {code(new)}"
    name = new if new is not None else old
    return f"{plain(part['part'])} {code(name)}" if name else plain(part["part"])


def _verdict(part: PlannedPart) -> str:
    verdict = part["verdict"]
    if part["decision"] is not None and verdict != "impossible":
        return f"{verdict}, **to be decided**"
    return f"**{verdict}**" if verdict == "impossible" else verdict


def _summary(parts: Sequence[PlannedPart]) -> str:
    counts = Counter(part["verdict"] for part in parts)
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "Nothing kept"


def _questions(spec: ReviewedSpec) -> Iterator[str]:
    migration = spec["migration"]
    assert migration is not None
    if migration["file"] is not None:
        yield f"Decisions are those of {code(migration['file'])}.\n"
    if migration["draft"] is None:
        return
    yield "#### Open questions\n"
    lines: dict[str, None] = {}
    for part in migration["parts"]:
        missing = part["decision"]
        if part["verdict"] == "impossible":
            asked = f"- {_owner(part)}, {_part(part)}: **impossible**"
        elif missing is not None:
            choices = " or ".join(code(one) for one in missing["choices"] or [missing["value"]])
            asked = f"- {code(': '.join(missing['path']))}: {choices}"
        else:
            continue
        told = [part["reason"], *([] if part["fix"] is None else [f"help: {part['fix']}"])]
        lines["<br>".join([asked, *(prose(one) for one in told if one)])] = None
    yield "\n".join(lines) + "\n"
    name = f"migrations/{spec['from_version']}-to-{spec['to_version']}.yaml"
    yield _folded(f"A draft of <code>{name}</code>", block(migration["draft"], "yaml"))


def _changes(changes: Sequence[ReviewedChange]) -> Iterator[str]:
    differing = [one for one in changes if one["difference"] != _UNCHANGED]
    if not differing:
        return
    yield "#### Changes\n"
    rows = [("of", "difference", "in what")]
    for one in differing:
        owner = "settings" if one["group"] == "settings" else _named(one)
        edits = "<br>".join(_edit(edit) for edit in one["edits"])
        rows.append((owner, plain(one["difference"]), edits))
    yield _table(rows)


def _named(one: ReviewedChange) -> str:
    return f"{one['group']} {code(one['id'])} ({plain(one['kind'])})"


def _edit(edit: ReviewedEdit) -> str:
    part, old, new = edit["part"], edit["old"], edit["new"]
    if old is None:
        return code(f"+ {part} {new}".rstrip())
    if new is None:
        return code(f"- {part} {old}".rstrip())
    return f"{code(part)}: {code(old)} → {code(new)}"


def _code(spec: ReviewedSpec, without: bool) -> Iterator[str]:
    found = spec["code"]
    if found is None:
        return
    lines = "line" if found["added"] == 1 else "lines"
    title = f"Emitted code: {found['added']} {lines} added, {found['removed']} removed"
    if without:
        yield f"{title}, left out since the comment would be too long.\n"
    else:
        yield _folded(title, block(found["diff"], "diff"))


def _sizes(savepoint: ReviewedSavepoint) -> Iterator[str]:
    yield f"{_amount(savepoint)}\n"
    rows = [("operator", "rows", "bytes")]
    for one in savepoint["operators"]:
        rows.append((code(one["id"]), f"{one['rows']:,}", size(one["bytes"])))
    yield _table(rows)


def _amount(saved: ReviewedSavepoint) -> str:
    return (
        f"Savepoint {code(saved['name'])}, version {saved['version']}, barrier {saved['barrier']}: "
        f"{saved['rows']:,} rows, {size(saved['bytes'])}."
    )


def _by_operator(savepoint: ReviewedSavepoint | None) -> Mapping[str, str]:
    found = [] if savepoint is None else savepoint["operators"]
    return {one["id"]: f": {one['rows']:,} rows, {size(one['bytes'])}" for one in found}


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}\n</details>\n"
