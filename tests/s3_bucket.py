"""A bucket of a test's own in an S3 server, its settings where Spark would find them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clusters.servers import Store, running_s3
from streamc.runtime.storage.s3_files import S3Files
from streamc.runtime.storage.store_settings import StoreSettings

BUCKET = "bucket"


@dataclass(frozen=True)
class Bucket:
    """Files of a bucket, and the store that it is in."""

    store: Store
    files: S3Files

    def copy(self, folder: Path, name: str) -> str:
        """Copies a folder into the bucket; returns its URL there."""
        url = f"{self.store.url}/{name}"
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "lock":
                with self.files._fs.open_output_stream(
                    f"{BUCKET}/{name}/{path.relative_to(folder)}"
                ) as out:
                    out.write(path.read_bytes())
        return url


def conf_of(store: Store, **changes: str) -> list[str]:
    """The settings of a store as values of `--conf`."""
    values = {**store.settings, **{name.replace("_", "."): v for name, v in changes.items()}}
    return [f"spark.hadoop.{name}={value}" for name, value in values.items()]


@contextmanager
def running_bucket(folder: Path) -> Iterator[Bucket]:
    """A server with an empty bucket; it has stopped when this ends."""
    # Without keys AWS's chain would look for a machine of Amazon's that has some.
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    with running_s3(folder, folder) as store:
        yield Bucket(store, S3Files(StoreSettings.of(conf_of(store)).s3(BUCKET)))
