"""Features of other engines, and those that this version does not run: each refused by name.

- ``functions``: functions of other engines, with replacements.
- ``not_built``: features of the language that this version does not run: refused by name, never
  silently accepted.
"""
