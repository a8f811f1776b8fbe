"""Starts components in this process: `python -m turbine.serve NAME... [--instance I]`."""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, TypeAlias

from components.runtime.kafka.topics import verify_topics
from components.runtime.process.exits import leave
from components.runtime.process.loop import StopSignal
from components.runtime.process.metrics import LOOPBACK
from events.topics import JOURNAL, topics_under
from turbine.extras import lacking
from turbine.failures import end_process
from turbine.installed import add_policies
from turbine_client.errors import TurbineError
from turbine_client.settings import BadSettings, Settings, settings_by, take_flags

EXIT_ORPHANED = 76
PR_SET_PDEATHSIG = 1
Alone: TypeAlias = Callable[[Settings, StopSignal, str], int]
"""Runs a component until the signal, for a tier where it is of one; the exit code."""


def _with_loop(module: str) -> Alone:
    """A component with a loop of its own, by the module that has it."""
    return lambda settings, stop, _: import_module(module).serve(settings, stop)


def _of_tier(module: str) -> Alone:
    """A component that decides about one tier, by the module that decides."""

    def run(settings: Settings, stop: StopSignal, tier: str) -> int:
        from components.runtime.tier.shell import serve

        return serve(settings, stop, import_module(module).component_of(tier))

    return run


def _auditor(settings: Settings, stop: StopSignal, _: str) -> int:
    from components.auditor.agents import serve
    from turbine.read.logics import audited_with

    return serve(settings, stop, audited_with)


def _api(settings: Settings, stop: StopSignal, _: str) -> int:
    from turbine.api.server import Serving, serve

    # Beside other fleets of this machine another port is taken; it stands in the directory.
    return serve(settings, Serving(any_port=True), stop)


class Shown(NamedTuple):
    """Where metrics are served, and how much of jobs the exporter tells; None: as is usual."""

    port: int = 0
    host: str = LOOPBACK
    jobs_most: int | None = None
    tasks_per_job: bool = False


def _exporter(settings: Settings, stop: StopSignal, shown: Shown) -> int:
    from turbine.exporter.exporter import PORT, serve
    from turbine.exporter.families import JOBS_MOST, MetricOptions

    most = JOBS_MOST if shown.jobs_most is None else shown.jobs_most
    asked = MetricOptions(most, shown.tasks_per_job)
    return serve(settings, stop, shown.host, shown.port or PORT, asked)


EXPORTER = "exporter"
KEYED = {
    "job-service": "components.job_service.decide",
    "state-syncer": "components.state_syncer.decide",
    "task-service": "components.task_service.decide",
    "auto-scaler": "components.auto_scaler.decide",
}
"""Job-keyed components, by the module that decides; any of them may share one worker."""
ALONE: Mapping[str, Alone] = {
    "api": _api,
    "auditor": _auditor,
    "capacity-manager": _of_tier("components.capacity_manager.decide"),
    "clock": _with_loop("components.clock.agents"),
    "publisher": _with_loop("components.publisher.agents"),
    "shard-manager": _of_tier("components.shard_manager.decide"),
    "webhooks": _with_loop("components.webhooks.agents"),
}
"""Those that are a process of their own."""
SERVED = (*sorted((*ALONE, EXPORTER)), *KEYED)


def check_names(names: Sequence[str]) -> None:
    """BadSettings where these cannot be served by one process."""
    for name in names:
        if name not in SERVED:
            raise BadSettings(f"there is no component {name}; it is one of {', '.join(SERVED)}")
        if names.count(name) > 1:
            raise BadSettings(f"{name} is named twice; once is enough")
        if name not in KEYED and len(names) > 1:
            raise BadSettings(
                f"{name} is a process of its own; these can share one: {', '.join(KEYED)}"
            )


def serve(
    names: Sequence[str],
    settings: Settings,
    *,
    instance: str | None = None,
    shown: Shown = Shown(),  # noqa: B008 - a tuple
    tier: str = "default",
) -> int:
    """Runs the components until it is told to stop; the exit code says why it ended."""
    from components.runtime.kafka.clients import partitions_of
    from components.runtime.process.garbage import collect_seldom
    from components.runtime.process.logs import configure_logs
    from components.runtime.process.metrics import serve as serve_metrics

    check_names(names)
    for unusable in add_policies():
        raise BadSettings(unusable)
    configure_logs()
    collect_seldom()
    # Another retention may have expired what was said, and P stands in the log, not in a setting.
    client = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
    verify_topics(
        client,
        topics_under(settings.prefix),
        partitions_of(settings).get(JOURNAL, settings.partitions),
    )
    if names[0] == EXPORTER:
        return _exporter(settings, StopSignal().listen(), shown)
    serve_metrics(shown.port, shown.host)
    if names[0] in ALONE:
        return ALONE[names[0]](settings, StopSignal().listen(), tier)
    from components.runtime.faust.agents import run

    run([import_module(KEYED[name]).component for name in names], settings, instance)
    return 0


def die_with(parent: int) -> bool:
    """From now on the parent's end, however it ends, is ours (on Linux); False: it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the kernel was told.
    return os.getppid() == parent


def main(arguments: list[str] | None = None) -> int:
    """The exit code of the component."""
    parser = argparse.ArgumentParser(prog="python -m turbine.serve", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(SERVED))
    parser.add_argument("--instance", help="name of a static member of the worker's group")
    parser.add_argument("--tier", default="default", help="whose shards or capacity it is about")
    take_flags(parser)
    parser.add_argument("--metrics-port", type=int, default=0)
    parser.add_argument("--metrics-host", default=LOOPBACK, help="the address they are served on")
    parser.add_argument("--die-with", type=int, metavar="PID", help="the parent that must live")
    given = parser.parse_args(arguments)
    if given.die_with is not None and not die_with(given.die_with):
        return EXIT_ORPHANED

    try:
        settings = settings_by(given)
        shown, tier = Shown(given.metrics_port, given.metrics_host), given.tier
        return serve(given.names, settings, instance=given.instance, shown=shown, tier=tier)
    except (TurbineError, ModuleNotFoundError) as error:
        bad = lacking(error) or error
        if isinstance(bad, TurbineError):
            return end_process(bad)
        raise  # a module of ours: a bug


if __name__ == "__main__":
    # A client that was refused goes on asking: to end Python around its threads may crash them.
    leave(main())
