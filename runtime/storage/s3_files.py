"""A state in S3 as other processes look at it, by pyarrow's own client: no JVM.

It reads, and it writes files whose names nobody else has. It has no conditional PUT: what two could
write at once goes by the JVM.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from .disk import Sum
from .file_system import Version
from .store_faults import no_bucket, s3_fault

if TYPE_CHECKING:
    from .store_settings import S3Settings

_CHUNK = 1 << 20
_THREADS = 8
_ATTEMPTS = 3
_SECONDS = 10.0


class S3Files:
    """The files of a bucket; paths are URLs, `s3a://bucket/key`.

    All methods raise RuntimeFault when the store does not answer or refuses.
    """

    def __init__(self, settings: S3Settings) -> None:
        from pyarrow import fs

        self._bucket = settings.bucket
        self._endpoint = settings.shown_endpoint
        self._fs: Any = None
        with self._answered(f"s3a://{settings.bucket}"):
            self._fs = fs.S3FileSystem(
                **settings.arguments,
                connect_timeout=_SECONDS,
                request_timeout=_SECONDS * 3,
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
            )

    def check_bucket(self) -> None:
        """Raises RuntimeFault when there is no such bucket."""
        with self._answered(f"s3a://{self._bucket}"):
            found = self._fs.get_file_info(self._bucket)
        if found.type.name == "NotFound":
            raise no_bucket(self._bucket, self._endpoint)

    def tree(self, folder: str) -> list[str]:
        """All files below a folder, by their paths relative to it, sorted."""
        base = _key(folder).rstrip("/") + "/"
        found = self._below(folder, recursive=True)
        return sorted(one.path.removeprefix(base) for one in found if one.type.name == "File")

    def list(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none when there is no folder."""
        return sorted({one.base_name for one in self._below(folder, recursive=False)})

    def _below(self, folder: str, *, recursive: bool) -> Any:
        from pyarrow import fs

        selector = fs.FileSelector(_key(folder), allow_not_found=True, recursive=recursive)
        with self._answered(folder):
            return self._fs.get_file_info(selector)

    def read(self, path: str) -> str | None:
        """A file's text, or None when there is no such file.

        Bytes that are not UTF-8 are replaced, which a note's checksum then detects.
        """
        found = self._whole(path)
        return None if found is None else found[0].decode("utf-8", errors="replace")

    def content(self, path: str) -> bytes | None:
        """The bytes of a small file, or None when there is no such file."""
        found = self._whole(path)
        return None if found is None else found[0]

    def modified(self, path: str) -> float | None:
        """When a file was written, in seconds by the store's clock; None without a file."""
        found = self._info(path)
        return None if found is None else float(found.mtime.timestamp())

    def length(self, path: str) -> int | None:
        """The length of a file in bytes; None without a file."""
        found = self._info(path)
        return None if found is None else int(found.size)

    def version(self, path: str) -> Version | None:
        """A file with the time it was written, or None; it can't be exchanged from here."""
        found = self._whole(path)
        if found is None:
            return None
        return Version(found[0].decode("utf-8", errors="replace"), "", found[1])

    def sums(self, paths: Iterable[str]) -> Mapping[str, Sum]:
        """Reads the existing files, several at a time."""
        from concurrent.futures import ThreadPoolExecutor

        wanted = list(paths)
        with ThreadPoolExecutor(_THREADS) as pool:
            found = dict(zip(wanted, pool.map(self._sum, wanted), strict=True))
        return {path: held for path, held in found.items() if held is not None}

    def fetch(self, path: str, write: Callable[[bytes], object]) -> bool:
        """Passes the bytes of a file on, block by block; whether there is one."""
        with self._answered(path):
            try:
                with self._fs.open_input_stream(_key(path)) as stream:
                    while block := stream.read(_CHUNK):
                        write(block)
            except FileNotFoundError:
                return False
        return True

    def create(self, path: str, text: str) -> None:
        """Writes a new file that appears whole or not at all.

        The name has to be the writer's own: of two who write one name at once both succeed.
        """
        if self._info(path) is not None:
            raise FileExistsError(path)
        self.replace(path, text)

    def replace(self, path: str, text: str) -> None:
        """Writes a file in place of what is there; readers see the old one or the new one."""
        with self._answered(path), self._fs.open_output_stream(_key(path)) as out:
            out.write(text.encode())

    def delete(self, paths: Sequence[str]) -> None:
        """Removes files, ignoring missing ones."""
        for path in paths:
            with self._answered(path):
                try:
                    self._fs.delete_file(_key(path))
                except FileNotFoundError:
                    continue

    def _info(self, path: str) -> Any:
        with self._answered(path):
            found = self._fs.get_file_info(_key(path))
        return found if found.type.name == "File" else None

    def _whole(self, path: str) -> tuple[bytes, float] | None:
        """A file's bytes and when it was written.

        Its length is asked for before its bytes: it may have been replaced in between.
        """
        while True:
            read = BytesIO()
            if not self.fetch(path, read.write):
                return None
            held, now = read.getvalue(), self._info(path)
            if now is not None and now.size == len(held):
                return held, float(now.mtime.timestamp())

    def _sum(self, path: str) -> Sum | None:
        crc, size = 0, 0

        def add(block: bytes) -> None:
            nonlocal crc, size
            crc, size = zlib.crc32(block, crc), size + len(block)

        return Sum(size, f"{crc:08x}") if self.fetch(path, add) else None

    @contextmanager
    def _answered(self, path: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            raise s3_fault(error, path, self._endpoint) from None


def _key(path: str) -> str:
    """The bucket and the key of a URL, as pyarrow names them."""
    return path.split("://", 1)[1].rstrip("/")
