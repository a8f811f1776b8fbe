"""`get jobs` and `describe job`: what is expected of jobs, now or at any instant of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.options import At, Listed, Shown, check_job, open_log
from turbine.failures import Code, Failed, named

if TYPE_CHECKING:
    from projections.jobs import Job
    from turbine.read.moments import Moment
    from turbine.read.sources.log import Log
    from turbine.read.state.view import View

Row = dict[str, Any]


def get_jobs(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME")] = None,
    *,
    at: At = None,
    filter_: Annotated[
        str, typer.Option("--filter", metavar="WORDS", help="Words, !words, state=X, tier=X,Y.")
    ] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted jobs as well.")] = False,
    output: Listed = "table",
) -> int:
    """List the jobs, or those that are named: how each is, what runs of it, what is wrong."""
    from turbine.cli.output import show_rows, tell
    from turbine.cli.viewing import jobs_view
    from turbine.read.answers.jobs import jobs
    from turbine.read.answers.lines import lines_of, some_of
    from turbine.read.moments import given_moment
    from turbine.read.plain import plain

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
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    at: At = None,
    output: Shown = "table",
) -> int:
    """Show one job: its layers, who wants what of it and why, what runs of it, what was decided."""
    from turbine.cli.output import show_value, write
    from turbine.cli.viewing import jobs_view
    from turbine.read.answers.alerts import open_alerts
    from turbine.read.answers.jobs import DECISIONS_SHOWN, layers_row
    from turbine.read.answers.journal import line_of
    from turbine.read.answers.lines import line_in
    from turbine.read.answers.scaling import scaling_of
    from turbine.read.answers.syncs import syncs
    from turbine.read.moments import given_moment
    from turbine.read.plain import plain

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
    if output == "table":
        write(_description(row))
    else:
        show_value(row, output)
    return Code.OK


def _names(log: Log, end: dict[str, int] | None) -> list[str]:
    return living(log.jobs(end=end).values())


def _end(log: Log, moment: Moment | None) -> dict[str, int] | None:
    from events.topics import JOURNAL
    from turbine.read.moments import position_at

    return None if moment is None else position_at(log, moment, [JOURNAL])


def existed(job: Job) -> bool:
    """Was it ever created? A rejected request leaves a row too."""
    return job.versions.base > 0


def existing(
    job: Job | None, name: str, at: str | None, names: Callable[[], Iterable[str]] = tuple
) -> Job:
    """The job; Failed where there never was one, with the nearest of the `names` there are."""
    from turbine_client.creating import LISTS, with_nearest

    if job is not None and existed(job):
        return job
    when = f" at {at}" if at else ""
    remedy = LISTS
    if job is not None:
        remedy = f"`turbine log tail --job {name}` shows what was asked of it and refused"
    sentence = f"there is no job {name}{when}; {remedy}"
    raise Failed(Code.NOT_FOUND, with_nearest(sentence, name, names()))


def _alive(view: View) -> list[str]:
    return living(seen.job for seen in view.jobs.values())


def living(jobs: Iterable[Job]) -> list[str]:
    """The names of those that there are."""
    return [job.name for job in jobs if job.alive]


def names_in(log: Log) -> list[str]:
    """The same of a log, which is folded for it: only to tell whoever mistyped one."""
    return living(log.jobs().values())


def _columns() -> list[Any]:
    from turbine.cli.hosted import rate
    from turbine.cli.output import Column

    def expected(*path: str) -> Any:
        def cell(row: Row) -> object:
            inner = row["expected"]
            for key in path:
                inner = inner.get(key) if isinstance(inner, dict) else None
            return inner

        return cell

    return [
        Column("JOB", lambda row: row["job"]),
        Column("STATE", lambda row: row["state"]),
        Column("TASKS", lambda row: f"{row['running']}/{row['tasks']}"),
        Column("LAG", lambda row: _lag(row["lag_seconds"])),
        Column("BEHIND", lambda row: row["lag_records"]),
        Column("INPUT", lambda row: rate(row["rate_in"])),
        Column("ALERT", _alert),
        Column("VERSIONS", lambda row: "/".join(map(str, row["versions"].values())), wide=True),
        Column("PACKAGE", _package, wide=True),
        Column("OVERRIDDEN", _overridden, wide=True),
        Column("POLICY", _policy, wide=True),
        Column("TIER", expected("tier"), wide=True),
        Column("OPERATOR", expected("operator"), wide=True),
        Column("AUTHOR", lambda row: row["layers"]["base"]["author"], wide=True),
        Column("REASON", lambda row: row["layers"]["base"]["reason"], wide=True),
    ]


def _lag(seconds: float | None) -> str:
    from turbine.cli.hosted import span

    return span(None if seconds is None else round(1000 * seconds))


def _alert(line: Row) -> str:
    """The gravest, and how many more there are."""
    worst, more = line["gravest"], line["alerts"] - 1
    if worst is None:
        return ""
    return f"{worst['severity']} {worst['alert']}" + (f" and {more} more" if more else "")


def _package(row: Row) -> str:
    package = row["expected"].get("package") or {}
    return f"{package['name']} {package['version']}" if package else ""


def _policy(row: Row) -> str:
    """Who decides about its size, and what comes of it."""
    from turbine.read.answers.scaling import policy_of

    found = policy_of(row["expected"])
    return f"{found['policy']}, {found['mode']}" if row["alive"] else ""


def _overridden(row: Row) -> str:
    """Which keys of the base do not hold, by whom: what an oncall wants to see at a glance."""
    found = [f"{path} by {layer}" for path, layer in row["origins"].items() if layer != "base"]
    return ", ".join(found)


def _description(row: Row) -> str:
    from events.job_config.strict_json import split_path
    from turbine.cli import scaled
    from turbine.cli.output import Column, facts, table_text
    from turbine.cli.syncs import section
    from turbine.read.moments import show_time

    layers = [{"layer": name} | layer for name, layer in row["layers"].items()]
    columns = [
        Column("LAYER", lambda one: one["layer"]),
        Column("VERSION", lambda one: one["version"]),
        Column("AUTHOR", lambda one: one["author"]),
        Column("REASON", lambda one: one["reason"]),
        Column("EXPIRES", lambda one: show_time(one["expires_ms"])),
        Column("CHANGE", lambda one: one["change_id"]),
    ]
    keys = [
        {"path": path, "value": _value_at(row["expected"], split_path(path)), "from": layer}
        for path, layer in row["origins"].items()
    ]
    paths = [
        Column("EXPECTED", lambda one: one["path"]),
        Column("VALUE", lambda one: one["value"]),
        Column("FROM", lambda one: one["from"]),
    ]
    decided = [
        Column("DECIDED", lambda one: show_time(one["at_ms"])),
        Column("KIND", lambda one: one["kind"]),
        Column("STANDS", lambda one: one["stands"]),
        Column("SAYS", lambda one: one["summary"]),
        Column("ID", lambda one: one["id"]),
    ]
    head = facts([("job", row["job"]), ("state", row["line"]["state"])])
    parts = [head, table_text(layers, columns)]
    parts += [_ends(layers)] if any(one["ends"] for one in layers) else []
    parts += [section(row)] if row["sync"] else []
    parts += [scaled.section({"job": row["job"], **row["scaling"]})] if row["alive"] else []
    parts += [table_text(keys, paths)] if keys else []
    parts += [table_text(row["decisions"], decided)] if row["decisions"] else []
    return "\n\n".join(parts)


def _ends(layers: Iterable[Row]) -> str:
    """What is taken back, and when."""
    from turbine.cli.output import Column, table_text
    from turbine.read.differences import Difference
    from turbine.read.moments import show_time

    def then(one: Row) -> str:
        return ", ".join(str(Difference.from_plain(other)) for other in one["differences"])

    columns = [
        Column("ENDS", lambda one: show_time(one["expires_ms"])),
        Column("OF", lambda one: one["layer"]),
        Column("BY", lambda one: one["author"]),
        Column("THEN", then),
        Column("CHANGE", lambda one: one["change_id"]),
    ]
    rows = [{"layer": of["layer"]} | one for of in layers for one in of["ends"]]
    return table_text(rows, columns)


def _value_at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value[key]
    return value
