"""Tests of a spec: YAML with rows for its sources and the rows expected of its sinks.

In order of flow:

- ``model``: a test (a case) and its steps, every name and value checked.
- ``read``: documents to tests; ``steps``: their steps, ``expectations``: what sinks must get,
  ``state``: what operators must keep; ``upgrades``: which version continues, and with what.
- ``names``: the names of a version of the spec that steps may use.
- ``rows``: rows of sources and their lines of text; ``values``: a value by its type.
- ``diagnostics``: diagnostics about mistakes.
- ``ways``: a test's steps for other arrivals of the same rows.
- ``compare``: actual against expected rows of a sink, as paired by ``matching``; ``differences``
  shows them as a table.
- ``forks``: the rows of two versions' sinks, side by side.
- ``update``: the text of a file with expected rows replaced by actual ones.
"""
