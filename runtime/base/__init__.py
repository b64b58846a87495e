"""What the rest of the runtime stands on: faults, signals, processes, options, secrets.

- ``delays``: waits at named steps of the protocol, for tests:
  `STREAMC_DELAYS={"coordinator.record": 0.2}`.
- ``fields``: the fields of a note, each of the type that its reader asks for.
- ``java``: the Java that Spark runs on: where it is, and whether it is new enough.
- ``java_code``: values that would run code which the spec does not show, once variables are filled
  in.
- ``modules``: functions and classes of the user's own modules, found beside the script.
- ``options``: options of sources and sinks, as a script passes them: each is taken by someone, or
  refused.
- ``private_files``: files that hold rows or state: nobody but their owner may read them.
- ``processes``: processes of this machine: whether one that was seen once is still there.
- ``secrets``: secrets of a run: read from where the spec says they are, and kept out of what it
  prints.
- ``signals``: asking a run to end: from another thread, by Ctrl-C or by SIGTERM.
- ``errors``: faults of a run: what went wrong, where, and how to mend it, under a code that never
  changes.
"""
