"""`replay`: the log's history once more, decision by decision, at its own pace or any other."""

from __future__ import annotations

import time  # noqa: TID251 - a replay keeps the pace that a person asked for
from dataclasses import dataclass, field
from typing import Annotated

from typer import Context, Option

from events.job_config.strict_json import printable
from events.sentences import sentence
from turbine.cli.options import Streamed, check_jobs, open_log
from turbine.cli.output import tell, to_line, write
from turbine.cli.reading import existing
from turbine.failures import Code
from turbine.read.answers.journal import line_of
from turbine.read.moments import Moment, given_moment, show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine.read.state.instants import log_at, position_at
from turbine.read.state.replaying import Happening, Replay

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
        _existing(whole, job)
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


def _existing(log: Log, job: str) -> None:
    existing(log.job(job), job, None)


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
        """What it came to."""
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
