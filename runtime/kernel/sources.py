"""The Scala sources of the kernel: files of the package, in a folder or in a zip on the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

SUFFIX = ".scala"
_PACKAGE = __name__.rpartition(".")[0]


def kernel_sources() -> Mapping[str, bytes]:
    """The content of each source by its path within the kernel, ordered by folder and name."""
    found = dict(_within(files(_PACKAGE), ()))
    return {"/".join(parts): found[parts] for parts in sorted(found)}


@contextmanager
def source_files() -> Iterator[list[Path]]:
    """The sources as files on the disk: those of the package, or copies of what is in a zip."""
    own, sources = Path(__file__).parent, kernel_sources()
    if own.is_dir():
        yield [own / path for path in sources]
        return
    with TemporaryDirectory(prefix="streamc-kernel-") as folder:
        for path, content in sources.items():
            copy = Path(folder, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        yield [Path(folder, path) for path in sources]


def _within(folder: Traversable, parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _within(one, (*parts, one.name))
        elif one.name.endswith(SUFFIX):
            yield (*parts, one.name), one.read_bytes()
