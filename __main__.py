"""``python -m streamc``: the command line."""

from .cli.app import main

main()
