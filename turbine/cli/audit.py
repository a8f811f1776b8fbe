"""`audit` and `replay`: every decision of the log made again, or its history once more."""

from __future__ import annotations

import time  # noqa: TID251 - a replay keeps the pace that a person asked for
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from components.auditor.kept import keep, open_kept
from components.runtime.core.audit.judging import VERDICTS, AuditFinding
from events.job_config.strict_json import printable
from events.sentences import sentence
from events.topics import JOURNAL
from turbine.cli.columns import listed
from turbine.cli.files import writing
from turbine.cli.options import At, Shown, Streamed, check_jobs, open_log
from turbine.cli.output import show, tell, to_line, write
from turbine.cli.reading import existing_job
from turbine.failures import Code
from turbine.read.answers.journal import line_of
from turbine.read.logics import AUDITED
from turbine.read.moments import Moment, given_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine.read.state.instants import log_at, position_at
from turbine.read.state.replaying import Happening, Replay

DIFFERENCES_MOST = 1_000
"""That are told one by one; all of them are counted."""


def audit(
    context: Context,
    *,
    at: At = None,
    resume: Path | None = None,
    from_: str | None = None,
    output: Shown = "table",
) -> int:
    """Make every decision again, and compare.

    From its evidence and byte by byte. Exit code 5 where one comes out otherwise. What claims to
    have known the future is impossible, and void; what a logic or a policy made that this
    build does not have, or what rests on records that have expired, is not checkable.

    With --resume only what was said since the last time is judged. --from reads all that lies
    before, too, since decisions rest on it.

    --resume FILE: Go on from there, and keep there how far it came.
    --from TIME|POSITION: Only what was decided from there on.
    """
    moment, until = given_moment(from_, "--from"), given_moment(at)
    log = log_at(open_log(context), until)
    topics = log.audited()
    since = {} if moment is None else position_at(log, moment, topics, "--from")
    counts, found, unjudged = _run(log, resume, since)
    names = [family[0].name for family in AUDITED]
    rows: list[JsonObject] = [
        {"component": name} | {one.replace(" ", "_"): counts[name][one] for one in VERDICTS}
        for name in names
    ]
    row = {"components": rows, "differences": found, "not_checkable": unjudged}
    show(row, output, lambda: "\n".join(_lines(rows, found, unjudged)))
    return Code.FINDINGS if any(row["differs"] for row in rows) else Code.OK


