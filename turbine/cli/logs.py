"""`log stats`: the log as a whole; `schema`: what its records are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Any

from typer import Argument, Context

from components.runtime.kafka.intake import Message
from events.topics import BY_SHORT, JOURNAL
from events.wire.avsc import read_schemas
from events.wire.codec import Read
from events.wire.lock import Version, newest_of, read_lock, update
from turbine.cli.columns import columns
from turbine.cli.options import At, Listed, open_log
from turbine.cli.output import show_rows, write
from turbine.failures import Code, Failed
from turbine.read.moments import given_moment
from turbine.read.plain import JsonObject
from turbine.read.records import read_or_letter
from turbine.read.sources.log import Log
from turbine.read.state.instants import position_at

# --- log stats


@dataclass(slots=True)
class TopicTally:
    """What is counted of one topic."""

    kinds: Counter[str] = field(default_factory=Counter)
    first_ms: int = 0
    last_ms: int = 0

    def count(self, kind: str, at_ms: int) -> None:
        """One record more."""
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
