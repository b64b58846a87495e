"""The state folder: whose it is, who runs on it, its barriers, and whether they are whole.

- ``history``: the barriers of a state folder, from its files, for whoever looks from outside.
- ``recovery``: what a run does about its state before it starts: checks it, mends it, or falls
  back.
- ``rollback``: A new generation that goes on from a barrier of the current one.
- ``recovery_check``: whether a state may be gone on from, and from which barrier if not.
- ``state``: the state folder of a pipeline: whose it is, who runs on it, and where things lie in
  it.
- ``epoch_log``: the epochs of a generation, each against what Spark's logs say of it.
- ``generations``: what the note of a generation must say before anything is done by it.
- ``home``: where a state lies. A copy of it is known as one, and writes to no output unasked.
- ``integrity``: which files a barrier rests on, and whether they are as they were.
- ``mailbox``: asking a running job for something, from another process: by files below its state
  folder.
- ``checkpoints``: what a generation's files are to Spark: batches, versions of state stores, logs
  of sources.
- ``incompleteness``: parts of a state that lack rows from before a cut: the notes that say so.
- ``lease``: the lease of a state folder: one process at a time runs on it, wherever it runs.
- ``manifests``: the manifest of a barrier: what was durable, in which file, when it was complete.
- ``holders``: who holds a state folder, as its `lease.json` says: see `lease`.
"""
