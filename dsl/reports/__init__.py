"""What phases report about a file, and how that is shown.

- ``source``: a file's text, spans, lines and columns.
- ``diagnostics``: what phases report; ``codes``: its registry; ``suggest`` finds similar names.
- ``render``: diagnostics as text, lines or JSON; ``excerpt`` marks the lines that they refer to.
"""
