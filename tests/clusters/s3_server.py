"""An S3 server in memory, on a free port of the loopback: prints it, and ends with its input.

moto looks at the condition of a PUT and then writes: two steps, which S3 does in one. Here a lock
makes them one.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class Atomic:
    """moto, one request that writes after the other."""

    def __init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._writing = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self._moto(environ, start)
        with self._writing:
            return list(self._moto(environ, start))


class Quiet(WSGIRequestHandler):
    """Connections that stay open, and no line for each request."""

    protocol_version = "HTTP/1.1"

    def handle_expect_100(self) -> bool:
        """Nothing: werkzeug answers `100 Continue`; a second one would be read as the answer."""
        return True

    def log_request(self, *_: Any) -> None:
        pass


def main() -> None:
    server = make_server("127.0.0.1", 0, Atomic(), threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
