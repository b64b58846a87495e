"""What ``streamc test`` does, for programs too: ``load`` tests, ``run`` them, report.

- ``find``: test files from paths on the command line.
- ``load``: runnable tests from files, with their specs.
- ``run``: tests on one Spark, and the outcome of each.
- ``report``: outcomes as text and as JSON; ``junit``: for build servers.
"""
