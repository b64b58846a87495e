"""Did-you-mean: the known names nearest to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

_MAX_DISTANCE = 2
"""How many edits a suggestion may be away; a short word is allowed fewer."""

_MIN_PREFIX = 3
"""The minimum length of a word that is taken for the beginning of a longer name."""


def closest(word: str, candidates: Iterable[str], n: int = 1) -> tuple[str, ...]:
    """Return up to ``n`` candidates near ``word``, nearest first, ignoring case.

    Near is at most two edits away (one for words of two or three letters, none for a single one; a
    swap of neighbours is one edit), or one beginning with the other. Order: distance, longest
    common beginning, name; those that only share the beginning come last.

    >>> closest("amuont", ["account", "amount", "mount"])
    ('amount',)
    >>> closest("zzz", ["amount"])
    ()
    """
    folded = word.lower()
    limit = _MAX_DISTANCE if len(word) > 3 else min(1, len(word) - 1)
    ranked: list[tuple[int, int, str]] = []
    for candidate in sorted(set(candidates)):
        other = candidate.lower()
        distance = _distance(folded, other, limit)
        if distance > limit and not _begins(folded, other):
            continue
        ranked.append((distance, -_common_prefix(folded, other), candidate))
    return tuple(candidate for _, _, candidate in sorted(ranked)[:n])


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return the help line of a diagnostic about an unknown name, or None when nothing is near.

    >>> did_you_mean("amuont", ["amount", "card_id"])
    'did you mean `amount`?'
    """
    found = closest(word, candidates)
    return f"did you mean `{found[0]}`?" if found else None


def _begins(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= _MIN_PREFIX and (a.startswith(b) or b.startswith(a))


def _common_prefix(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _distance(a: str, b: str, limit: int) -> int:
    """Return the number of edits between two words, or ``limit + 1`` when there are more."""
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, right in enumerate(b, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
