"""Starts one component in this process: `python -m turbine.serve NAME [--instance I]`."""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from components.runtime.settings import BadSettings, Settings, load_settings
from components.runtime.topics import TopicsError, verify_topics
from events.topics import JOURNAL, TOPICS

EXIT_ORPHANED = 76
PR_SET_PDEATHSIG = 1


def _job_service(settings: Settings, instance: str | None) -> int:
    from components.job_service.agents import serve

    serve(settings, instance)
    return 0


def _state_syncer(settings: Settings, instance: str | None) -> int:
    from components.state_syncer.agents import serve

    serve(settings, instance)
    return 0


def _task_service(settings: Settings, instance: str | None) -> int:
    from components.task_service.agents import serve

    serve(settings, instance)
    return 0


def _clock(settings: Settings, _: str | None) -> int:
    from components.clock.agents import serve
    from components.runtime.loop import Stop

    return serve(settings, Stop().listen())


def _publisher(settings: Settings, _: str | None) -> int:
    from components.publisher.agents import serve
    from components.runtime.loop import Stop

    return serve(settings, Stop().listen())


SERVED: dict[str, Callable[[Settings, str | None], int]] = {
    "clock": _clock,
    "job-service": _job_service,
    "publisher": _publisher,
    "state-syncer": _state_syncer,
    "task-service": _task_service,
}


def serve(name: str, settings: Settings, *, instance: str | None = None, port: int = 0) -> int:
    """Runs the component until it is told to stop; the exit code says why it ended."""
    from components.runtime.clients import partitions_of
    from components.runtime.garbage import collect_seldom
    from components.runtime.logs import configure_logs
    from components.runtime.metrics import serve as serve_metrics

    configure_logs()
    collect_seldom()
    # Another retention may have expired what was said, and P stands in the log, not in a setting.
    client = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
    verify_topics(client, TOPICS, partitions_of(settings).get(JOURNAL, settings.partitions))
    serve_metrics(port)
    return SERVED[name](settings, instance)


def die_with(parent: int) -> bool:
    """From now on the parent's end, however it ends, is ours (on Linux); False: it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the kernel was told.
    return os.getppid() == parent


def main(arguments: list[str] | None = None) -> int:
    """The exit code of the component."""
    parser = argparse.ArgumentParser(prog="python -m turbine.serve", description=__doc__)
    parser.add_argument("name", choices=sorted(SERVED))
    parser.add_argument("--instance", help="name of a static member of the component's group")
    parser.add_argument("--bootstrap")
    parser.add_argument("--config", type=Path, help="the settings' file, by default turbine.toml")
    parser.add_argument("--metrics-port", type=int, default=0)
    parser.add_argument("--die-with", type=int, metavar="PID", help="the parent that must live")
    given = parser.parse_args(arguments)
    if given.die_with is not None and not die_with(given.die_with):
        return EXIT_ORPHANED
    from components.runtime.clients import BrokerUnreachable

    try:
        settings = load_settings({"bootstrap": given.bootstrap}, path=given.config)
        return serve(given.name, settings, instance=given.instance, port=given.metrics_port)
    except (BadSettings, BrokerUnreachable, TopicsError) as bad:
        sys.stderr.write(f"turbine: {bad}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
