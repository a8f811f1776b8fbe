"""Turbine's own policy: the cause before the size, fast up, slow down, and history both ways. Pure.

It knows what the job can read (`capacity`), what it will have to read (`demand`), why it lags
(`causes`), and the cheapest size for it (`shapes`). Each change is held against what was expected
of it, and taken back where it did not help.
"""

from __future__ import annotations

from math import ceil
from typing import ClassVar

from components.auto_scaler.core.policies.common.sizing import size_of
from components.auto_scaler.core.policies.turbine import causes
from components.auto_scaler.core.policies.turbine.demand import trend, usual
from components.auto_scaler.core.policies.turbine.look import JobLook, decided
from components.auto_scaler.core.policies.turbine.patience import Backlog, patience_s
from components.auto_scaler.core.policies.turbine.payback import ShrinkTerms, offer
from components.auto_scaler.core.policies.turbine.shapes import MEMORY_STEP, SizeRoom, reads, shaped
from components.auto_scaler.core.policies.turbine.words import (
    OF_ALL,
    became,
    gain_told,
    rate_told,
    size_told,
    waiting_told,
)
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import (
    Expectation,
    ScalingVerdict,
    stay,
)
from events.generated.records import Alternative
from events.job_config.policies.settings import PolicySettings
from events.job_config.policies.turbine import TurbineSettings
from projections.scaling.actions import (
    ALERT,
    MEMORY_UP,
    MOVE,
    REBALANCE,
    REVERT,
    SCALE_DOWN,
    SCALE_UP,
    VERIFIED,
    JobSize,
)
from projections.scaling.decision_memory import Open
from projections.scaling.model import BOUNDS, JobModel, could_read, learn
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Profile

LAG, RAMP, SPARE, OOM, BLIND, SETTLING, HELD = (
    "lag",
    "usual-rise",
    "spare",
    "oom",
    "blind",
    "settling",
    "held",
)
PATIENT_S = 2 * 3600.0
"""In which a backlog of a cause that more tasks do not mend is read, once that is over: what has
just come back is not asked for many times as much at once."""
SLOW_TIMES = 3
"""As long as a larger size would take for its backlog: what falls more slowly is not waited for."""
AGAIN_MINUTES = 60
"""Before one task is mended again."""
LEARNT = 10
"""Minutes without which nobody knows what comes in."""


