"""YAML files next to a spec, and the YAML head of one.

- ``tree``: each value with its location; ``size``: how large a file may be.
- ``nodes``: the values as mappings, lists and scalars.
- ``diagnostics``: mistakes in them; ``slips``: mistakes in YAML's syntax.
- ``text``: values written into a file.
"""
