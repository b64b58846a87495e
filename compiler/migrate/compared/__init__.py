"""Two plans side by side.

- ``versions``: their live parts, and the meaning of these in terms of what is below.
- ``mirrored``: joins with swapped sides.
- ``recompute``: parts that are recomputed from retained rows.
"""
