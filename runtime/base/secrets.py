"""Secrets of a run: read from where the spec says, and kept out of what it prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from ...contracts.redaction import remember
from ...contracts.references import REFERENCE, UnresolvedReference, fill
from ...contracts.secrets import MASK, has_user_secret, is_secret_name, secret_parts, written_secret
from .errors import BAD_OPTION, SECRET_MISSING, RuntimeFault


def filled(text: str, owner: str) -> str:
    """The text with the values of its `${env:NAME}` and `${file:PATH}`.

    Raises RuntimeFault, which names the owner, for one that cannot be read.
    """
    try:
        return fill(text, os.environ, remember_value)
    except UnresolvedReference as error:
        raise RuntimeFault(SECRET_MISSING, f"{owner}: {error}", error.help) from None


def without_references(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings without those that contain secrets, for a Spark that reads local files."""
    return {name: value for name, value in settings.items() if not REFERENCE.search(value)}


def remember_options(options: Mapping[str, Any]) -> None:
    """Hides the secrets among options or settings in all output of this process."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            remember_options(value)
        elif isinstance(value, str):
            remember_setting(name, value)


def remember_setting(name: str, value: str) -> None:
    """Hides the secrets of one value in all output of this process."""
    if is_secret_name(name) and written_secret(name, value) is not None:
        remember_value(value)
    _remember_parts(value)


def remember_value(value: str) -> None:
    """Hides a secret and its parts: `user:password`, a URL, a whole JAAS text."""
    remember(value)
    _remember_parts(value)
    user, colon, password = value.partition(":")
    if colon and password and " " not in user and "/" not in value:
        remember(password)


def refuse_keys(owner: str, path: str) -> None:
    """Raises RuntimeFault for a path with a key in it: paths are written to files of the state."""
    if has_user_secret(path):
        raise RuntimeFault(
            BAD_OPTION,
            f"{owner} has a secret in its path",
            "leave it out; keys of a file system are settings of their own, such as "
            "`spark.hadoop.fs.s3a.secret.key: ${env:S3_SECRET_KEY}`",
        )


def _remember_parts(value: str) -> None:
    parts: Iterable[str] = (value[start:end] for start, end in secret_parts(value))
    for part in parts:
        if part != MASK:
            remember(part)
            remember(unquote_plus(part))
