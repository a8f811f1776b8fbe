"""Starts one component in this process: `python -m turbine.serve NAME [--instance I]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from components.runtime.clients import BrokerUnreachable
from components.runtime.logs import configure_logs
from components.runtime.loop import Stop
from components.runtime.metrics import serve as serve_metrics
from components.runtime.settings import BadSettings, Settings, load_settings


def _job_service(settings: Settings, instance: str | None) -> int:
    from components.job_service.agents import serve

    serve(settings, instance)
    return 0


def _clock(settings: Settings, _: str | None) -> int:
    from components.clock.agents import serve

    return serve(settings, Stop().listen())


def _publisher(settings: Settings, _: str | None) -> int:
    from components.publisher.agents import serve

    return serve(settings, Stop().listen())


SERVED: dict[str, Callable[[Settings, str | None], int]] = {
    "clock": _clock,
    "job-service": _job_service,
    "publisher": _publisher,
}


def main(arguments: list[str] | None = None) -> int:
    """The exit code of the component."""
    parser = argparse.ArgumentParser(prog="python -m turbine.serve", description=__doc__)
    parser.add_argument("name", choices=sorted(SERVED))
    parser.add_argument("--instance", help="name of a static member of the component's group")
    parser.add_argument("--bootstrap")
    parser.add_argument("--metrics-port", type=int, default=0)
    given = parser.parse_args(arguments)
    configure_logs()
    try:
        settings = load_settings({"bootstrap": given.bootstrap})
        serve_metrics(given.metrics_port)
        return SERVED[given.name](settings, given.instance)
    except (BadSettings, BrokerUnreachable) as bad:
        sys.stderr.write(f"turbine: {bad}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
