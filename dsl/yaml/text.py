"""Values as YAML on one line, for files that are edited or written with comments.

PyYAML decides what is quoted. It can't write the rest of such a file: comments, and the text around
an edit.
"""

from __future__ import annotations

import math
from decimal import Decimal

import yaml


class _Line(yaml.SafeDumper):
    """Writes decimals as they are, and multi-line texts with escapes."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _decimal(dumper: _Line, value: Decimal) -> yaml.ScalarNode:
    text = f"{value:f}"
    kind = "float" if "." in text else "int"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


def _text(dumper: _Line, value: str) -> yaml.ScalarNode:
    style = None if value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Line.add_representer(Decimal, _decimal)
_Line.add_representer(str, _text)


def yaml_line(value: object) -> str:
    """Return a value as YAML on one line, quoted where it would be taken for something else.

    >>> yaml_line({"at": "2026-01-01T10:00:00Z", "n": None, "s": "no", "total": Decimal("1.50")})
    "{at: '2026-01-01T10:00:00Z', n: null, s: 'no', total: 1.50}"
    """
    text: str = yaml.dump(
        value,
        Dumper=_Line,
        default_flow_style=True,
        width=math.inf,
        allow_unicode=True,
        sort_keys=False,
    )
    return text.removesuffix("\n").removesuffix("\n...")
