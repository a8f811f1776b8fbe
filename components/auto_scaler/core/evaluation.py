"""One look at a job's row: what its policy makes of it, and the numbers that mattered. Pure.

The policy `turbine` splits what it remembers into what minutes taught and what was decided, and the
row holds both. The others remember each look; they are played again over the minutes that the row
has kept, and what they say of the newest one counts (docs/adr/0013).
"""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from functools import lru_cache
from math import isfinite, isnan
from typing import Any, NamedTuple

from components.auto_scaler.core.catalogue import BadPolicy, logic_of, policy_of
from components.auto_scaler.core.policies.turbine.demand import usual
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.auto_scaler.core.policies.turbine.shapes import reads
from components.auto_scaler.core.policy import ScalingPolicy
from components.auto_scaler.core.verdict import ScalingVerdict, stay, trouble_with
from events.job_config.policies.table import BUILT_IN
from projections.scaling.facts import Facts
from projections.scaling.model import JobModel
from projections.scaling.ring import minutes
from projections.scaling.row import Days, ScalingRow
from projections.scaling.seen import MINUTE_MS, UNKNOWN, JobFacts, Minute, Profile

OLD = 2
"""Intervals after which a newest minute is none."""
POLICY_LOGIC = "policy_logic"
"""In the evidence of decisions by a policy that is not of Turbine: its name and version."""


class NoVerdict(ValueError):
    """What a policy answered that no record can hold; the sentence says why."""


class EvaluatedJob(NamedTuple):
    """A verdict on a job."""

    verdict: ScalingVerdict
    job: JobFacts


@lru_cache(maxsize=4_096)  # as many kinds of settings are in force at once, at the very most
def made(name: str, settings_json: str, interval_ms: int) -> ScalingPolicy[Any]:
    """A job's policy; the config was checked when it was accepted. BadPolicy where it was accepted
    by an installation with other policies."""
    return policy_of(name, json.loads(settings_json)).paced(interval_ms)


def looked(row: ScalingRow, facts: Facts, now_ms: int) -> EvaluatedJob:
    """What the job's policy says of it now."""
    job = job_of(row, facts, now_ms)
    return EvaluatedJob(_verdict(row, facts, job, now_ms), job)


def unlimited(row: ScalingRow, facts: Facts, job: JobFacts, now_ms: int) -> ScalingVerdict:
    """What it would say if the tier had room without end."""
    return _verdict(row, facts, job._replace(granted=None), now_ms)


def job_of(row: ScalingRow, facts: Facts, now_ms: int) -> JobFacts:
    """The job as policies see it."""
    size, grant = facts.size, row.grant
    return JobFacts(
        row.name,
        size.tasks,
        size.threads,
        size.cpu_cores,
        size.memory_mb,
        partitions=facts.partitions,
        stateful=row.learnt.rounds.stateful,
        slo_s=facts.slo_s,
        tasks_max=facts.tasks_max,
        staging_rate=facts.staging_rate,
        granted=grant.tasks_max if grant.holds(now_ms) else None,
    )


def outcome(row: ScalingRow, facts: Facts, now_ms: int) -> ScalingVerdict | None:
    """Whether the policy's last change helped; None where that cannot be told yet."""
    if facts.policy != Turbine.name:
        return None
    policy = made(facts.policy, facts.settings_json, facts.interval_ms)
    return policy.outcome(_memory(row), job_of(row, facts, now_ms), now_ms)


def blind(row: ScalingRow, facts: Facts, now_ms: int) -> bool:
    """Is there no minute that is new enough?"""
    newest = row.learnt.known.seen.newest
    return newest is None or now_ms - newest.at_ms > OLD * facts.interval_ms


def _memory(row: ScalingRow) -> JobModel:
    return row.learnt.known._replace(done=row.done)


def _verdict(row: ScalingRow, facts: Facts, job: JobFacts, now_ms: int) -> ScalingVerdict:
    key = (facts.policy, facts.settings_json, facts.interval_ms)
    if facts.policy == Turbine.name:
        return made(*key).look(_memory(row), job, profile_of(row.days), now_ms)[1]
    if blind(row, facts, now_ms):
        return stay("no minute of the job is new enough", "blind", "metrics-missing")
    if facts.policy in BUILT_IN:
        return replayed(key, row.learnt.ring, job, row.days)
    return _installed(key, row.learnt.ring, job, row.days)


def _installed(key: tuple[str, str, int], ring: bytes, job: JobFacts, days: Days) -> ScalingVerdict:
    """What a policy that is not of Turbine says. Its faults are those of its jobs alone: a worker
    that ended by one would leave all others without a scaler."""
    try:
        return replayed(key, ring, job, days)
    except BadPolicy as bad:
        said = f"{bad}; install it where the auto scaler runs, or choose another policy"
        return stay(said, "blind", "policy-missing")
    except NoVerdict as bad:
        wrong = str(bad)
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        wrong = f"it raised {type(error).__name__}"
    said = f"policy {key[0]} failed: {wrong}; mend it, or choose another policy"
    return stay(said, "blind", "policy-failed")


# --- policies that remember each look


