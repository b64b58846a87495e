"""The state folder: its pipeline, who runs on it, its barriers, and whether they are intact.

- ``history``: the barriers of a state folder, from its files, for other processes.
- ``recovery``: what a run does to its state before it starts: check it, repair it, or fall back.
- ``rollback``: a new generation that continues from a barrier of the current one.
- ``recovery_check``: whether a state can be continued, and from which barrier if not.
- ``state``: the state folder of a pipeline: its identity, who runs on it, and its layout.
- ``epoch_log``: the epochs of a generation, each compared with Spark's logs.
- ``home``: where a state is. A copy of it is recognised, and writes to no output without consent.
- ``partitions``: in how many partitions a state lies, as Spark's own logs say.
- ``integrity``: which files a barrier needs, and whether they are unchanged.
- ``mailbox``: requests to a running job from another process: by files below its state folder.
- ``checkpoints``: Spark's view of a generation's files: batches, versions of state stores, logs of
  sources.
- ``lease``: the lease of a state folder: only one process runs on it at a time, on any machine.
- ``exchanged_lease``: the same on a store without locks, each step of it one write under a
  condition.
- ``manifests``: the manifest of a barrier: what was durable, in which files, when it completed.
- ``holders``: who holds a state folder, according to its `lease.json`: see `lease`.
"""
