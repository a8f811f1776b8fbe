"""`up` and `down`: a whole fleet on this machine, with a broker if none answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from typer import Context, Option

from components.runtime.process.local import (
    Flags,
    LocalFailed,
    ask_broker,
    ask_spark,
    ask_topics,
    broker_directory,
)
from components.runtime.process.loop import StopSignal
from components.webhooks.config import hooks_of
from turbine.cli.local import port_of
from turbine.cli.options import chosen
from turbine.cli.output import tell, write
from turbine.extras import require
from turbine.failures import Code, Failed
from turbine.ops.fleet import FleetRuns, await_address, detach_fleet, end_fleet, lives, run_fleet
from turbine.ops.members import LOCAL_REGION, LOCAL_TIER, Hosts
from turbine.ops.tiers import define, definition_of
from turbine.read.sources.log import Log
from turbine_client.clients import LOCAL_CLUSTER, cluster_of, knock
from turbine_client.settings import KEPT, Settings

LOCAL_SHARDS = 64
ADDRESS_S = 60.0
LOCAL_SETTINGS = {"load_max": 1000, "moves_max": 1000}
"""Of the tier that `up` makes: with two containers, a budget of a tenth of all shards for each plan
would let nobody empty one in an afternoon."""


def up(
    context: Context,
    *,
    detach: bool = False,
    containers: Annotated[int, Option(min=0, max=64)] = 2,
    engine: Literal["spark", "process"] = "spark",
) -> int:
    """Run a whole fleet on this machine: all components, a tier and containers.

    Until Ctrl-C or SIGTERM, and with a broker of its own if none answers.

    -d, --detach: Leave it running; `turbine down` ends it.
    --containers N: That run tasks.
    --engine: What runs tasks: Spark, or processes that only count.
    """
    settings = _alone(context, hosts := Hosts(containers, engine))
    # Listened for from here on: a signal amid the start must not leave the broker behind.
    stop = StopSignal() if detach else StopSignal().listen()
    ours = False
    try:
        settings, ours = _prepare_broker(settings)
        flags = replace(chosen(context).flags(), bootstrap=settings.bootstrap)
        _prepare_topics(flags)
        _prepare_tier(settings)
        _prepare_engine(settings, hosts)
        if detach:
            return _detach(settings, flags, hosts)
        _supervise(settings, flags, hosts, stop)
    except LocalFailed:
        if not stop.wanted:
            raise
        return Code.INTERRUPTED  # a terminal's Ctrl-C is for the programs that we ask, too
    finally:
        if ours and not detach:
            ask_broker("stop", broker_directory(settings))
    tell("all components have ended" + (", and the broker" if ours else ""))
    return Code.OK


def _alone(context: Context, hosts: Hosts) -> Settings:
    require("turbine up", "api", "faust", *(("spark",) if hosts.engine == "spark" else ()))
    settings = chosen(context).settings()
    hooks_of(settings)  # a mistake in them is told here, and not by a process that starts and ends
    if lives(settings.directory):
        raise FleetRuns(f"a fleet already runs in {settings.directory}; `turbine down` ends it")
    return settings


def _detach(settings: Settings, flags: Flags, hosts: Hosts) -> int:
    detach_fleet(settings.directory, flags, hosts=hosts)
    tell(f"all components run; their logs: {settings.directory}/logs; end: turbine down")
    address = await_address(settings.directory, ADDRESS_S)
    if address is not None:
        tell(f"dashboard and API: {address}")
    return Code.OK


def _supervise(settings: Settings, flags: Flags, hosts: Hosts, stop: StopSignal) -> None:
    directory = settings.directory
    tell(f"all components are started; their logs: {directory}/logs; end: Ctrl-C")
    told = bool(settings.webhooks)
    run_fleet(directory, settings.bootstrap, flags, tell, stop, hosts=hosts, webhooks=told)


def _prepare_broker(settings: Settings) -> tuple[Settings, bool]:
    """A broker that answers, and was it started for this?

    Where nobody named one it is the directory's own: the usual port may be another fleet's.
    """
    directory, anew = broker_directory(settings), False
    if settings.origins.get("bootstrap") in (None, str(settings.directory / KEPT)):
        kept = ask_broker("status", directory)
        if kept["answers"]:
            return replace(settings, bootstrap=kept["bootstrap"]), False
        # Or does a local broker of another directory listen where ours usually does?
        anew = kept["data_bytes"] > 0 or (
            not knock(settings) and cluster_of(settings).startswith(LOCAL_CLUSTER)
        )
    if not anew and not knock(settings):
        return settings, False
    # None: the port that it had, or a free one.
    row = ask_broker("start", directory, None if anew else port_of(settings))
    tell(f"a broker runs at {row['bootstrap']}")
    return replace(settings, bootstrap=row["bootstrap"]), bool(row["started"])


def _prepare_topics(flags: Flags) -> None:
    """Creates what is missing; a sentence about the first that differs."""
    steps = ask_topics("apply", flags)
    created = sum(step["kind"] == "create" for step in steps)
    if created:
        tell(f"{created} topics are created")
    differing = next((step for step in steps if step["kind"] == "differs"), None)
    if differing is not None:
        raise Failed(
            Code.FINDINGS,
            f"{differing['topic']}: {differing['what']} should be {differing['expected']} and is"
            f" {differing['found']}; `turbine topics plan` shows all that differs",
        )


def _prepare_tier(settings: Settings) -> None:
    """A tier for the containers, where there is none."""
    log = Log(settings)
    if definition_of(log.chain(LOCAL_TIER)) is None:
        define(log, LOCAL_TIER, LOCAL_SHARDS, (LOCAL_REGION,), LOCAL_SETTINGS)
        tell(f"tier {LOCAL_TIER} is created, with {LOCAL_SHARDS} shards")


def _prepare_engine(settings: Settings, hosts: Hosts) -> None:
    """What containers would otherwise each wait for."""
    if hosts.containers and hosts.engine == "spark" and "jars" not in settings.spark:
        tell("Spark is made ready (the first time, that takes a minute)")
        ask_spark(at_once=False)


def down(context: Context) -> int:
    """End what `up` runs, and the broker.

    The log stays.
    """
    settings = chosen(context).settings()
    fleet = end_fleet(settings.directory)
    broker = ask_broker("stop", broker_directory(settings))["stopped"]
    if not fleet and not broker:
        raise Failed(
            Code.NOT_FOUND, f"nothing runs in {settings.directory}; `turbine up` starts it"
        )
    ended = ["all components"] * fleet + ["the broker"] * broker
    write(f"ended: {', '.join(ended)}; the log stays")
    return Code.OK
