"""What `benchmarks/soak.py` and the test of a short soak share.

In order of flow:

- ``parts/*.stream``: the statements that pipelines are put together from.
- ``pipeline``: which parts a pipeline has, and its front matter and policy of checkpoints.
- ``inputs``: files of all formats, with rows that come twice, at intervals that are never the same.
- ``oracle``: the right rows of every sink, by plain Python from what was written.
- ``outputs``: the rows that sinks hold.
- ``sinks``: both side by side, and what is lost or doubled.
- ``job``: the process that runs a pipeline, and looks at its own memory now and then.
- ``lives``: that process, started, stopped and started again.
- ``positions``: which epoch is the newest, and how much of the input has been taken in.
- ``samples``: the figures of a moment; ``flatness``: what grows that should not.
- ``soak``: one soak from its first file to its verdict; ``report``: the table of it.
"""
