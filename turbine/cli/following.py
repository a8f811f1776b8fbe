"""`log tail` and `subscribe outcomes`: records as they come, for people, programs and pipes."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import Streamed, check_job, chosen, open_log

if TYPE_CHECKING:
    from components.runtime.intake import Message
    from turbine.cli.moments import Moment
    from turbine.log import Log
    from turbine.subscribe import Outcome

Row = dict[str, Any]
JobName = Annotated[str | None, typer.Option("--job", metavar="NAME", help="Of this job only.")]

MARKERS = 3
"""A transaction takes an offset of its own for its end, and a look back must not count those."""


# --- log tail


def tail(
    context: typer.Context,
    *,
    topic: Annotated[
        list[str] | None,
        typer.Option("--topic", help="Repeatable; by default requests and decisions about jobs."),
    ] = None,
    job: JobName = None,
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, max=100_000)] = 20,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until Ctrl-C.")] = False,
    output: Streamed = "table",
) -> int:
    """Show the last records of the log.

    In the order in which the broker took them.
    """
    from turbine.cli.records import key_of, to_plain

    if job is not None:
        check_job(job)
    shorts = _topics(topic)
    log = open_log(context)
    ends = log.ends(log.places(shorts, key=job))
    partitions = max(log.counts.values())
    for message in _last(log, shorts, ends, job, lines):
        _show(to_plain(message, partitions), output)
    if follow:
        for message in _follow(log, ends):
            if job is None or key_of(message) == job:
                _show(to_plain(message, partitions), output)
    return Code.OK


def _topics(names: list[str] | None) -> list[str]:
    from components.runtime.reading import Unreadably
    from events.topics import JOURNAL
    from projections.jobs import INGRESS_TOPICS
    from turbine.log import topic_of

    if not names:
        return [*INGRESS_TOPICS, JOURNAL]
    try:
        return [topic_of(name) for name in names]
    except Unreadably as unknown:
        raise Failed(Code.USAGE, f"--topic: {unknown}") from None


def _last(
    log: Log, shorts: list[str], ends: dict[str, int], job: str | None, lines: int
) -> list[Message]:
    """The last ones, as many as are asked for. Of what came in the same millisecond, requests
    stand before what was decided about them."""
    from turbine.cli.records import key_of

    start = None if job else {at: max(0, end - MARKERS * lines) for at, end in ends.items()}
    kept: dict[str, deque[Message]] = {at: deque(maxlen=lines) for at in ends}
    for message in log.messages(shorts, start=start, end=ends, key=job):
        if job is None or key_of(message) == job:
            kept[message.place].append(message)
    order = {short: at for at, short in enumerate(shorts)}
    found = sorted(
        (message for queue in kept.values() for message in queue),
        key=lambda one: (one.at_ms, order[one.topic], one.partition, one.offset),
    )
    return found[-lines:] if lines else []


def _follow(log: Log, ends: Mapping[str, int]) -> Iterator[Message]:
    from components.runtime.reading import Follower

    follower = Follower(log.settings, ends, **{"isolation.level": "read_committed"})
    try:
        while True:
            yield from follower.poll(0.5)
    finally:
        follower.close()


def _show(row: Row, output: str) -> None:
    from events.strict_json import printable
    from turbine.cli.moments import show_time
    from turbine.cli.output import to_line, write
    from turbine.cli.summaries import summarise

    if output == "jsonl":
        write(to_line(row))
        return
    body = row.get("body")
    if "sentence" in row:
        said = f"{row['reason']}: {row['sentence']}"
    elif "bytes" in row:
        said = f"{row['bytes']} bytes"
    else:
        said = summarise(row["kind"], body)
    text = (
        f"{show_time(row['at_ms'])}  {row['position']:<28} {row['kind']:<20}"
        f" {row.get('key') or row.get('job') or '-':<16} {said}"
    )
    more = f"  {row['id']}" if output == "wide" and row.get("id") else ""
    write(printable(text) + more)


# --- subscribe outcomes

From = Annotated[
    str,
    typer.Option("--from", metavar="WHERE", help="latest, earliest, a time, or a position vector."),
]
Count = Annotated[int | None, typer.Option("--count", min=1, help="End after so many outcomes.")]
Execute = Annotated[
    str | None,
    typer.Option(
        "--exec", metavar="COMMAND", help="Run for each outcome, with its JSON on its input."
    ),
]


def outcomes(
    context: typer.Context,
    *,
    job: JobName = None,
    start: From = "latest",
    count: Count = None,
    execute: Execute = None,
    output: Streamed = "table",
) -> int:
    """Follow what is decided about jobs.

    Each outcome once, and in each job's order.
    """
    from turbine.subscribe import Subscriber

    if job is not None:
        check_job(job)
    command = None if execute is None else _command(execute)
    moment = _moment(start)
    settings = chosen(context).connected()
    subscriber = Subscriber(settings, start=_start(context, moment), job=job)
    done, left = dict(subscriber.positions), count
    try:
        while left is None or left > 0:
            for outcome in subscriber.poll(0.5)[:left]:
                if command is None:
                    _show_outcome(outcome, output)
                else:
                    _run(command, outcome, done)
                done[outcome.place] = outcome.offset + 1
                left = None if left is None else left - 1
    except KeyboardInterrupt:
        _tell_position(done)
        raise
    finally:
        subscriber.close()
    return Code.OK


def _moment(text: str) -> Moment | str:
    from turbine.cli.moments import now_ms, parse_moment

    return text if text in ("latest", "earliest") else parse_moment(text, now_ms(), "--from")


def _start(context: typer.Context, moment: Moment | str) -> Moment | str:
    """A position is compared with the log; a time is for the subscriber to find."""
    from events.topics import OUTCOMES
    from turbine.cli.moments import position_at

    if not isinstance(moment, dict):
        return moment
    return position_at(open_log(context), moment, [OUTCOMES], "--from")


def _command(text: str) -> list[str]:
    """A command line as arguments. There is no shell: what an outcome says is never a command."""
    try:
        command = shlex.split(text)
    except ValueError as bad:
        raise Failed(Code.USAGE, f"--exec: {bad} in {text!r}; close it") from None
    if not command or shutil.which(command[0]) is None:
        raise Failed(
            Code.USAGE,
            f"--exec: there is no program {' '.join(command[:1])}; name one that is on the PATH,"
            " or its path",
        )
    return command


def _run(command: list[str], outcome: Outcome, done: Mapping[str, int]) -> None:
    line = json.dumps(outcome.to_plain(), ensure_ascii=False) + "\n"
    ended = subprocess.run(command, input=line.encode(), check=False)  # noqa: S603 - the user's own command, and no shell
    if ended.returncode != 0:
        _tell_position(done)
        raise Failed(
            Code.FAILED,
            f"{command[0]} ended with {ended.returncode} for {outcome.kind} {outcome.id} at"
            f" {outcome.place}:{outcome.offset}; it comes again when you go on from before it",
        )


def _tell_position(done: Mapping[str, int]) -> None:
    from events.positions import format_vector
    from turbine.cli.output import tell

    tell(f"go on with --from {format_vector(done)}")


def _show_outcome(outcome: Outcome, output: str) -> None:
    _show(outcome.to_plain(), output)
