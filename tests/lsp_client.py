"""A client of the language server: JSON-RPC over the pipes of a process."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

TIMEOUT = 60


class Client:
    """A server in a process, and what it sends. Positions count UTF-16 code units."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamc", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._number = 0
        self._versions: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.published: dict[str, dict[str, Any]] = {}
        capabilities = {
            "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
            "textDocument": {
                "publishDiagnostics": {"relatedInformation": True},
                "rename": {"prepareSupport": True},
            },
        }
        self.capabilities = self.request(
            "initialize",
            {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities},
        )["capabilities"]
        self.notify("initialized", {})

    def close(self) -> int:
        """Shut the server down as the protocol says; return its exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        try:
            return self._process.wait(TIMEOUT)
        finally:
            self._process.kill()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            if not length:
                return
            self._messages.put(json.loads(stream.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        stream.flush()

    def _next(self) -> dict[str, Any]:
        message = self._messages.get(timeout=TIMEOUT)
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        return message

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        """Return a result; raises ``RuntimeError`` with the message of an error."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    # Documents.

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[dict[str, Any]]:
        """Open a document; return its diagnostics."""
        uri = self.uri(name)
        self.texts[name], self._versions[name] = text, 1
        item = {"uri": uri, "languageId": "streamc", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics(name)

    def change(self, name: str, *changes: dict[str, Any]) -> None:
        """Send changes, which the caller has made in ``texts``."""
        self._versions[name] += 1
        document = {"uri": self.uri(name), "version": self._versions[name]}
        self.notify(
            "textDocument/didChange",
            {"textDocument": document, "contentChanges": list(changes)},
        )

    def write(self, name: str, text: str) -> None:
        """Replace the whole text."""
        self.texts[name] = text
        self.change(name, {"text": text})

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a part of the text by an incremental change."""
        text = self.texts[name]
        start = text.index(old)
        place = {"start": position(text, start), "end": position(text, start + len(old))}
        self.texts[name] = text[:start] + new + text[start + len(old) :]
        self.change(name, {"range": place, "text": new})

    def diagnostics(self, name: str) -> list[dict[str, Any]]:
        """Wait for the diagnostics of the current version."""
        uri = self.uri(name)
        while self.published.get(uri, {}).get("version") != self._versions[name]:
            self._next()
        found: list[dict[str, Any]] = self.published[uri]["diagnostics"]
        return found

    def ask(self, method: str, name: str, place: str | int, **more: Any) -> Any:
        """Return the result of a request at a place: an offset, or a text with ``|`` in it."""
        text = self.texts[name]
        if isinstance(place, str):
            before, after = place.split("|")
            place = text.index(before + after) + len(before)
        params = {"textDocument": {"uri": self.uri(name)}, "position": position(text, place)}
        return self.request(f"textDocument/{method}", {**params, **more})

    def about(self, method: str, name: str, **more: Any) -> Any:
        """Return the result of a request about a whole document."""
        params = {"textDocument": {"uri": self.uri(name)}, **more}
        return self.request(f"textDocument/{method}", params)

    def marked(self, name: str, place: dict[str, Any]) -> str:
        """Return the text of a range."""
        text = self.texts[name]
        return text[offset(text, place["start"]) : offset(text, place["end"])]

    def edited(self, name: str, edits: list[dict[str, Any]]) -> str:
        """Return the text with edits applied."""
        text = self.texts[name]
        places = [
            (offset(text, e["range"]["start"]), offset(text, e["range"]["end"]), e["newText"])
            for e in edits
        ]
        for start, end, new in sorted(places, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def position(text: str, index: int) -> dict[str, int]:
    before = text[:index]
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def offset(text: str, place: dict[str, int]) -> int:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: place["line"]])
    units = lines[place["line"]].encode("utf-16-le")[: 2 * place["character"]]
    return start + len(units.decode("utf-16-le"))
