"""Facts that the compiler, the runtime and the command line share, each stated once.

Only the standard library is imported here, so that every side may import it. The modules:

- ``plan``: what the compiler tells of a pipeline, a package.
- ``migration``: what becomes of its state under another version.
- ``savepoint``: its state at a barrier, as the manifest says.
- ``notes``: what the runtime writes down beside a state, a package.
- ``outputs``: what commands print for programs, a package.
- ``json_records``: data classes that are objects of JSON, read strictly.
- ``records``: data classes that are cheap to define.
- ``formats``: the formats of files and messages, by their names.
- ``readers``: what is known of a connector that is read: whether it reads files, its metadata.
- ``sinks``: what each sink promises of a row, and what a rollback does to what it was given.
- ``reserved``: settings of Spark that streamc makes itself, and why.
- ``plain``: values that are neither a text nor a name.
- ``java``: settings and functions that make Spark run code which is not in the spec.
- ``targets``: ``module:name``, by which a function or class in Python is named.
- ``references``: ``${env:NAME}`` and ``${file:PATH}``, by which a secret is named in a spec.
- ``secrets``: what is secret, by its name or by its form.
- ``redaction``: takes secrets out of whatever is written or printed.
- ``terminal``: text that is safe to print, and streams that print no other.
"""
