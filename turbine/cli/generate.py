"""`generate`: real records at a pace, so that a laptop can play a site's load into the fleet."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from components.runtime.process.loop import StopSignal
from events.job_config.reserved import is_reserved_topic
from events.job_config.strict_json import shorten
from turbine.cli.columns import listed, span
from turbine.cli.declaring import options
from turbine.cli.options import Shown, chosen
from turbine.cli.output import show, tell
from turbine.failures import Code, named
from turbine.ops.generate import GeneratorProgress, open_trace, prepare_topic
from turbine.ops.generate import generate as play
from turbine.ops.traffic import RateSchedule, RecordShape, played, steady
from turbine.read.moments import parse_span
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest
from turbine_client.settings import Settings

PER_S = 1000.0
"""Of who says no rate: it is seen at once, and no laptop feels it."""
PER_S_MAX = 10_000_000.0
"""No process sends as many; a greater number is a mistake in a file or a scale."""
SPEED_MAX = 1_000_000.0
KEYS_MAX = 10_000_000
"""A skew takes 8 bytes of memory for each."""
SKEW_MAX = 10.0
"""The second key is then drawn once in a thousand records; more is one key."""
BYTES_MAX = 1_000_000
"""A topic takes messages of a MiB, unless somebody has changed it."""
LATE_MS_MAX = 86_400_000
SLOW_MS = 1_000
"""A run that ends later than that was too much for the broker, or for this machine."""
_TOPIC = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,248}", re.ASCII)


@options(
    """
    --topic T: Created where it is missing.
    --partitions N: Of a new topic.
    --rate R: Records a second; 1000 without a trace.
    --trace FILE: Rates: minute_index,rate per minute, .csv or .csv.gz.
    --speed S: Of the trace's time; 60 plays an hour a minute.
    --scale K: Multiplies the trace's rates.
    --for SPAN: Ends then, as 90s or 2h.
    --records N: Ends after so many.
    --keys K: k0 to k<K-1>.
    --skew Z: Of the keys, as in Zipf's law; 0 is none.
    --bytes B: Of a value, about.
    --late SHARE: Of records that are late, 0 to 1.
    --late-by MS: At the most.
    --seed S: The same one draws the same.
    """
)
def generate(
    context: Context,
    *,
    topic: str,
    partitions: Annotated[int | None, Option(min=1, max=100_000)] = None,
    rate: float | None = None,
    trace: Path | None = None,
    speed: float | None = None,
    scale: float | None = None,
    for_: str | None = None,
    records: Annotated[int | None, Option(min=1)] = None,
    keys: Annotated[int, Option(min=1, max=KEYS_MAX)] = 1000,
    skew: float = 0.0,
    bytes_: Annotated[int, Option(min=1, max=BYTES_MAX)] = 100,
    late: float | None = None,
    late_by: Annotated[int | None, Option(min=1, max=LATE_MS_MAX)] = None,
    seed: int = 0,
    output: Shown = "table",
) -> int:
    """Send records to a topic, at one rate or as a recorded trace has it.

    Until --for, --records or the trace ends it, or Ctrl-C.
    """
    check_topic(topic, chosen(context).settings().topic(""))
    schedule = _schedule(rate, trace, speed, scale, for_)
    shape = _shape(keys, skew, bytes_, late, late_by)
    settings = chosen(context).connected()
    _prepare(settings, topic, partitions)
    stop, tell = StopSignal().listen(), teller()
    try:
        run = play(
            settings, topic, schedule, shape, seed=seed, records=records, stop=stop, progress=tell
        )
    finally:
        clear_line()
    _show(topic, run, output)
    return Code.INTERRUPTED if stop.wanted else Code.OK


# --- what is asked for


def check_topic(name: str, ours: str) -> None:
    """Refuses what cannot be a topic, and what is one of the log's."""
    if not _TOPIC.fullmatch(name):
        raise BadRequest(
            f"--topic: {shorten(name)} is no topic's name; use up to 249 letters, digits, '.', '_',"
            " '-', not beginning with '.'"
        )
    if is_reserved_topic(name) or name.startswith(ours):
        raise BadRequest(f"--topic: {name} is a topic of the log itself; name the input of a job")