def _run(
    log: Log, resume: Path | None, since: dict[str, int]
) -> tuple[dict[str, Counter[str]], list[JsonObject], list[JsonObject]]:
    """The verdicts of this time, the differences among them, and why others are not checkable."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    found: list[JsonObject] = []
    unjudged: Counter[tuple[str, str]] = Counter()
    kept, families = None, log.families()
    if resume is not None:
        kept = open_kept(resume, families, log.counts[JOURNAL], log.cluster)
    with log.open_audit(families, kept=kept, since=since) as audit:
        for finding in audit.run():
            counts[finding.component][finding.verdict] += 1
            if finding.verdict == "differs" and len(found) < DIFFERENCES_MOST:
                found.append(_difference(finding))
            elif finding.verdict == "not checkable":
                unjudged[finding.component, finding.sentence] += 1
        if resume is not None:
            remedy = "the audit is done, and name another file to go on from the next time"
            with writing(str(resume), remedy):
                keep(resume, audit.audit, audit.counts, log.cluster)
    left = [
        {"component": component, "count": count, "sentence": sentence}
        for (component, sentence), count in unjudged.most_common()
    ]
    return counts, found, left


def _difference(finding: AuditFinding) -> JsonObject:
    read, record = finding.read, finding.read.record
    return {
        "position": f"{read.place}:{read.offset}",
        "component": finding.component,
        "job": record.key,
        "kind": record.kind,
        "id": record.id,
        "logic": record.logic,
        "byte": finding.byte,
        "field": finding.field,
        "sentence": finding.sentence,
    }


def _lines(
    rows: list[JsonObject], found: list[JsonObject], unjudged: list[JsonObject]
) -> Iterator[str]:
    for one in found:
        yield f"{one['position']} {one['kind']} {one['id']}: {one['sentence']}"
    left = sum(row["differs"] for row in rows) - len(found)
    if left:
        yield f"and {left} more"
    for one in unjudged:
        yield f"{one['count']} of {one['component']} not checkable: {one['sentence']}"
    yield listed(rows, "COMPONENT, SAME, DIFFERS, IMPOSSIBLE, NOT CHECKABLE")


PROGRESS_S = 2.0
"""Between two lines about how far it is."""


def replay(
    context: Context,
    *,
    from_: str | None = None,
    to: str | None = None,
    speed: Annotated[float | None, Option(min=0.001, max=1e9)] = None,
    job: str | None = None,
    output: Streamed = "table",
) -> int:
    """Play the log's history through the folds, and say what was decided as it was decided.

    Each decision, whether it stands, and how the jobs are whenever that changes. What lies before
    --from is folded in silence. How far it is goes to standard error, the sum comes at the end.

    --from TIME|POSITION: From there on.
    --to TIME|POSITION: Up to there.
    --speed N: N times as fast as it was; else at once.
    --job JOB: Of this job alone.
    """
    check_jobs(job)
    first, last = given_moment(from_, "--from"), given_moment(to, "--to")
    whole = open_log(context)
    if job is not None:
        existing_job(whole, job)
    since = {} if first is None else position_at(whole, first, whole.counts, "--from")
    found = Replay(log_at(whole, last, "--to"), job, since)
    pace, shown = _Pace(speed), _Shown(output)
    began_s = told_s = time.monotonic()
    for one in found.happenings():
        pace.wait(one.read.at_ms)
        shown.show(one)
        if time.monotonic() - told_s >= PROGRESS_S:
            told_s = time.monotonic()
            _tell_progress(found)
    shown.sum(found, time.monotonic() - began_s, first)
    return Code.OK


@dataclass(slots=True)
class _Pace:
    """Lets as much time pass between two decisions as passed then, or a part of it."""

    speed: float | None
    _last_ms: int = 0
    _due_s: float = field(default_factory=time.monotonic)

    def wait(self, at_ms: int) -> None:
        """Until the decision of that instant is due."""
        if self.speed is None:
            return
        gap_ms = max(0, at_ms - self._last_ms) if self._last_ms else 0
        self._last_ms = max(self._last_ms, at_ms)
        self._due_s += gap_ms / 1000 / self.speed
        time.sleep(max(0.0, self._due_s - time.monotonic()))


@dataclass(slots=True)
class _Shown:
    """Writes what happened: a line for each decision, and one where the jobs are otherwise."""

    form: str
    _jobs: dict[str, int] = field(default_factory=dict)

    def show(self, one: Happening) -> None:
        """A decision, then how the jobs are if that is news."""
        if self.form == "jsonl":
            write(to_line(_to_plain(one)))
            return
        write(_line(one, wide=self.form == "wide"))
        jobs = dict(sorted(one.jobs.items()))
        if jobs != self._jobs:
            self._jobs = jobs
            write(f"  {_jobs_text(jobs)}")

    def sum(self, found: Replay, seconds: float, first: Moment | None) -> None:
        """The last line: what the audit came to."""
        row = _summary(found, seconds)
        if self.form == "jsonl":
            write(to_line({"summary": row}))
            return
        rate = f"{row['records_per_s']:,.0f} records/s"
        since = "" if first is None else " since --from"
        write(
            f"{row['records']:,} records in {row['seconds']:.1f} s, {rate}; {row['decisions']:,}"
            f" decisions{since}, {row['standing']:,} stand, {row['void']:,} void;"
            f" {_jobs_text(row['jobs'])}"
        )


def _summary(found: Replay, seconds: float) -> JsonObject:
    return {
        "records": found.records,
        "seconds": round(seconds, 3),
        "records_per_s": round(found.records / max(seconds, 1e-3), 1),
        "decisions": found.stands.total(),
        "standing": found.stands[True],
        "void": found.stands[False],
        "kinds": dict(sorted(found.kinds.items())),
        "jobs": dict(sorted((+found.jobs).items())),
    }


def _to_plain(one: Happening) -> JsonObject:
    row: JsonObject = plain(line_of(one.read_standing()))
    if row["job"].count("/"):
        row["tier"] = row.pop("job").partition("/")[0]
    return row | {"jobs": dict(one.jobs)}


def _line(one: Happening, *, wide: bool) -> str:
    read, record = one.read, one.read.record
    said = sentence(record.body)
    void = "" if one.stands else "void: "
    text = f"{show_time(read.at_ms)}  {record.kind:<20} {record.key:<16} {void}{said}"
    return printable(text) + (f"  {record.id}" if wide else "")


def _jobs_text(jobs: JsonObject) -> str:
    parts = ", ".join(f"{count} {word}" for word, count in jobs.items())
    count = sum(jobs.values())
    return f"{count} job{'' if count == 1 else 's'}" + (f": {parts}" if parts else "")


def _tell_progress(found: Replay) -> None:
    share = min(1.0, found.records / found.total) if found.total else 1.0
    tell(
        f"{share:.0%}, {show_time(found.at_ms)}: {found.records:,} records,"
        f" {found.stands.total():,} decisions"
    )
