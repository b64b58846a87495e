"""Expected files next to the case that they belong to, written by ``make golden``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex


class GoldenExtension(SingleFileSnapshotExtension):
    """A text file in the folder that the test's parameter ``case`` names."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        case = test_location.item.callspec.params["case"]  # type: ignore[attr-defined]
        if not isinstance(case, Path):
            raise TypeError("a golden test takes its folder as the parameter `case`")
        return str(case)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        if not isinstance(index, str):
            raise TypeError("a golden file has a name")
        return index


@cache
def extension_for(suffix: str) -> type[GoldenExtension]:
    """Return the extension that writes files of a suffix (``py``, ``json``)."""
    return type(f"Golden_{suffix}", (GoldenExtension,), {"file_extension": suffix})


def cases(folder: str, spec: str = "spec.stream") -> list[Path]:
    """Return the case folders below ``tests/<folder>``, by name."""
    root = Path(__file__).parent / folder
    return sorted(path.parent for path in root.glob(f"*/{spec}"))