def _schedule(
    rate: float | None,
    trace: Path | None,
    speed: float | None,
    scale: float | None,
    for_: str | None,
) -> RateSchedule:
    if trace is None:
        for name, given in (("--speed", speed), ("--scale", scale)):
            if given is not None:
                raise BadRequest(f"{name} is of a trace; name one with --trace FILE")
        schedule = steady(_within(PER_S if rate is None else rate, "--rate", PER_S_MAX))
    elif rate is not None:
        raise BadRequest("--rate and --trace both say how fast; leave one of them out")
    else:
        schedule = _played(
            trace,
            _within(1.0 if speed is None else speed, "--speed", SPEED_MAX),
            _within(1.0 if scale is None else scale, "--scale", PER_S_MAX),
        )
    return schedule if for_ is None else schedule.until(parse_span(for_, "--for") / 1000)


def _played(trace: Path, speed: float, scale: float) -> RateSchedule:
    with named("--trace"):
        schedule = played(open_trace(trace), speed=speed, scale=scale)
    most = max(schedule.per_s)
    if most > PER_S_MAX:
        raise BadRequest(
            f"--trace: {trace} asks for {most:,.0f} records a second, and at most {PER_S_MAX:,.0f}"
            " can be asked for; make --scale smaller"
        )
    return schedule


def _shape(
    keys: int, skew: float, size: int, late: float | None, late_by: int | None
) -> RecordShape:
    if (late is None) != (late_by is None):
        given, other = (
            ("--late", "--late-by MS") if late_by is None else ("--late-by", "--late SHARE")
        )
        raise BadRequest(f"{given} alone makes nothing late; add {other}")
    return RecordShape(
        keys,
        _within(skew, "--skew", SKEW_MAX, zero=True),
        size,
        _within(late or 0.0, "--late", 1.0, zero=True),
        late_by or 0,
    )


def _within(value: float, option: str, most: float, *, zero: bool = False) -> float:
    """The value, if it is a number above 0 (or 0 where that is fine) and not too great."""
    if isfinite(value) and (0 < value <= most or (zero and value == 0)):
        return value
    least = "from 0" if zero else "above 0"
    raise BadRequest(f"{option}: {value:g} is not a number {least} up to {most:,.0f}; correct it")


def _prepare(settings: Settings, topic: str, partitions: int | None) -> None:
    """Makes the topic where it is missing; it must not be another than was asked for."""
    count, created = prepare_topic(settings, topic, partitions)
    if created:
        tell(f"topic {topic} is created, with {count} partitions")
    elif partitions not in (None, count):
        raise BadRequest(
            f"--partitions: topic {topic} has {count} already; leave the option out, or name"
            " another topic"
        )


# --- what is told


def teller() -> Callable[[GeneratorProgress], None]:
    """Tells how far a run has come, in one line that is written over, if a person looks."""
    if not sys.stderr.isatty():
        return lambda _: None
    before_s, before = 0.0, 0

    def told(run: GeneratorProgress) -> None:
        nonlocal before_s, before
        per_s = (run.sent - before) / max(run.seconds - before_s, 1e-3)
        before_s, before = run.seconds, run.sent
        clear_line()
        sys.stderr.write(progress_text(run, per_s))
        sys.stderr.flush()

    return told


def clear_line() -> None:
    """Makes room for what is said next, if a person looks."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def progress_text(run: GeneratorProgress, per_s: float) -> str:
    """One line for people, with the rate of the last second."""
    late = span(int(1000 * run.behind_s), SLOW_MS)
    behind = f", {late} behind" if late else ""
    return f"{span(int(1000 * run.seconds))}: {run.sent:,} sent, {per_s:,.0f} a second{behind}"


def to_plain(topic: str, run: GeneratorProgress) -> JsonObject:
    """What came of a run, as JSON."""
    return {
        "topic": topic,
        "sent": run.sent,
        "seconds": round(run.seconds, 3),
        "sent_per_s": round(run.sent / run.seconds, 3) if run.seconds else 0.0,
        "behind_ms": round(1000 * run.behind_s),
    }


def _show(topic: str, run: GeneratorProgress, output: str) -> None:
    row = to_plain(topic, run)
    show(
        row,
        output,
        lambda: listed(
            [row],
            "TOPIC, SENT, SECONDS, PER SECOND, BEHIND",
            {
                "SECONDS": lambda one: f"{one['seconds']:.1f}",
                "PER SECOND": lambda one: f"{one['sent_per_s']:.1f}",
                "BEHIND": lambda one: f"{one['behind_ms']} ms",
            },
        ),
    )
    if row["behind_ms"] > SLOW_MS:
        tell("the records came later than they were due: that rate is too high for this broker")
