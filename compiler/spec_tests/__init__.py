"""Tests of a spec: YAML that gives rows to its sources and says what its sinks must get.

In order of flow:

- ``model``: a test (a case) and its steps, every name and value checked.
- ``read``: documents to tests; ``steps`` their steps, ``expectations`` what sinks must get,
  ``state`` what operators must keep; ``upgrades`` which version goes on, and with what.
- ``names``: what a version of the spec has that steps may name.
- ``rows``: rows of sources and the lines of text that they are; ``values``: one value by its type.
- ``diagnostics``: what is said of mistakes.
- ``ways``: a test's steps for another arrival of the same rows.
- ``compare``: what a sink got against what it must get, row by row as ``matching`` pairs them;
  ``differences`` shows that as a table.
- ``forks``: what the sinks of two versions got, side by side.
- ``update``: the text of a file with what sinks got in the place of what was expected.
"""
