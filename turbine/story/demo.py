"""`make demo`: a broker and all components on this machine, and a story that is played on them.

They stay when the story is told, to look around in; `make demo-stop` ends them. Started again
while they run, or after they were stopped, it tells the story anew with jobs of other names.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time  # noqa: TID251 - people wait in real time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from components.runtime.process.local import (
    Flags,
    LocalFailed,
    ask_broker,
    ask_spark,
    ask_topics,
    broker_directory,
)
from projections.jobs import Job
from turbine.failures import end_process
from turbine.ops.fleet import await_address, detach_fleet, end_fleet, lives, log_of
from turbine.ops.generate import open_trace
from turbine.ops.members import LOCAL_REGION, LOCAL_TIER
from turbine.ops.tiers import define, definition_of
from turbine.read.sources.log import Log
from turbine.story import changes, tasks
from turbine.story.stage import NotAsTold, StoryStage, StoryText, numbered
from turbine_client.errors import TurbineError
from turbine_client.publish import Publisher
from turbine_client.settings import Settings, load_settings

SHARDS = 16
ADDRESS_S = 120.0
SPARK_CORES = 8
"""Of each container. Tasks that wait for a service keep no core busy, and take a place each."""
TIER = {"time_per_mille": 100, "acts_per_mille": 1000, "load_max": 1000, "moves_max": 1000}
"""All times are a tenth: what a fleet does within minutes, the demo shows within seconds. But a
Spark starts no sooner for it, and no container is given up that is just starting its own."""


def main(arguments: list[str] | None = None) -> int:
    """0 when all came as told; 1 with a sentence otherwise."""
    parser = argparse.ArgumentParser(prog="python -m turbine.story.demo", description=__doc__)
    parser.add_argument("action", choices=["start", "stop"])
    parser.add_argument("--trace", type=Path, help="a CSV of minutes; its last day is played")
    given = parser.parse_args(arguments)
    try:
        settings = load_settings()
        directory = settings.directory / "demo"
        if given.action == "stop":
            return stop(directory)
        if given.trace is not None:
            open_trace(given.trace)  # a sentence now, and not when all of it runs
        return start(replace(settings, directory=directory), given.trace)
    except NotAsTold as other:
        say(f"\nThe story came otherwise: {other}.")
        say(f"The logs are in {directory / 'logs'}; `make demo-stop` ends what runs.")
    except TurbineError as bad:
        return end_process(bad)
    return 1


def start(settings: Settings, trace: Path | None) -> int:
    """Brings up what is not there yet, and tells the story."""
    directory = settings.directory
    running = lives(directory)
    if running:
        say("The demo runs already: its story is told again, with new jobs.")
        broker = ask_broker("start", broker_directory(settings))
        settings = replace(settings, bootstrap=broker["bootstrap"])
    else:
        say("A broker, all components and two containers with a Spark each start on this machine.")
        settings = bring_up(settings)
    prefix = f"{program()} --fleet {shlex.quote(str(nearby(directory)))}"
    address = await_address(directory, ADDRESS_S)
    if address is None:
        raise LocalFailed(f"no dashboard within {ADDRESS_S:g} s; see {log_of(directory, 'api')}")
    say(f"Everything that happens can be watched at {address}/")
    tell(settings, StoryText(say, prefix, address), trace)
    say("\nAll came as told, and all of it still runs. Look around:")
    say(f"    {address}/")
    for command in ("get jobs -o wide", "log tail -f", "subscribe outcomes --from earliest"):
        say(f"    $ {prefix} {command}")
    say(f"The logs of the processes: {directory / 'logs'}. To end them: make demo-stop")
    return 0


def bring_up(settings: Settings) -> Settings:
    """A broker, topics, a tier in which time passes fast, and all processes."""
    clock = StepTimer(time.monotonic())
    with ThreadPoolExecutor(1) as beside:
        # The archive that lets Spark start sooner takes longer than it saves here.
        jars = beside.submit(ask_spark, at_once=True)
        clock.say("Kafka: its jars, by Maven the first time, and a broker")
        broker = ask_broker("start", broker_directory(settings))
        clock.say("Spark: its jars")
        jars.result()
    settings = replace(settings, bootstrap=broker["bootstrap"])
    clock.say(f"topics, on the broker at {settings.bootstrap}")
    ours = settings.directory / "turbine.toml"
    ours.write_text(f'prefix = "{settings.prefix}"\n[spark]\nmaster = "local[{SPARK_CORES}]"\n')
    flags = Flags(settings.bootstrap, ours)
    differing = [step for step in ask_topics("apply", flags) if step["kind"] == "differs"]
    if differing:
        raise LocalFailed(
            f"the log in {settings.directory} was made by another build"
            f" ({differing[0]['topic']} differs); `make demo-stop`, then remove that directory"
        )
    log = Log(settings)
    if definition_of(log.chain(LOCAL_TIER)) is None:
        define(log, LOCAL_TIER, SHARDS, (LOCAL_REGION,), TIER)
    clock.say("all components, and the containers")
    detach_fleet(settings.directory, flags)
    clock.say("the dashboard")
    return settings


def tell(
    settings: Settings,
    words: StoryText,
    trace: Path | None = None,
) -> None:
    """Plays all of it; NotAsTold where it came otherwise. The day is the trace's last one."""
    log = Log(settings)
    with Publisher(settings, author="ana") as ana, Publisher(settings, author="ben") as ben:
        stage = StoryStage(settings, log, ana, ben, fresh_number(log.jobs()), words)
        tasks.create(stage)
        with ExitStack() as stack:
            stack.enter_context(tasks.day(stage, trace))
            changes.refuse(stage)
            changes.race(stage)
            expiry = changes.override(stage)  # ends while other things are told
            stack.callback(expiry.close)
            tasks.spike(stage)
            changes.expire(stage, expiry)
            tasks.lose_container(stage)
            changes.kill(stage)
            changes.recreate(stage)
            changes.audit(stage)


def fresh_number(jobs: dict[str, Job]) -> int:
    """Of a telling whose jobs' names no job has had."""
    number = 1
    while any(numbered(name, number) in jobs for name in tasks.NAMES):
        number += 1
    return number


class StepTimer(NamedTuple):
    """Tells what is being done, and since when: a first start takes a while."""

    since_s: float

    def say(self, what: str) -> None:
        """Says in a line what comes next."""
        say(f"  {time.monotonic() - self.since_s:4.0f} s  {what}")


def stop(directory: Path) -> int:
    """Ends the processes; the log stays, and the next story goes on in it."""
    fleet = end_fleet(directory)
    broker = ask_broker("stop", directory / "broker")["stopped"]
    say("The demo has ended." if fleet or broker else "No demo runs.")
    return 0


def program() -> str:
    """How a person calls the command line from where they stand."""
    script = Path(sys.executable).with_name("turbine")
    if shutil.which("turbine") == str(script):
        return "turbine"
    if not script.exists():
        return f"{shlex.quote(sys.executable)} -m turbine"
    return shlex.quote(str(nearby(script)))


def nearby(path: Path) -> Path:
    """The shorter way to it, where it lies below where one stands."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def say(text: str) -> None:
    """A line of the story."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
