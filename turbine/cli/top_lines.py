"""How a frame of `turbine top` is laid out, and what its keys do. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from events.job_config.strict_json import printable
from events.sentences.words import count_text
from turbine.cli.columns import cut as shortened
from turbine.cli.columns import percent, span
from turbine.read.answers.alerts import Alert
from turbine.read.answers.fleet import SORTS, Fleet
from turbine.read.answers.lines import JobLine
from turbine.read.answers.tiers import Container
from turbine.read.filters import GRAMMAR, BadFilter, filter_of
from turbine.read.moments import show_time

BAD, WARN, GOOD, QUIET, HEAD = "bold red", "yellow", "green", "bright_black", "bold"
ALERTS_MOST, CONTAINERS_MOST = 5, 4
"""Lines of a small terminal; a tall one has more."""
SEVERITY_STYLES = {"critical": BAD, "warning": WARN, "info": ""}
STATE_STYLES = {
    "quarantined": BAD,
    "failing": BAD,
    "behind": WARN,
    "lagging": WARN,
    "syncing": "",
    "starting": "",
    "paused": QUIET,
}


class StyledText(NamedTuple):
    """Some text in one style."""

    text: str
    style: str = ""


Line = tuple[StyledText, ...]


class JobColumn(NamedTuple):
    """One column of the list of jobs."""

    title: str
    width: int
    cell: Callable[[JobLine], StyledText]
    right: bool = False


def layout(
    frame: Fleet,
    look: TopChoices,
    width: int,
    height: int | None,
    *,
    status: str = "",
    keys: bool = True,
) -> list[Line]:
    """The lines of a frame. Without a height all is shown, and nothing is cut."""
    lines = [*_numbers(frame, look, status)]
    foot = [_foot(look)] if keys else []
    below = [*_containers(frame, height)]
    # Alerts get what jobs leave, and in a small terminal a few lines anyway.
    taken = len(lines) + len(frame.jobs) + 2 + len(below) + 2 + len(foot)
    below += _alerts(frame, None if height is None else max(ALERTS_MOST, height - taken))
    room = None if height is None else height - len(lines) - len(below) - len(foot) - 1
    lines += _jobs(frame, look, width, room)
    lines += below
    if height is not None:
        lines += [()] * (height - len(lines) - len(foot))
    return [cut(line, width) if height is not None else line for line in lines + foot]


def cut(line: Line, width: int) -> Line:
    """What fits, with a mark where something does not."""
    found: list[StyledText] = []
    left = width
    for piece in line:
        if len(piece.text) > left:
            found.append(StyledText(piece.text[: max(0, left - 1)] + "…" * (left > 0), piece.style))
            break
        found.append(piece)
        left -= len(piece.text)
    return tuple(found)


# --- numbers


def _numbers(frame: Fleet, look: TopChoices, status: str) -> Iterable[Line]:
    totals, at_ms = frame.totals, now_of(frame)
    jobs = count_text(totals.jobs, "job")
    yield (
        StyledText("turbine top", HEAD),
        StyledText(f"  {show_time(at_ms)[:19]}Z" if at_ms else "  no tick yet"),
        StyledText(f"  {jobs}, {totals.tasks_running} of {totals.tasks_wanted} tasks run"),
        StyledText(f"  {status}" if status else "", QUIET),
    )
    parts: list[StyledText] = []
    for name, share, style in (
        ("not running", totals.tasks_not_running, BAD),
        ("lagging", totals.tasks_lagging, WARN),
        ("unhealthy", totals.tasks_unhealthy, BAD),
    ):
        text = f"{share.count}" + (f" ({share.percent:.1f} %)" if totals.tasks_wanted else "")
        parts += [
            StyledText(f"{name} "),
            StyledText(text, style if share.count else GOOD),
            StyledText("  "),
        ]
    if totals.tasks_unknown:
        parts.append(StyledText(f"{totals.tasks_unknown} untold  ", QUIET))
    yield tuple(parts)
    if look.query:
        hidden = f"   {frame.hidden} hidden" if status else ""  # of a fleet that goes on
        yield (StyledText(f"filter: {look.query}", HEAD), StyledText(hidden, QUIET))


# --- jobs


def _jobs(frame: Fleet, look: TopChoices, width: int, room: int | None) -> Iterable[Line]:
    columns = _columns(frame.jobs, width)
    yield ()
    yield _head(columns, look.sort)
    if not frame.jobs:
        yield (StyledText("no job matches" if look.query else "there are no jobs", QUIET),)
        return
    rows = frame.jobs
    if room is not None:
        count = max(1, room - 1)
        first = max(0, min(look.first, len(rows) - count))
        rows = rows[first : first + count]
    for one in rows:
        yield tuple(_padded(columns, [column.cell(one) for column in columns]))


def _columns(jobs: Sequence[JobLine], width: int) -> list[JobColumn]:
    """Names get what they need, up to a third of the line; the last word gets the rest."""
    longest = max((len(one.job) for one in jobs), default=3)
    name = max(3, min(longest, max(16, width // 3)))
    found = [
        JobColumn("JOB", name, lambda one: StyledText(shortened(one.job, name))),
        JobColumn("STATE", 11, lambda one: StyledText(one.state, STATE_STYLES.get(one.state, ""))),
        JobColumn("TASKS", 7, _tasks, right=True),
        JobColumn("LAG", 10, _lag, right=True),
        JobColumn(
            "RATE", 9, lambda one: StyledText(rate(one.rate_in) if one.tasks else "-"), right=True
        ),
    ]
    if width >= 120:
        found += [
            JobColumn("RECORDS LEFT", 12, _left, right=True),
            JobColumn("POLICY", 18, lambda one: StyledText(f"{one.policy}, {one.mode}")),
            JobColumn("TIER", 10, lambda one: StyledText(shortened(one.tier, 10))),
        ]
    found.append(JobColumn("LAST", 0, _last))
    return found


def _head(columns: Sequence[JobColumn], sort: str) -> Line:
    pieces = list(_padded(columns, [StyledText(column.title, HEAD) for column in columns]))
    return (*pieces, StyledText(f"   (by {sort})", QUIET))


def _padded(columns: Sequence[JobColumn], cells: Sequence[StyledText]) -> Iterable[StyledText]:
    for column, cell in zip(columns, cells, strict=True):
        text = cell.text.rjust(column.width) if column.right else cell.text.ljust(column.width)
        yield StyledText(text, cell.style)
        yield StyledText("  " if column.width else "")


def _tasks(one: JobLine) -> StyledText:
    style = BAD if one.unhealthy else WARN if one.not_running else ""
    return StyledText(f"{one.running}/{one.tasks}", style)


def _lag(one: JobLine) -> StyledText:
    if one.lag_seconds is None:
        return StyledText("?" if one.tasks else "-", QUIET)
    return StyledText(span(round(1000 * one.lag_seconds)), WARN if one.lagging else "")


def _left(one: JobLine) -> StyledText:
    return StyledText(many(one.lag_records) if one.tasks else "-")


def _last(one: JobLine) -> StyledText:
    """What needs somebody, else what the scaler said last."""
    if one.gravest is not None:
        more = f" and {one.alerts - 1} more" if one.alerts > 1 else ""
        style = SEVERITY_STYLES.get(one.gravest.severity, "")
        return StyledText(f"! {one.gravest.alert}{more}", style)
    if one.cause:
        return StyledText(printable(one.cause), WARN)
    count = sum(each.layer == "oncall" for each in one.overrides)
    held = f"oncall holds {count}" if count else ""
    return StyledText(", ".join(part for part in (held, one.last) if part), QUIET)


def many(number: float | None) -> str:
    """A count in four characters or so."""
    if number is None:
        return "?"
    for unit in ("", " k", " M", " G"):
        if abs(number) < 9999.5 or unit == " G":
            break
        number /= 1000
    return f"{number:.0f}{unit}"


def rate(per_s: float | None) -> str:
    """A rate in records a second, for people."""
    return "?" if per_s is None else f"{many(per_s)}/s"


# --- what stands below


def _containers(frame: Fleet, height: int | None) -> Iterable[Line]:
    """Each tier with its own; those that do not just run, and the fullest of all, if not all."""
    most = len(frame.containers) if height is None else max(CONTAINERS_MOST, height // 6)
    shown = frame.containers[:most]
    for tier in frame.tiers:
        shards = ", ".join(f"{count} {stage}" for stage, count in tier.shards.items())
        word = f"   capacity {tier.state}" if tier.state else ""
        yield ()
        yield (
            StyledText(f"TIER {tier.tier}", HEAD),
            StyledText(f"   shards: {shards or 'none'}{word}"),
        )
        yield from (_container(one) for one in shown if one.tier == tier.tier)
    if len(frame.containers) > most:
        yield (StyledText(f"  and {len(frame.containers) - most} that are less full", QUIET),)


def _container(one: Container) -> Line:
    return (
        StyledText(f"  {one.container:<20}"),
        StyledText(f"{one.state:<10}", "" if one.state == "serving" else WARN),
        StyledText(f"{one.shards:>4} shards  "),
        StyledText("  ".join(_used(one))),
    )


NAMES = {"cpu_cores": "cpu", "memory_bytes": "memory", "disk_bytes": "disk"}


def _used(one: Container) -> Iterable[str]:
    for resource, load in one.load.items():
        if resource in NAMES and load.share is not None:
            yield f"{NAMES[resource]} {percent(load.share)}"


def _alerts(frame: Fleet, room: int | None) -> Iterable[Line]:
    if not frame.alerts:
        return
    count = len(frame.alerts)
    most = count if room is None or count <= room else room - 1
    yield ()
    yield (StyledText(f"ALERTS {count}", HEAD),)
    for one in frame.alerts[:most]:
        yield _alert(frame, one)
    if count > most:
        yield (StyledText(f"  and {count - most} more", QUIET),)


def _alert(frame: Fleet, one: Alert) -> Line:
    return (
        StyledText(f"  {one.severity:<9}", SEVERITY_STYLES.get(one.severity, "")),
        StyledText(f"{ago(now_of(frame) - one.since_ms):>6}  ", QUIET),
        StyledText(f"{one.alert:<19}  {one.subject}  "),
        StyledText(printable(one.cause), QUIET),
    )


def now_of(frame: Fleet) -> int:
    """The log's own time, or of one without ticks its last record's."""
    return frame.now_ms or frame.at_ms


def ago(span_ms: int) -> str:
    """How long, to the largest unit: who looks every second does not want to see seconds run."""
    seconds = max(0, span_ms) // 1000
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length or (unit == "min" and seconds >= length):
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _foot(look: TopChoices) -> Line:
    if look.typing is not None:
        hint = look.trouble or f"{GRAMMAR}; Enter, Esc"
        return (
            StyledText(f"/{look.typing}", HEAD),
            StyledText("▏"),
            StyledText(f"  {hint}", WARN if look.trouble else QUIET),
        )
    return (StyledText("q quit   s sort   / filter   Esc all   arrows, PgUp, PgDn, g, G", QUIET),)


class TopChoices(NamedTuple):
    """What the person at the keys wants to see."""

    sort: str = SORTS[0]
    query: str = ""
    typing: str | None = None  # a filter that is being typed
    first: int = 0  # of the jobs that are shown
    over: bool = False
    trouble: str = ""  # with what was typed


STEPS = {"up": -1, "k": -1, "down": 1, "j": 1, "page-up": -10, "page-down": 10, " ": 10}
LENGTH_MAX = 200


def pressed(look: TopChoices, key: str, jobs: int) -> TopChoices:
    """After a key; one that means nothing changes nothing. `jobs` is how many there are."""
    if look.typing is not None:
        return _typed(look, look.typing, key)
    match key:
        case "q":
            return look._replace(over=True)
        case "s":
            sort = SORTS[(SORTS.index(look.sort) + 1) % len(SORTS)]
            return look._replace(sort=sort, first=0)
        case "/":
            return look._replace(typing=look.query, trouble="")
        case "escape":
            return look._replace(query="", first=0, trouble="")
        case "g" | "home":
            return look._replace(first=0)
        case "G" | "end":
            return look._replace(first=max(0, jobs - 1))
        case _ if key in STEPS:
            return look._replace(first=min(max(0, look.first + STEPS[key]), max(0, jobs - 1)))
        case _:
            return look


def _typed(look: TopChoices, text: str, key: str) -> TopChoices:
    match key:
        case "enter":
            try:
                filter_of(text)
            except BadFilter as bad:
                return look._replace(trouble=str(bad))
            return look._replace(query=text.strip(), typing=None, first=0, trouble="")
        case "escape":
            return look._replace(typing=None, trouble="")
        case "backspace":
            return look._replace(typing=text[:-1], trouble="")
        case _ if len(key) == 1 and key.isprintable() and len(text) < LENGTH_MAX:
            return look._replace(typing=text + key, trouble="")
        case _:
            return look
