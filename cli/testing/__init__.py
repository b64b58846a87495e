"""What ``streamc test`` does, for programs too: ``load`` tests, ``run`` them, report.

- ``find``: paths on the command line to files of tests.
- ``load``: files to tests that can run, with the specs that they are of.
- ``run``: tests on one Spark, and how each of them ended.
- ``report``: outcomes as text and as JSON; ``junit`` as what build servers read.
"""
