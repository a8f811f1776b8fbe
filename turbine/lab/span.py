"""A span of a job's log: how the job stood at its beginning, and what was said in it. Pure.

What came in is known by the minutes that the auto scaler makes of the tasks' reports; what people
and other components said in the span is kept, to be said again.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from components.auto_scaler.decide import AUTHOR, component
from events.generated.records import (
    CapacityGranted,
    JobConfigChanged,
    JobDeleted,
    OverrideExpired,
    PreemptionRequested,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    SyncCommitted,
    SyncPlanned,
    TaskLoadReported,
    WorkloadProfiled,
)
from events.job_config.config import Invalid, validate_config
from events.topics import LOADS
from events.wire.codec import Read
from projections.jobs import Job
from projections.jobs import apply as apply_to_job
from projections.scaling.actions import JobSize
from projections.scaling.facts import Facts
from projections.scaling.row import LastAnnouncement, ScalingRow
from projections.scaling.seen import MINUTE_MS
from turbine.lab.plant.learnt import RESTART_MOST_S
from turbine.lab.plant.played_job import Pause
from turbine.read.answers.load_minutes import Hears, LoadMinute, Minutes, concerns
from turbine.read.moments import show_time
from turbine_client.errors import BadRequest

STEPS_MOST = 200_000
"""Minutes of one what-if: four months, some ten minutes of work."""
LEAST = 3
"""Minutes of a span that can be played: of fewer, no policy says anything."""
GAP = 3
"""Intervals without a minute that are told as a gap."""
Place = tuple[str, int]
WORDS = (
    ScalingDecided, ScalingDeclined, ScalingVerified, ScalingReverted, SyncPlanned, SyncCommitted,
)  # fmt: skip
WISHES = (JobConfigChanged, OverrideExpired, JobDeleted)


def stretch(count: int, interval_ms: int) -> str:
    """So many rounds of a job's policy, in words: minutes only where it is asked each minute."""
    if interval_ms == MINUTE_MS:
        return f"{count:,} minute{'' if count == 1 else 's'}"
    plural = "" if count == 1 else "s"
    return f"{count:,} interval{plural} of {interval_ms / 1000:g} s"


class BadWhatIf(BadRequest):
    """What cannot be played; the sentence says why, and the remedy."""


class Reads(Hears, Protocol):
    """A log, as far as a what-if asks it."""

    def read(
        self, topics: Iterable[str], *, kinds: frozenset[str] | None = None, key: str | None = None
    ) -> Iterator[Read]:
        """Records of these topics within the span."""


@dataclass(slots=True)
class ReplaySpan:
    """What the log tells; `observe` is told of each record in causal order."""

    name: str
    begin_ms: int
    end_ms: int | None
    row: ScalingRow
    job: Job
    minutes: list[LoadMinute] = field(default_factory=list)
    others: list[Read] = field(default_factory=list)  # of the span, by people and components
    words: list[Read] = field(default_factory=list)  # of the scaler and the syncer, all of them
    came: defaultdict[Place, float] = field(default_factory=lambda: defaultdict(float))
    gone_ms: int | None = None  # the job was deleted in it
    _rounds: Minutes = field(default_factory=Minutes)

    def observe(self, read: Read, stands: bool) -> None:
        """Takes one record more into the state."""
        if not stands or not concerns(read):
            return
        if self.end_ms is not None and read.at_ms > self.end_ms:
            return
        body, before = read.record.body, read.at_ms <= self.begin_ms
        if before:
            self.row = component.fold(self.row, read)
        if isinstance(body, TaskLoadReported):
            self.minutes += self._rounds.take(read, body)
            for one in body.partitions:
                came = (one.records_in_per_s or 0.0) * body.window_ms
                self.came[one.topic, one.partition] += came
        elif isinstance(body, WORDS):
            self.words.append(read)
        elif isinstance(body, WISHES) and before:
            self.job = apply_to_job(self.job, body)
        elif not before:
            self._said(read)

    def _said(self, read: Read) -> None:
        """In the span, by others than the scaler; what it asked for itself is its own doing."""
        match read.record.body:
            case JobConfigChanged(layer="scaler", author=author) if author == AUTHOR:
                return
            case JobDeleted():
                self.gone_ms = read.at_ms
            case (
                JobConfigChanged()
                | OverrideExpired()
                | CapacityGranted()
                | PreemptionRequested()
                | WorkloadProfiled()
            ):
                self.others.append(read)
            case _:
                return

    # --- what there is to play

    @property
    def facts(self) -> Facts:
        """Of the job's config at the beginning."""
        assert self.row.config.facts is not None, "a span without a config is refused"
        return self.row.config.facts

    @property
    def interval_ms(self) -> int:
        """Of one minute of the job."""
        return self.facts.interval_ms

    def steps(self) -> list[int]:
        """The ends of the minutes that are played, after the one that the span begins with."""
        last_ms = self.minutes[-1].minute.at_ms
        if self.gone_ms is not None:
            last_ms = min(last_ms, self.gone_ms)
        return list(range(self.begin_ms + self.interval_ms, last_ms + 1, self.interval_ms))

    def rates(self, steps: Sequence[int]) -> list[float]:
        """Records a second that came in until each step, since the one before."""
        at, sums = [float(self.minutes[0].minute.at_ms)], [0.0]
        for one in self.minutes[1:]:
            minute = one.minute
            came = minute.rate if minute.arrived is None else minute.arrived
            gap_s = max(0.0, (minute.at_ms - at[-1]) / 1000)
            at.append(float(minute.at_ms))
            sums.append(sums[-1] + came * gap_s)
        edges = np.array([steps[0] - self.interval_ms, *steps], dtype=float)
        found = np.diff(np.interp(edges, at, sums)) / (self.interval_ms / 1000)
        rates: list[float] = np.maximum(found, 0.0).tolist()
        return rates

    def covering(self, steps: Sequence[int]) -> list[LoadMinute]:
        """The minute that tells of each step; where nobody reported, the next one that does."""
        ends = [one.minute.at_ms for one in self.minutes]
        half = self.interval_ms // 2
        return [self.minutes[min(len(ends) - 1, bisect_left(ends, at - half))] for at in steps]

    def sizes(self, steps: Sequence[int]) -> list[JobSize]:
        """The size that ran at each step, as the state syncer says."""
        at, found = [0], [_stopped(self.facts.size) if self.facts.paused else self.facts.size]
        for read in self.words:
            body = read.record.body
            if isinstance(body, SyncCommitted) and (size := _size_of(body)) is not None:
                at.append(read.at_ms)
                found.append(size)
        return [found[bisect_right(at, step) - 1] for step in steps]

    def pauses(self) -> list[Pause]:
        """Plans that stopped the tasks and started them again: what they took, and for how long no
        report tells of any task."""
        begun, found = dict[str, int](), list[Pause]()
        ends = [one.minute.at_ms for one in self.minutes]
        for read in self.words:
            body = read.record.body
            if isinstance(body, SyncPlanned) and body.kind == "complex":
                begun[body.plan_id] = read.at_ms
            elif isinstance(body, SyncCommitted) and body.plan_id in begun:
                took_s = (read.at_ms - begun.pop(body.plan_id)) / 1000
                at = bisect_right(ends, read.at_ms)
                seen_s = self.minutes[at].minute.down_s if at < len(ends) else 0.0
                if body.state == "running" and 0 < took_s <= RESTART_MOST_S:
                    found.append(Pause(took_s, seen_s))
        return found

    def restarts(self) -> int:
        """Of the span: plans that stopped the tasks and started them again."""
        return sum(
            isinstance(read.record.body, SyncPlanned)
            and read.record.body.kind == "complex"
            and read.at_ms > self.begin_ms
            for read in self.words
        )

    def gaps(self) -> int:
        """Times at which nobody reported for long."""
        ends = [one.minute.at_ms for one in self.minutes if one.minute.at_ms >= self.begin_ms]
        pairs = pairwise(ends)
        return sum(after - before > GAP * self.interval_ms for before, after in pairs)


