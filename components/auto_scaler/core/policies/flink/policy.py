"""Flink's autoscaler as a baseline: busy time tells what could be processed, a band what is right.

Pure. Each minute is one loop of the source: a sample, and once the window after a restart is full,
a recommendation, which `learn` keeps. `decide` says what stands of it. Every restart empties the
window: stabilization and window together leave the policy blind, 20 minutes by default.

While a rescale is under way (the job's tasks are not those that ran) the job is not RUNNING to the
source, and nothing is done. A minute with other tasks than the last, or with down time, is a
restart. The room that the tier grants is the source's simulated cluster: what does not fit is
refused whole. Garbage collection has no signal here, so that veto, which by default never acts, is
left out.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

from components.auto_scaler.core import policy
from components.auto_scaler.core.policies.common.texts import plain
from components.auto_scaler.core.policies.flink import formulas as f
from components.auto_scaler.core.policies.flink import past
from components.auto_scaler.core.policies.flink.look import (
    FlinkLook,
    Sample,
    Window,
    hoped,
    looked,
    raw_target,
    sampled,
    steps,
    target,
)
from components.auto_scaler.core.policies.flink.plan import exceeds, sized
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from events.job_config.policies.flink import FlinkSettings
from events.job_config.policies.flink_periods import period
from events.job_config.policies.settings import PolicySettings
from projections.scaling.actions import (
    SCALE_DOWN,
    SCALE_UP,
    STAY,
    JobSize,
)
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Profile

BLIND, UNKNOWN, PRESSED = "too few samples since the last restart", "a number is missing", "memory"
OVER, UNDER, OFF = (
    "above its band",
    "below its band",
    "in its band, at another size than its target",
)

KEPT, DELAYED, INEFFECTIVE = "kept", "delayed", "ineffective"
GREATEST = "the greatest recommendation of the interval"


class Advice(NamedTuple):
    """What a minute's recommendation came to."""

    wanted: int  # recommended now
    tasks: int  # what stands of it; as it is, where nothing does
    outside: bool  # of its band, when that was recommended
    why: str = KEPT
    gained: float | None = None  # of the last growth, where it did not help


class FlinkMemory(NamedTuple):
    """The memory of the policy `flink` about one job."""

    window: Window = ()
    tasks: int = 0  # that ran last; 0: none
    since_ms: int = 0  # that the job has run
    full_ms: int = 0  # when the window is full
    look: FlinkLook | None = None
    advice: Advice | None = None
    pending: past.PendingShrink | None = None
    changes: tuple[past.VertexChange, ...] = ()
    restarts: tuple[past.Restart, ...] = ()
    spec_mb: int = 0  # of a task, in the job's own config
    tuned_mb: int = 0  # as the policy has set it last


