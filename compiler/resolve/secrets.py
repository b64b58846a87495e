"""Passwords in options: they come from variables without a default, so that no file holds them.

The script and the plan are committed and shown. A variable's value is neither in the one nor in the
other; its default is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...dsl import codes
from ...dsl.ast.statements import Option
from ...dsl.diagnostics import Diagnostic, Diagnostics, Label

_SECRET = re.compile(r"password|secret|jaas\.config")
_IN_URL = re.compile(r"//[^/@:]*:([^@]+)@|\bpassword\s*=\s*(\S+)")
_VARIABLE = re.compile(r"\$\{([a-z_][a-z0-9_]*)\}")


def check_secrets(
    options: Iterable[Option], variables: Mapping[str, str | None], diagnostics: Diagnostics
) -> None:
    """Tell of secrets that stand in the spec, by themselves or as the default of a variable."""
    for option in options:
        text = _secret_of(option)
        if text is None:
            continue
        used = _VARIABLE.findall(text)
        kept = [name for name in used if variables.get(name) is not None]
        if not used:
            diagnostics.add(_refused(option, f"`{option.name}` holds a secret", "a variable"))
        elif kept:
            diagnostics.add(
                _refused(option, f"the default of `${{{kept[0]}}}` is a secret", "it, as `null`,")
            )


def _secret_of(option: Option) -> str | None:
    """Return the part of an option that must stay unseen, None if there is none."""
    if _SECRET.search(option.name.text.lower()):
        return option.value
    if option.name.text == "url" and (found := _IN_URL.search(option.value)):
        return found[1] or found[2]
    return None


def _refused(option: Option, what: str, declare: str) -> Diagnostic:
    return Diagnostic(
        codes.SECRET,
        f"{what}, which would be in the script and the plan",
        Label(option.value_span),
        help=f"declare {declare} in the front matter (`variables: {{password: null}}`), write "
        "`'${password}'`, and set STREAMC_PASSWORD when it runs",
    )
