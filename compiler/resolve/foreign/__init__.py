"""What other engines have, and what this version does not run: each refused by name.

- ``functions``: functions of other engines, and what to write instead.
- ``not_built``: what the language has and this version does not run: refused by name, never
  silently accepted.
"""
