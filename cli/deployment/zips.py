"""Zips whose bytes follow from their content: no clock, no order of a folder, no compression."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE = 0o100644 << 16


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by their paths in it.

    They are stored as they are: what a compressor writes differs between its versions.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system, entry.external_attr = 3, _FILE
            archive.writestr(entry, files[path])
    return out.getvalue()


def rezipped(archive: Path) -> bytes:
    """Return the files of a zip or jar as one whose bytes follow from them."""
    with zipfile.ZipFile(archive) as held:
        names = [one.filename for one in held.infolist() if not one.is_dir()]
        return zipped({name: held.read(name) for name in names})
