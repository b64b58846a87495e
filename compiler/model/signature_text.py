"""The signature of a function as a line of text, for people."""

from __future__ import annotations

from .aggregates import aggregate
from .functions import function
from .signature_table import SIGNATURES


def signature_text(name: str) -> str | None:
    """Return the parameters and the result of a built-in function; None if there is none.

    >>> signature_text("substring")
    'substring(S, INT, [INT]) -> S'
    >>> signature_text("uuid")
    'uuid([BIGINT]) -> STRING'
    """
    known = function(name)
    if known is None:
        return None
    written = SIGNATURES.get(known.name)
    if written is not None:
        parameters, result = (part.strip() for part in written.rsplit("->", 1))
        result = result.rstrip("!").strip()
        if result.startswith("@"):
            return f"{known.name}({parameters})"
        return f"{known.name}({parameters}) -> {result}"
    folded = aggregate(name)
    if folded is not None:
        least = len(folded.takes) - folded.optional
        words = [w if i < least else f"[{w}]" for i, w in enumerate(folded.takes)]
        words += ["..."] if folded.many else []
        return f"{known.name}({', '.join(words)})"
    return f"{known.name}({_arguments(known.least, known.most)})"


def _arguments(least: int, most: int | None) -> str:
    """Return how many arguments there are, for a function whose types are Spark's affair."""
    needed = [f"a{i + 1}" for i in range(least)]
    if most is None:
        return ", ".join([*needed, "..."])
    return ", ".join([*needed, *(f"[a{i + 1}]" for i in range(least, most))])
