"""The figures of a soak as a table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .flatness import Growth, second_half
from .samples import MEGABYTE, Sample
from .soak import Outcome

_BYTES = {"heap", "non_heap", "direct"}


def table(outcome: Outcome) -> str:
    """Rates, what should be flat, and the rows of each sink."""
    lines = [*_rates(outcome.samples), f"temporary files left: {outcome.left}", ""]
    if outcome.growths:
        lines.append(
            f"{'second half':20} {'first':>12} {'median':>12} {'last':>12} {'grown':>12} "
            f"{'allowed':>12}"
        )
        lines += [_growth(growth) for growth in outcome.growths]
        if not outcome.warm:
            lines.append(f"not judged: fewer than {outcome.warm_up} epochs before the second half")
        lines.append("")
    if outcome.sinks:
        lines.append(f"{'sink':20} {'rows':>12} {'lost':>12} {'doubled':>12}")
        lines += [
            f"{sink:20} {one.rows:12,} {one.lost:12,} {one.doubled:12,}"
            for sink, one in outcome.sinks.items()
        ]
        lines.append("")
    lines += outcome.faults
    lines.append("right" if outcome.right else "NOT RIGHT")
    return "\n".join(lines)


def _rates(samples: Sequence[Sample]) -> list[str]:
    if len(samples) < 2:
        return ["no samples"]
    half = second_half(samples)
    found = [_rate("whole", samples)]
    if len(half) > 1:
        found.append(_rate("second half", half))
    lags = sorted(sample["lag"] for sample in samples)
    found.append(f"files not yet read: median {lags[len(lags) // 2]:.0f}, most {lags[-1]:.0f}")
    last = samples[-1]
    megabytes = {name: last[f"{name}_bytes"] / MEGABYTE for name in ("state", "output", "log")}
    shown = ", ".join(f"{name} {size:.1f} MB" for name, size in megabytes.items())
    found.append(f"at the end: {shown}, {last['output_files']:.0f} files of outputs")
    return found


def _rate(name: str, samples: Sequence[Sample]) -> str:
    first, last = samples[0], samples[-1]
    seconds = last["at"] - first["at"] or 1.0

    def rate(figure: str) -> float:
        # # Rows are counted from the start of a life.
        grown = [max(b[figure] - a[figure], 0) for a, b in pairwise(samples)]
        return sum(grown) / seconds

    epochs, barriers = last["epoch"] - first["epoch"], last["barrier"] - first["barrier"]
    return (
        f"{name}: {seconds:.0f} s, {epochs:.0f} epochs ({epochs / seconds:.2f} a second), "
        f"{barriers:.0f} barriers, {rate('written'):.2f} files, {rate('rows_in'):,.0f} rows in "
        f"and {rate('rows_out'):,.0f} out a second"
    )


def _growth(growth: Growth) -> str:
    values = (growth.first, growth.middle, growth.last, growth.grown, growth.allowed)
    in_bytes = growth.name in _BYTES or growth.name.endswith(("_rss", "_bytes"))
    shown = [f"{v / MEGABYTE:9.1f} MB" if in_bytes else f"{v:12,.0f}" for v in values]
    return f"{growth.name:20} {' '.join(shown)}{'' if growth.flat else '   NOT FLAT'}"
