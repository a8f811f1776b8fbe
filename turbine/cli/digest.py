"""`digest`: what changed since a shift began, for who takes over. Worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from typer import Context

from events.job_config.strict_json import printable
from events.sentences.words import count_text
from turbine.cli.columns import cut
from turbine.cli.options import At, Shown, check_jobs, open_log
from turbine.cli.output import show
from turbine.cli.reading import viewed
from turbine.read.answers.digest import FINE, LOOK, NEEDS, Digest, JobDigest, look
from turbine.read.answers.digest_events import ConfigStep, DigestEvent, OpenAlert, ScalingStep
from turbine.read.answers.digest_tiers import TierDigest
from turbine.read.answers.fleet import Totals
from turbine.read.answers.lines import lines_of
from turbine.read.moments import given_moment, now_ms, parse_moment, show_time
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
    _begin(since, end if isinstance(end, int) else now_ms())
    log = open_log(context)
    with viewed(log, end) as view:
        begin_ms = _begin(since, end if isinstance(end, int) else view.last_ms)
        found = look(log, view, lines_of(view), begin_ms, job)
    return show(found, output, lambda: "\n".join(text_of(found)))


def _begin(since: str, until_ms: int) -> int:
    """When the shift began: a span is that long before its end."""
    begin = parse_moment(since, now_ms() if since.endswith("ago") else until_ms, "--since")
    if not isinstance(begin, int):
        raise BadRequest("--since: a shift begins at a time; write 8h or an RFC 3339 time")
    if begin >= until_ms:
        raise BadRequest(f"--since: {since} is not before the end; name an earlier time")
    return begin


# --- telling


def text_of(row: Digest) -> Iterator[str]:
    """For people: a headline, then each tier and job with what happened to it."""
    stands = [one.stands for one in row.jobs]
    needing = stands.count(NEEDS)
    yield (
        f"since {show_time(row.since_ms)}: {count_text(needing, 'job')}"
        f" need{'s' if needing == 1 else ''} you,"
        f" {stands.count(LOOK)} to look at, {stands.count(FINE)} changed, {row.quiet} quiet"
    )
    yield _headline(row.totals)
    for turn in row.tiers:
        name = f"tier {turn.tier}" if turn.tier else "containers"
        yield from ("", name, *_lines(_about_tier(turn)))
    for one in row.jobs:
        yield from ("", f"{one.job}  {one.stands}", *_lines(_about_job(one)))


def _headline(totals: Totals) -> str:
    """The three numbers, as every other list has them."""

    def share(name: str) -> str:
        found = getattr(totals, f"tasks_{name}")
        return f"{found.count} {name.replace('_', ' ')} ({found.percent:.1f} %)"

    parts = ", ".join(map(share, ("not_running", "lagging", "unhealthy")))
    return f"{totals.tasks_running} of {totals.tasks_wanted} tasks run: {parts}"


def _lines(told: Iterator[tuple[str, str]]) -> Iterator[str]:
    for name, text in told:
        yield f"  {name:<10}{cut(printable(text), TEXT_MAX)}"


def _about_job(row: JobDigest) -> Iterator[tuple[str, str]]:
    yield from _open(row.open)
    for name, one in (("held", row.quarantine), ("failed", row.failed)):
        if one:
            yield name, _dated(one)
    if row.waits_ms is not None:
        yield "waits", f"{show_time(row.waits_ms)} what is expected since then is not in effect"
    yield from _newest("scaling", row.scaling)
    yield from _newest("config", row.config)
    yield from _newest("rejected", row.rejected)
    yield from _newest("released", row.released)
    yield from _newest("cleared", row.cleared)
    if row.syncs:
        text = ", ".join(f"{count} {what}" for what, count in row.syncs.items())
        yield "plans", text


def _about_tier(row: TierDigest) -> Iterator[tuple[str, str]]:
    yield from _open(row.open)
    if row.moves or row.killed:
        parts = [f"{count} {reason}" for reason, count in row.moves.items()]
        parts += [f"{row.killed} killed"] if row.killed else []
        yield "moves", f"{sum(row.moves.values())}: {', '.join(parts)}"
    if row.plans:
        yield "plans", str(row.plans)
    yield from _newest("event", row.events)
    yield from _newest("cleared", row.cleared)


def _open(alerts: Iterable[OpenAlert]) -> Iterator[tuple[str, str]]:
    for one in alerts:
        yield "open", _dated(one)
        yield "", one.runbook


def _dated(event: DigestEvent) -> str:
    return f"{show_time(event.at_ms)} {event.text}"


def _newest(name: str, events: Sequence[DigestEvent]) -> Iterator[tuple[str, str]]:
    """The newest first: what was decided last holds."""
    for event in reversed(events[-SHOWN:]):
        yield name, _dated(event)
        yield from (("", f"  {line}") for line in _below(event))
    if len(events) > SHOWN:
        yield "", f"and {len(events) - SHOWN} before them; -o json tells all"


def _below(event: DigestEvent) -> Iterator[str]:
    """What is told of some events beside their sentence."""
    match event:
        case ScalingStep(tasks=None):
            yield "decided before the shift began"
        case ScalingStep():
            yield event.became or "no outcome yet"
        case ConfigStep(what="created" | "deleted"):
            return
        case ConfigStep():
            yield from map(str, event.differences)
            if event.more:
                yield f"and {event.more} more paths"
        case _:
            return
