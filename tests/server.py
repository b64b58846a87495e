"""A PostgreSQL server for one test, from the programs that are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

USER, PASSWORD = "tester", "open sesame"
_START = 60.0


def server_programs() -> Path | None:
    """The folder of `initdb` and `postgres`, the newest; None where they are not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[4])
    there = shutil.which("initdb")
    return Path(there).parent if there else (found[-1].parent if found else None)


@contextmanager
def running_server(programs: Path) -> Iterator[str]:
    """Start a server and yield its URL, for USER and PASSWORD; it has stopped when this ends."""
    folder = Path(tempfile.mkdtemp(prefix="streamc-postgres-"))
    # The server refuses to run as root.
    user = "postgres" if os.getuid() == 0 else None
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    data = folder / "data"
    password = folder / "password"
    password.write_text(f"{PASSWORD}\n", encoding="utf-8")
    password.chmod(0o644)
    make = [programs / "initdb", "-D", data, "-U", USER, "--auth=scram-sha-256"]
    make += [f"--pwfile={password}", "--no-sync", "-E", "UTF8"]
    subprocess.run(make, check=True, capture_output=True, user=user, cwd=folder)
    start = [programs / "postgres", "-D", data, "-p", str(port), "-k", folder, "-F"]
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(start, stdout=log, stderr=log, user=user, cwd=folder)
    url = f"postgresql://127.0.0.1:{port}/postgres"
    try:
        _await(url, server)
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_login(programs: Path) -> Iterator[str]:
    """Start a server and yield a URL that holds user and password."""
    with running_server(programs) as url:
        yield url.replace("//", f"//{USER}:{quote(PASSWORD)}@", 1)


def _await(url: str, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    end = time.monotonic() + _START
    while True:
        assert server.poll() is None, "the server has ended by itself"
        try:
            psycopg.connect(url, user=USER, password=PASSWORD).close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.1)
