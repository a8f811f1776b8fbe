"""Which commands there are, and the help above them all. Imports no more than Typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turbine.cli import (
    audit,
    backtest,
    capacity,
    changes,
    check,
    comparing,
    containers,
    contract,
    dashboard,
    digest,
    examining,
    exporting,
    fleet,
    following,
    generate,
    history,
    jobs,
    lag,
    local,
    logs,
    monitoring,
    operators,
    placement,
    policies,
    reasons,
    replaying,
    scaling,
    scoreboard,
    subscribing,
    syncs,
    task_logs,
    tiers,
    top,
    webhooks,
    whatif,
    why_not,
)
from turbine.cli.failures import MEANINGS
from turbine.cli.grammar import named
from turbine.cli.options import Chosen, choose

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:<4} {meaning}" for code, meaning in MEANINGS.items()
)


def _group(about: str, usual: str = "", *, options: bool = True) -> typer.Typer:
    """A group of commands; in one with a usual command a name alone is of that one."""
    kind = named(usual, options=options) if usual else None
    return typer.Typer(cls=kind, help=about, rich_markup_mode=None, pretty_exceptions_enable=False)


app = _group("Run, change and understand a fleet of streaming jobs.")


@app.callback(epilog=EPILOG)
def globals_(
    context: typer.Context,
    *,
    bootstrap: Annotated[
        str | None,
        typer.Option("--bootstrap", metavar="HOST:PORT", help="The broker; or TURBINE_BOOTSTRAP."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="The settings, by default turbine.toml."),
    ] = None,
    fleet_directory: Annotated[
        Path | None,
        typer.Option("--fleet", metavar="DIRECTORY", help="Of a local fleet; .turbine by default."),
    ] = None,
    log_file: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE", help="Read this export instead of a broker's log."),
    ] = None,
) -> None:
    """Run, change and understand a fleet of streaming jobs.

    --bootstrap, --config, --fleet and --log may stand anywhere on the line, and so may --local,
    which tells times in this machine's zone. `turbine get jobs --watch`, as any list, is shown
    again and again.
    """
    context.obj = choose(Chosen(bootstrap, config, fleet_directory), log_file)


app.command("apply")(changes.apply)
app.command("check")(check.check)
app.command("scale")(scaling.scale)
app.command("pause")(operators.pause)
app.command("resume")(operators.resume)
app.command("release")(operators.release)
app.command("why")(reasons.why)
app.command("why-not")(why_not.why_not)
app.command("whatif")(whatif.whatif)
app.command("top")(top.top)
app.command("digest")(digest.digest)
app.command("logs")(task_logs.logs)
app.command("audit")(audit.audit)
app.command("replay")(replaying.replay)
app.command("at")(exporting.at)
app.command("open")(exporting.open_file)
app.command("generate")(generate.generate)
app.command("backtest")(backtest.backtest)
app.command("scoreboard")(scoreboard.scoreboard)
app.command("serve")(local.serve)
app.command("dashboard")(dashboard.dashboard)
app.command("up")(fleet.up)
app.command("down")(fleet.down)
app.command("version")(local.version)

get = _group("List jobs, their tasks and lag, and the tiers, containers and shards that run them.")
get.command("jobs")(jobs.get_jobs)
get.command("job", hidden=True)(jobs.get_jobs)
get.command("tasks")(syncs.get_tasks)
get.command("syncs")(syncs.get_syncs)
get.command("lag")(lag.get_lag)
get.command("tiers")(capacity.get_tiers)
get.command("containers")(containers.get_containers)
get.command("shards")(containers.get_shards)
get.command("moves")(containers.get_moves)
app.add_typer(get, name="get")

diff = _group("Show what differs.", "job", options=False)
diff.callback(invoke_without_command=True)(comparing.diff_fleet)
diff.command("job")(comparing.diff_job)
app.add_typer(diff, name="diff")

wait = _group("Wait until a job is what it should be.", "job")
wait.command("job")(syncs.wait_job)
app.add_typer(wait, name="wait")

rollback = _group("Make a layer what it was.", "job")
rollback.command("job")(scaling.rollback)
app.add_typer(rollback, name="rollback")

describe = _group("Show one job, one container or one scaling policy in full.", "job")
describe.command("job")(jobs.describe_job)
describe.command("container")(containers.describe_container)
describe.command("policy")(policies.describe_policy)
app.add_typer(describe, name="describe")

tier = _group("Containers and shards that are balanced together.")
tier.command("create")(tiers.create_tier)
app.add_typer(tier, name="tier")

drain = _group("Have a container give its shards away.", "container")
drain.command("container")(tiers.drain_container)
app.add_typer(drain, name="drain")

undrain = _group("Let a container get shards again.", "container")
undrain.command("container")(tiers.undrain_container)
app.add_typer(undrain, name="undrain")

place = _group("Look at what would move, have it moved, and see how far it came.")
place.command("plan")(placement.plan_placement)
place.command("apply")(placement.apply_placement)
place.command("show")(placement.show_placement)
app.add_typer(place, name="placement")

delete = _group("Delete a job.", "job")
delete.command("job")(changes.delete)
app.add_typer(delete, name="delete")

reset = _group("Have a job read its inputs from elsewhere.", "job")
reset.command("job")(operators.reset)
app.add_typer(reset, name="reset")

publish = _group("Ask for changes.", "change")
publish.command("change")(changes.change)
app.add_typer(publish, name="publish")

subscribe = _group("Follow what is decided, and what needs a person.")
subscribe.command("outcomes")(subscribing.outcomes)
subscribe.command("alerts")(subscribing.alerts)
app.add_typer(subscribe, name="subscribe")

agreed = typer.Typer(
    invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
agreed.callback()(contract.contract)
agreed.command("check")(examining.check_message)
app.add_typer(agreed, name="contract")

kept = _group("Keep what tasks report, and tell each job's usual day by it.")
kept.command("write")(history.write)
kept.command("compact")(history.compact)
kept.command("profile")(history.profile)
app.add_typer(kept, name="history")

hooks = _group("Who is told of outcomes and alerts by HTTP.")
hooks.command("list")(webhooks.list_hooks)
hooks.command("secret")(webhooks.make_secret)
hooks.command("verify")(webhooks.verify_request)
hooks.command("rewind")(webhooks.rewind)
app.add_typer(hooks, name="webhooks")

log = _group("Look into the log.")
log.command("tail")(following.tail)
log.command("stats")(logs.stats)
log.command("export")(exporting.export)
app.add_typer(log, name="log")

monitor = _group("Watch the fleet with Prometheus and Grafana.")
monitor.command("export")(monitoring.export)
app.add_typer(monitor, name="monitoring")

topics = _group("Compare the topics with the table, and create what is missing.")
topics.command("plan")(local.plan_topics)
topics.command("apply")(local.apply_topics)
topics.command("create")(local.create_one)
app.add_typer(topics, name="topics")

schema = _group("Look at the schemas of the records.")
schema.command("list")(logs.list_schemas)
schema.command("show")(logs.show_schema)
schema.command("check")(logs.check_schemas)
schema.command("serve")(contract.serve_schemas)
app.add_typer(schema, name="schema")

broker = _group("A broker on this machine.")
broker.command("start")(local.start_broker)
broker.command("stop")(local.stop_broker)
broker.command("status")(local.broker_status)
broker.command("wipe")(local.wipe_broker)
app.add_typer(broker, name="broker")

config_group = _group("The settings.")
config_group.command("view")(local.view_config)
app.add_typer(config_group, name="config")
