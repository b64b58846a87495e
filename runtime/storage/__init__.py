"""Files on any file system, and the runtime's own small notes in them.

- ``file_system``: files on any Hadoop path, through the kernel: one JVM call per step.
- ``places``: folders on a disk or elsewhere: whether two are the same, whatever their names.
- ``schema_paths``: the paths of a keyed program's state schemas in Spark's own notes.
- ``disk``: file system operations of checks and rollbacks: whole trees, checksums, links, one
  rename.
- ``local_files``: files of a state folder on this machine's disk, without a JVM.
- ``state_store``: state folders for other processes than their job, on any file system.
- ``store_settings``: what reaches a store: Spark's settings, without a JVM; ``store_faults``: what
  a store refuses.
- ``s3_files``: a state in S3 as other processes look at it, without a JVM.
- ``notes``: the runtime's own small files: JSON with a checksum.
"""
