"""`logs`: what is wrong with a task: where it is, how it failed, and what it printed."""

from __future__ import annotations

import time  # noqa: TID251 - a person's patience is real time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Context, Option

from components.runtime.kafka.intake import DeadLetter, take_in
from components.shard_manager.decide import component
from events.generated.records import ContainerStarted
from events.job_config.strict_json import printable
from events.topics import JOURNAL, TASKS
from projections.fleet import TierFleet
from projections.syncs import Sync
from turbine.cli.columns import listed
from turbine.cli.options import check_job, chosen, open_log
from turbine.cli.output import facts, tell, to_line, write
from turbine.cli.reading import existing_sync, names_in
from turbine.failures import Code, Failed
from turbine.ops.lines_asked import Far, started_of
from turbine.ops.task_lines import TaskLineReader
from turbine.read.answers.task_words import TaskWords, tasks_now, tier_of, word_of
from turbine.read.moments import parse_span, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import SYNC_TOPICS, Log
from turbine.read.state.headline import size_of
from turbine.read.state.running import Sightings
from turbine_client.errors import BadRequest
from turbine_client.reading import Follower

WORDS_OF_ONE, WORDS_OF_MANY = 10, 2
"""Starts, stops and failures of a task that are shown: of one that is named, of each of a job's."""
LINES_OF_ONE, LINES_OF_MANY = 20, 5
"""Of what it printed, the same."""
TITLES = "TASK=name, STATE, SINCE=since_ms:time, CONTAINER, SHARD, GENERATION, ATTEMPT, LAST ERROR"
LOOK_S = 0.5
TASK_DIGITS = 9
"""Of a task's index; no job has so many tasks."""
NAMES_MOST = 5


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A task, or all of a job's, and where to look for what they said."""

    job: str
    task: int | None
    log: Log
    reader: TaskLineReader
    where: Path


def logs(
    context: Context,
    name: Annotated[str, Argument(metavar="TASK", help="JOB/INDEX, or JOB for all of its tasks.")],
    *,
    lines: Annotated[int | None, Option(min=0, max=100_000)] = None,
    follow: bool = False,
    timeout: str | None = None,
    directory: Path | None = None,
    output: Literal["table", "json", "jsonl"] = "table",
) -> int:
    """Show what is wrong with a task: where it is, how it failed, what it printed.

    The newest last. What it printed is read from files of containers on this machine, and asked of
    containers that are elsewhere.

    -n, --lines: So many of what each task printed; by default 20, or 5 where there are several.
    -f, --follow: Go on until Ctrl-C.
    --timeout SPAN: Follow for so long.
    --directory: Of the fleet, or of one container; by default ours.
    -o, --output: json and jsonl are one JSON object a line.
    """
    job, task = task_of(name)
    if timeout is not None and not follow:
        raise BadRequest("--timeout is how long to follow; add --follow")
    wait_s = None if timeout is None else parse_span(timeout, "--timeout") / 1000
    where = directory or chosen(context).settings().directory
    if directory is not None and not directory.is_dir():
        raise BadRequest(f"--directory: there is no {directory}; name a fleet's directory")
    asked = LogQuery(job, task, open_log(context), TaskLineReader(where, job, task), where)
    show = partial(_show, output, many=task is None)
    usual = LINES_OF_MANY if task is None else LINES_OF_ONE
    ends, far = _show_what_is(asked, usual if lines is None else lines, show)
    for row in _follow(asked, far, ends, wait_s) if follow else ():
        show([row])
    return Code.OK


def task_of(name: str) -> tuple[str, int | None]:
    """A job and the index of a task, or None for all of its tasks."""
    job, slash, index = name.partition("/")
    check_job(job)
    if not slash:
        return job, None
    if not (index.isascii() and index.isdigit() and len(index) <= TASK_DIGITS):
        raise BadRequest(f"{name!r} is no task; after the slash stands its index, such as {job}/0")
    return job, int(index)


# --- what there is


