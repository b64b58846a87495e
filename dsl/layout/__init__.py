"""A spec reformatted: what ``streamc fmt`` does.

The tokens of a spec are kept as written, except for the case of keywords and types, and so are its
comments; line breaks and spaces are replaced. So nothing can be lost, and the text means the same.
Where a line break is optional (after SELECT, before AND), the layout follows the source.

- ``concrete``: the concrete tree; ``comments`` attaches every comment to a token.
- ``docs``: documents with optional line breaks; ``printer``: documents to lines.
- ``forms``: trees to documents; ``expressions``, ``queries``, ``programs``, ``statements``: the
  forms of these.
- ``spec``: a whole file.
"""

from __future__ import annotations

from .spec import Formatted, format_source

__all__ = ["Formatted", "format_source"]
