"""`log tail` and `log stats`: the records of the log; `schema`: what they are."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Any

from typer import Argument, Context, Option

from components.runtime.kafka.intake import Message
from events.job_config.strict_json import printable
from events.topics import BY_SHORT, JOURNAL
from events.wire.avsc import read_schemas
from events.wire.codec import Read
from events.wire.lock import Version, newest_of, read_lock, update
from projections.jobs import INGRESS_TOPICS
from turbine.cli.columns import columns
from turbine.cli.options import At, Listed, Streamed, check_jobs, chosen, open_log
from turbine.cli.output import show_rows, to_line, write
from turbine.failures import Code, Failed, named
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject
from turbine.read.records import key_of, read_or_letter, to_plain
from turbine.read.sources.log import Log
from turbine.read.sources.source import topic_of
from turbine.read.state.instants import log_at, position_at
from turbine_client.errors import BadRequest
from turbine_client.reading import Follower

# --- log stats


@dataclass(slots=True)
class TopicTally:
    """What is counted of one topic."""

    kinds: Counter[str] = field(default_factory=Counter)
    first_ms: int = 0
    last_ms: int = 0

    def count(self, kind: str, at_ms: int) -> None:
        """Counts one record more of a kind."""
        self.kinds[kind] += 1
        self.first_ms = min(self.first_ms or at_ms, at_ms)
        self.last_ms = max(self.last_ms, at_ms)


def stats(context: Context, *, at: At = None, output: Listed = "table") -> int:
    """Count the records of each topic.

    By kind, with their times, and how many decisions stand or are void.
    """
    moment = given_moment(at)
    log = open_log(context)
    if moment is None:
        end = log.ends(log.places(log.counts))
    else:
        end = position_at(log, moment, log.counts)
    tallies = _tallies(log, log.messages(log.counts, end=end))
    stands = Counter(one.stands for one in log.decisions(end=end, kinds=frozenset()))
    return show_rows(_stat_rows(log, tallies, stands), output, _columns(), name="topic")


def _tallies(log: Log, messages: Iterable[Message]) -> dict[str, TopicTally]:
    tallies = {short: TopicTally() for short in BY_SHORT if short in log.counts}
    none: frozenset[str] = frozenset()
    for message in messages:
        found = read_or_letter(message, log.counts[JOURNAL], none)
        if found is None:
            kind = str(BY_SHORT[message.topic].kind)
        else:
            kind = found.record.kind if isinstance(found, Read) else "unreadable"
        tallies[message.topic].count(kind, message.at_ms)
    return tallies


def _stat_rows(log: Log, tallies: dict[str, TopicTally], stands: Counter[bool]) -> list[JsonObject]:
    rows: list[JsonObject] = []
    for short, tally in tallies.items():
        decisions = {"standing": stands[True], "void": stands[False]} if short == JOURNAL else {}
        rows.append(
            {
                "topic": short,
                "partitions": log.counts[short],
                "records": tally.kinds.total(),
                "kinds": dict(sorted(tally.kinds.items())),
                **decisions,
                "first_ms": tally.first_ms or None,
                "last_ms": tally.last_ms or None,
            }
        )
    return rows


def _columns() -> list[Any]:
    def kinds(row: JsonObject) -> str:
        return ", ".join(f"{kind} {count}" for kind, count in row["kinds"].items())

    return columns(
        "TOPIC, PARTITIONS, RECORDS, STANDING=standing?, VOID=void?,"
        " FIRST=first_ms:time, LAST=last_ms:time, KINDS",
        {"KINDS": kinds},
    )


# --- schema


def list_schemas(context: Context, *, output: Listed = "table") -> int:
    """List the schemas, with the ids in messages."""
    del context
    rows = [
        {"id": one.id, "name": one.name, "released": one.released, "urn": one.urn}
        for one in read_lock()
    ]
    return show_rows(rows, output, columns("ID, NAME, RELEASED, *URN"))


def show_schema(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME|ID", help="Of a record, or of its schema.")],
) -> int:
    """Print a schema as Avro's JSON.

    The newest of a record, or that of an id.
    """
    del context
    versions = read_lock()
    found = newest_of(versions).get(name)
    if found is None and name.isdigit():
        found = next((one for one in versions if one.id == int(name)), None)
    if found is None:
        close = get_close_matches(name, [one.name for one in versions], 1)
        raise Failed(
            Code.NOT_FOUND,
            f"there is no schema {name}{f', perhaps {close[0]}' if close else ''};"
            " `turbine schema list` names all",
        )
    write(json.dumps(found.schema, indent=2, ensure_ascii=False))
    return Code.OK


def check_schemas(context: Context) -> int:
    """Check that every schema is kept for ever.

    The lock file has to hold each version, so that all that was said can be read.
    """
    del context
    versions = read_lock()
    missing = missing_versions(versions)
    for one in missing:
        write(f"{one.name}: the lock file lacks this version; run `python -m events.wire.lock`")
    if not missing:
        write(f"{len(versions)} versions of {len({one.name for one in versions})} schemas are kept")
    return Code.FINDINGS if missing else Code.OK


def missing_versions(versions: list[Version]) -> list[Version]:
    """What the schemas of this build would add to these versions, or replace in them."""
    there = {one.id: one for one in versions}
    return [one for one in update(versions, read_schemas()) if there.get(one.id) != one]


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
