"""`log stats`, `log export` and `audit`: the log as a whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from turbine.cli.failures import Code, Failed
from turbine.cli.options import At, Listed, open_log

if TYPE_CHECKING:
    from components.runtime.intake import Message
    from components.runtime.replay import Finding
    from events.lock import Version
    from turbine.log import Log

Row = dict[str, Any]

FORMAT = "turbine-log/1"


# --- log stats


@dataclass(slots=True)
class Tally:
    """What is counted of one topic."""

    kinds: Counter[str] = field(default_factory=Counter)
    first_ms: int = 0
    last_ms: int = 0

    def count(self, kind: str, at_ms: int) -> None:
        """One record more."""
        self.kinds[kind] += 1
        self.first_ms = min(self.first_ms or at_ms, at_ms)
        self.last_ms = max(self.last_ms, at_ms)


def stats(context: typer.Context, *, at: At = None, output: Listed = "table") -> int:
    """Count the records of each topic.

    By kind, with their times, and how many decisions stand or are void.
    """
    from turbine.cli.moments import given_moment, position_at
    from turbine.cli.output import show_rows

    moment = given_moment(at)
    log = open_log(context)
    if moment is None:
        end = log.ends(log.places(log.counts))
    else:
        end = position_at(log, moment, log.counts)
    tallies = _tallies(log, log.messages(log.counts, end=end))
    stands = Counter(one.stands for one in log.decisions(end=end, kinds=frozenset()))
    show_rows(_stat_rows(log, tallies, stands), output, _columns(), name="topic")
    return Code.OK


def _tallies(log: Log, messages: Iterable[Message]) -> dict[str, Tally]:
    from events.codec import Read
    from events.topics import BY_SHORT, JOURNAL
    from turbine.cli.records import read_or_letter

    tallies = {short: Tally() for short in BY_SHORT if short in log.counts}
    none: frozenset[str] = frozenset()
    for message in messages:
        found = read_or_letter(message, log.counts[JOURNAL], none)
        if found is None:
            kind = str(BY_SHORT[message.topic].kind)
        else:
            kind = found.record.kind if isinstance(found, Read) else "unreadable"
        tallies[message.topic].count(kind, message.at_ms)
    return tallies


def _stat_rows(log: Log, tallies: dict[str, Tally], stands: Counter[bool]) -> list[Row]:
    from events.topics import JOURNAL

    rows: list[Row] = []
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
    from turbine.cli.moments import show_time
    from turbine.cli.output import Column

    def kinds(row: Row) -> str:
        return ", ".join(f"{kind} {count}" for kind, count in row["kinds"].items())

    return [
        Column("TOPIC", lambda row: row["topic"]),
        Column("PARTITIONS", lambda row: row["partitions"]),
        Column("RECORDS", lambda row: row["records"]),
        Column("STANDING", lambda row: row.get("standing")),
        Column("VOID", lambda row: row.get("void")),
        Column("FIRST", lambda row: show_time(row["first_ms"])),
        Column("LAST", lambda row: show_time(row["last_ms"])),
        Column("KINDS", kinds),
    ]


# --- log export


def export(
    context: typer.Context,
    *,
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="A new file; - for output.")],
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME|POSITION", help="From there on.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME|POSITION", help="Up to there.")
    ] = None,
) -> int:
    """Write the log as JSON lines.

    One line about the export, then one for each record with its bytes. Kept rows are left out:
    they are made from the log, which is the truth.
    """
    from turbine.cli.moments import given_moment, position_at
    from turbine.cli.output import tell, write

    first, last = given_moment(start, "--from"), given_moment(end, "--to")
    log = open_log(context)
    topics = _exported(log)
    to = log.ends(log.places(topics)) if last is None else position_at(log, last, topics, "--to")
    since = {} if first is None else position_at(log, first, topics, "--from")
    lines = _lines(log, topics, since, to)
    if out == "-":
        for line in lines:
            write(line)
        return Code.OK
    count = _write(Path(out), lines)
    tell(f"{count - 1} records of {len(topics)} topics written to {out}")
    return Code.OK


def _exported(log: Log) -> list[str]:
    from events.topics import BY_SHORT

    return [short for short in BY_SHORT if short in log.counts and BY_SHORT[short].kind != "rows"]


def _lines(log: Log, topics: list[str], since: dict[str, int], to: dict[str, int]) -> Iterator[str]:
    from events.positions import format_vector
    from events.topics import JOURNAL
    from turbine.cli.output import to_line
    from turbine.cli.records import to_export

    yield to_line(
        {
            "format": FORMAT,
            "topics": {short: log.counts[short] for short in topics},
            "from": format_vector(since),
            "to": format_vector(to),
        }
    )
    for message in log.messages(topics, start=since, end=to):
        yield to_line(to_export(message, log.counts[JOURNAL]))


def _write(path: Path, lines: Iterator[str]) -> int:
    """Whole or not there: an export that ends half-way must not look like a log."""
    if path.exists():
        raise Failed(Code.USAGE, f"{path} is there already; name a new file, or remove it")
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with part.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        part.replace(path)
    except OSError as error:
        raise Failed(
            Code.FAILED, f"{path} cannot be written ({error.strerror}); name another file"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return count


# --- audit

VERDICTS = ("same", "differs", "impossible", "not checkable")


def audit(
    context: typer.Context,
    *,
    output: Annotated[
        Literal["table", "json", "yaml"], typer.Option("-o", "--output", help="Form of the output.")
    ] = "table",
) -> int:
    """Make every decision again, and compare.

    From its evidence and byte by byte. Exit code 5 where one comes out otherwise. What claims to
    have known the future is impossible, and void; what a logic made that this build does not have
    is not checkable.
    """
    from turbine.cli.output import show_value, table_text, write
    from turbine.log import AUDITED

    log = open_log(context)
    counts = {one.name: Counter[str]() for one in AUDITED}
    found: list[Row] = []
    for finding in log.audit():
        counts[finding.component][finding.verdict] += 1
        if finding.verdict == "differs":
            found.append(_difference(finding))
    rows = [
        {"component": name, **{verdict.replace(" ", "_"): count[verdict] for verdict in VERDICTS}}
        for name, count in counts.items()
    ]
    if output == "table":
        for one in found:
            write(f"{one['position']} {one['kind']} {one['id']}: {one['sentence']}")
        write(table_text(rows, _audit_columns()))
    else:
        show_value({"components": rows, "differences": found}, output)
    return Code.FINDINGS if found else Code.OK


def _difference(finding: Finding) -> Row:
    read, record = finding.read, finding.read.record
    return {
        "position": f"{read.place}:{read.offset}",
        "component": finding.component,
        "job": record.key,
        "kind": record.kind,
        "id": record.id,
        "sentence": finding.sentence,
    }


def _audit_columns() -> list[Any]:
    from turbine.cli.output import Column

    return [
        Column("COMPONENT", lambda row: row["component"]),
        Column("SAME", lambda row: row["same"]),
        Column("DIFFERS", lambda row: row["differs"]),
        Column("IMPOSSIBLE", lambda row: row["impossible"]),
        Column("NOT CHECKABLE", lambda row: row["not_checkable"]),
    ]


# --- schema


def list_schemas(context: typer.Context, *, output: Listed = "table") -> int:
    """List the schemas, with the ids in messages."""
    from events.lock import read_lock
    from turbine.cli.output import Column, show_rows

    del context
    rows = [
        {"id": one.id, "name": one.name, "released": one.released, "urn": one.urn}
        for one in read_lock()
    ]
    columns = [
        Column("ID", lambda row: row["id"]),
        Column("NAME", lambda row: row["name"]),
        Column("RELEASED", lambda row: row["released"]),
        Column("URN", lambda row: row["urn"], wide=True),
    ]
    show_rows(rows, output, columns)
    return Code.OK


def show_schema(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME|ID", help="Of a record, or of its schema.")],
) -> int:
    """Print a schema as Avro's JSON.

    The newest of a record, or that of an id.
    """
    from difflib import get_close_matches

    from events.lock import newest_of, read_lock
    from turbine.cli.output import write

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


def check_schemas(context: typer.Context) -> int:
    """Check that every schema is kept for ever.

    The lock file has to hold each version, so that all that was said can be read.
    """
    from events.lock import read_lock
    from turbine.cli.output import write

    del context
    versions = read_lock()
    missing = missing_versions(versions)
    for one in missing:
        write(f"{one.name}: the lock file lacks this version; run `python -m events.lock`")
    if not missing:
        write(f"{len(versions)} versions of {len({one.name for one in versions})} schemas are kept")
    return Code.FINDINGS if missing else Code.OK


def missing_versions(versions: list[Version]) -> list[Version]:
    """What the schemas of this build would add to these versions, or replace in them."""
    from events.avsc import read_schemas
    from events.lock import update

    there = {one.id: one for one in versions}
    return [one for one in update(versions, read_schemas()) if there.get(one.id) != one]
