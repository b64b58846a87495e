"""The runtime's own small files: JSON with a checksum.

The last line of a note is the CRC-32 of the bytes before it. A flipped digit of a source's position
is still JSON; the checksum detects the damage.

>>> print(seal({"epoch": 12}), end="")
{
 "epoch": 12
}
{"crc32":"602055f5"}
>>> unseal(seal({"epoch": 12}))
{'epoch': 12}
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.errors import STATE_UNREADABLE, RuntimeFault

if TYPE_CHECKING:
    from .file_system import Files

N = TypeVar("N")

_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
"""A surrogate, which `seal` never writes."""


def seal(document: dict[str, Any]) -> str:
    """A document as the text of a note."""
    return sealed(body_of(document))


def body_of(document: dict[str, Any]) -> str:
    """A document as the text of a note without its checksum."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def sealed(body: str) -> str:
    """The text of a note whose body this is, as `body_of` writes it."""
    return body + _last_line(body)


def unseal(text: str) -> dict[str, Any]:
    """The document in a note; raises ValueError, which says why, when it is damaged."""
    body, newline, last = text.removesuffix("\n").rpartition("\n")
    if not newline or f"{last}\n" != _last_line(body + newline):
        raise ValueError("its content and its checksum differ")
    try:
        document = json.loads(body)
        if _ESCAPED.search(body):
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it has text that is not Unicode") from None
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def create_note(storage: Files, path: str, document: dict[str, Any]) -> None:
    """Writes a new note, which appears whole or not at all; an existing one is an error."""
    storage.create(path, seal(document))


def write_note(storage: Files, path: str, document: dict[str, Any]) -> None:
    """Writes a note in place of what is there; readers see the old one or the new one."""
    storage.replace(path, seal(document))


def read_note(storage: Files, path: str, help: str | None = None) -> dict[str, Any] | None:
    """The document in a note, None when there is none; raises RuntimeFault for a damaged one."""
    try:
        text = storage.read(path)
    except OSError as error:
        raise unreadable(path, error.strerror or str(error), help) from None
    return None if text is None else unsealed(text, path, help)


def unsealed(text: str, path: str, help: str | None = None) -> dict[str, Any]:
    """The document in the text of a note; raises RuntimeFault when it is damaged."""
    try:
        return unseal(text)
    except ValueError as error:
        raise unreadable(path, str(error), help) from None


def read_note_as(
    storage: Files, path: str, read: Callable[[object], N], help: str | None = None
) -> N | None:
    """What a note says, None when there is none; raises RuntimeFault when it says nothing such.

    `read` raises ValueError for what is none.
    """
    document = read_note(storage, path, help)
    return None if document is None else said(document, path, read, help)


def said(
    document: dict[str, Any], path: str, read: Callable[[object], N], help: str | None = None
) -> N:
    """What the document of a note says; raises RuntimeFault when it says nothing such."""
    try:
        return read(document)
    except ValueError as error:
        raise unreadable(path, str(error), help) from None


def unreadable(path: str, reason: str, help: str | None = None) -> RuntimeFault:
    """The fault for an unusable file of ours."""
    return RuntimeFault(
        STATE_UNREADABLE,
        f"{path.removeprefix('file:')} cannot be read: {reason}",
        help or "restore the file from a backup, or start over with another `--state`",
    )


def _last_line(body: str) -> str:
    return f'{{"crc32":"{zlib.crc32(body.encode()):08x}"}}\n'
