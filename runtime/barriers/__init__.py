"""The gate that keeps queries in step, and the coordinator of barriers.

- ``coordinator``: barriers: which epoch is a checkpoint of the whole pipeline, and the manifest
  that says so.
- ``moved_input``: files sources that are read in another folder than before.
- ``stall``: the watchdog of a run: whether it is stalled, and who waits for whom.
- ``gate``: the gate of a run: the same input for all queries, an epoch at a time.
"""
