"""`history write`, `compact`, `profile`: what tasks reported is kept, and each job's day told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from typer import Context, Option

from components.runtime.process.loop import StopSignal
from events.generated.records import WorkloadProfiled
from events.wire.codec import Record
from turbine.cli.columns import columns
from turbine.cli.options import JobNames, Listed, Shown, check_jobs, chosen
from turbine.cli.output import facts, show, show_rows, tell, to_line
from turbine.cli.output import write as put
from turbine.failures import Code, named
from turbine.read.moments import now_ms, parse_moment, parse_span
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest
from turbine_client.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_streaming.history.writing import Wrote
    from turbine.ops.history import ProfileSpan, Written


DAYS_MAX = 366
EVERY_MS_MIN = 1_000
"""Each batch is a directory of its own: more of them a day than seconds help nobody."""


def write(
    context: Context,
    *,
    once: bool = False,
    every: str = "1m",
    directory: str | None = None,
    master: str | None = None,
    output: Shown = "table",
) -> int:
    """Write what tasks report into the history, each report once.

    Until Ctrl-C, or with --once until it has all that there is now.

    --once: End with what there is now.
    --every SPAN: Between two batches.
    --directory DIR: Of the history, or a URI that all workers see; by default history/ beside the
        logs.
    --master URL: Spark's; by default that of the settings.
    """
    every_ms = parse_span(every, "--every")
    if every_ms < EVERY_MS_MIN:
        raise BadRequest(f"--every: {every} is less than 1s; write more")
    settings = chosen(context).connected()
    partitions = _partitions(settings)
    with _opened(settings, directory, master) as (spark, place):
        from turbine.ops.history import write as carry

        stop = StopSignal().listen()
        found = carry(
            spark,
            settings,
            place,
            partitions=partitions,
            every_ms=None if once else every_ms,
            stop=stop,
            progress=_told,
        )
    show_written(place, found, output)
    return Code.INTERRUPTED if once and stop.wanted else Code.OK


def _told(one: Wrote) -> None:
    if one.unreadable:
        tell(f"batch {one.number}: {one.unreadable} are no reports; {one.why}")


def show_written(place: str, found: Written, output: str) -> None:
    """What a run has brought."""
    row = {
        "directory": place,
        "batches": found.batches,
        "reports": found.reports,
        "unreadable": found.unreadable,
        "why": found.why or None,
    }
    pairs = [(name, value) for name, value in row.items() if value is not None]
    show(row, output, lambda: facts(pairs))


def compact(
    context: Context,
    *,
    directory: str | None = None,
    master: str | None = None,
    output: Listed = "table",
) -> int:
    """Make few files of the many of each day that is over, an hour after its end.

    Readers see each report once all the while; files that are replaced go a compaction later.

    --directory DIR: Of the history, or a URI that all workers see; by default history/ beside the
        logs.
    --master URL: Spark's; by default that of the settings.
    """
    settings = chosen(context).settings()
    with _opened(settings, directory, master) as (spark, place):
        from turbine.ops.history import compact_days

        done = list(compact_days(spark, place, now_ms()))
    rows = [{"day": day, "reports": reports} for day, reports in done]
    heads = columns("DAY, REPORTS", {"REPORTS": lambda row: f"{row['reports']:,}"})
    none = f"no day of {place} that is over has anything to compact"
    return show_rows(rows, output, heads, name="day", none=none)


def profile(
    context: Context,
    names: JobNames = None,
    *,
    days: Annotated[int, Option(min=1, max=DAYS_MAX)] = 14,
    to: str | None = None,
    publish: bool = False,
    directory: str | None = None,
    master: str | None = None,
    output: Listed = "table",
) -> int:
    """Fold the last days of each job, or of those that are named, into slots of a day.

    With --publish also on the profiles' topic; what it has already is not said again.

    --days N: Back from the end.
    --to TIME: The end; by default the last midnight, UTC.
    --publish: Say what is found to the log.
    --directory DIR: Of the history, or a URI that all workers see; by default history/ beside the
        logs.
    --master URL: Spark's; by default that of the settings.
    """
    check_jobs(*names or ())
    end_ms = _end_ms(to)
    settings = chosen(context).connected() if publish else chosen(context).settings()
    with _opened(settings, directory, master) as (spark, place):
        from turbine.ops.history import span_of

        span = span_of(end_ms, days)
        rows = _rows(spark, settings, place, span, names or [], publish=publish)
        shown = show_profiles(rows, output, publish=publish)
    if not shown:
        tell(f"{place} has no reports of {'these jobs' if names else 'any job'} in that span")
    return Code.OK if shown or not names else Code.NOT_FOUND


def show_profiles(rows: Iterator[JsonObject], output: str, *, publish: bool) -> int:
    """Profiles in the form that was asked for; how many they are."""
    if output != "jsonl":
        held = list(rows)
        if held or output not in ("table", "wide"):
            show_rows(held, output, _columns(publish=publish), name="job")
        return len(held)
    shown = 0
    for row in rows:  # as they come: ten thousand jobs are not held for it
        put(to_line(row))
        shown += 1
    return shown


def _end_ms(to: str | None) -> int:
    now = now_ms()
    if to is None:
        return now - now % 86_400_000
    moment = parse_moment(to, now, "--to")
    if not isinstance(moment, int):
        raise BadRequest(f"--to: {to} is a position; a history is of days, so write a time")
    return moment


def _partitions(settings: Settings) -> int:
    from turbine.ops.history import partitions_of_loads

    return partitions_of_loads(settings)


@contextmanager
def _opened(
    settings: Settings, directory: str | None, master: str | None
) -> Iterator[tuple[SparkSession, str]]:
    """Spark, and where the history is."""
    from turbine.ops import history

    with named("--directory"):
        place = history.place_of(settings, directory)
    with history.spark_of(settings, master) as spark:
        yield spark, place


def _rows(
    spark: SparkSession,
    settings: Settings,
    place: str,
    span: ProfileSpan,
    jobs: list[str],
    *,
    publish: bool,
) -> Iterator[JsonObject]:
    from turbine.ops.history import profiles, to_record
    from turbine.ops.history import publish as say

    found = profiles(spark, place, span, jobs)
    if publish:
        for one, record, new in say(settings, found, span):
            yield to_plain(one, record, published=new)
    else:
        for one in found:
            yield to_plain(one, to_record(one))


def to_plain(
    found: WorkloadProfiled, record: Record, *, published: bool | None = None
) -> JsonObject:
    """A profile as JSON; `published` is false where the topic had it already."""
    row = {"id": record.id, **found.to_plain()}
    return row if published is None else {**row, "published": published}


def _columns(*, publish: bool) -> list[Any]:
    def of(name: str, row: JsonObject) -> list[float]:
        return [one[name] for one in row["slots"] if one[name] is not None]

    def most(name: str) -> Any:
        return lambda row: f"{max(of(name, row)):,.1f}" if of(name, row) else None

    def mean(row: JsonObject) -> str:
        means = of("records_in_per_s_mean", row)
        return f"{sum(means) / len(means):,.1f}"

    found = columns(
        "JOB, SLOTS=slots:count, DAYS, MEAN IN, PEAK IN, PEAK CORES, *ID",
        {
            "DAYS": lambda row: max(of("days", row)),
            "MEAN IN": mean,
            "PEAK IN": most("records_in_per_s_peak"),
            "PEAK CORES": most("cpu_cores_peak"),
        },
    )
    if publish:
        found += columns(
            "PUBLISHED", {"PUBLISHED": lambda row: "new" if row["published"] else "known"}
        )
    return found
