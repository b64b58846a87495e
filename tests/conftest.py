"""Fixtures that several tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from golden_extension import extension_for
from syrupy.assertion import SnapshotAssertion


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> Callable[[str, str], None]:
    """Return a function that compares a text with a file of the case (``pipeline.py``)."""

    def compare(name: str, text: str) -> None:
        stem, suffix = name.rsplit(".", 1)
        expected = snapshot(name=stem, extension_class=extension_for(suffix))
        assert text == expected, f"{name} differs; `make golden` writes it, git diff shows it"

    return compare
