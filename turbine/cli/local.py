"""`broker`, `topics`, `serve`: what runs on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Context, Option

from components.runtime.process.local import ask_broker, ask_topics, broker_directory, port_here
from events.job_config.reserved import is_reserved_topic
from turbine.cli.columns import columns
from turbine.cli.options import DryRun, Listed, Shown, chosen
from turbine.cli.output import facts, show, show_rows, tell, write
from turbine.failures import Code, Failed
from turbine.ops.generate import prepare_topic
from turbine.read.plain import JsonObject
from turbine.serve import Shown as Figures
from turbine.serve import check_names
from turbine.serve import serve as run
from turbine_client.clients import counts_of
from turbine_client.errors import BadRequest
from turbine_client.settings import Settings

# --- broker


def start_broker(
    context: Context,
    *,
    port: Annotated[int | None, Option(min=1, max=65535)] = None,
    output: Shown = "table",
) -> int:
    """Start a broker that stays.

    For this machine only. One that runs already is left alone.

    --port: By default, that of the bootstrap.
    """
    settings, directory = _broker(context)
    row = ask_broker("start", directory, port or port_of(settings))
    _show_broker(row, output)
    same_port = port_here(settings) == int(row["bootstrap"].rpartition(":")[2])
    if row["bootstrap"] != settings.bootstrap and not same_port:
        tell(f"set TURBINE_BOOTSTRAP={row['bootstrap']}, or add --bootstrap {row['bootstrap']}")
    return Code.OK


def stop_broker(context: Context) -> int:
    """Stop the broker of this machine; its data stays."""
    _, directory = _broker(context)
    if not ask_broker("stop", directory)["stopped"]:
        raise _no_broker(directory)
    write(f"the broker in {directory} is stopped; its data stays")
    return Code.OK


def broker_status(context: Context, *, output: Shown = "table") -> int:
    """Show the broker of this machine; exit code 3 where none runs."""
    _, directory = _broker(context)
    row = ask_broker("status", directory)
    if row["pid"] is None:
        raise _no_broker(directory)
    _show_broker(row, output)
    return Code.OK if row["answers"] else Code.FAILED


def wipe_broker(context: Context, *, yes: bool = False) -> int:
    """Delete the log of this machine's broker, for ever.

    --yes: Do not ask.
    """
    _, directory = _broker(context)
    if not yes:
        if not sys.stdin.isatty():
            raise BadRequest(f"this deletes the log in {directory}; add --yes if that is meant")
        if not typer.confirm(f"Delete the log in {directory}?", err=True):
            raise Failed(Code.FAILED, f"nothing was deleted in {directory}")
    wiped = ask_broker("wipe", directory)["wiped"]
    write(f"the log in {directory} is deleted" if wiped else f"there was no log in {directory}")
    return Code.OK


def _broker(context: Context) -> tuple[Settings, Path]:
    settings = chosen(context).settings()
    return settings, broker_directory(settings)


def port_of(settings: Settings) -> int:
    """Where a broker of this machine has to listen; Failed where the bootstrap is elsewhere."""
    port = port_here(settings)
    if port is None:
        raise BadRequest(
            f"the bootstrap is {settings.bootstrap}, which is not on this machine; say where to"
            " start one with --bootstrap 127.0.0.1:PORT"
        )
    return port


def _show_broker(row: JsonObject, output: str) -> None:
    show(row, output, lambda: facts((name.replace("_", " "), value) for name, value in row.items()))


def _no_broker(directory: Path) -> Failed:
    return Failed(
        Code.NOT_FOUND, f"no broker runs in {directory}; start one with `turbine broker start`"
    )


# --- topics


def plan_topics(context: Context, *, output: Listed = "table") -> int:
    """Show which topics are missing or differ.

    Exit code 5 where any does.
    """
    chosen(context).connected()
    steps = ask_topics("plan", chosen(context).flags())
    if not steps:
        tell("all topics are as they must be")
        return Code.OK
    _show_steps(steps, output)
    return Code.FINDINGS


def apply_topics(context: Context, *, dry_run: DryRun = False, output: Listed = "table") -> int:
    """Create the topics that are missing.

    What is there is never changed: exit code 5 where a topic differs, for a person to decide.
    """
    chosen(context).connected()
    steps = ask_topics("plan" if dry_run else "apply", chosen(context).flags())
    if steps:
        _show_steps(steps, output)
    else:
        tell("all topics were there already")
    return Code.FINDINGS if any(step["kind"] == "differs" for step in steps) else Code.OK


def create_one(
    context: Context,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Its name.")],
    *,
    partitions: Annotated[
        int | None, Option("--partitions", min=1, max=10_000, metavar="N")
    ] = None,
    dry_run: DryRun = False,
) -> int:
    """Create a topic that jobs read or write.

    By default with as many partitions as the settings say. One that is there is left as it is.
    """
    ours = chosen(context).settings().topic("")
    if is_reserved_topic(topic) or topic.startswith(ours):
        raise BadRequest(f"{topic} is of the log itself; `turbine topics apply` creates it")
    settings = chosen(context).connected()
    if dry_run:
        return _try_topic(settings, topic, partitions)
    count, made = prepare_topic(settings, topic, partitions)
    write(f"topic {topic} {'is created' if made else 'exists already'}, with {count} partitions")
    return Code.OK if made or partitions in (None, count) else Code.FAILED


def _try_topic(settings: Settings, topic: str, partitions: int | None) -> int:
    known = counts_of(settings).get(topic)
    if known is None:
        count = partitions or settings.partitions
        write(f"topic {topic} would be created, with {count} partitions")
        return Code.OK
    write(f"topic {topic} exists already, with {known} partitions")
    return Code.OK if partitions in (None, known) else Code.FAILED


def _show_steps(steps: list[JsonObject], output: Any) -> None:
    show_rows(steps, output, columns("STEP=kind, TOPIC, WHAT, EXPECTED, FOUND"), name="topic")


# --- components


def serve(
    context: Context,
    names: Annotated[list[str], Argument(metavar="NAME...")],
    *,
    instance: str | None = None,
    metrics_port: Annotated[int, Option(min=0, max=65535)] = 0,
    metrics_host: str = "127.0.0.1",
    jobs_max: Annotated[int | None, Option(min=0)] = None,
    tasks_per_job: bool = False,
    tier: str = "default",
) -> int:
    """Run components in the foreground.

    One of api, auditor, capacity-manager, clock, exporter, publisher, shard-manager and webhooks,
    or any of job-service, state-syncer, task-service and auto-scaler in one worker.

    --instance: Name of a static member of the group.
    --metrics-port: 0 serves none; 9464 of the exporter.
    --metrics-host ADDRESS: By default this machine alone.
    --jobs-max: Jobs with series of their own (exporter).
    --tasks-per-job: Tasks of each job as well (exporter).
    --tier NAME: Whose shards are placed, or capacity is shared.
    """
    check_names(names)
    settings = chosen(context).settings()
    shown = Figures(metrics_port, metrics_host, jobs_max, tasks_per_job)
    return run(names, settings, instance=instance, shown=shown, tier=tier)
