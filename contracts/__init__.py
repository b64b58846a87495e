"""What the compiler, the runtime and the command line all have to hold to, each fact once.

Only the standard library is imported here, so that every side may import it. The modules:

- ``reserved``: settings of Spark that streamc makes itself, and why.
"""