def _stopped(size: JobSize) -> JobSize:
    return size._replace(tasks=0)


def _size_of(body: SyncCommitted) -> JobSize | None:
    config = validate_config(json.loads(body.running_json or "{}"), stood=True)
    if isinstance(config, Invalid):
        return None
    size = JobSize(
        config.tasks,
        config.threads_per_task,
        float(config.resources.cpu_cores),
        config.resources.memory_mb,
    )
    return size if body.state == "running" else _stopped(size)


# --- read


def span_of(log: Reads, name: str, begin_ms: int | None, end_ms: int | None) -> ReplaySpan:
    """A job's span; BadWhatIf where there is nothing to play."""
    first = next(iter(log.read([LOADS], key=name)), None)
    if first is None:
        raise BadWhatIf(
            f"{name} has no loads in the log: its tasks have reported nothing, so nobody knows what"
            " came in; a what-if needs some minutes of a job that ran"
        )
    begin_ms = max(begin_ms or 0, first.at_ms)
    span = ReplaySpan(name, begin_ms, end_ms, ScalingRow(name), Job(name))
    log.heard(component, name, span.observe)
    return _begun(span, first.at_ms)


def _begun(span: ReplaySpan, first_ms: int) -> ReplaySpan:
    """From the end of a minute on, with nothing under way."""
    if span.row.config.facts is None:
        raise BadWhatIf(
            f"{span.name} has no config at {_time(span.begin_ms)} that this build can use: it was"
            " deleted, or not created yet; name another span with --from and --to"
        )
    ends = [one.minute.at_ms for one in span.minutes]
    at = bisect_right(ends, span.begin_ms)
    span.begin_ms = ends[max(0, at - 1)] if ends else span.begin_ms
    count = len(span.steps()) if ends else 0
    if count < LEAST:
        raise BadWhatIf(
            f"{span.name} has {stretch(count, span.interval_ms)} of reports to play between"
            f" {_time(span.begin_ms)} and"
            f" {'the end of the log' if span.end_ms is None else _time(span.end_ms)}, and at least"
            f" {LEAST} are needed; its reports begin at {_time(first_ms)}"
            + (f" and end at {_time(ends[-1])}" if ends else "")
        )
    if count > STEPS_MOST:
        raise BadWhatIf(
            f"{span.name}: {stretch(count, span.interval_ms)} are to be played, and"
            f" {STEPS_MOST:,} can be; name a shorter span with --from and --to"
        )
    rounds = span.row.learnt.rounds
    # A round that is half told is of the minute that is played first.
    rounds = rounds._replace(number=rounds.number + 1, listened=0, begun_ms=0)
    span.row = span.row._replace(
        learnt=span.row.learnt._replace(rounds=rounds),
        done=span.row.done._replace(open=None),
        change=None,
        owed=(),
        told=LastAnnouncement(),
        retry_ms=0,
    )
    return span


def _time(at_ms: int) -> str:
    return show_time(at_ms)


def plain_settings(facts: Facts) -> dict[str, Any]:
    """Of the policy that a job's config names."""
    found: dict[str, Any] = json.loads(facts.settings_json)
    return found
