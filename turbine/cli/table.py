"""Which commands there are, where each lies, and which of them the words of a line name. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command, or a group of them, as it is known before its module is loaded."""

    name: str  # as it is typed
    where: str  # module of turbine.cli and function; "" for a group that does nothing by itself
    about: str  # the first sentence of its own help
    hidden: bool = False
    reads: bool = False  # the log and nothing else, to an end: an API may answer in its stead
    unless: tuple[str, ...] = ()  # options with which it follows, or asks more than the log
    needs: tuple[str, ...] = ()  # options without one of which it follows
    usual: str = ""  # of a group: the command that a name alone is of
    options: bool = True  # whether options alone are of it, too; else they are the group's own


_COMMANDS = """\
apply: changes:apply
    Make jobs what a file says.
check: check:check
    See whether the jobs of a file could run: their configs, operators, columns and queries.
scale: operators:scale
    Run a job with so many tasks for a while, whatever the auto scaler thinks.
pause: operators:pause
    Stop all tasks of a job and keep it so.
resume: operators:resume
    Let a paused job run again.
release: operators:release
    Let a quarantined job be tried again.
why: reasons:why reads
    Say why something was decided, why a job has its size, or why a shard is where it is.
why-not: scaling_report:why_not reads
    Say why the auto scaler did not do something about a job, and what would have made it.
whatif: backtest:whatif
    Say what another scaling policy would have done with the input that a job really had.
top: top:top reads needs=--once,--at
    Watch the fleet: the three numbers, jobs, containers and alerts, the worst first.
digest: digest:digest reads
    Tell what changed since a shift began, by job, what needs somebody first.
logs: task_logs:logs
    Show what is wrong with a task: where it is, how it failed, what it printed.
audit: audit:audit
    Make every decision again, and compare.
replay: audit:replay
    Play the log's history through the folds, and say what was decided as it was decided.
at: exporting:at
    Run a command that reads as of then: the same as its --at.
open: exporting:open_file
    Say what a log's file holds, and how to look into it.
generate: generate:generate
    Send records to a topic, at one rate or as a recorded trace has it.
backtest: backtest:backtest
    Play a trace or a scenario under a scaling policy, and keep the score.
scoreboard: scoreboard:scoreboard
    Play traces and scenarios under scaling policies, each with its defaults, and compare them.
serve: local:serve
    Run components in the foreground.
dashboard: dashboard:dashboard
    Serve the dashboard and the HTTP API to this machine, until Ctrl-C.
up: fleet:up
    Run a whole fleet on this machine: all components, a tier and containers.
down: fleet:down
    End what `up` runs, and the broker.
version: config:version
    Print the version of Turbine.
get:
    List jobs, their tasks and lag, and the tiers, containers and shards that run them.
get jobs: jobs:get_jobs reads
    List the jobs, or those that are named: how each is, what runs of it, what is wrong.
get job: jobs:get_jobs reads hidden
    List the jobs, or those that are named: how each is, what runs of it, what is wrong.
get tasks: syncs:get_tasks reads
    List the tasks that should run, and those that run although they should not.
get syncs: syncs:get_syncs reads
    List how far each job's running config has followed its expected one, or those named.
get lag: syncs:get_lag reads
    List how far the jobs are behind their input, or those that are named, the worst first.
get alerts: syncs:get_alerts reads
    List the alerts that stand, and the last that were cleared, the newest first.
get tiers: capacity:get_tiers reads
    List the tiers: how they stand, what is left in them, what is lent, who waits.
get containers: containers:get_containers reads
    List the containers, or those named: how they stand, what they hold, how full they are.
get shards: containers:get_shards reads
    List the shards: who holds each, how far its move is, what it uses.
get moves: containers:get_moves reads
    List the last moves of shards: from where to where, why, how far, how long.
diff: comparing:diff_fleet reads usual=job names-only
    Show what differs between two instants, or of one job.
diff job: comparing:diff_job reads
    Show what differs between two configs of a job, or between two jobs.
wait: usual=job
    Wait until a job is what it should be.
wait job: syncs:wait_job
    Wait until a job is what is expected of it, or in quarantine.
rollback: usual=job
    Make a layer what it was.
rollback job: operators:rollback
    Make a layer what it was at a version, by a new change.
describe: usual=job
    Show one job, one container or one scaling policy in full.
describe job: jobs:describe_job reads
    Show one job: its layers, who wants what of it and why, what runs of it, what was decided.
describe container: containers:describe_container reads
    Show one container: its state, loads and windows, shards, last moves and fail-overs.
describe policy: jobs:describe_policy
    Show the settings of a scaling policy: defaults, what they may be, what they mean.
tier:
    Containers and shards that are balanced together.
tier create: tiers:create_tier
    Create a tier: containers and shards that are balanced together.
drain: usual=container
    Have a container give its shards away.
drain container: tiers:drain_container
    Have a container give all its shards away, and get no new ones.
undrain: usual=container
    Let a container get shards again.
undrain container: tiers:undrain_container
    Let a container that was drained get shards again.
placement:
    Look at what would move, have it moved, and see how far it came.
placement plan: placement:plan_placement reads
    Show what the shard manager would move now, and why.
placement apply: placement:apply_placement
    Have a plan carried out: one that was shown, or one that waits to be confirmed.
placement show: placement:show_placement reads
    Show a plan of the log, and how far its moves have come.
delete: usual=job
    Delete a job.
delete job: changes:delete
    Delete a job.
reset: usual=job
    Have a job read its inputs from elsewhere.
reset job: operators:reset
    Have a job read its inputs from elsewhere.
publish: usual=change
    Ask for changes.
publish change: changes:change
    Ask for a change of one layer of a job, and wait for the verdict.
subscribe:
    Follow what is decided, and what needs a person.
subscribe outcomes: subscribing:outcomes
    Follow what is decided about jobs.
subscribe alerts: subscribing:alerts
    Follow what needs a person, and what does not any more.
contract: contract:contract
    Print the contract: every topic with its records, as AsyncAPI 3.
contract check: contract:check_message
    Say what is the matter with a message: framing, schema, key, partition, headers.
history:
    Keep what tasks report, and tell each job's usual day by it.
history write: history:write
    Write what tasks report into the history, each report once.
history compact: history:compact
    Make few files of the many of each day that is over, an hour after its end.
history profile: history:profile
    Fold the last days of each job, or of those that are named, into slots of a day.
webhooks:
    Who is told of outcomes and alerts by HTTP.
webhooks list: webhooks:list_hooks
    List the webhooks of the settings, and how far behind each is.
webhooks secret: webhooks:make_secret
    Print a new secret, for the settings and the receiver.
webhooks verify: webhooks:verify_request
    Say whether a request is what Turbine sent: 0, or 1 with the reason.
webhooks rewind: webhooks:rewind
    Have a webhook told once more of all since then, or of nothing before it.
log:
    Look into the log.
log tail: logs:tail reads unless=-f,--follow
    Show the last records of the log.
log stats: logs:stats reads
    Count the records of each topic.
log export: exporting:export
    Write the log to one file, which `turbine open` opens anywhere.
monitoring:
    Watch the fleet with Prometheus and Grafana.
monitoring export: contract:export
    Print Grafana's dashboard as JSON and Prometheus' alert rules as YAML.
topics:
    Compare the topics with the table, and create what is missing.
topics plan: local:plan_topics
    Show which topics are missing or differ.
topics apply: local:apply_topics
    Create the topics that are missing.
topics create: local:create_one
    Create a topic that jobs read or write.
rows:
    What components keep of the log, to start from.
rows forget: rows:forget
    Have components forget what they kept of a log that was replaced.
schema:
    Look at the schemas of the records.
schema list: logs:list_schemas
    List the schemas, with the ids in messages.
schema show: logs:show_schema
    Print a schema as Avro's JSON.
schema check: logs:check_schemas
    Check that every schema is kept for ever.
schema serve: contract:serve_schemas
    Serve the schemas to programs of this machine, as a Schema Registry that is only read.
broker:
    A broker on this machine.
broker start: local:start_broker
    Start a broker that stays.
broker stop: local:stop_broker
    Stop the broker of this machine; its data stays.
broker status: local:broker_status
    Show the broker of this machine; exit code 3 where none runs.
broker wipe: local:wipe_broker
    Delete the log of this machine's broker, for ever.
config:
    The settings.
config view: config:view_config
    Show the settings in force.
"""
"""Of each command its name, where it lies and what holds of it, and below them its help."""


