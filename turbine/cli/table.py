"""Which commands there are, where each lies, and what the help above them says of it. Pure.

Nothing is imported here: a line loads its own command's module and no other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
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


TABLE = (
    Entry("apply", "changes:apply", "Make jobs what a file says."),
    Entry(
        "check",
        "check:check",
        "See whether the jobs of a file could run: their configs, operators, columns and queries.",
    ),
    Entry(
        "scale",
        "scaling:scale",
        "Run a job with so many tasks for a while, whatever the auto scaler thinks.",
    ),
    Entry("pause", "operators:pause", "Stop all tasks of a job and keep it so."),
    Entry("resume", "operators:resume", "Let a paused job run again."),
    Entry("release", "operators:release", "Let a quarantined job be tried again."),
    Entry(
        "why",
        "reasons:why",
        "Say why something was decided, why a job has its size, or why a shard is where it is.",
        reads=True,
    ),
    Entry(
        "why-not",
        "why_not:why_not",
        "Say why the auto scaler did not do something about a job, and what would have made it.",
        reads=True,
    ),
    Entry(
        "whatif",
        "whatif:whatif",
        "Say what another scaling policy would have done with the input that a job really had.",
    ),
    Entry(
        "top",
        "top:top",
        "Watch the fleet: the three numbers, jobs, containers and alerts, the worst first.",
        reads=True,
        needs=("--once", "--at"),
    ),
    Entry(
        "digest",
        "digest:digest",
        "Tell what changed since a shift began, by job, what needs somebody first.",
        reads=True,
    ),
    Entry(
        "logs",
        "task_logs:logs",
        "Show what is wrong with a task: where it is, how it failed, what it printed.",
    ),
    Entry("audit", "audit:audit", "Make every decision again, and compare."),
    Entry(
        "replay",
        "replaying:replay",
        "Play the log's history through the folds, and say what was decided as it was decided.",
    ),
    Entry("at", "exporting:at", "Run a command that reads as of then: the same as its --at."),
    Entry("open", "exporting:open_file", "Say what a log's file holds, and how to look into it."),
    Entry(
        "generate",
        "generate:generate",
        "Send records to a topic, at one rate or as a recorded trace has it.",
    ),
    Entry(
        "backtest",
        "backtest:backtest",
        "Play a trace or a scenario under a scaling policy, and keep the score.",
    ),
    Entry(
        "scoreboard",
        "scoreboard:scoreboard",
        "Play traces and scenarios under scaling policies, each with its defaults, and compare"
        " them.",
    ),
    Entry("serve", "local:serve", "Run components in the foreground."),
    Entry(
        "dashboard",
        "dashboard:dashboard",
        "Serve the dashboard and the HTTP API to this machine, until Ctrl-C.",
    ),
    Entry(
        "up",
        "fleet:up",
        "Run a whole fleet on this machine: all components, a tier and containers.",
    ),
    Entry("down", "fleet:down", "End what `up` runs, and the broker."),
    Entry("version", "local:version", "Print the version."),
    Entry(
        "get",
        "",
        "List jobs, their tasks and lag, and the tiers, containers and shards that run them.",
    ),
    Entry(
        "get jobs",
        "jobs:get_jobs",
        "List the jobs, or those that are named: how each is, what runs of it, what is wrong.",
        reads=True,
    ),
    Entry(
        "get job",
        "jobs:get_jobs",
        "List the jobs, or those that are named: how each is, what runs of it, what is wrong.",
        hidden=True,
        reads=True,
    ),
    Entry(
        "get tasks",
        "syncs:get_tasks",
        "List the tasks that should run, and those that run although they should not.",
        reads=True,
    ),
    Entry(
        "get syncs",
        "syncs:get_syncs",
        "List how far each job's running config has followed its expected one, or those named.",
        reads=True,
    ),
    Entry(
        "get lag",
        "lag:get_lag",
        "List how far the jobs are behind their input, or those that are named, the worst first.",
        reads=True,
    ),
    Entry(
        "get alerts",
        "alerts:get_alerts",
        "List the alerts that stand, and the last that were cleared, the newest first.",
        reads=True,
    ),
    Entry(
        "get tiers",
        "capacity:get_tiers",
        "List the tiers: how they stand, what is left in them, what is lent, who waits.",
        reads=True,
    ),
    Entry(
        "get containers",
        "containers:get_containers",
        "List the containers, or those named: how they stand, what they hold, how full they are.",
        reads=True,
    ),
    Entry(
        "get shards",
        "containers:get_shards",
        "List the shards: who holds each, how far its move is, what it uses.",
        reads=True,
    ),
    Entry(
        "get moves",
        "containers:get_moves",
        "List the last moves of shards: from where to where, why, how far, how long.",
        reads=True,
    ),
    Entry(
        "diff",
        "comparing:diff_fleet",
        "Show what differs between two instants, or of one job.",
        reads=True,
        usual="job",
        options=False,
    ),
    Entry(
        "diff job",
        "comparing:diff_job",
        "Show what differs between two configs of a job, or between two jobs.",
        reads=True,
    ),
    Entry("wait", "", "Wait until a job is what it should be.", usual="job"),
    Entry(
        "wait job",
        "syncs:wait_job",
        "Wait until a job is what is expected of it, or in quarantine.",
    ),
    Entry("rollback", "", "Make a layer what it was.", usual="job"),
    Entry(
        "rollback job",
        "scaling:rollback",
        "Make a layer what it was at a version, by a new change.",
    ),
    Entry(
        "describe", "", "Show one job, one container or one scaling policy in full.", usual="job"
    ),
    Entry(
        "describe job",
        "jobs:describe_job",
        "Show one job: its layers, who wants what of it and why, what runs of it, what was"
        " decided.",
        reads=True,
    ),
    Entry(
        "describe container",
        "containers:describe_container",
        "Show one container: its state, loads and windows, shards, last moves and fail-overs.",
        reads=True,
    ),
    Entry(
        "describe policy",
        "policies:describe_policy",
        "Show the settings of a scaling policy: defaults, what they may be, what they mean.",
    ),
    Entry("tier", "", "Containers and shards that are balanced together."),
    Entry(
        "tier create",
        "tiers:create_tier",
        "Create a tier: containers and shards that are balanced together.",
    ),
    Entry("drain", "", "Have a container give its shards away.", usual="container"),
    Entry(
        "drain container",
        "tiers:drain_container",
        "Have a container give all its shards away, and get no new ones.",
    ),
    Entry("undrain", "", "Let a container get shards again.", usual="container"),
    Entry(
        "undrain container",
        "tiers:undrain_container",
        "Let a container that was drained get shards again.",
    ),
    Entry("placement", "", "Look at what would move, have it moved, and see how far it came."),
    Entry(
        "placement plan",
        "placement:plan_placement",
        "Show what the shard manager would move now, and why.",
        reads=True,
    ),
    Entry(
        "placement apply",
        "placement:apply_placement",
        "Have a plan carried out: one that was shown, or one that waits to be confirmed.",
    ),
    Entry(
        "placement show",
        "placement:show_placement",
        "Show a plan of the log, and how far its moves have come.",
        reads=True,
    ),
    Entry("delete", "", "Delete a job.", usual="job"),
    Entry("delete job", "changes:delete", "Delete a job."),
    Entry("reset", "", "Have a job read its inputs from elsewhere.", usual="job"),
    Entry("reset job", "operators:reset", "Have a job read its inputs from elsewhere."),
    Entry("publish", "", "Ask for changes.", usual="change"),
    Entry(
        "publish change",
        "changes:change",
        "Ask for a change of one layer of a job, and wait for the verdict.",
    ),
    Entry("subscribe", "", "Follow what is decided, and what needs a person."),
    Entry("subscribe outcomes", "subscribing:outcomes", "Follow what is decided about jobs."),
    Entry(
        "subscribe alerts",
        "subscribing:alerts",
        "Follow what needs a person, and what does not any more.",
    ),
    Entry(
        "contract",
        "contract:contract",
        "Print the contract: every topic with its records, as AsyncAPI 3.",
    ),
    Entry(
        "contract check",
        "examining:check_message",
        "Say what is the matter with a message: framing, schema, key, partition, headers.",
    ),
    Entry("history", "", "Keep what tasks report, and tell each job's usual day by it."),
    Entry(
        "history write",
        "history:write",
        "Write what tasks report into the history, each report once.",
    ),
    Entry(
        "history compact",
        "history:compact",
        "Make few files of the many of each day that is over, an hour after its end.",
    ),
    Entry(
        "history profile",
        "history:profile",
        "Fold the last days of each job, or of those that are named, into slots of a day.",
    ),
    Entry("webhooks", "", "Who is told of outcomes and alerts by HTTP."),
    Entry(
        "webhooks list",
        "webhooks:list_hooks",
        "List the webhooks of the settings, and how far behind each is.",
    ),
    Entry(
        "webhooks secret",
        "webhooks:make_secret",
        "Print a new secret, for the settings and the receiver.",
    ),
    Entry(
        "webhooks verify",
        "webhooks:verify_request",
        "Say whether a request is what Turbine sent: 0, or 1 with the reason.",
    ),
    Entry(
        "webhooks rewind",
        "webhooks:rewind",
        "Have a webhook told once more of all since then, or of nothing before it.",
    ),
    Entry("log", "", "Look into the log."),
    Entry(
        "log tail",
        "following:tail",
        "Show the last records of the log.",
        reads=True,
        unless=("-f", "--follow"),
    ),
    Entry("log stats", "logs:stats", "Count the records of each topic.", reads=True),
    Entry(
        "log export",
        "exporting:export",
        "Write the log to one file, which `turbine open` opens anywhere.",
    ),
    Entry("monitoring", "", "Watch the fleet with Prometheus and Grafana."),
    Entry(
        "monitoring export",
        "monitoring:export",
        "Print Grafana's dashboard as JSON and Prometheus' alert rules as YAML.",
    ),
    Entry("topics", "", "Compare the topics with the table, and create what is missing."),
    Entry("topics plan", "local:plan_topics", "Show which topics are missing or differ."),
    Entry("topics apply", "local:apply_topics", "Create the topics that are missing."),
    Entry("topics create", "local:create_one", "Create a topic that jobs read or write."),
    Entry("rows", "", "What components keep of the log, to start from."),
    Entry(
        "rows forget",
        "rows:forget",
        "Have components forget what they kept of a log that was replaced.",
    ),
    Entry("schema", "", "Look at the schemas of the records."),
    Entry("schema list", "logs:list_schemas", "List the schemas, with the ids in messages."),
    Entry("schema show", "logs:show_schema", "Print a schema as Avro's JSON."),
    Entry("schema check", "logs:check_schemas", "Check that every schema is kept for ever."),
    Entry(
        "schema serve",
        "contract:serve_schemas",
        "Serve the schemas to programs of this machine, as a Schema Registry that is only read.",
    ),
    Entry("broker", "", "A broker on this machine."),
    Entry("broker start", "local:start_broker", "Start a broker that stays."),
    Entry("broker stop", "local:stop_broker", "Stop the broker of this machine; its data stays."),
    Entry(
        "broker status",
        "local:broker_status",
        "Show the broker of this machine; exit code 3 where none runs.",
    ),
    Entry("broker wipe", "local:wipe_broker", "Delete the log of this machine's broker, for ever."),
    Entry("config", "", "The settings."),
    Entry("config view", "local:view_config", "Show the settings in force."),
)
"""In the order of the help."""
ENTRIES = {one.name: one for one in TABLE}
