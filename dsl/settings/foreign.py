"""Settings with the name or place they have in other tools, and how they are written here."""

from __future__ import annotations

from ..reports.suggest import did_you_mean
from .spark import in_full, meant

_OTHER_NAMES = {
    "pipeline": "name title id app app_name application appname job job_name pipeline_name",
    "description": "desc doc docs comment summary about",
    "variables": "vars var params parameters args arguments inputs constants defaults",
    "spark": "conf config configuration spark_conf sparkconf spark_config options properties props "
    "settings session",
    "state": "checkpoint checkpoints checkpoint_dir checkpoint_location checkpointlocation "
    "checkpoint_path state_dir statedir state_path state_folder savepoints",
    "state_backend": "backend statebackend state_store statestore store",
    "trigger": "interval processing_time processingtime schedule every batch_interval",
    "profiles": "env envs environment environments targets stages profile",
    "version": "ver revision rev",
    "max_epochs_in_flight": "epochs_in_flight max_in_flight in_flight",
}
"""The names of a setting in other tools, by its name here."""
_MEANT = {other: key for key, others in _OTHER_NAMES.items() for other in others.split()}
_ELSEWHERE = {
    "checkpoint_interval": "it is a statement: `CHECKPOINT EVERY INTERVAL 1 MINUTE;`",
    "parallelism": "write `spark: {spark.sql.shuffle.partitions: 4}`",
    "partitions": "write `spark: {spark.sql.shuffle.partitions: 4}`",
    "shuffle_partitions": "write `spark: {spark.sql.shuffle.partitions: 4}`",
    "master": "write `spark: {spark.master: …}`, or run the script with `spark-submit --master`",
    "packages": "write `spark: {spark.jars.packages: …}`",
    "watermark": "a watermark belongs to a source: `WATERMARK FOR ts AS ts - INTERVAL 30 SECONDS`",
    "sources": "sources are statements: `CREATE SOURCE name (…) WITH (…)`",
    "sinks": "sinks are statements: `CREATE SINK name FROM stream WITH (…)`",
    "output_mode": "it belongs to a stream: `EMIT ON WINDOW CLOSE`, or `EMIT CHANGES`",
    "timezone": "the time zone is UTC; `FROM_UTC_TIMESTAMP` converts a time to another zone",
}
"""What is not a setting here, and where it is declared."""


def setting_meant(key: str, known: tuple[str, ...]) -> str | None:
    """Return help about an unknown setting, None if there is nothing better than a list.

    ``known`` are the settings allowed there.
    """
    folded = key.lower().replace("-", "_")
    if folded in _ELSEWHERE:
        return _ELSEWHERE[folded]
    if key.startswith("spark."):
        return f"Spark settings go under `spark`: `spark: {{{meant(key) or key}: …}}`"
    if (other := _MEANT.get(folded)) in known:
        return f"did you mean `{other}`?"
    if near := did_you_mean(key, known):
        return near
    full = in_full(key)
    return f"write `spark: {{{full}: …}}`" if full else None
