"""Starts one container in this process: `python -m turbine.ops.container NAME --directory D`."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from components.runtime.process.logs import configure_logs
from components.runtime.process.loop import StopSignal
from components.runtime.process.metrics import LOOPBACK
from components.runtime.process.metrics import serve as serve_metrics
from components.task_manager.agents import ContainerOptions, serve
from components.task_manager.heartbeat import ContainerIdentity
from components.task_manager.place import hold
from events.generated.records import ResourceAmount
from tasks.process_tree import die_with
from turbine.extras import require
from turbine.failures import end_process
from turbine.ops.lines_door import OFF, open_door
from turbine.ops.members import ENGINES
from turbine_client.errors import TurbineError
from turbine_client.settings import BadSettings, settings_by, take_flags

ENGINE = "tasks.process_engine.engine"
CAPACITY = "cpu_cores=16,memory_bytes=64000000000"
_NAMES = re.compile(r"[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?", re.ASCII)
_RESOURCES = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_NAME = "up to 64 of a-z, 0-9, '.', '_', '-' between letters or digits"


def capacity_of(text: str) -> tuple[ResourceAmount, ...]:
    """What a capacity such as cpu_cores=16,memory_bytes=64000000000 says."""
    found: dict[str, float] = {}
    for part in text.split(","):
        resource, _, amount = part.partition("=")
        try:
            number = float(amount)
        except ValueError:
            number = math.nan
        if not _RESOURCES.fullmatch(resource) or not 0 < number < math.inf or resource in found:
            raise BadSettings(
                f"--capacity: {part[:64]!r} is no capacity; write resources with their amounts,"
                f" each once, such as {CAPACITY}"
            )
        found[resource] = number
    return tuple(ResourceAmount(*one) for one in sorted(found.items()))


def member_of(name: str, tier: str, region: str, capacity: str) -> ContainerIdentity:
    """A container as it presents itself; BadSettings where it cannot be called so."""
    for what, text in (("the name of a container", name), ("--tier", tier), ("--region", region)):
        if not _NAMES.fullmatch(text):
            raise BadSettings(f"{what}: {text[:64]!r} cannot be used; it is {_NAME}")
    return ContainerIdentity(name, tier, region, capacity_of(capacity))


def _check_engine(module: str) -> None:
    if module == ENGINES["spark"]:
        require(f"--engine {module}", "spark")
    try:
        found = find_spec(module)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise BadSettings(f"--engine: there is no module {module[:128]!r}; {ENGINE} is one")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m turbine.ops.container", description=__doc__)
    parser.add_argument("name", help="id of the container; it names a place, not a life")
    parser.add_argument("--directory", type=Path, required=True, help="its place, held by one life")
    parser.add_argument("--tier", default="default")
    parser.add_argument("--region", default="local")
    parser.add_argument("--capacity", default=CAPACITY)
    parser.add_argument("--engine", default=ENGINE, help="the module that runs the tasks")
    take_flags(parser)
    parser.add_argument("--metrics-port", type=int, default=0)
    parser.add_argument("--metrics-host", default=LOOPBACK, help="the address they are served on")
    parser.add_argument("--logs-host", default=LOOPBACK, help=f"to answer for lines, or {OFF}")
    parser.add_argument("--logs-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--die-with", type=int, metavar="PID", help="the parent that must live")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the container's life."""
    given = _parser().parse_args(arguments)
    if given.die_with is not None:
        die_with(given.die_with)

    try:
        member = member_of(given.name, given.tier, given.region, given.capacity)
        _check_engine(given.engine)
        settings = settings_by(given)
        place = hold(given.directory.absolute(), member.name)
        configure_logs()
        serve_metrics(given.metrics_port, given.metrics_host)
        door = open_door(given.logs_host, given.logs_port, place.directory)
        member = member._replace(logs_url=door.url, logs_key=door.key)
        return serve(settings, StopSignal().listen(), ContainerOptions(member, place, given.engine))
    except TurbineError as bad:
        return end_process(bad)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # threads that wait for a broker are not waited for