@lru_cache(maxsize=256)
def replayed(key: tuple[str, str, int], ring: bytes, job: JobFacts, days: Days) -> ScalingVerdict:
    """What the policy said last, had it looked at all minutes that are kept."""
    interval_ms = key[2]
    policy = made(*key)
    profile = profile_of(days)
    profile = profile._replace(slot_ms=max(1, profile.slot_ms * MINUTE_MS // interval_ms))
    memory, verdict, turn = policy.begin(job), stay("nobody has looked yet"), -1
    for real in minutes(ring):
        minute = _paced(real, interval_ms)
        of = job._replace(tasks=minute.tasks, threads=minute.threads or job.threads)
        memory = policy.learn(memory, of, minute)
        if minute.at_ms // policy.every_ms != turn:
            turn = minute.at_ms // policy.every_ms
            memory, verdict = policy.decide(memory, of, profile, minute.at_ms)
    if key[0] not in BUILT_IN and (wrong := trouble_with(verdict)):
        raise NoVerdict(wrong)
    return _unpaced(verdict, interval_ms)


def _paced(minute: Minute, interval_ms: int) -> Minute:
    """As if it had lasted a minute. A restart is no more than a share of it: what was read is told
    of the time in which tasks ran, and their policies want it of the whole."""
    interval_s = interval_ms / 1000
    ran = interval_s / (interval_s + minute.down_s)
    return minute._replace(
        at_ms=minute.at_ms * MINUTE_MS // interval_ms,
        rate=minute.rate * ran,
        down_s=MINUTE_MS / 1000 * (1 - ran),
    )


def _unpaced(verdict: ScalingVerdict, interval_ms: int) -> ScalingVerdict:
    """By the log's clock again."""
    expects, until_ms = verdict.expects, verdict.until_ms
    if expects is not None:
        expects = expects._replace(by_ms=expects.by_ms * interval_ms // MINUTE_MS)
    if until_ms is not None:
        until_ms = until_ms * interval_ms // MINUTE_MS
    return replace(verdict, expects=expects, until_ms=until_ms)


def profile_of(days: Days) -> Profile:
    """The usual days that the row holds."""
    if not days.slot_ms:
        return UNKNOWN
    return Profile(days.slot_ms, _numbers(days.mean), _numbers(days.peak), days.days)


def _numbers(packed: bytes) -> tuple[float | None, ...]:
    numbers = array("f", packed)
    # Usual days are known throughout, and are asked for at each look.
    if not isnan(sum(numbers)):
        return tuple(numbers)
    return tuple([None if isnan(one) else one for one in numbers])


# --- what mattered


def evidence_of(row: ScalingRow, facts: Facts, job: JobFacts, now_ms: int) -> dict[str, Any]:
    """The numbers that a verdict is made of; what is unknown is left out."""
    newest = row.learnt.known.seen.newest
    told: dict[str, Any] = {
        "size": facts.size._asdict(),
        "limits": {
            "tasks_max": job.tasks_max,
            "partitions": job.partitions,
            "granted": job.granted,
            "slo_s": job.slo_s,
        },
        "interval_ms": facts.interval_ms,
    }
    if newest is not None:
        told["minute"] = {
            name: value
            for name, value in newest._asdict().items()
            if name != "parts" and value is not None
        }
    if facts.policy == Turbine.name:
        told |= _of_ours(row, facts, job, now_ms)
    else:
        told["minutes"] = len(list(minutes(row.learnt.ring)))
    if facts.policy not in BUILT_IN:  # of those, the component's own logic says which it was
        told[POLICY_LOGIC] = logic_of(facts.policy) or None
    found: dict[str, Any] = finite(told)
    return found


def _of_ours(row: ScalingRow, facts: Facts, job: JobFacts, now_ms: int) -> dict[str, Any]:
    known, policy = row.learnt.known, made(Turbine.name, facts.settings_json, facts.interval_ms)
    assert isinstance(policy, Turbine), "the name says so"
    told: dict[str, Any] = {"restart_s": known.restart_s, "lag_records": known.lag}
    if known.curve.known:
        told["capacity"] = {
            "reads_records_per_s": reads(known.curve, job),
            "power": known.curve.power,
            "spread": known.curve.spread,
        }
    if known.arrived:
        days = usual(
            profile_of(row.days), known.arrived, now_ms, policy.settings.differs, facts.interval_ms
        )
        ahead_ms = policy.settings.look_ahead_minutes * facts.interval_ms
        told["demand"] = {
            "newest_records_per_s": known.arrived[-1],
            "most_records_per_s": max(known.arrived[-policy.settings.look_back_minutes :]),
            "usual_ratio": days.ratio,
            "usual_ahead_records_per_s": days.most(now_ms, now_ms + ahead_ms),
        }
    done = row.done
    told["done"] = {"acted_ms": done.acted_ms, "fails": done.fails, "held_ms": done.held_ms or None}
    return told


def finite(plain: Any) -> Any:
    """What JSON can hold: what is unknown or without end is left out."""
    if isinstance(plain, dict):
        kept = {name: finite(value) for name, value in plain.items()}
        return {name: value for name, value in kept.items() if value is not None}
    if isinstance(plain, float) and not isfinite(plain):
        return None
    return plain
