"""`log tail`: records as they come, for people, programs and pipes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Annotated

from typer import Context, Option

from components.runtime.kafka.intake import Message
from events.job_config.strict_json import printable
from events.topics import JOURNAL
from projections.jobs import INGRESS_TOPICS
from turbine.cli.options import At, Streamed, check_jobs, chosen, open_log
from turbine.cli.output import to_line, write
from turbine.failures import Code, named
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject
from turbine.read.records import key_of, to_plain
from turbine.read.sources.log import Log
from turbine.read.sources.source import topic_of
from turbine.read.state.instants import log_at
from turbine_client.errors import BadRequest
from turbine_client.reading import Follower

MARKERS = 3
"""A transaction takes an offset of its own for its end, and a look back must not count those."""


def tail(
    context: Context,
    *,
    topic: list[str] | None = None,
    job: str | None = None,
    lines: Annotated[int, Option("-n", "--lines", min=0, max=100_000)] = 20,
    follow: bool = False,
    at: At = None,
    output: Streamed = "table",
) -> int:
    """Show the last records of the log.

    In the order in which the broker took them.

    --topic: Repeatable; by default requests and decisions about jobs.
    --job NAME: Of this job only.
    -f, --follow: Go on until Ctrl-C.
    """
    check_jobs(job)
    if follow and at is not None:
        raise BadRequest("what was at --at has no more to follow; leave one of them out")
    shorts, moment = _topics(topic, chosen(context).prefix), given_moment(at)
    log = log_at(open_log(context), moment)
    if follow:
        _ = log.settings  # a file has no more to follow either, and is refused before it is shown
    ends = log.ends(log.places(shorts, key=job))
    partitions = max(log.counts.values())
    for message in _last(log, shorts, ends, job, lines):
        show(to_plain(message, partitions), output)
    if follow:
        for message in _follow(log, ends):
            if job is None or key_of(message) == job:
                show(to_plain(message, partitions), output)
    return Code.OK


def _topics(names: list[str] | None, prefix: str) -> list[str]:
    if not names:
        return [*INGRESS_TOPICS, JOURNAL]
    with named("--topic"):
        return [topic_of(name, prefix) for name in names]


def _last(
    log: Log, shorts: list[str], ends: dict[str, int], job: str | None, lines: int
) -> list[Message]:
    """The last ones, as many as are asked for. Of what came in the same millisecond, requests
    stand before what was decided about them."""
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
    follower = Follower(log.settings, ends, **{"isolation.level": "read_committed"})
    try:
        while True:
            yield from follower.poll(0.5)
    finally:
        follower.close()


def show(row: JsonObject, output: str) -> None:
    """One record in a line, as a table has it or as JSON."""
    if output == "jsonl":
        write(to_line(row))
        return
    if "sentence" in row:
        said = f"{row['reason']}: {row['sentence']}"
    elif "bytes" in row:
        said = f"{row['bytes']} bytes"
    else:
        said = row["summary"]
    text = (
        f"{show_time(row['at_ms'])}  {row['position']:<28} {row['kind']:<20}"
        f" {row.get('key') or row.get('job') or '-':<16} {said}"
    )
    more = f"  {row['id']}" if output == "wide" and row.get("id") else ""
    write(printable(text) + more)
