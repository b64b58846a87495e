"""Where savepoints lie, and how their values look as text; `contracts.savepoint` says what one is.

- ``shown``: values of a savepoint as text, in Spark's form: instants in UTC, structs in braces.
- ``staging``: where savepoints are built: hidden folders, each locked by the process that fills it.
- ``model``: folders of savepoints: their names, and their manifests.
"""
