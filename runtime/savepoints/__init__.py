"""Savepoints: the state of a pipeline as Parquet that anybody can read, and the way back.

- ``model``: what a savepoint is, its manifest, those of a state folder.
- ``tables``: what a stateful operator keeps, read from Spark's stores into named columns.
- ``written``: these tables as Parquet.
- ``create``: a savepoint from a barrier, beside the running job; ``staging``: where it is made.
- ``stores``: rows of tables in the form in which Spark's stores of a new checkpoint have them;
  ``programs``: in that in which a keyed program begins with them.
- ``marks``: parts of a state that are not what they would have been, and until when.
- ``fit``: which tables the operators of a plan begin with; ``transform``: changed by a migration;
  ``alive``: what of that one query needs; ``lifetimes``: keys whose cells get a TTL;
  ``conversions``: what its expressions make of which rows; ``failing``: rows that they can't make.
- ``preview``: what a migration does to a savepoint, in figures: ``samples`` of rows, windows and
  timers against ``watermarks``; ``shown``: values as text.
- ``stocked``: queries whose first batch has left what a savepoint holds.
- ``drafts``: a generation that is being made, and its batches; ``restore``: one that begins with a
  savepoint; ``begin``: for a run that asks for it.
- ``backfill``: a savepoint of a new plan, with cells computed from earlier rows. ``retained``: what
  of these is still there; ``replay``: a run over them; ``filled``: its cells beside others.
- ``types``: types whose values may be NULL.
- ``process``: what the command line does with savepoints; ``sql``: questions to their tables and
  what differs between two; ``archive``: one file, and files that were changed.
"""
