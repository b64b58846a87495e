"""Files, whatever file system they are on, and the runtime's own small notes in them.

- ``file_system``: files on any Hadoop path, through the kernel: one call of the JVM a step.
- ``places``: folders on a disk or elsewhere: whether two of them are one, whatever it is called.
- ``schema_paths``: where Spark's own notes say that the schemas of a keyed program's state are.
- ``disk``: what checks and rollbacks need of a file system: whole trees, checksums, links, one
  rename.
- ``local_files``: files of a state folder on this machine's disk, without a JVM.
- ``notes``: the runtime's own small files: JSON that says itself whether it is as it was written.
"""
