"""``streamc lsp``: the language server, for editors."""

from __future__ import annotations

from importlib.util import find_spec

from ..shared.report import UserError


def lsp() -> None:
    """Run the language server on standard input and output; editors start it.

    It needs the extra `lsp`: pip install "streamc[lsp]".
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise UserError(
            "the language server needs pygls, which is not installed",
            'pip install "streamc[lsp]"',
        )

    from ...dsl.parsing.depth import deep_calls
    from ..language_server.server import make_server

    # The limit of recursion is that of the process: no thread may lower it while another compiles.
    with deep_calls():
        make_server().start_io()
