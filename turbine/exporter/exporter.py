"""Follows the log and serves its figures to Prometheus: one process for a fleet.

Counts are of the log, so a second exporter says the same, and a new one begins where the log
begins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from components.runtime.process.loop import StopSignal
from turbine.exporter.families import Beside, MetricOptions, families
from turbine.read.state.live import LiveLog
from turbine_client.settings import BadSettings, Settings

PORT = 9464


class Exposition(Collector):
    """The families of one log, made anew at each scrape."""

    def __init__(self, live: LiveLog, asked: MetricOptions) -> None:
        self.live, self._asked = live, asked

    def collect(self) -> Iterator[Metric]:
        """As far as the log was read."""
        live, now = self.live, self.live.progress()
        beside = Beside(version("turbine"), now.behind, up=not now.trouble)
        yield from families(live.view(), live.tally(), beside, self._asked)


class _ExporterServer(ThreadingMixIn, WSGIServer):
    """A scrape that hangs holds up no other, and no end."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    """A line for every scrape tells nobody anything."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the parent's
        """Keeps requests for metrics out of the log."""


def app_of(
    registry: CollectorRegistry, ready: Callable[[], bool]
) -> Callable[..., Iterable[bytes]]:
    """`/metrics`, and for a supervisor `/livez` and `/readyz`."""
    # Counters that still catch up with years of a log would look like a fleet gone wild.
    metrics = make_wsgi_app(registry)

    def app(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/livez":
            return _plain(start, "200 OK", "it lives\n")
        is_ready = ready()
        if path == "/readyz" or (path == "/metrics" and not is_ready):
            if is_ready:
                return _plain(start, "200 OK", "all that there was at the start has been read\n")
            return _plain(start, "503 Service Unavailable", "the log is read; ask again\n")
        if path == "/metrics":
            found: Iterable[bytes] = metrics(environ, start)
            return found
        return _plain(start, "404 Not Found", "there are /metrics, /livez and /readyz\n")

    return app


def _plain(start: StartResponse, status: str, text: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [text.encode()]


def listen(app: Callable[..., Iterable[bytes]], host: str, port: int) -> WSGIServer:
    """Serves until it is shut down; BadSettings where the port is not free."""
    try:
        server = make_server(host, port, app, _ExporterServer, _Quiet)
    except OSError as error:
        raise BadSettings(
            f"metrics cannot be served on {host}:{port} ({error.strerror}); name another port"
        ) from None
    threading.Thread(target=server.serve_forever, name="exporter", daemon=True).start()
    return server


def serve(settings: Settings, stop: StopSignal, host: str, port: int, asked: MetricOptions) -> int:
    """Until it is told to stop."""
    registry, live = CollectorRegistry(), LiveLog(settings)
    registry.register(Exposition(live, asked))
    try:
        server = listen(app_of(registry, live.ready), host, port)
        try:
            stop.wait(None)
        finally:
            server.shutdown()
            server.server_close()
    finally:
        live.close()
    return 0