def _show_what_is(
    asked: LogQuery, lines: int, show: Callable[[list[JsonObject]], None]
) -> tuple[dict[str, int], Far]:
    """All but what is to come; the position from which that follows, and who is asked for it."""
    log, job, task = asked.log, asked.job, asked.task
    topics = [topic for topic in SYNC_TOPICS if topic in log.counts]
    ends = log.ends(log.places(topics, key=job))
    sightings, words = Sightings(), TaskWords(task)

    def observe(*told: Any) -> None:
        sightings(*told)
        words(*told)

    sync = existing_sync(
        log.syncs(job=job, end=ends, observer=observe), job, None, lambda: names_in(log)
    )
    fleet = _fleet(log, tier_of(sync)[0])
    rows = list(tasks_now(sync, sightings, fleet, words, task))
    lives = _elsewhere(asked, fleet, rows)
    far = Far(
        job, {row["task"]: lives[row["container"]] for row in rows if row["container"] in lives}
    )
    said = [one.to_plain() for one in [*asked.reader.read(lines), *far.read(lines)]]
    if task is not None and not rows and not said:
        raise Failed(Code.NOT_FOUND, _no_task(sync, task))
    shown = WORDS_OF_MANY if task is None else WORDS_OF_ONE
    told = [row for at in sorted(words.tasks) for row in words.of(at)[-shown:]]
    show([*rows, *sorted([*told, *said], key=lambda row: row["at_ms"])])
    if not rows and task is None:
        tell(f"{job} has no tasks now; `turbine describe job {job}` tells why")
    for reason, names in _unheard(asked, fleet, rows, far, lives).items():
        more = f" and {len(names) - NAMES_MOST} more" if len(names) > NAMES_MOST else ""
        tell(f"{', '.join(names[:NAMES_MOST])}{more}: {reason}")
    return ends, far


def _elsewhere(
    asked: LogQuery, fleet: TierFleet | None, rows: Iterable[JsonObject]
) -> dict[str, ContainerStarted]:
    """The containers that have tasks and are not here, by what they said of themselves."""
    if fleet is None:
        return {}
    names = {row["container"] for row in rows} - {None} - set(asked.reader.places)
    found = {name: started_of(asked.log, fleet, name) for name in sorted(names)}
    return {name: one for name, one in found.items() if one is not None}


def _fleet(log: Log, tier: str) -> TierFleet | None:
    """The tier of the job; None where there is none to be read."""
    if not component.inputs <= set(log.counts):
        return None
    row = log.fleet(tier)
    return row if row is not None and row.defined else None


def _no_task(sync: Sync, task: int) -> str:
    count = max(size_of(sync), 0 if sync.listed is None else sync.listed.tasks)
    if not count:
        return (
            f"{sync.name} has no task {task}: none of its tasks is to run now;"
            f" `turbine describe job {sync.name}` tells why"
        )
    last = "" if count == 1 else f" to {sync.name}/{count - 1}"
    return f"{sync.name} has no task {task}; it has {count}, {sync.name}/0{last}"


def _unheard(
    asked: LogQuery,
    fleet: TierFleet | None,
    rows: Iterable[JsonObject],
    far: Far,
    lives: dict[str, ContainerStarted],
) -> dict[str, list[str]]:
    """Why tasks have no lines here, and what to do, with the names of those of which it is so."""
    found: dict[str, list[str]] = {}
    for row in rows:
        container, task = row["container"], row["task"]
        if container is None:
            reason = _not_yet(row, fleet)
        elif asked.reader.heard(container, task) or task in far.heard:
            continue
        elif container in asked.reader.places or task in far.answered:
            reason = f"has printed nothing in {container}"
        else:
            reason = _not_here(asked, container, lives.get(container), far)
        found.setdefault(reason, []).append(row["name"])
    return found


def _not_yet(row: JsonObject, fleet: TierFleet | None) -> str:
    """Why a task has not run under its generation."""
    tier, shard = row["tier"], row["shard"]
    if fleet is None:
        return f"has not run yet, for there is no tier {tier}; see `turbine tier create --help`"
    if shard is None:
        return (
            f"has not run yet, for tier {tier} has none of its allowed_regions; it has"
            f" {', '.join(fleet.regions)}"
        )
    held = f" by {row['shard_container']}" if row["shard_container"] else ""
    return (
        f"has not run yet; its shard is {row['shard_stage']}{held}:"
        f" `turbine why shard {shard} --tier {tier}` tells more"
    )


def _not_here(asked: LogQuery, container: str, started: ContainerStarted | None, far: Far) -> str:
    """Where the output is that is neither here nor to be asked for."""
    host = "a host that nobody knows" if started is None or not started.host else started.host
    there = "run `turbine logs` there, or name the fleet's directory with --directory"
    return (
        f"what it prints is with container {container} on {host}, and not in {asked.where};"
        f" {far.silent.get(container, there)}"
    )


