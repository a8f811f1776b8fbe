"""`log export` and `open`: the log as one file, and what such a file holds."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from typer import Argument, Context

from turbine.cli.files import writing
from turbine.cli.options import Shown, check_job, check_jobs, open_log
from turbine.cli.output import facts, indented, show, tell
from turbine.cli.reading import existed, existing_job
from turbine.failures import Code, Failed
from turbine.ops.exporting import Export, ExportRequest, exported_topics, places_of
from turbine.ops.incident import NoIncident, write_test
from turbine.read.answers.ids import full_id
from turbine.read.moments import given_moment, show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.sources.log_lines import LogFileWriter, LogLineWriter
from turbine.read.state.instants import position_at
from turbine_client.errors import BadRequest


def export(
    context: Context,
    *,
    out: str | None = None,
    from_: str | None = None,
    to: str | None = None,
    job: str | None = None,
    as_test: Path | None = None,
    decision: str | None = None,
) -> int:
    """Write the log to one file, which `turbine open` opens anywhere.

    Events, schemas and settings, without secrets and without kept rows, which are made from the
    log. Where it begins later, it keeps of the time before what folds need. With --as-test it is a
    test that makes one decision of a job again and compares.

    --out FILE: A new file; - for output. Not packed if .jsonl.
    --from TIME|POSITION: From there on.
    --to TIME|POSITION: Up to there.
    --job JOB: The records of this job alone.
    --as-test FILE.py: A test of one decision, instead.
    --decision ID: Of the test; by default the job's last.
    """
    if as_test is not None:
        return _as_test(context, as_test, job, decision, (out, from_, to))
    if out is None or decision is not None:
        raise BadRequest(
            "say where to: `turbine log export --out FILE`; --decision is for --as-test"
        )
    check_jobs(job)
    log, asked = _asked(context, from_, to, job)
    return _write(log, asked, out)


def _write(log: Log, asked: ExportRequest, out: str) -> int:
    if out == "-":
        Export(log, asked, LogLineWriter(getattr(sys.stdout, "buffer", None) or _Text())).write()
        sys.stdout.flush()
        return Code.OK
    with writing(out), LogFileWriter(_new(Path(out))) as lines:
        tail = Export(log, asked, lines).write()
    topics = len(exported_topics(log, asked.job))
    tell(f"{tail.records} records of {topics} topics written to {out}")
    if asked.since:
        tell(
            "it begins later than the log: of the time before it has decisions, requests and lives,"
            " but not what was only reported"
        )
    return Code.OK


def _asked(
    context: Context, start: str | None, end: str | None, job: str | None
) -> tuple[Log, ExportRequest]:
    first, last = given_moment(start, "--from"), given_moment(end, "--to")
    log = open_log(context)
    if job is not None:
        existing_job(log, job)
    topics = exported_topics(log)
    ends = log.ends(places_of(log, job or ""))
    since = {} if first is None else position_at(log, first, topics, "--from")
    if last is not None:
        to = position_at(log, last, topics, "--to")
        ends = {at: min(end, to.get(at, 0)) for at, end in ends.items()}
    return log, ExportRequest(since, ends, job or "", first if isinstance(first, int) else 0)


def _new(path: Path) -> Path:
    """A path at which nothing is."""
    if path.exists():
        raise BadRequest(f"{path} is there already; name a new file, or remove it")
    return path


class _Text:
    """Standard output where it takes text alone."""

    def write(self, line: bytes) -> int:
        """Takes bytes that are whole lines of UTF-8."""
        return sys.stdout.write(line.decode())


# --- as a test


def _as_test(
    context: Context, path: Path, job: str | None, decision: str | None, others: tuple[object, ...]
) -> int:
    if job is None or any(one is not None for one in others):
        raise BadRequest(
            "a test is of one decision of a job: `turbine log export --as-test FILE.py --job JOB`,"
            " with --decision ID for another than its last, and no other option"
        )
    check_job(job)
    log = open_log(context)
    if path.suffix != ".py" or not path.stem.startswith("test_"):
        raise BadRequest(
            f"--as-test: pytest finds no test in {path}; name it such as test_{job}.py"
        )
    decision = decision and full_id(log, decision)
    beside = path.with_suffix(".log.gz")
    _new(path)
    _new(beside)
    try:
        with writing(str(path)):
            found = write_test(log, job, decision, path, beside)
    except NoIncident as none:
        raise Failed(Code.NOT_FOUND, str(none)) from None
    tell(f"{found} written as {path}, with its records in {beside}; run `pytest {path}`")
    return Code.OK


# --- at


def at(
    when: Annotated[str, Argument(metavar="TIME|POSITION", help="What --at takes.")],
    command: Annotated[
        list[str], Argument(metavar="COMMAND", help="Any that reads, such as `get jobs`.")
    ],
) -> int:
    """Run a command that reads as of then: the same as its --at."""
    # Whoever comes here wrote it so that `main` could not put the instant where it belongs.
    raise BadRequest(
        f"write the instant and then the command, as in `turbine at '10m ago' get jobs`; {when!r}"
        f" and {' '.join(command)!r} are not that"
    )


# --- open


def open_file(
    context: Context,
    file: Annotated[Path, Argument(metavar="FILE", help="What `turbine log export` wrote.")],
    *,
    output: Shown = "table",
) -> int:
    """Say what a log's file holds, and how to look into it.

    It is checked whole. Nothing else has to run: every command that reads takes `--log FILE`.
    """
    del context
    found = LogFile(file)
    log = Log(source=found)
    row = _opened(found, log)
    return show(row, output, lambda: _opened_text(row))


def _opened(found: LogFile, log: Log) -> JsonObject:
    head, tail = found.head, found.tail
    stands = Counter(one.stands for one in log.decisions(kinds=frozenset()))
    jobs = [job for job in log.jobs().values() if existed(job)]
    return {
        "file": str(found.path),
        "records": tail.records,
        "first_ms": tail.first_ms or None,
        "last_ms": tail.last_ms or None,
        "since_ms": found.since_ms or None,
        "job": head.job or None,
        "jobs": len(jobs),
        "alive": sum(job.alive for job in jobs),
        "standing": stands[True],
        "void": stands[False],
        "topics": dict(head.topics),
        "settings": dict(head.settings),
        "schemas": len(found.schemas),
        "strange_schemas": found.strange(),
        "sha256": tail.sha256,
        "missing": list(_missing(found)),
    }


def _missing(found: LogFile) -> Iterator[str]:
    if found.head.job:
        yield f"all but the records of the job {found.head.job}"
    if found.since_ms:
        yield (
            f"what was reported before {show_time(found.since_ms)}: of that time it has decisions,"
            " requests and lives alone"
        )


def _opened_text(row: JsonObject) -> str:
    pairs: list[tuple[str, object]] = [
        ("file", row["file"]),
        ("records", row["records"]),
        ("from", show_time(row["first_ms"])),
        ("to", show_time(row["last_ms"])),
        ("jobs", f"{row['jobs']}, of which {row['alive']} are alive"),
        ("decisions", f"{row['standing']} that stand, {row['void']} void"),
        ("missing", "; ".join(row["missing"]) or "nothing"),
        ("of", row["settings"].get("bootstrap", "-")),
        ("schemas", row["schemas"]),
        ("sha256", row["sha256"]),
    ]
    if row["strange_schemas"]:
        pairs.append(("not known to this build", ", ".join(row["strange_schemas"])))
    first = row["job"] or "JOB"
    words = ("get jobs", f"describe job {first}", f"why {first}", "audit", "replay")
    ways = "\n".join(f"turbine --log {row['file']} {rest}" for rest in words)
    return f"{facts(pairs)}\n\ngo on with\n{indented(ways)}"
