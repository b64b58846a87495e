"""The front matter of a spec, and variables.

- ``front_matter``: the YAML head, checked; ``model``: what each value may be.
- ``values``: the result.
- ``spark``: the names of Spark's settings; ``foreign``: settings' names in other tools.
- ``secrets``: no secret is written out there; ``java``: nothing there runs code that the spec does
  not show.
- ``variables``: ``${name}``, ``${env:NAME}`` and ``${file:PATH}`` in the texts of options.
"""
