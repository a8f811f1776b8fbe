"""The baseline KEDA with Kubernetes' HPA: as many tasks as the lag holds thresholds. Pure.

The HPA looks every 15 seconds. A minute's lag is all that is known, so that its looks within a
minute see the same lag, and one recommendation of each minute is remembered. The lag of single
partitions is not known either: tasks stand for them. A task that read nothing stands for partitions
whose offset did not move, and a task without lag for partitions without. Where tasks do not tell
theirs, the job's lag counts as a whole, and no partition as being without. A job has no fewer than
one task: KEDA's zero is one here, and so its activation from zero has no twin.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import ClassVar, NamedTuple, assert_never

from components.auto_scaler.core.policies.common.baseline import resized, within
from components.auto_scaler.core.policies.keda import hpa
from components.auto_scaler.core.policies.keda.lag import KedaLagRules, Lag, metric, summed
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import Clamped, ScalingVerdict, stay
from events.generated.records import Alternative
from events.job_config.policies.keda import Fallback, KedaSettings, ScalingRate, Select
from events.job_config.policies.settings import PolicySettings
from projections.scaling.seen import MINUTE_MS, JobFacts, Minute, Profile

PAUSED, HELD, LOST = "paused", "tasks are not as they are held", "the lag cannot be read"
IDLE, OUTSIDE = "the job is not active", "tasks are out of bounds"
ABOVE, BELOW = "lag is above the target", "lag is below the target"
TOO_FEW, TOO_MANY = "too few tasks for the lag", "more tasks than the lag calls for"
NEAR = "the lag is near enough to the target"
COOLED, HOLD, FELL = "the cool-down has passed", "an operator holds it", "the fallback is in force"


class KedaMemory(NamedTuple):
    """What KEDA and the HPA keep between looks."""

    at_ms: int = 0
    tasks: int = 0
    lag: int | None = None  # that counts; None: it could not be read
    reported: float = 0.0  # lag that the HPA is told
    lagging: int = 0  # partitions
    wanted: int | None = None  # the newest recommendation; None: there was none
    activity: int = 0  # lag that activation follows
    active_ms: int | None = None  # when it was active last
    failures: int = 0  # readings in a row
    history: tuple[hpa.Stamped, ...] = ()  # recommendations
    changes: tuple[hpa.Stamped, ...] = ()


class Keda(ScalingPolicy[KedaMemory]):
    """Replicas in proportion to lag."""

    name: ClassVar[str] = "keda"
    model: ClassVar[type[PolicySettings]] = KedaSettings

    def __init__(self, settings: KedaSettings) -> None:
        self.settings: KedaSettings = settings
        self._rules, self._up, self._down = _rules(settings), _up(settings), _down(settings)
        self._syncs = max(1, 60 // settings.sync_s)
        rates = (*self._up.rates, *self._down.rates)
        self._period_ms = 1000 * max(rate.period_s for rate in rates)
        self._window_ms = max(settings.up_window_s, settings.down_window_s) * 1000

    def begin(self, job: JobFacts) -> KedaMemory:
        return KedaMemory(tasks=job.tasks)

    def learn(self, memory: KedaMemory, job: JobFacts, minute: Minute) -> KedaMemory:
        now, later = minute.at_ms, memory.at_ms > 0
        changes = _young(memory.changes, now - self._period_ms)
        if later and memory.tasks != job.tasks:
            # A change that was made after the look before is as old as that look.
            changes = (*changes, (memory.at_ms, job.tasks - memory.tasks))
        if minute.lag is None:
            # Each look of the HPA is a reading of its own, and fails.
            lag, lagging, failures = None, 0, memory.failures + self._syncs
            activity = memory.activity
        else:
            excludes = self.settings.exclude_persistent_lag
            split = excludes or self.settings.limit_to_partitions_with_lag
            read, lagging = lag_of(job, minute, exclude=excludes and later, split=split)
            lag, activity, failures = read.scaling, read.total, 0
        active = self.settings.force_activation or (
            lag is not None and activity > self.settings.activation_lag_threshold
        )
        # The HPA began with the first minute, and with what ran as its first recommendation.
        history = memory.history if later else ((now - MINUTE_MS, job.tasks),)
        learnt = KedaMemory(
            at_ms=now,
            tasks=job.tasks,
            lag=lag,
            lagging=lagging,
            activity=activity,
            active_ms=now if active else memory.active_ms,
            failures=failures,
            history=_young(history, now - self._window_ms),
            changes=changes,
        )
        learnt = learnt._replace(reported=self._metric(learnt, job).value)
        wanted = self._recommended(learnt, job.tasks)
        if wanted is None:
            return learnt
        return learnt._replace(wanted=wanted, history=(*learnt.history, (now, wanted)))

    def detect(self, memory: KedaMemory, job: JobFacts, now_ms: int) -> str:
        settings = self.settings
        if settings.paused:
            return PAUSED
        if settings.paused_replicas is not None:
            return HELD if settings.paused_replicas != job.tasks else ""
        if memory.lag is None:
            return LOST if memory.at_ms else ""
        if self._idle(memory, job, now_ms):
            return IDLE
        if not max(1, settings.min_replica_count) <= job.tasks <= settings.max_replica_count:
            return OUTSIDE
        wanted = ceil(memory.reported / settings.lag_threshold)
        if wanted == job.tasks:
            return ""
        return ABOVE if wanted > job.tasks else BELOW

    def diagnose(self, memory: KedaMemory, job: JobFacts, symptom: str, profile: Profile) -> str:  # noqa: ARG002 - KEDA knows no usual days
        if symptom in (HELD, OUTSIDE):
            return HOLD if symptom == HELD else symptom
        if symptom == IDLE:
            return COOLED
        wanted = memory.wanted
        if symptom == PAUSED or wanted is None:
            return ""  # without a fallback nothing is done about lag that is not read
        if wanted == job.tasks:
            return "" if symptom == LOST else NEAR
        if symptom == LOST:
            return FELL
        return TOO_FEW if wanted > job.tasks else TOO_MANY

    def resolve(
        self,
        memory: KedaMemory,
        job: JobFacts,
        found: tuple[str, str],
        profile: Profile,  # noqa: ARG002 - KEDA knows no usual days
        now_ms: int,
    ) -> tuple[KedaMemory, ScalingVerdict]:
        settings = self.settings
        match found[1]:
            case cause if cause == HOLD:
                raw = settings.paused_replicas or 0
            case cause if cause == COOLED:
                raw = settings.idle_replica_count or 0
            case cause if cause == OUTSIDE:
                fewest = max(1, settings.min_replica_count)
                raw = min(max(job.tasks, fewest), settings.max_replica_count)
            case cause if cause == NEAR:
                return memory, self._kept(memory, job, found)
            case _:
                return memory, self._scaled(memory, job, found, now_ms)
        wanted = within(job, Clamped(raw), None)
        told = f"{found[0]}: KEDA sets {raw} tasks at once, past the HPA's windows and rates"
        return memory, resized(job, wanted, found, explanation=told, raw=raw)

    def _kept(self, memory: KedaMemory, job: JobFacts, found: tuple[str, str]) -> ScalingVerdict:
        reported, threshold = self._metric(memory, job), self.settings.lag_threshold
        asked = Clamped(ceil(reported.value / threshold), reported.constraints)
        ratio = reported.value / (threshold * job.tasks)
        told = f"lag is {ratio:.3f} times what {job.tasks} tasks hold, and that changes nothing"
        kept = asked.through("tolerance", lambda _: job.tasks, f"{ratio:.3f} of the target")
        weighed = (Alternative(f"{int(asked.value)} tasks", "the ratio lies in the tolerance"),)
        raw = ceil((memory.lag or 0) / threshold)
        return stay(told, *found, raw=raw, constraints=kept.constraints, alternatives=weighed)

    def _scaled(
        self, memory: KedaMemory, job: JobFacts, found: tuple[str, str], now_ms: int
    ) -> ScalingVerdict:
        settings, reported = self.settings, self._metric(memory, job)
        wanted, raw = self._synced(memory, job, now_ms)
        bound = None if settings.allow_idle_consumers else job.partitions
        wanted = within(job, wanted, bound)
        if memory.lag is None:
            told = f"the lag was not read {memory.failures} times, and the fallback is {raw} tasks"
        else:
            raw = ceil(memory.lag / settings.lag_threshold)
            told = (
                f"lag {memory.lag} at {settings.lag_threshold} a task asks for {raw} tasks, "
                f"and windows, rates and bounds leave {int(wanted.value)}"
            )
            wanted = Clamped(wanted.value, (*reported.constraints, *wanted.constraints))
        until = self._held_until(memory, job) if found[1] == TOO_MANY else None
        weighed: tuple[Alternative, ...] = ()
        if wanted.value == job.tasks:
            weighed = (Alternative(f"{raw} tasks", "windows, rates or bounds do not let it"),)
        return resized(
            job,
            wanted,
            found,
            explanation=told,
            raw=raw,
            alternatives=weighed,
            until_ms=until,
        )

    def _synced(self, memory: KedaMemory, job: JobFacts, now_ms: int) -> tuple[Clamped, int]:
        """A minute of the HPA's looks on the same lag: the last one's path, and its raw number."""
        settings, current, changes = self.settings, job.tasks, memory.changes
        reached = Clamped(current)
        # This minute's looks each have their own recommendation; of those before one is kept.
        history = tuple(one for one in memory.history if one[0] < memory.at_ms)
        desired = current
        for left in self._looks(memory, job, history, now_ms):
            at = now_ms - left * settings.sync_s * 1000
            known = self._recommended(memory, current)
            assert known is not None, "a cause was found, so that there is a number"
            desired = known
            reached = self._normalized(Clamped(desired), current, history, changes, at)
            after = int(reached.value)
            if after != current:
                changes = (*changes, (at, after - current))
            current = after
        return reached, desired

    def _looks(
        self, memory: KedaMemory, job: JobFacts, history: tuple[hpa.Stamped, ...], now_ms: int
    ) -> Iterable[int]:
        """How many looks are left after each; the last one alone where that changes nothing.

        The windows of looks before it hold all that its own hold, and so bind no less.
        """
        assert memory.wanted is not None, "a cause was found, so that there is a number"
        tasks = job.tasks
        last = self._normalized(Clamped(memory.wanted), tasks, history, memory.changes, now_ms)
        return (0,) if last.value == tasks and not memory.changes else reversed(range(self._syncs))

    def _normalized(
        self,
        wanted: Clamped,
        current: int,
        history: tuple[hpa.Stamped, ...],
        changes: tuple[hpa.Stamped, ...],
        at: int,
    ) -> Clamped:
        """Through windows, rates and bounds, in the HPA's order."""
        settings, up, down = self.settings, self._up, self._down
        wanted = wanted.through(
            "stabilization",
            lambda n: hpa.stabilized(
                int(n), current, history, at, up_s=up.window_s, down_s=down.window_s
            ),
            f"tasks; windows of {up.window_s} s up and {down.window_s} s down",
        )
        if wanted.value > current:
            limit = hpa.up_limit(current, changes, at, up)
            if settings.plain_hpa and up.select != "disabled":
                limit = hpa.plain_limit(current)
            wanted = wanted.through("scale-up-rate", lambda n: min(n, limit), "tasks in a look")
        elif wanted.value < current:
            fewest = hpa.down_limit(current, changes, at, down)
            wanted = wanted.through("scale-down-rate", lambda n: max(n, fewest), "tasks in a look")
        most, least = settings.max_replica_count, max(1, settings.min_replica_count)
        wanted = wanted.through("max-replicas", lambda n: min(n, most))
        return wanted.through("min-replicas", lambda n: max(n, least))

    def _recommended(self, memory: KedaMemory, current: int) -> int | None:
        settings = self.settings
        if memory.lag is not None:
            lag = memory.reported
        elif settings.fallback and memory.failures > settings.fallback.failure_threshold:
            lag = _held(settings.fallback, current) * settings.lag_threshold
        else:
            return None  # the HPA does nothing about a metric that it does not get
        return hpa.recommended(
            lag, settings.lag_threshold, current, settings.tolerance_up, settings.tolerance_down
        )

    def _metric(self, memory: KedaMemory, job: JobFacts) -> Clamped:
        lag = memory.lag or 0
        if job.partitions is None:
            return Clamped(lag)  # nothing to divide and no bound
        return metric(lag, job.partitions, memory.lagging, self._rules)

    def _idle(self, memory: KedaMemory, job: JobFacts, now_ms: int) -> bool:
        """May it go to no tasks, or to its idle ones? The cool-down has to be over, not just up."""
        settings = self.settings
        if settings.paused_scale_in or settings.force_activation:
            return False
        idle = settings.idle_replica_count
        if memory.activity > settings.activation_lag_threshold:
            return False
        if job.tasks <= max(1, idle or 0) or (idle is None and settings.min_replica_count > 0):
            return False
        since = memory.active_ms
        return since is None or since + settings.cooldown_period_s * 1000 < now_ms

    def _held_until(self, memory: KedaMemory, job: JobFacts) -> int | None:
        """When the last recommendation that holds the tasks leaves the window."""
        held = [at for at, wanted in memory.history if wanted >= job.tasks]
        return max(held) + self.settings.down_window_s * 1000 if held else None


