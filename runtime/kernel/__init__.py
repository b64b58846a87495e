"""The runtime's Scala: what Python cannot reach inside Spark, in a few small objects.

- ``Layout.scala``: the stateful operators of a query and what they keep, from Spark's own plan.
- ``Sources.scala``: distinct names for a source that one query reads twice.
- ``Files.scala``: writing, listing and moving files on any Hadoop path, one call a step.
- ``Progress.scala``: the progress reports of a query since the last look.
- ``build.py``: compiles them once with the Scala compiler among Spark's jars, and caches the jar.
- ``load.py``: puts the jar on a running session's class path, driver and executors.
"""
