"""Settings of Spark that streamc controls itself, and why a pipeline can't set them; one it may."""

from __future__ import annotations

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
"""In how many partitions a state begins, which a pipeline may set."""

_STREAMING = "spark.sql.streaming."
_SOURCES = "offsets are kept by the names of sources"
_SAVEPOINTS = "savepoints rely on it"

RESERVED = {
    "spark.sql.session.timeZone": "the time zone is UTC, so that windows do not depend on a "
    "machine",
    "spark.sql.exchange.reuse": "equal branches of a union lose their watermark with it",
    "spark.sql.optimizer.serializer.nestedSchemaPruning.": "structs of programs rely on it",
    "spark.sql.variable.": "in the SQL of a spec `${name}` is the text that it is",
    f"{_STREAMING}aggregation.stateFormatVersion": _SAVEPOINTS,
    f"{_STREAMING}checkpointLocation": "each query has its place under `state`",
    f"{_STREAMING}join.stateFormatVersion": _SAVEPOINTS,
    f"{_STREAMING}minBatchesToRetain": "RETAIN in the CHECKPOINT statement says how far one can "
    "go back",
    f"{_STREAMING}noDataMicroBatches.": "epochs without input take their place",
    f"{_STREAMING}offsetLog.": _SOURCES,
    f"{_STREAMING}queryEvolution.": _SOURCES,
    f"{_STREAMING}sessionWindow.stateFormatVersion": _SAVEPOINTS,
    f"{_STREAMING}stateStore.checkpointFormatVersion": "barriers find a version by the names of "
    "its files",
    f"{_STREAMING}stateStore.encodingFormat": "savepoints rely on how state is encoded",
    f"{_STREAMING}stateStore.providerClass": "`state_backend` chooses it",
    f"{_STREAMING}stateStore.rocksdb.changelogCheckpointing.": "checkpoints rely on it",
    f"{_STREAMING}stateStore.rocksdb.formatVersion": _SAVEPOINTS,
    f"{_STREAMING}statefulOperator.allowMultiple": "which rows are late relies on it",
}
"""Names of settings or, ending in a dot, of families of them, each with the reason."""

_FOLDED = {name.lower(): reason for name, reason in RESERVED.items()}


def reserved(name: str) -> str | None:
    """Return why a pipeline can't set a setting, None if it can; case does not matter.

    >>> reserved("spark.sql.session.timezone")
    'the time zone is UTC, so that windows do not depend on a machine'
    >>> reserved("spark.sql.shuffle.partitions") is None
    True
    """
    folded = name.lower()
    if folded in _FOLDED:
        return _FOLDED[folded]
    found = (r for known, r in _FOLDED.items() if known[-1] == "." and folded.startswith(known))
    return next(found, None)
