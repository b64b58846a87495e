"""A port and a file on which the metrics of a run are offered, by ``prometheus_client``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ....contracts.plan import Plan
from ...base.errors import BAD_ARGUMENT, MODULE_MISSING, RuntimeFault
from ...plan.arguments import Arguments
from ..views import View
from .meter import Meter, MeteredView

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric as Family

LOOPBACK = "127.0.0.1"
_EVERY = 5.0
"""Seconds between two writes of the file."""


@contextmanager
def offered(arguments: Arguments, plan: Plan, view: View) -> Iterator[tuple[View, Meter | None]]:
    """Offer the metrics of a run as its arguments say, until it has ended.

    The view is to be used in place of the given one; the meter is None if nothing is asked for.
    Raises RuntimeFault for a port or a file that can't be opened, and without prometheus_client.
    """
    if arguments.metrics_port is None and arguments.metrics_file is None:
        yield view, None
        return
    meter = Meter(plan)
    registry = registry_of(meter)
    with ExitStack() as stack:
        if arguments.metrics_port is not None:
            stack.enter_context(_served(registry, *address_of(arguments.metrics_port)))
        updated: Callable[[], None] = _nothing
        if arguments.metrics_file is not None:
            file = MetricsFile(arguments.metrics_file, registry, view.note)
            file.begin()
            stack.callback(file.write)
            updated = file.update
        try:
            yield MeteredView(view, meter, updated), meter
        except BaseException:
            meter.ended(1)
            raise


def registry_of(meter: Meter) -> CollectorRegistry:
    """Return the values of a meter, as the library collects them when they are asked for.

    Raises RuntimeFault without the library.
    """
    try:
        from prometheus_client import CollectorRegistry
        from prometheus_client.core import Metric as Family
        from prometheus_client.registry import Collector
    except ImportError:
        raise RuntimeFault(
            MODULE_MISSING,
            "metrics need the Python package `prometheus_client`",
            "install `streamc[metrics]`, or the package itself",
        ) from None

    class Values(Collector):
        def collect(self) -> Iterable[Family]:
            for metric, values in meter.values():
                family = Family(metric.name, metric.help, metric.kind, metric.unit)
                names = ("pipeline", *metric.labels)
                for labels, value in sorted(values.items()):
                    named = dict(zip(names, (meter.pipeline, *labels), strict=True))
                    family.add_sample(metric.sample, named, value)
                yield family

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Values())
    return registry


def address_of(text: str) -> tuple[str, int]:
    """Return the address and port of `[ADDRESS:]PORT`; raises RuntimeFault for other text.

    >>> address_of("9464"), address_of("[::]:9464")
    (('127.0.0.1', 9464), ('::', 9464))
    """
    address, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise RuntimeFault(
            BAD_ARGUMENT,
            f"`{text}` is not a port for metrics",
            f"write PORT, which listens on {LOOPBACK}, or ADDRESS:PORT",
        )
    return address.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


class MetricsFile:
    """A file with the metrics, for the textfile collector of Prometheus' node exporter.

    Each write replaces it by a rename. A write that fails does not end the run: `tell` gets a line,
    one until a write has succeeded again.
    """

    def __init__(
        self, path: Path, registry: CollectorRegistry, tell: Callable[[str], None]
    ) -> None:
        self._path = path
        self._registry = registry
        self._tell = tell
        self._next = 0.0
        self._fails = False

    def begin(self) -> None:
        """Write it for the first time; raises RuntimeFault if that fails."""
        try:
            self._write()
        except OSError as error:
            raise RuntimeFault(
                BAD_ARGUMENT,
                f"the metrics file {self._path} cannot be written: {error.strerror or error}",
                "pass another path: `--metrics-file`",
            ) from None

    def update(self) -> None:
        """Write it if it is due."""
        if time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        """Write it now."""
        self._next = time.monotonic() + _EVERY
        try:
            self._write()
        except OSError as error:
            if not self._fails:
                self._tell(f"the metrics file {self._path} was not written: {error.strerror}")
            self._fails = True
        else:
            self._fails = False

    def _write(self) -> None:
        from prometheus_client import write_to_textfile

        write_to_textfile(str(self._path), self._registry)


@contextmanager
def _served(registry: CollectorRegistry, address: str, port: int) -> Iterator[None]:
    """Answer requests until the end; raises RuntimeFault if the address can't be listened on."""
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, address, registry)
    except OSError as error:
        raise RuntimeFault(
            BAD_ARGUMENT,
            f"metrics cannot be served on {address}, port {port}: {error.strerror or error}",
            "pass another port: `--metrics-port`",
        ) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _nothing() -> None:
    """Without a file there is nothing to write."""
