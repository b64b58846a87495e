"""State folders for other processes than their job; a JVM only where there must be one.

On this machine's disk and, to look at a state, in S3 there is none. All else goes by Hadoop's
clients in a JVM without a session.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from ...contracts.notes.identity import StateIdentity
from ..base.errors import NO_STATE_FOLDER, RuntimeFault
from .disk import Disk, LocalDisk, RemoteDisk, Tree
from .file_system import HadoopFiles
from .local_files import local_folder, state_identity
from .store_faults import java_fault
from .store_settings import StoreSettings

_S3 = ("s3", "s3a", "s3n")


def opened_state(path: str, conf: Sequence[str] = ()) -> tuple[Tree, str, StateIdentity]:
    """The files of a state folder to look at, its path there, and its `state.json`.

    `conf` are settings of Spark, `KEY=VALUE`. Files may be created only under names that are the
    writer's own. Raises RuntimeFault when the path is not a state folder, and when its store does
    not answer or refuses.
    """
    files, folder = opened_tree(path, conf)
    return files, folder, _identity(files, folder, path)


def opened_tree(path: str, conf: Sequence[str] = ()) -> tuple[Tree, str]:
    """The same of a folder that need not be a state."""
    settings = StoreSettings.of(conf)
    if is_on_disk(path):
        return _on_disk(path)
    if urlsplit(path).scheme in _S3:
        url = s3_url(path)
        s3 = settings.s3(urlsplit(url).netloc)
        if s3.needs_hadoop is None:
            from .s3_files import S3Files

            return S3Files(s3), url
    return _by_hadoop(path, settings)


def writable_state(path: str, conf: Sequence[str] = ()) -> tuple[Disk, str, StateIdentity]:
    """The same to change it: of two who create one file one succeeds; needs a JVM off the disk."""
    files, folder = writable_tree(path, conf)
    return files, folder, _identity(files, folder, path)


def writable_tree(path: str, conf: Sequence[str] = ()) -> tuple[Disk, str]:
    """The same of a folder that need not be a state."""
    settings = StoreSettings.of(conf)
    return _on_disk(path) if is_on_disk(path) else _by_hadoop(path, settings)


def is_on_disk(path: str) -> bool:
    """Whether a path is one of this machine's disk."""
    return urlsplit(path).scheme in ("", "file")


def s3_url(path: str) -> str:
    """A path in S3 as Hadoop names it: `s3:` is `s3a:`; raises RuntimeFault without a bucket."""
    url = urlsplit(path)
    if not url.netloc or "@" in url.netloc or not url.path.strip("/"):
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"{path} is not a folder of a bucket",
            "pass s3a://BUCKET/FOLDER; keys are settings or in the environment, not in the URL",
        )
    return f"s3a://{url.netloc}/{re.sub('/+', '/', url.path).strip('/')}"


def _on_disk(path: str) -> tuple[LocalDisk, str]:
    folder = local_folder(path)
    if not os.path.isdir(folder):
        raise RuntimeFault(
            NO_STATE_FOLDER,
            f"there is no folder {path}",
            "pass the folder that the job was given as `state`",
        )
    return LocalDisk(), folder


def _identity(files: Tree, folder: str, path: str) -> StateIdentity:
    try:
        return state_identity(files, folder, path)
    except RuntimeFault as fault:
        if fault.code is NO_STATE_FOLDER and (check := getattr(files, "check_bucket", None)):
            check()
        raise


def _by_hadoop(path: str, settings: StoreSettings) -> tuple[RemoteDisk, str]:
    url = s3_url(path) if urlsplit(path).scheme in _S3 else path.rstrip("/")
    jvm, conf = _jvm(tuple(settings.given.items()), tuple(settings.values.items()))
    files = HadoopFiles(jvm, conf, lambda error: java_fault(error, path))
    return RemoteDisk(files), files.qualified(url)


@cache
def _jvm(given: tuple[tuple[str, str], ...], known: tuple[tuple[str, str], ...]) -> tuple[Any, Any]:
    """The JVM of these settings, which ends with this process."""
    from ..kernel.small_jvm import start_jvm

    return start_jvm(
        dict(given), dict(known), lambda line: print(line, file=sys.stderr, flush=True)
    )
