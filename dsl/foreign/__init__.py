"""The SQL of other engines, by what a spec says instead.

- ``statements``, ``columns``, ``queries``, ``windows``: the parts of the language.
- ``options``: options of connectors.
"""
