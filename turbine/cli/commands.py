"""Which commands there are, and the help above them all. Imports no more than Typer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turbine.cli import (
    changes,
    comparing,
    following,
    jobs,
    local,
    logs,
    operators,
    reasons,
    scaling,
    syncs,
)
from turbine.cli.failures import MEANINGS
from turbine.cli.options import Chosen

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code.value:<4} {meaning}" for code, meaning in MEANINGS.items()
)


def _group(about: str) -> typer.Typer:
    return typer.Typer(help=about, rich_markup_mode=None, pretty_exceptions_enable=False)


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
) -> None:
    """Run, change and understand a fleet of streaming jobs.

    --bootstrap and --config may stand anywhere on the line.
    """
    context.obj = Chosen(bootstrap, config)


app.command("apply")(changes.apply)
app.command("scale")(scaling.scale)
app.command("pause")(operators.pause)
app.command("resume")(operators.resume)
app.command("release")(operators.release)
app.command("why")(reasons.why)
app.command("audit")(logs.audit)
app.command("serve")(local.serve)
app.command("up")(local.up)
app.command("down")(local.down)
app.command("version")(local.version)

get = _group("List jobs, their tasks, and how running follows expected.")
get.command("jobs")(jobs.get_jobs)
get.command("job", hidden=True)(jobs.get_jobs)
get.command("tasks")(syncs.get_tasks)
get.command("syncs")(syncs.get_syncs)
app.add_typer(get, name="get")

diff = _group("Compare what runs with what is expected.")
diff.command("job")(comparing.diff_job)
app.add_typer(diff, name="diff")

wait = _group("Wait until a job is what it should be.")
wait.command("job")(syncs.wait_job)
app.add_typer(wait, name="wait")

rollback = _group("Make a layer what it was.")
rollback.command("job")(scaling.rollback)
app.add_typer(rollback, name="rollback")

describe = _group("Show one job in full.")
describe.command("job")(jobs.describe_job)
app.add_typer(describe, name="describe")

delete = _group("Delete a job.")
delete.command("job")(changes.delete)
app.add_typer(delete, name="delete")

publish = _group("Ask for changes.")
publish.command("change")(changes.change)
app.add_typer(publish, name="publish")

subscribe = _group("Follow what is decided.")
subscribe.command("outcomes")(following.outcomes)
app.add_typer(subscribe, name="subscribe")

log = _group("Look into the log.")
log.command("tail")(following.tail)
log.command("stats")(logs.stats)
log.command("export")(logs.export)
app.add_typer(log, name="log")

topics = _group("Compare the topics with the table, and create what is missing.")
topics.command("plan")(local.plan_topics)
topics.command("apply")(local.apply_topics)
app.add_typer(topics, name="topics")

schema = _group("Look at the schemas of the records.")
schema.command("list")(logs.list_schemas)
schema.command("show")(logs.show_schema)
schema.command("check")(logs.check_schemas)
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
