"""The base of the runtime: faults, signals, processes, options, secrets.

- ``delays``: delays at named steps of the protocol, for tests:
  `STREAMC_DELAYS={"coordinator.record": 0.2}`.
- ``java``: the Java for Spark: where it is, and whether it is new enough.
- ``java_code``: values that, once variables are filled in, would run code that the spec does not
  show.
- ``modules``: functions and classes of the user's own modules, found next to the script.
- ``options``: options of sources and sinks, as a script passes them: each is used, or refused.
- ``private_files``: files that hold rows or state: only their owner may read them.
- ``processes``: processes of this machine: whether one seen earlier is still running.
- ``secrets``: secrets of a run: read from where the spec says, and kept out of what it prints.
- ``signals``: asking a run to end: from another thread, by Ctrl-C or by SIGTERM.
- ``submitted``: whether `spark-submit` has started this process, and where its files are.
- ``errors``: faults of a run: what went wrong, where, and how to fix it, under a stable code.
"""
