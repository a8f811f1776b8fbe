"""`digest`: what changed since a shift began, for who takes over. Worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from typer import Context

from events.job_config.strict_json import printable
from events.topics import JOURNAL, OPERATOR, TIERS
from events.wire.codec import Read
from turbine.cli.columns import cut
from turbine.cli.options import At, Shown, check_jobs, open_log
from turbine.cli.output import show
from turbine.cli.reading import end_at, viewed
from turbine.read.answers import digest_tiers
from turbine.read.answers.digest import FINE, KINDS, LOOK, NEEDS
from turbine.read.answers.digest import digest as digest_of
from turbine.read.answers.fleet import totals
from turbine.read.answers.lines import lines_of
from turbine.read.answers.scaling import count_text
from turbine.read.differences import Difference
from turbine.read.moments import Moment, given_moment, now_ms, parse_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.state.framed import FramedLog
from turbine_client.errors import BadRequest

SHOWN = 5
"""Of one sort of one job: the newest, with how many there are beside them."""
TEXT_MAX = 240
"""A sentence, which is cut at 200 already, and its time."""


def digest(
    context: Context,
    *,
    since: str = "8h",
    job: str | None = None,
    at: At = None,
    output: Shown = "table",
) -> int:
    """Tell what changed since a shift began, by job, what needs somebody first.

    Changes of config with their authors, scaling and whether it helped, alerts, moves, quarantine.
    A span such as 8h is that long before the shift's end, which is now or --at.

    --since SPAN|TIME: When the shift began.
    --job JOB: Of this job only.
    """
    check_jobs(job)
    end = given_moment(at)
    until_ms = end if isinstance(end, int) else now_ms()
    begin = parse_moment(since, now_ms() if since.endswith("ago") else until_ms, "--since")
    if not isinstance(begin, int):
        raise BadRequest("--since: a shift begins at a time; write 8h or an RFC 3339 time")
    if begin >= until_ms:
        raise BadRequest(f"--since: {since} is not before the end; name an earlier time")
    log = open_log(context)
    row = _read(log, job, begin, end, until_ms)
    with viewed(log, end) as view:  # how tasks stand when the shift ends
        stands = totals(one for one in lines_of(view) if job in (None, one.job))
    row |= {"whole": True, "totals": plain(stands)}
    return show(row, output, lambda: "\n".join(text_of(row)))


def _read(
    log: FramedLog, job: str | None, begin_ms: int, moment: Moment | None, until_ms: int
) -> JsonObject:
    end = end_at(log, moment, (JOURNAL, TIERS, OPERATOR))
    decisions = log.decisions(job=job, end=end, kinds=KINDS)
    turns: list[JsonObject] = []
    if job is None and TIERS in log.counts:
        chain = log.of_tiers(digest_tiers.KINDS, end=end)
        turns = digest_tiers.turns(chain, _wishes(log, begin_ms, end), begin_ms, until_ms)
    return digest_of(decisions, turns, begin_ms, until_ms)


def _wishes(log: FramedLog, begin_ms: int, end: dict[str, int] | None) -> Iterator[Read]:
    if OPERATOR in log.counts:
        start = log.at(begin_ms - 1, [OPERATOR])
        kinds = frozenset({"DrainRequested", "UndrainRequested"})
        yield from log.read([OPERATOR], kinds=kinds, start=start, end=end)


# --- telling


def text_of(row: JsonObject) -> Iterator[str]:
    """For people: a headline, then each tier and job with what happened to it."""
    stands = [one["stands"] for one in row["jobs"]]
    needing = stands.count(NEEDS)
    yield (
        f"since {show_time(row['since_ms'])}: {count_text(needing, 'job')}"
        f" need{'s' if needing == 1 else ''} you,"
        f" {stands.count(LOOK)} to look at, {stands.count(FINE)} changed, {row['quiet']} quiet"
    )
    if totals := row.get("totals"):
        yield _headline(totals)
    for turn in row["tiers"]:
        name = f"tier {turn['tier']}" if turn["tier"] else "containers"
        yield from ("", name, *_lines(_about_tier(turn)))
    for one in row["jobs"]:
        yield from ("", f"{one['job']}  {one['stands']}", *_lines(_about_job(one)))


def _headline(totals: JsonObject) -> str:
    """The three numbers, as every other list has them."""

    def share(name: str) -> str:
        found = totals[f"tasks_{name}"]
        return f"{found['count']} {name.replace('_', ' ')} ({found['percent']:.1f} %)"

    parts = ", ".join(map(share, ("not_running", "lagging", "unhealthy")))
    return f"{totals['tasks_running']} of {totals['tasks_wanted']} tasks run: {parts}"


def _lines(told: Iterator[tuple[str, str]]) -> Iterator[str]:
    for name, text in told:
        yield f"  {name:<10}{cut(printable(text), TEXT_MAX)}"


def _about_job(row: JsonObject) -> Iterator[tuple[str, str]]:
    yield from _open(row["open"])
    for name, one in (("held", row["quarantine"]), ("failed", row["failed"])):
        if one:
            yield name, _dated(one)
    if row["waits_ms"] is not None:
        yield "waits", f"{show_time(row['waits_ms'])} what is expected since then is not in effect"
    yield from _newest("scaling", row["scaling"], _scaling)
    yield from _newest("config", row["config"], _config)
    for name in ("rejected", "released", "cleared"):
        yield from _newest(name, row[name])
    if row["syncs"]:
        yield "plans", ", ".join(f"{count} {what}" for what, count in row["syncs"].items())


def _about_tier(row: JsonObject) -> Iterator[tuple[str, str]]:
    yield from _open(row["open"])
    if row["moves"] or row["killed"]:
        parts = [f"{count} {reason}" for reason, count in row["moves"].items()]
        parts += [f"{row['killed']} killed"] if row["killed"] else []
        yield "moves", f"{sum(row['moves'].values())}: {', '.join(parts)}"
    if row["plans"]:
        yield "plans", str(row["plans"])
    yield from _newest("event", row["events"])
    yield from _newest("cleared", row["cleared"])


def _open(alerts: list[JsonObject]) -> Iterator[tuple[str, str]]:
    for one in alerts:
        yield "open", _dated(one)
        yield "", one["runbook"]


def _dated(row: JsonObject) -> str:
    return f"{show_time(row['at_ms'])} {row['text']}"


def _newest(
    name: str, rows: list[JsonObject], below: Callable[[JsonObject], Iterable[str]] = lambda _: ()
) -> Iterator[tuple[str, str]]:
    """The newest first, as what was decided last holds, each with what stands below it."""
    for row in reversed(rows[-SHOWN:]):
        yield name, _dated(row)
        yield from (("", f"  {line}") for line in below(row))
    if len(rows) > SHOWN:
        yield "", f"and {len(rows) - SHOWN} before them; -o json tells all"


def _scaling(row: JsonObject) -> Iterator[str]:
    if row["tasks"] is None:
        yield "decided before the shift began"
    else:
        yield row["became"] or "no outcome yet"


def _config(row: JsonObject) -> Iterator[str]:
    if row["what"] not in ("created", "deleted"):
        yield from (str(Difference.from_plain(one)) for one in row["differences"])
        if row["more"]:
            yield f"and {row['more']} more paths"
