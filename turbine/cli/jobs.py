"""`get jobs`, `describe job`, `describe policy`: what is expected of jobs, at any instant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from typer import Argument, Context

from events.job_config.policies.table import SETTINGS
from events.job_config.strict_json import canonical_json, shorten, split_path
from events.topics import JOURNAL
from turbine.cli.columns import columns, listed, part, running_of, span, versions_text
from turbine.cli.options import At, Listed, Name, Names, Shown, check_job, check_jobs, open_log
from turbine.cli.output import Column, facts, indented, show, show_rows
from turbine.cli.reading import all_existing, existing_job, jobs_view, open_until
from turbine.failures import Code, Failed, named
from turbine.read.answers.alerts import open_alerts
from turbine.read.answers.jobs import DECISIONS_SHOWN, ListedJob, jobs, layers_row
from turbine.read.answers.journal import line_of
from turbine.read.answers.lines import line_in, lines_of, some_of
from turbine.read.answers.policies import policy
from turbine.read.answers.scaling import policy_of, scaling_of
from turbine.read.answers.syncs import syncs
from turbine.read.differences import Difference, differences
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject, plain


def get_jobs(
    context: Context,
    names: Names = None,
    *,
    at: At = None,
    filter_: str = "",
    deleted: bool = False,
    output: Listed = "table",
) -> int:
    """List the jobs, or those that are named: how each is, what runs of it, what is wrong.

    --filter WORDS: Words, !words, state=X, tier=X,Y.
    --deleted: Deleted jobs as well.
    """
    check_jobs(*names or ())
    view = jobs_view(open_log(context), given_moment(at))
    all_existing(view, names or (), at)
    with named("--filter"):
        lines = some_of(lines_of(view), filter_, deleted=deleted or bool(names))
    rows = jobs(view, [line for line in lines if not names or line.job in names])
    when = f" at {at}" if at else ""
    none = f"there are no jobs{when}; `turbine apply` makes one"
    none = f"no job matches {filter_}{when}" if filter_ else none
    return show_rows(rows, output, _columns(), name="job", none=none)


def describe_job(context: Context, name: Name, at: At = None, output: Shown = "table") -> int:
    """Show one job: its layers, who wants what of it and why, what runs of it, what was decided."""
    check_job(name)
    log, end = open_until(context, at, [JOURNAL])
    job = existing_job(log, name, at, end)
    decisions = log.decisions(job=name, end=end)
    view = jobs_view(log, given_moment(at))
    line = line_in(view, name)
    sync = plain(syncs(view, [line]))
    row = layers_row(job) | {"sync": sync[0] if sync else {}}
    row["scaling"] = plain(scaling_of(job, decisions))
    row["line"] = plain(line)
    row["open_alerts"] = [plain(one) for one in open_alerts(view) if one.subject == name]
    row["decisions"] = [plain(line_of(one)) for one in decisions[-DECISIONS_SHOWN:]]
    return show(row, output, lambda: _description(row))


def _columns() -> list[Column]:
    return columns(
        "JOB, STATE, TASKS, LAG, BEHIND=lag_records, INPUT=rate_in:rate, ALERT,"
        " *VERSIONS=versions:versions, *PACKAGE, *OVERRIDDEN, *POLICY, *TIER=expected.tier?,"
        " *OPERATOR=expected.operator?, *AUTHOR=layers.base.author, *REASON=layers.base.reason",
        {
            "TASKS": running_of,
            "LAG": _lag,
            "ALERT": _alert,
            "PACKAGE": _package,
            "OVERRIDDEN": _overridden,
            "POLICY": _policy,
        },
    )


def _lag(job: ListedJob) -> str:
    return span(None if job.lag_seconds is None else round(1000 * job.lag_seconds))


def _alert(job: ListedJob) -> str:
    """The gravest, and how many more there are."""
    worst, more = job.gravest, job.alerts - 1
    if worst is None:
        return ""
    return f"{worst.severity} {worst.alert}" + (f" and {more} more" if more else "")


def _package(job: ListedJob) -> str:
    package = job.expected.get("package") or {}
    return f"{package['name']} {package['version']}" if package else ""


def _policy(job: ListedJob) -> str:
    """Who decides about its size, and what comes of it."""
    found = policy_of(job.expected)
    return f"{found['policy']}, {found['mode']}" if job.alive else ""


def _overridden(job: ListedJob) -> str:
    """Which keys of the base do not hold, by whom: what an oncall wants to see at a glance."""
    found = [f"{path} by {layer}" for path, layer in job.origins.items() if layer != "base"]
    return ", ".join(found)


def _description(row: JsonObject) -> str:
    layers = [{"layer": name} | layer for name, layer in row["layers"].items()]
    keys = [
        {"path": path, "value": _value_at(row["expected"], split_path(path)), "from": layer}
        for path, layer in row["origins"].items()
    ]
    head = facts([("job", row["job"]), ("state", row["line"]["state"])])
    titles = "LAYER, VERSION, AUTHOR, REASON, EXPIRES=expires_ms:time, CHANGE=change_id"
    parts = [head, listed(layers, titles)]
    parts += _ends(layers)
    parts += [section(row)] if row["sync"] else []
    parts += [_scaling_text(row["job"], row["scaling"])] if row["alive"] else []
    parts += part(keys, "EXPECTED=path, VALUE, FROM")
    parts += part(row["decisions"], "DECIDED=at_ms:time, KIND, STANDS, SAYS=summary, ID")
    return "\n\n".join(parts)


def _ends(layers: Iterable[JsonObject]) -> list[str]:
    """What is taken back, and when."""

    def then(one: JsonObject) -> str:
        return ", ".join(str(Difference.from_plain(other)) for other in one["differences"])

    rows = [{"layer": of["layer"]} | one for of in layers for one in of["ends"]]
    return part(
        rows, "ENDS=expires_ms:time, OF=layer, BY=author, THEN, CHANGE=change_id", {"THEN": then}
    )


def _value_at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value[key]
    return value


def section(row: JsonObject) -> str:
    """What `describe job` says of running, plan, quarantine and failures."""
    sync = row["sync"]
    pairs: list[tuple[str, object]] = [
        ("running", sync["in_effect"]),
        ("condition", sync["condition"]),
        ("versions", versions_text(sync["running_versions"])),
        ("tasks", f"{sync['tasks_running']} of {sync['tasks']} run"),
    ]
    if plan := sync["plan"]:
        waits = ", ".join(f"{one['task']} ({one['why']})" for one in plan["missing"][:10])
        more = f" and {len(plan['missing']) - 10} more" if len(plan["missing"]) > 10 else ""
        pairs += [
            ("plan", f"{plan['intent']} to {versions_text(plan['versions'])}"),
            ("step", f"{plan['step'] or '-'} of {', '.join(plan['steps'])}"),
            ("deadline", show_time(plan["deadline_ms"])),
            ("waits for", f"tasks {waits}{more}" if waits else "-"),
        ]
    if held := sync["quarantine"]:
        pairs.append(("quarantine", f"{held['step']}: {held['cause']}: {held['explanation']}"))
    parts = [facts(pairs)]
    found = differences(sync["running"], row["expected"])
    if found:
        lines = "\n".join(map(str, found))
        parts.append("running to expected\n" + indented(lines))
    parts += part(sync["last_failures"], "FAILED=at_ms:time, STEP, CAUSE, EXPLANATION")
    return "\n\n".join(parts)


def _scaling_text(job: str, row: JsonObject) -> str:
    """What `describe job` says of scaling."""
    last = row["last"]
    pairs: list[tuple[str, object]] = [("scaling", f"policy {row['policy']}, mode {row['mode']}")]
    if last is not None:
        pairs += [
            ("last word", f"{last['kind']}, {show_time(last['at_ms'])}"),
            ("which says", last["summary"]),
            ("more", f"turbine why {job}"),
        ]
    return facts(pairs)


def describe_policy(
    name: Annotated[str, Argument(metavar="NAME", help="Such as turbine, flink or keda.")],
    output: Shown = "table",
) -> int:
    """Show the settings of a scaling policy: defaults, what they may be, what they mean."""
    if name not in SETTINGS:
        known = ", ".join(SETTINGS)
        raise Failed(Code.NOT_FOUND, f"there is no policy {shorten(name)}; use one of {known}")
    found = policy(name)
    cells = {"DEFAULT": lambda row: canonical_json(row.default)}
    titles = "SETTING, DEFAULT, VALUES, MEANING"
    return show(found, output, lambda: listed(found.settings, titles, cells))