class Turbine(ScalingPolicy[JobModel]):
    """The policy `turbine`: the cause first, then the size that mends it."""

    name: ClassVar[str] = "turbine"
    model: ClassVar[type[PolicySettings]] = TurbineSettings
    replayed: ClassVar[bool] = False  # the row holds what it learnt and what it did

    settings: TurbineSettings

    @property
    def _minute_s(self) -> float:
        return self.minute_ms / 1000

    def begin(self, job: JobFacts) -> JobModel:  # noqa: ARG002 - a config tells nothing of capacity
        """An empty model, of a job that was not seen yet."""
        return JobModel()

    # --- what it learns

    def learn(self, memory: JobModel, job: JobFacts, minute: Minute) -> JobModel:
        """Capacity from busy minutes, demand from what came in, and how long restarts take."""
        return learn(memory, minute.tasks * (minute.threads or job.threads), minute)

    # --- detect, diagnose, resolve

    def detect(self, memory: JobModel, job: JobFacts, now_ms: int) -> str:
        """In the order in which they would hide each other."""
        if self._blind(memory, now_ms) or not memory.curve.known:
            return BLIND
        if now_ms < memory.done.held_ms:
            return HELD
        if memory.since(now_ms) < self.settings.settle_minutes * self.minute_ms:
            return SETTLING
        if memory.done.open is not None and not self._gained(memory, memory.done.open):
            return SETTLING
        newest = memory.seen.newest
        if newest is not None and newest.oom:
            return OOM
        return LAG if self._late(memory, job) else SPARE

    def _blind(self, memory: JobModel, now_ms: int) -> bool:
        return bool(causes.blind(memory.seen, now_ms, BOUNDS, self.minute_ms))

    def _late(self, memory: JobModel, job: JobFacts) -> bool:
        """Is it late, or would it be if it were looked at once more before it is changed? Lag that
        falls is waited for, unless that takes long: a restart would make it worse."""
        settings, newest = self.settings, memory.seen.newest
        can, soon = reads(memory.curve, job), self._soon(memory)
        age_s, limit_s = memory.lags_s[-1], settings.lost_share * job.slo_s
        backlog = Backlog(memory.lag, age_s)
        ahead_s = backlog.age_after(settings.lead_minutes * self._minute_s, soon, can)
        if soon > can * settings.full and ahead_s > self._patience_s(memory, job):
            return True
        if age_s <= limit_s or newest is None:
            return ahead_s > limit_s
        drain_s = SLOW_TIMES * settings.drain_minutes * self._minute_s
        if ahead_s >= age_s or memory.lag > (can - soon) * drain_s:
            return True
        # One partition may be late while all together would have time.
        return newest.down_s == 0 and age_s >= max(memory.lags_s[-2:])

    def _patience_s(self, memory: JobModel, job: JobFacts) -> float:
        return patience_s(job.slo_s, memory.stands_s, self.settings.late_share)

    def _soon(self, memory: JobModel) -> float:
        """Records a second that come in before a change could take effect."""
        newest = memory.arrived[-2:]
        mean, last = sum(newest) / len(newest), newest[-1] * self.settings.last_share
        return max(trend(memory.arrived, self.settings.lead_minutes), mean, last)

    def diagnose(self, memory: JobModel, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - causes show in minutes alone
        """Why, where anything can be done about it."""
        if symptom == LAG:
            return causes.why_late(memory.seen, BOUNDS)[0]
        if symptom == OOM:
            return causes.MEMORY
        return causes.OVER if symptom == SPARE else symptom

    def resolve(
        self, memory: JobModel, job: JobFacts, found: tuple[str, str], profile: Profile, now_ms: int
    ) -> tuple[JobModel, ScalingVerdict]:
        """The verdict that mends the cause."""
        days = usual(profile, memory.arrived, now_ms, self.settings.differs, self.minute_ms)
        return memory, self._resolved(JobLook(memory, job, days, now_ms, self.minute_ms), found)

    def _resolved(self, look: JobLook, found: tuple[str, str]) -> ScalingVerdict:
        match found[1]:
            case causes.UNDER:
                return self._grow(look)
            case causes.MEMORY:
                return self._more_memory(look)
            case causes.STRAGGLER | causes.SKEW:
                return self._mend(look, found[1])
            case causes.STUCK | causes.DEPENDENCY as cause:
                told = (Alternative(SCALE_UP, "more tasks do not mend it"),)
                tasks = look.job.tasks
                return ScalingVerdict(ALERT, LAG, cause, _OTHER[cause], tasks, alternatives=told)
            case causes.OVER:
                return self._shrink(look)
            case cause:
                until_ms = look.memory.done.held_ms if found[0] == HELD else None
                return stay(_QUIET[found[0]], found[0], cause, until_ms=until_ms)

    # --- sizes

    def _grow(self, look: JobLook) -> ScalingVerdict:
        settings, memory = self.settings, look.memory
        soon, drain_s = self._soon(memory), settings.drain_minutes * self._minute_s
        spare = reads(memory.curve, look.job) - soon / settings.full
        if memory.other(look.job.slo_s):
            if spare > 0 and memory.lag < spare * PATIENT_S:
                took = f"{memory.lag / spare:.0f} s"
                return stay(
                    f"its backlog is of another cause, and read within {took}", LAG, causes.UNDER
                )
            drain_s = PATIENT_S
        drained = soon + (memory.lag + soon * memory.stands_s) / drain_s
        need = max(soon * settings.margin_up, drained, look.ahead(settings.look_ahead_minutes))
        return self._enlarge(look, LAG, need)

    def _enlarge(self, look: JobLook, symptom: str, need: float) -> ScalingVerdict:
        memory, job = look.memory, look.job
        size = shaped(memory.curve, job, need, self._room(look))
        if size.tasks * size.threads <= job.tasks * job.threads:
            can, threads = reads(memory.curve, job), memory.curve.threads_for(need)
            share = self.settings.vertical_share
            told = became(job, size, threads, (need, can), share) if can < need else ()
            said = f"{rate_told(need)} are needed, and {rate_told(can)} can be read"
            said += f" with {size_told(size_of(job))}"
            said += "".join(f": {one.note.removesuffix(OF_ALL)}" for one in told)
            return stay(said, symptom, causes.UNDER, raw=size.tasks, constraints=told)
        return self._to(look, (symptom, causes.UNDER), need, size)

    def _shrink(self, look: JobLook) -> ScalingVerdict:
        """Unless a usual rise is near, which it has to be ready for."""
        settings, memory, job = self.settings, look.memory, look.job
        ahead, near = look.ahead(settings.look_ahead_minutes), look.ahead(settings.ramp_minutes)
        if near > reads(memory.curve, job) * settings.full:
            return self._enlarge(look, RAMP, max(ahead, near))
        if memory.since(look.now_ms) < settings.down_minutes * self.minute_ms:
            return stay("the last change is too new for a smaller size", SPARE)
        patient_s = self._patience_s(memory, job)
        if len(memory.arrived) < LEARNT or memory.lags_s[-1] > patient_s / 2:
            return stay("it has not been well for long enough to be made smaller", SPARE)
        terms = ShrinkTerms(
            max(self._soon(memory), ahead),
            settings.margin + memory.stands_s / (settings.spare_minutes * self._minute_s),
            settings.wait_share * patient_s * MINUTE_MS / self.minute_ms,
            settings.payback_times * memory.stands_s / self._minute_s,
            settings.saves_share,
            min(settings.look_back_minutes, memory.since(look.now_ms) // self.minute_ms),
        )
        found = offer(memory.curve, job, memory.arrived, terms, self._room(look))
        if found is None:
            return stay("no smaller size would have paid for its restart", SPARE)
        return self._to(look, (SPARE, causes.OVER), found.need, found.size)

    def _room(self, look: JobLook) -> SizeRoom:
        """Memory is given back with another change, and never for itself; state is as much of it
        with fewer tasks, so each of them gets more."""
        settings, memory, job = self.settings, look.memory, look.job
        newest = memory.seen.newest
        if memory.used_mb is None or newest is None:
            return SizeRoom(settings.vertical_share, job.memory_mb)
        if job.stateful:  # how much of it is state nobody knows: all of it may be
            state_mb = (newest.memory_mb or 0.0) * newest.tasks * settings.memory_room
            return SizeRoom(settings.vertical_share, job.memory_mb, state_mb)
        needed = MEMORY_STEP * -(-int(memory.used_mb * settings.memory_room) // MEMORY_STEP)
        return SizeRoom(settings.vertical_share, min(job.memory_mb, max(MEMORY_STEP, needed)))

    def _to(
        self, look: JobLook, found: tuple[str, str], need: float, size: JobSize
    ) -> ScalingVerdict:
        memory, job = look.memory, look.job
        can, threads = reads(memory.curve, job), memory.curve.threads_for(need)
        will = reads(memory.curve, job._replace(tasks=size.tasks, threads=size.threads))
        up = size.tasks * size.threads > job.tasks * job.threads
        by_ms = look.now_ms + self.settings.verify_minutes * self.minute_ms
        more = waiting_told(memory.arrived[-1], memory.lag) if found[0] == LAG else ""
        return ScalingVerdict(
            SCALE_UP if up else SCALE_DOWN,
            *found,
            f"{rate_told(need)} are needed{more}, and {rate_told(can)} can be read with"
            f" {size_told(size_of(job))}: {size_told(size)} can read {rate_told(will)}",
            ceil(threads / job.threads),
            size,
            constraints=became(job, size, threads, (need, will), self.settings.vertical_share),
            expects=Expectation(by_ms, will, job.slo_s),
            reads=can,
        )

    def _more_memory(self, look: JobLook) -> ScalingVerdict:
        job = look.job
        most = int(job.container_mb * self.settings.vertical_share)
        wanted = min(most, int(job.memory_mb * self.settings.memory_up))
        if wanted <= job.memory_mb:
            said = f"a task ran out of {job.memory_mb} MiB, the most that one may have"
            return ScalingVerdict(ALERT, OOM, causes.MEMORY, said, job.tasks)
        size = size_of(job)._replace(memory_mb=wanted)
        said = f"a task ran out of its {job.memory_mb} MiB: each gets {wanted}"
        return ScalingVerdict(MEMORY_UP, OOM, causes.MEMORY, said, job.tasks, size)

    def _mend(self, look: JobLook, cause: str) -> ScalingVerdict:
        """One task is slow, or gets more than the others; not again and again."""
        name, job = look.job.name, look.job
        _, task = causes.why_late(look.memory.seen, BOUNDS)
        mended_ms = look.memory.done.mended_ms
        if mended_ms is not None and look.now_ms - mended_ms < AGAIN_MINUTES * self.minute_ms:
            minutes = (look.now_ms - mended_ms) // MINUTE_MS
            said = f"{name}/{task} lags alone, though that was mended {minutes} min ago"
            return ScalingVerdict(ALERT, LAG, cause, said, job.tasks, task=task)
        action, what = MOVE, "slower than the others: it is moved"
        if cause == causes.SKEW:
            action, what = REBALANCE, "given more than the others: partitions are shared anew"
        said = f"{name}/{task} lags while the other tasks have time, and is {what}"
        told = (Alternative(SCALE_UP, "the other tasks have time"),)
        return ScalingVerdict(action, LAG, cause, said, job.tasks, alternatives=told, task=task)

    # --- outcomes

    def _gained(self, memory: JobModel, opened: Open) -> bool:
        """Does it read more than before, by what was expected? Who is idle is not held to it."""
        newest = memory.seen.newest
        could = None if newest is None else could_read(newest)
        if could is None:
            return True
        return could - opened.could >= self.settings.gain_least * (opened.expected - opened.could)

    def outcome(self, memory: JobModel, job: JobFacts, now_ms: int) -> ScalingVerdict | None:
        """Of a change that has had its time; who is blind waits."""
        opened, newest = memory.done.open, memory.seen.newest
        if opened is None or newest is None or now_ms < opened.by_ms or self._blind(memory, now_ms):
            return None
        could, wanted = could_read(newest), opened.expected - opened.could
        if could is None or self._gained(memory, opened):
            said = f"{rate_told(opened.expected)} were expected, and it is not busy enough to tell"
            if could is not None:
                said = gain_told(opened, could, self.settings.gain_least)
            return ScalingVerdict(VERIFIED, "", "", said, job.tasks)
        hold_ms = self.settings.hold_minutes * self.minute_ms * 2 ** min(memory.done.fails, 6)
        said = (
            f"{rate_told(could - opened.could)} were gained of {rate_told(wanted)} that were"
            f" expected: it is taken back, and not tried again for {hold_ms // MINUTE_MS} min"
        )
        until_ms = now_ms + hold_ms
        return ScalingVerdict(
            REVERT, LAG, "no-gain", said, job.tasks, opened.before, until_ms=until_ms
        )

    def decide(
        self, memory: JobModel, job: JobFacts, profile: Profile, now_ms: int
    ) -> tuple[JobModel, ScalingVerdict]:
        """A change that has had its time is closed first."""
        closed = self.outcome(memory, job, now_ms)
        if closed is not None:
            memory = decided(memory, closed, job, now_ms)
            if closed.acts:
                return memory, closed
        memory, verdict = self.look(memory, job, profile, now_ms)
        return decided(memory, verdict, job, now_ms), verdict


_OTHER = {
    causes.STUCK: "nothing is read of a partition that has records: a person has to look",
    causes.DEPENDENCY: "all tasks are busy and read much less than they can: what they call lags",
}
_QUIET = {
    BLIND: "nobody knows how the job is: nothing is changed until metrics are there",
    SETTLING: "the last change is too new to judge",
    HELD: "the last change did not help, and it is not tried again yet",
}
