"""Syntax tree to PySpark. Starts no Spark and imports none.

In order of flow:

- ``driver``: the phases in order; stops between them when there are errors.
- ``resolve``: names and types; the syntax tree becomes a model.
- ``connectors``: sources and sinks: options, formats, columns, guarantees.
- ``model``: the types that pass between the phases: types, functions, schemas, steps, the pipeline.
- ``pyspark``: PySpark as text.
- ``operators``: what is known of each kind of step.
- ``graph``: queries, and the state that each of them keeps.
- ``checks``: what is wrong with a pipeline as a whole.
- ``plan``: what the running job and a migration need to know; the comparison of two plans.
- ``emit``: the script.
- ``migrate``: how each cell of state migrates between two plans.
- ``views``: pictures of a pipeline, and its operators explained.
- ``spec_tests``: tests of a spec, read from YAML, and the comparison of expected and actual rows.
"""
