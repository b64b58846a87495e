"""The manifests of barriers as files.

A manifest is a note below `barriers/` of a generation, and is written last: a barrier without one
does not exist.
"""

from __future__ import annotations

from dataclasses import replace
from json.encoder import encode_basestring as quoted

from ...contracts.notes.barrier import Manifest
from ..storage.notes import body_of, sealed, unseal

_NO_FILES = ' "files": {}\n}\n'
"""How the body of a manifest ends that lists no files: they are its last member."""


def load_manifest(text: str) -> Manifest:
    """The manifest in a note; raises ValueError, which says why, when it is damaged."""
    return Manifest.from_json(unseal(text))


def manifest_text(manifest: Manifest) -> str:
    """The note of a manifest: the same text as for any other record, in a seventh of the time.

    A large state has hundreds of thousands of files, and Python's writer of indented JSON needs
    most of the time of a barrier for them.
    """
    body = body_of(replace(manifest, files={}).to_json())
    if not manifest.files:
        return sealed(body)
    assert body.endswith(_NO_FILES)
    lines = ",\n".join(
        f"  {quoted(path)}: [\n   {length},\n   {quoted(crc)}\n  ]"
        for path, (length, crc) in manifest.files.items()
    )
    return sealed(f'{body.removesuffix(_NO_FILES)} "files": {{\n{lines}\n }}\n}}\n')


def manifest_name(barrier: int) -> str:
    """The name of a barrier's file: names sort like numbers."""
    return f"{barrier:09d}.json"


def barrier_of(name: str) -> int | None:
    """The barrier whose file has this name, None for another file."""
    number = name.removesuffix(".json")
    return int(number) if number != name and number.isdigit() else None