def _entries(text: str) -> Iterator[CommandEntry]:
    for block in text.strip().replace("\n    ", "\t").splitlines():
        head, *about = block.split("\t")
        name, _, rest = head.partition(":")
        words = {word: value for word, _, value in (one.partition("=") for one in rest.split())}
        yield CommandEntry(
            name,
            next((word for word in words if ":" in word), ""),
            " ".join(about),
            hidden="hidden" in words,
            reads="reads" in words,
            unless=tuple(words["unless"].split(",")) if "unless" in words else (),
            needs=tuple(words["needs"].split(",")) if "needs" in words else (),
            usual=words.get("usual", ""),
            options="names-only" not in words,
        )


TABLE = tuple(_entries(_COMMANDS))
"""In the order of the help."""
ENTRIES = {one.name: one for one in TABLE}


def below(group: str) -> dict[str, CommandEntry]:
    """The commands and groups right below a group, by the word that names each there."""
    prefix = f"{group} " if group else ""
    found = ((one.name.removeprefix(prefix), one) for one in TABLE if one.name.startswith(prefix))
    return {word: one for word, one in found if " " not in word}


def is_group(name: str) -> bool:
    """Has it commands below it?"""
    return any(one.name.startswith(f"{name} ") for one in TABLE)


def spelled(group: CommandEntry, words: Sequence[str]) -> list[str]:
    """What stands behind a group's name, with the usual command where none is named: `delete NAME`
    is `delete job NAME`, and `delete` alone lacks a name."""
    first = words[0] if words else ""
    if group.usual and not group.where and not words:
        return [group.usual]
    if not (group.usual and first) or first == "--help" or first in below(group.name):
        return list(words)
    if first.startswith("-") and not group.options:
        return list(words)
    # Two words, of which the first is nearly a command, are no name of anything.
    near = get_close_matches(first, list(below(group.name)), 1)
    if near and len(words) > 1 and not words[1].startswith("-"):
        return list(words)
    return [group.usual, *words]


def reading(words: Sequence[str]) -> CommandEntry | None:
    """The command of a line without its global options, where it does nothing but read the log."""
    group = ENTRIES.get(words[0]) if words else None
    if group is not None:
        words = [words[0], *spelled(group, words[1:])]
    found = ENTRIES.get(" ".join(words[:2])) or ENTRIES.get(" ".join(words[:1]))
    if found is None or not found.reads or "--help" in words:
        return None
    if any(_has(words, one) for one in found.unless):
        return None
    return found if not found.needs or any(_has(words, one) for one in found.needs) else None


def _has(words: Sequence[str], option: str) -> bool:
    """Short ones may stand together, as in `-fn5`."""
    if option.startswith("--"):
        return any(one == option or one.startswith(f"{option}=") for one in words)
    return any(one[:1] == "-" and one[:2] != "--" and option[1] in one for one in words)