# --- what comes


def _follow(
    asked: LogQuery, far: Far, ends: dict[str, int], wait_s: float | None
) -> Iterator[JsonObject]:
    """New words and new lines, until the time is over."""
    limit_s = None if wait_s is None else time.monotonic() + wait_s
    start = {at: end for at, end in ends.items() if at.startswith(f"{TASKS}/")}
    follower = Follower(asked.log.settings, start)
    try:
        while limit_s is None or time.monotonic() < limit_s:
            rows = [one.to_plain() for one in [*asked.reader.read(), *far.read()]]
            for message in follower.poll(LOOK_S):
                read = take_in(message, asked.log.counts[JOURNAL], None)
                if isinstance(read, DeadLetter) or read.record.key != asked.job:
                    continue
                row = word_of(read, asked.task)
                rows += [row] if row is not None else []
            yield from sorted(rows, key=lambda row: row["at_ms"])
    finally:
        follower.close()


# --- for people


def _show(output: str, rows: list[JsonObject], *, many: bool) -> None:
    tasks = [row for row in rows if row["kind"] == "task" and output == "table"]
    if tasks:
        write((listed(tasks, TITLES, {"LAST ERROR": _error}) if many else _facts(tasks[0])) + "\n")
    if tasks and not many and not any(row["kind"] == "line" for row in rows):
        write(_traceback(tasks[0]))
    for row in rows:
        if output != "table":
            write(to_line(row))
        elif row["kind"] != "task":
            write(_line(row, many=many))


def _facts(row: JsonObject) -> str:
    attempt = f", attempt {row['attempt']}" if row["attempt"] else ""
    since = f", since {show_time(row['since_ms'])}" if row["since_ms"] is not None else ""
    generation, error = row["generation"], row["last_error"]
    at = None if generation is None else f"{generation}, shard {row['shard_generation']}"
    told = error and f"{show_time(error['at_ms'])} {' '.join(_words(error))}"
    ended = row["state"] in ("stopped", "stopping", "gone") and row["cause"]
    return facts(
        [
            ("task", row["name"]),
            ("state", f"{row['state']}{f' by {ended}' if ended else ''}{attempt}{since}"),
            ("container", row["container"]),
            ("shard", _shard(row)),
            ("generation", at),
            ("last error", told),
        ]
    )


def _traceback(row: JsonObject) -> str:
    """Of its last error, from the log: what it printed itself is not to be had."""
    trace = (row["last_error"] or {}).get("traceback", "")
    return "".join(f"    {printable(line)}\n" for line in trace.split("\n")) if trace else ""


def _shard(row: JsonObject) -> str:
    if row["shard"] is None:
        return ""
    held = f" on {row['shard_container']}" if row["shard_container"] else ""
    return f"{row['shard']} of tier {row['tier']}, {row['shard_stage']}{held}"


def _error(row: JsonObject) -> str | None:
    """As much of it as a table has room for."""
    error = row["last_error"]
    return error and f"{show_time(error['at_ms'])} {error['error_class'] or error['cause']}"


def _line(row: JsonObject, *, many: bool) -> str:
    whose = f"{row['name']}  " if many else ""
    if row["kind"] == "line":
        word, text = row["stream"], row["text"].rstrip("\r").expandtabs(4)
    else:
        word, text = row["kind"].removeprefix("Task").lower(), " ".join(_words(row))
    return f"{show_time(row['at_ms'])}  {whose}{word:<7} {printable(text)}".rstrip()


def _words(row: JsonObject) -> Iterable[str]:
    """What a word of the log says, in words."""
    attempt = f", attempt {row['attempt']}" if "attempt" in row else ""
    yield f"in {row['container']}{attempt}"
    if row.get("cause"):
        error = row.get("error_class", "")
        known = "" if error in row.get("explanation", "") else f" ({error})"
        yield f"by {row['cause']}{known}"
    if row.get("explanation"):
        yield f"- {' '.join(row['explanation'].split())}"
    if "retry_ms" in row:
        again = row["retry_ms"]
        yield "- " + ("not tried again" if again is None else f"again at {show_time(again)}")
