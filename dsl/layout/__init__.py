"""A spec laid out anew: what ``streamc fmt`` does.

The tokens of a spec are kept as they were written, but for the case of keywords and types, and so
are its comments; lines and spaces are made anew. So nothing can be lost, and the text means the
same. Where the source has a line break in places that leave a choice (behind SELECT, before AND),
the layout follows it.

- ``concrete``: the concrete tree; ``comments`` gives every comment to a token.
- ``docs``: documents with places for line breaks; ``printer``: documents to lines.
- ``forms``: trees to documents; ``expressions``, ``queries``, ``programs``, ``statements``: the
  forms of these.
- ``spec``: a whole file.
"""

from __future__ import annotations

from .spec import Formatted, format_source

__all__ = ["Formatted", "format_source"]
