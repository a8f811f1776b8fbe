"""`get jobs` and `describe job`: what is expected of jobs, now or at any instant of the log."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any

from typer import Argument, Context

from events.job_config.strict_json import split_path
from events.topics import JOURNAL
from turbine.cli import scaled
from turbine.cli.columns import columns, listed, part, span
from turbine.cli.job_rows import existing, living, versions_text
from turbine.cli.options import At, Listed, Shown, check_job, open_log
from turbine.cli.output import facts, indented, show, show_rows, tell
from turbine.cli.viewing import jobs_view
from turbine.failures import Code, named
from turbine.read.answers.alerts import open_alerts
from turbine.read.answers.jobs import DECISIONS_SHOWN, jobs, layers_row
from turbine.read.answers.journal import line_of
from turbine.read.answers.lines import line_in, lines_of, some_of
from turbine.read.answers.scaling import policy_of, scaling_of
from turbine.read.answers.syncs import syncs
from turbine.read.differences import Difference, differences
from turbine.read.moments import Moment, given_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine.read.state.instants import position_at
from turbine.read.state.view import View


def get_jobs(
    context: Context,
    names: Annotated[list[str] | None, Argument(metavar="NAME")] = None,
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
    for name in names or ():
        check_job(name)
    moment = given_moment(at)
    view = jobs_view(open_log(context), moment)
    for name in names or ():
        found = view.jobs.get(name)
        existing(None if found is None else found.job, name, at, lambda: _alive(view))
    with named("--filter"):
        lines = some_of(lines_of(view), filter_, deleted=deleted or bool(names))
    rows = plain(jobs(view, [line for line in lines if not names or line.job in names]))
    if not rows and output in ("table", "wide"):
        when, remedy = f" at {at}" if at else "", "; `turbine apply` makes one"
        tell(f"no job matches {filter_}{when}" if filter_ else f"there are no jobs{when}{remedy}")
        return Code.OK
    show_rows(rows, output, _columns(), name="job")
    return Code.OK


def describe_job(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME")],
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show one job: its layers, who wants what of it and why, what runs of it, what was decided."""
    check_job(name)
    moment = given_moment(at)
    log = open_log(context)
    end = _end(log, moment)
    names = partial(_names, log, end)
    job = existing(log.job(name, end=end), name, at, names)
    decisions = log.decisions(job=name, end=end)
    view = jobs_view(log, moment)
    line = line_in(view, name)
    sync = plain(syncs(view, [line]))
    row = layers_row(job) | {"sync": sync[0] if sync else {}}
    row["scaling"] = plain(scaling_of(job, decisions))
    row["line"] = plain(line)
    row["open_alerts"] = [plain(one) for one in open_alerts(view) if one.subject == name]
    row["decisions"] = [plain(line_of(one)) for one in decisions[-DECISIONS_SHOWN:]]
    show(row, output, lambda: _description(row))
    return Code.OK


def _names(log: Log, end: dict[str, int] | None) -> list[str]:
    return living(log.jobs(end=end).values())


def _end(log: Log, moment: Moment | None) -> dict[str, int] | None:
    return None if moment is None else position_at(log, moment, [JOURNAL])


def _alive(view: View) -> list[str]:
    return living(seen.job for seen in view.jobs.values())


def _columns() -> list[Any]:
    def expected(*path: str) -> Any:
        def cell(row: JsonObject) -> object:
            inner = row["expected"]
            for key in path:
                inner = inner.get(key) if isinstance(inner, dict) else None
            return inner

        return cell

    return columns(
        "JOB, STATE, TASKS, LAG, BEHIND=lag_records, INPUT=rate_in:rate, ALERT,"
        " *VERSIONS, *PACKAGE, *OVERRIDDEN, *POLICY, *TIER, *OPERATOR,"
        " *AUTHOR=layers.base.author, *REASON=layers.base.reason",
        {
            "TASKS": lambda row: f"{row['running']}/{row['tasks']}",
            "LAG": lambda row: _lag(row["lag_seconds"]),
            "ALERT": _alert,
            "VERSIONS": lambda row: "/".join(map(str, row["versions"].values())),
            "PACKAGE": _package,
            "OVERRIDDEN": _overridden,
            "POLICY": _policy,
            "TIER": expected("tier"),
            "OPERATOR": expected("operator"),
        },
    )


def _lag(seconds: float | None) -> str:
    return span(None if seconds is None else round(1000 * seconds))


def _alert(line: JsonObject) -> str:
    """The gravest, and how many more there are."""
    worst, more = line["gravest"], line["alerts"] - 1
    if worst is None:
        return ""
    return f"{worst['severity']} {worst['alert']}" + (f" and {more} more" if more else "")


def _package(row: JsonObject) -> str:
    package = row["expected"].get("package") or {}
    return f"{package['name']} {package['version']}" if package else ""


def _policy(row: JsonObject) -> str:
    """Who decides about its size, and what comes of it."""
    found = policy_of(row["expected"])
    return f"{found['policy']}, {found['mode']}" if row["alive"] else ""


def _overridden(row: JsonObject) -> str:
    """Which keys of the base do not hold, by whom: what an oncall wants to see at a glance."""
    found = [f"{path} by {layer}" for path, layer in row["origins"].items() if layer != "base"]
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
    parts += [_ends(layers)] if any(one["ends"] for one in layers) else []
    parts += [section(row)] if row["sync"] else []
    parts += [scaled.section({"job": row["job"], **row["scaling"]})] if row["alive"] else []
    parts += part(keys, "EXPECTED=path, VALUE, FROM")
    parts += part(row["decisions"], "DECIDED=at_ms:time, KIND, STANDS, SAYS=summary, ID")
    return "\n\n".join(parts)


def _ends(layers: Iterable[JsonObject]) -> str:
    """What is taken back, and when."""

    def then(one: JsonObject) -> str:
        return ", ".join(str(Difference.from_plain(other)) for other in one["differences"])

    rows = [{"layer": of["layer"]} | one for of in layers for one in of["ends"]]
    return listed(
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
