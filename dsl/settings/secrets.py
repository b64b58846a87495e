"""Secrets in the front matter: no setting may contain one, since all settings are in the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...contracts.references import REFERENCE, malformed
from ...contracts.secrets import written_secret
from ..reports import codes
from ..reports.diagnostics import Diagnostic, Label
from ..reports.source import SourceFile, Span
from .variables import malformed_reference

if TYPE_CHECKING:
    from ..yaml.tree import Path, Value, YamlTree

WOULD_BE_SEEN = "which would end up in the script and the plan"
_MAPPINGS = ("variables", "spark")
"""Settings that are mappings: their keys say what a value is, and values may be references."""


def check_secret_settings(
    root: Value, tree: YamlTree, source: SourceFile
) -> Iterator[tuple[Path, Diagnostic]]:
    """Report settings that contain a secret, and references without a name."""
    for path, value in list(_texts(root, ())):
        span = tree.values.get(path) or tree.keys[path]
        named = path[-2:-1] and path[-2] in _MAPPINGS
        secret = written_secret(path[-1] if named else "", value)
        if secret is not None:
            source.secrets.add(secret)
            yield path, _written(path, secret, value, span, named=bool(named))
        elif named:
            for found in REFERENCE.finditer(value):
                if (wrong := malformed(found[1], found[2])) is not None:
                    yield path, malformed_reference(found[1], wrong, span)


def environment_name(name: str) -> str:
    """Return a name for the environment variable of a secret.

    >>> environment_name("spark.hadoop.fs.s3a.secret.key"), environment_name("password")
    ('S3A_SECRET_KEY', 'PASSWORD')
    """
    words = [word.upper() for word in re.findall(r"[A-Za-z0-9]+", name) if word != "spark"]
    found = "_".join(words[-3:] if len(words) > 3 else words)
    if found in ("URL", "PATH", "STATE", "") or found[0].isdigit():
        return "PASSWORD"
    return found


def _texts(value: Value, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))


def _written(path: Path, secret: str, value: str, span: Span, *, named: bool) -> Diagnostic:
    name = environment_name(path[-1])
    text = value.replace(secret, f"${{env:{name}}}")
    help_ = (
        f"write `{path[-1]}: {text}` and set {name} where the job runs, or `${{file:PATH}}` for "
        "the contents of a file"
    )
    if not named:
        help_ = (
            "leave it out; file system keys are separate settings, such as "
            "`spark.hadoop.fs.s3a.secret.key: ${env:S3_SECRET_KEY}`"
        )
    return Diagnostic(
        codes.SECRET, f"`{path[-1]}` contains a secret, {WOULD_BE_SEEN}", Label(span), help=help_
    )