def lag_of(job: JobFacts, minute: Minute, *, exclude: bool, split: bool = True) -> tuple[Lag, int]:
    """The lag of a minute by tasks, and how many partitions have some that counts.

    Without `split` the job's lag is taken whole. `exclude` leaves out tasks that read nothing: at
    the first poll KEDA has no offset to compare with, and all lag counts.
    """
    assert minute.lag is not None, "a minute without lag is a failed reading"
    whole, partitions = int(minute.lag), job.partitions or 0
    told = [(part, part.lag) for part in minute.parts if split and part.lag is not None]
    if not told or len(told) < len(minute.parts):
        return Lag(whole, whole), partitions if whole > 0 else 0
    lags = [Lag(0 if exclude and part.rate == 0 else int(lag), int(lag)) for part, lag in told]
    read, _ = summed(lags)
    share, more = divmod(partitions, len(lags))
    lagging = sum(share + (at < more) for at, lag in enumerate(lags) if lag.scaling > 0)
    return read, lagging


def _young(stamped: tuple[hpa.Stamped, ...], after_ms: int) -> tuple[hpa.Stamped, ...]:
    """Those of later than that; they lie in the order of time."""
    first = 0
    while first < len(stamped) and stamped[first][0] <= after_ms:
        first += 1
    return stamped[first:]


