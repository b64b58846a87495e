"""A pipeline on its way to a cluster: all that it needs there, and the command that starts it.

- ``package``: the command.
- ``contents``: the files of a package; ``zips``: zips whose bytes follow from their content.
- ``modules``: the user's Python modules that a plan needs; ``requirements``: Python packages that
  the cluster has to have.
- ``submit``: the command line of ``spark-submit``.
"""
