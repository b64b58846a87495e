"""Secrets in options: they come from the environment or a file, so that none of ours holds them.

The script and the plan are committed and shown. Both contain references and the defaults of
variables, so no default may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....contracts.secrets import referring, written_secret
from ....dsl.ast.node import Node
from ....dsl.ast.statements import Option
from ....dsl.ast.walk import walk
from ....dsl.reports import codes
from ....dsl.reports.diagnostics import Diagnostic, Diagnostics, Label
from ....dsl.reports.source import SourceFile
from ....dsl.settings.secrets import WOULD_BE_SEEN, environment_name
from ....dsl.settings.values import Settings


def note_secrets(spec: Node, source: SourceFile) -> None:
    """Note the secrets written out in options, so that nothing shows them."""
    for option in _options(spec):
        if (secret := written_secret(option.name.text, option.value)) is not None:
            source.secrets.add(secret)


def check_secrets(spec: Node, settings: Settings, diagnostics: Diagnostics) -> None:
    """Report secrets in options, directly or as the value of a variable."""
    for option in _options(spec):
        name = option.name.text
        secret = written_secret(name, option.value)
        if secret is not None:
            diagnostics.add(_written(option, secret))
            continue
        for variable in dict.fromkeys(referring(name, option.value)):
            for where, text in _values(variable, settings):
                # Whatever the variable's name: its use makes it a secret.
                if text is not None and (secret := written_secret("secret", text)) is not None:
                    diagnostics.source.secrets.add(secret)
                    diagnostics.add(_of_variable(option, variable, where))
                    break


def _options(spec: Node) -> Iterator[Option]:
    return (node for node in walk(spec) if isinstance(node, Option))


def _written(option: Option, secret: str) -> Diagnostic:
    name = environment_name(option.name.text)
    text = option.value.replace(secret, f"${{env:{name}}}")
    return Diagnostic(
        codes.SECRET,
        f"`{option.name}` contains a secret, {WOULD_BE_SEEN}",
        Label(option.value_span),
        help=f"write `'{text}'` and set {name} where the job runs, or `${{file:PATH}}` for the "
        "contents of a file",
    )


def _values(variable: str, settings: Settings) -> Iterator[tuple[str, str | None]]:
    yield "the default", settings.variables.get(variable)
    for name, profile in settings.profiles.items():
        yield f"the value in profile `{name}`", profile.variables.get(variable)


def _of_variable(option: Option, variable: str, where: str) -> Diagnostic:
    name = environment_name(variable)
    return Diagnostic(
        codes.SECRET,
        f"{where} of `${{{variable}}}` is a secret, {WOULD_BE_SEEN}",
        Label(option.value_span),
        help=f"write `{variable}: ${{env:{name}}}` in the front matter, and set {name} where the "
        "job runs",
    )
