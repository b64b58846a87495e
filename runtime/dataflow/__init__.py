"""What an emitted script calls to build its dataflow.

- ``script``: an emitted script as a module, and the function in it that builds the dataflow.
- ``windows``: windows that Spark has no function for.
- ``job``: the job that an emitted script builds its dataflow with.
"""