class Flink(policy.ScalingPolicy[FlinkMemory]):
    """Of the Kubernetes operator, at commit 6e9caeb4."""

    name: ClassVar[str] = "flink"
    model: ClassVar[type[PolicySettings]] = FlinkSettings

    def __init__(self, settings: FlinkSettings) -> None:
        self.settings: FlinkSettings = settings
        self._excluded = tuple(period(one) for one in settings.excluded_periods)

    def begin(self, job: JobFacts) -> FlinkMemory:
        """Nothing is known but the job's config."""
        return FlinkMemory(spec_mb=job.memory_mb, tuned_mb=job.memory_mb)

    def learn(self, memory: FlinkMemory, job: JobFacts, minute: Minute) -> FlinkMemory:
        """One loop: sample, and, with a full window, recommend."""
        if not minute.tasks:
            return memory._replace(tasks=0, look=None, advice=None)
        if job.memory_mb not in {memory.spec_mb, memory.tuned_mb}:
            memory = memory._replace(spec_mb=job.memory_mb, tuned_mb=job.memory_mb)
        window, since_ms, restarts = memory.window, memory.since_ms, memory.restarts
        if memory.tasks != minute.tasks or minute.down_s > 0:
            window, since_ms = (), minute.at_ms - MINUTE_MS + round(1000 * minute.down_s)
            restarts = past.came_back(restarts, minute.tasks, since_ms)
        full_ms = self._full_ms(window, since_ms, minute.at_ms)
        window = (*window, sampled(window, minute, job, self.settings))
        full = minute.at_ms >= full_ms
        if full:
            oldest_ms, drop = minute.at_ms - 1000 * self.settings.metrics_window_s, 0
            while window[drop].at_ms < oldest_ms:
                drop += 1
            window = window[drop:]
        memory = memory._replace(
            window=window,
            tasks=minute.tasks,
            since_ms=since_ms,
            full_ms=full_ms,
            look=None,
            advice=None,
            restarts=restarts,
        )
        return self._recommended(memory, job, minute.at_ms) if full else memory

    def _full_ms(self, window: Window, since_ms: int, at_ms: int) -> int:
        stable_ms = since_ms + 1000 * self.settings.stabilization_interval_s
        first_ms = next((one.at_ms for one in window if one.at_ms >= stable_ms), None)
        if first_ms is None:
            first_ms = max(at_ms, stable_ms)
        return first_ms + 1000 * self.settings.metrics_window_s

    def _past(
        self, memory: FlinkMemory, at_ms: int
    ) -> tuple[tuple[past.VertexChange, ...], f.VertexPace]:
        """The changes that still count, and the times that capacity is made of."""
        settings = self.settings
        age_ms, count = 1000 * settings.history_max_age_s, settings.history_max_count
        restart_s = past.restart_time(
            past.restarts_kept(memory.restarts, at_ms, age_ms, count),
            settings.restart_time_s,
            settings.restart_time_tracking_limit_s,
            settings.restart_time_tracking_enabled,
        )
        pace = f.VertexPace(settings.catch_up_duration_s, restart_s)
        return past.changes_kept(memory.changes, at_ms, age_ms, count), pace

    def _recommended(self, memory: FlinkMemory, job: JobFacts, at_ms: int) -> FlinkMemory:
        changes, pace = self._past(memory, at_ms)
        look = looked(memory.window, memory.tasks, pace, changes, self.settings)
        if look is None:
            return memory
        if self._pressed(look) or not self._known(memory.window[-1], look):
            return memory._replace(look=look)  # passed over, and what is put off stays as it is
        wanted = steps(look, job, self.settings)[-1][1]
        if wanted < look.tasks:
            advice, pending = self._put_off(memory.pending, wanted, look, at_ms)
            return memory._replace(look=look, advice=advice, pending=pending)
        stands, why, gained = wanted, KEPT, None
        if wanted > look.tasks and changes and not self._helped(look, changes[-1]):
            gained = self._gained(look, changes[-1])
            if self.settings.scaling_effectiveness_detection_enabled:
                stands, why = look.tasks, INEFFECTIVE
        advice = Advice(wanted, stands, look.outside, why, gained)
        return memory._replace(look=look, advice=advice, pending=None)

    def _put_off(
        self, pending: past.PendingShrink | None, wanted: int, look: FlinkLook, at_ms: int
    ) -> tuple[Advice, past.PendingShrink | None]:
        """A smaller number: it has to be recommended for long, and the greatest one counts."""
        interval_ms = 1000 * self.settings.scale_down_interval_s
        if not interval_ms:
            return Advice(wanted, wanted, look.outside), pending
        pending = past.recorded(pending, past.Advised(at_ms, wanted, look.outside))
        if not past.ripe(pending, at_ms, interval_ms):
            return Advice(wanted, look.tasks, look.outside, DELAYED), pending
        pending = past.greatest(pending, at_ms - interval_ms)
        most = pending.kept[0]
        return Advice(wanted, most.target, most.outside), pending

    def _pressed(self, look: FlinkLook) -> bool:
        return look.heap is not None and look.heap > self.settings.memory_heap_usage_threshold

    def _known(self, newest: Sample, look: FlinkLook) -> bool:
        """Are there numbers? A vertex without busy time in its newest sample is passed over."""
        return newest.load is not None and look.rate is not None and look.alpha is not None

    def _gained(self, look: FlinkLook, last: past.VertexChange) -> float | None:
        if look.rate is None or last.rate is None or last.hoped is None:
            return None
        return f.gained(look.rate, last.rate, last.hoped)

    def _helped(self, look: FlinkLook, last: past.VertexChange) -> bool:
        if last.after != look.tasks or last.after <= last.before:
            return True  # somebody else has rescaled since, or it was no growth
        gained = self._gained(look, last)
        return gained is None or gained >= self.settings.scaling_effectiveness_threshold

    def detect(self, memory: FlinkMemory, job: JobFacts, now_ms: int) -> str:  # noqa: ARG002 - a minute is its clock
        """Where the job stands to its band; "" where it is inside, and of the size it should be."""
        look, advice = memory.look, memory.advice
        if look is None or job.tasks != memory.tasks:
            return BLIND
        if advice is None:
            return PRESSED if self._pressed(look) else UNKNOWN
        if look.rate is not None and look.outside:
            return OVER if look.rate < look.band.up else UNDER
        return OFF if (advice.wanted, advice.tasks) != (look.tasks, look.tasks) else ""

    def diagnose(self, memory: FlinkMemory, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - Flink knows no usual days
        """The source looks for no cause: load and capacity is all that it knows."""
        look = memory.look
        if look is None or job.tasks != memory.tasks:
            return "restart"
        if symptom in {PRESSED, UNKNOWN}:
            return "memory pressure" if symptom == PRESSED else "missing metric"
        if look.rate == math.inf:
            return "silence"
        if look.backlog:
            return "backlog"
        assert look.rate is not None
        return "over-provisioned" if look.needed < look.rate else "under-provisioned"

    def resolve(
        self,
        memory: FlinkMemory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - Flink knows no usual days
        now_ms: int,
    ) -> tuple[FlinkMemory, ScalingVerdict]:
        """What stands of the recommendation after the gate and the vetoes."""
        look, advice = memory.look, memory.advice
        if look is None or job.tasks != memory.tasks:
            return memory, self._blind(memory, job, found)
        if advice is None:
            return memory, stay(self._unheard(look, found[0]), *found)
        settled = target(look, job, self.settings)
        if advice.tasks != advice.wanted and advice.why == KEPT:
            settled = settled.through("scale-down.interval", lambda _: advice.tasks, GREATEST)
        raw = raw_target(look)
        if (refusal := self._refusal(memory, job, advice, now_ms)) is not None:
            return memory, ScalingVerdict(
                STAY,
                *found,
                f"{_numbers(look)}; {refusal[0]}",
                raw,
                constraints=settled.constraints,
                alternatives=_weighed(look, advice, refusal[0]),
                until_ms=refusal[1],
            )
        window, spec_mb = memory.window, memory.spec_mb
        size, more = sized(window, job, advice.tasks, spec_mb, self.settings)
        verdict = ScalingVerdict(
            SCALE_UP if advice.tasks > look.tasks else SCALE_DOWN,
            *found,
            f"{_numbers(look)}; {look.tasks} tasks become {advice.tasks}{_shortfall(advice)}",
            raw,
            size,
            (*settled.constraints, *more),
            expects=self._expectation(memory, look, advice, now_ms),
        )
        return self._changed(memory, look, advice, size, now_ms), verdict

    def _blind(self, memory: FlinkMemory, job: JobFacts, found: tuple[str, str]) -> ScalingVerdict:
        if job.tasks != memory.tasks:
            text = f"{memory.tasks} tasks ran and {job.tasks} are wanted: a restart is under way"
            return stay(text, *found)
        if memory.window and memory.window[-1].at_ms >= memory.full_ms:
            return stay("the window has fewer than two samples", *found)
        text = f"the window is full {self.settings.metrics_window_s} s after the job is stable"
        return stay(text, *found, until_ms=memory.full_ms)

    def _unheard(self, look: FlinkLook, symptom: str) -> str:
        if symptom == PRESSED:
            most = self.settings.memory_heap_usage_threshold
            return f"tasks use {look.heap:.3g} of their memory, and above {most:g} nothing is done"
        if look.rate is not None and look.alpha is None:
            return "an infinite rate in the history leaves the observed scalability no number"
        return "no busy time is known, so nothing is done to the job"

    def _refusal(
        self, memory: FlinkMemory, job: JobFacts, advice: Advice, now_ms: int
    ) -> tuple[str, int | None] | None:
        """Why it stays as it is, and until when that holds; None where nothing is in the way."""
        if advice.why == INEFFECTIVE:
            return f"the last growth did not help{_shortfall(advice)}", None
        if advice.why == DELAYED:
            assert memory.pending is not None
            interval_s = self.settings.scale_down_interval_s
            until_ms = memory.pending.first_ms + 1000 * interval_s
            return f"shrinking is put off for {interval_s} s", until_ms
        if advice.tasks == memory.tasks:
            return "the limits leave it at the size that it has", None
        if not f.gate([advice.outside]):
            return "what was recommended was inside the band", None
        if not self.settings.scaling_enabled:
            return "scaling is not enabled", None
        if any(one.holds(now_ms) for one in self._excluded):
            return "this is an excluded period", None
        if job.granted is not None and advice.tasks > max(job.granted, memory.tasks):
            return f"the tier has room for {job.granted} tasks, and a plan is taken whole", None
        size, _ = sized(memory.window, job, advice.tasks, memory.spec_mb, self.settings)
        if exceeds(job, size, self.settings):
            return "the plan would exceed the job's quota, and a plan is taken whole", None
        return None

    def _expectation(
        self, memory: FlinkMemory, look: FlinkLook, advice: Advice, now_ms: int
    ) -> Expectation | None:
        """Of growth alone: the source looks at no other change again."""
        rate = hoped(look, advice.wanted)
        if advice.tasks < look.tasks or rate is None:
            return None
        settings = self.settings
        blind_s = settings.stabilization_interval_s + settings.metrics_window_s
        restart_s = self._past(memory, now_ms)[1].restart_s
        return Expectation(now_ms + 1000 * (restart_s + blind_s), rate=rate)

    def _changed(
        self, memory: FlinkMemory, look: FlinkLook, advice: Advice, size: JobSize, now_ms: int
    ) -> FlinkMemory:
        """With the change remembered; all that was put off is forgotten."""
        changes, _ = self._past(memory, now_ms)
        change = past.VertexChange(
            now_ms, look.tasks, advice.tasks, look.rate, hoped(look, advice.wanted)
        )
        age_ms, count = 1000 * self.settings.history_max_age_s, self.settings.history_max_count
        restarts = past.restarts_kept(memory.restarts, now_ms, age_ms, count)
        return memory._replace(
            changes=(*changes, change),
            restarts=(*restarts, past.Restart(now_ms, advice.tasks)),
            pending=None,
            tuned_mb=size.memory_mb,
        )


def _weighed(look: FlinkLook, advice: Advice, reason: str) -> tuple[Alternative, ...]:
    if advice.wanted == look.tasks:
        return ()
    action = SCALE_UP if advice.wanted > look.tasks else SCALE_DOWN
    return (Alternative(f"{action} to {advice.wanted}", reason),)


def _numbers(look: FlinkLook) -> str:
    asked, band = look.asked, look.band
    more = f" and {plain(asked.catch_up)} of backlog" if asked.catch_up else ""
    return (
        f"{plain(look.rate)} records a second can be processed, {plain(asked.rate)} come{more}, and"
        f" the band is {plain(band.up)} to {plain(band.down)}"
    )


def _shortfall(advice: Advice) -> str:
    if advice.gained is None:
        return ""
    if math.isinf(advice.gained):
        return " (of the last growth nothing was to be hoped)"
    return f" (the last growth brought {advice.gained:.0%} of what was hoped)"