def _rules(settings: KedaSettings) -> KedaLagRules:
    """Of the Kafka scaler, as its formulas take them."""
    return KedaLagRules(
        lag_threshold=settings.lag_threshold,
        exclude_persistent_lag=settings.exclude_persistent_lag,
        limit_to_partitions_with_lag=settings.limit_to_partitions_with_lag,
        ensure_even_distribution=settings.ensure_even_distribution,
        allow_idle_consumers=settings.allow_idle_consumers,
    )


def _up(settings: KedaSettings) -> hpa.Behavior:
    """The way up; a pause closes it."""
    select: Select = "disabled" if settings.paused_scale_out else settings.up_select
    return hpa.Behavior(settings.up_window_s, select, _plain(settings.up_rates))


def _down(settings: KedaSettings) -> hpa.Behavior:
    """The way down; a pause closes it."""
    select: Select = "disabled" if settings.paused_scale_in else settings.down_select
    return hpa.Behavior(settings.down_window_s, select, _plain(settings.down_rates))


def _plain(rates: Iterable[ScalingRate]) -> tuple[hpa.Rate, ...]:
    return tuple(hpa.Rate(one.kind, one.value, one.period_s) for one in rates)


def _held(fallback: Fallback, current: int) -> int:
    """Tasks while the lag cannot be read."""
    match fallback.behavior:
        case "static":
            return fallback.replicas
        case "currentReplicas":
            return current
        case "currentReplicasIfHigher":
            return max(current, fallback.replicas)
        case "currentReplicasIfLower":
            return min(current, fallback.replicas)
        case _:
            assert_never(fallback.behavior)
