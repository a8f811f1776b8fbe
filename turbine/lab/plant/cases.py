"""What back-tests play: the usual job for a trace, and what may happen to it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import pi, sin

from projections.scaling.seen import JobFacts
from turbine.lab.plant.backtest import DAY_MINUTES, Case
from turbine.lab.plant.job_model import STATEFUL_S, Fault, Nature

PEAK_THREADS = 16
"""That the busiest minutes of a trace keep busy: large enough for steps of one to be small."""
PEAK_SHARE = 0.995
"""Of the minutes lie below what counts as the peak; a flood of an hour in two months does not."""
PARTITIONS = 120
"""It has many divisors, as numbers of partitions that people choose with care have."""
TASKS_MAX = 64
USED_MB, GIVEN_MB = 300.0, 512
PER_THREAD = 1_000.0
"""Records a second."""


def case_of(name: str, rates: Sequence[float], history: Sequence[float] = ()) -> Case:
    """A stateless job that fits the trace, provisioned for its peak.

    What the trace counts is scaled to records of the usual size, of which a thread reads the usual
    number: what is large and what is small to a policy depends on no trace's unit.
    """
    ranked = sorted([*history, *rates])
    peak = ranked[min(len(ranked) - 1, int(PEAK_SHARE * len(ranked)))]
    scale = PEAK_THREADS * PER_THREAD / peak if peak > 0 else 1.0
    nature = Nature(PER_THREAD, PARTITIONS, base_mb=USED_MB)
    job = JobFacts(
        name,
        tasks=PEAK_THREADS,
        memory_mb=GIVEN_MB,
        partitions=PARTITIONS,
        tasks_max=TASKS_MAX,
    )
    scaled = tuple(scale * rate for rate in rates)
    return Case(scaled, nature, job, tuple(scale * rate for rate in history))


# --- scenarios


USUAL = 8_000.0
"""Records a second that the job of a scenario reads on a usual day."""


def _flat(minutes: int) -> list[float]:
    return [USUAL] * minutes


def _of(name: str, rates: Sequence[float], *faults: Fault, limit: int = TASKS_MAX) -> Case:
    history = _flat(3 * DAY_MINUTES)
    nature = Nature(PER_THREAD, PARTITIONS, noise=0.02, base_mb=USED_MB, faults=faults)
    job = JobFacts(name, 10, memory_mb=GIVEN_MB, partitions=PARTITIONS, tasks_max=limit)
    return Case(tuple(rates), nature, job, tuple(history))


def _diurnal(minutes: int) -> list[float]:
    return [USUAL * (1 + 0.6 * sin(2 * pi * at / DAY_MINUTES)) for at in range(minutes)]


def _after_days(case: Case) -> Case:
    return replace(case, history=tuple(_diurnal(3 * DAY_MINUTES)))


def diurnal() -> Case:
    """Days like each other, with a history of them."""
    days = _diurnal(5 * DAY_MINUTES)
    return _after_days(_of("diurnal", days[3 * DAY_MINUTES :]))


def step() -> Case:
    """Three times as much from one minute to the next, for good."""
    return _of("step", _flat(360) + [3 * USUAL] * 720)


def spike() -> Case:
    """Four times as much for ten minutes."""
    return _of("spike", _flat(360) + [4 * USUAL] * 10 + _flat(360))


def ramp() -> Case:
    """From the usual to three times as much, within two hours."""
    return _of(
        "ramp", _flat(180) + [USUAL * (1 + at / 60) for at in range(120)] + [3 * USUAL] * 360
    )


def square() -> Case:
    """Ten minutes much, ten minutes little, again and again."""
    return _of("square", _flat(120) + ([1.6 * USUAL] * 10 + [0.4 * USUAL] * 10) * 36)


def backlog() -> Case:
    """Nothing was read for five days; the job may have 32 tasks."""
    outage = Fault("dependency", 0, 5 * DAY_MINUTES, 0.0)
    made = _of("backlog", _flat(12 * DAY_MINUTES), outage, limit=32)
    return replace(made, begin=5 * DAY_MINUTES)


def dependency() -> Case:
    """What the tasks call answers half of what they need, for an hour, however many they are."""
    return _of("dependency", _flat(600), Fault("dependency", 240, 300, USUAL / 2))


def hot_key() -> Case:
    """One partition gets thirty times its share for three hours."""
    return _of("hot key", _flat(720), Fault("hot", 240, 420, 30.0, at=7))


def slow_node() -> Case:
    """One task's machine is four times as slow until the task is moved."""
    return _of("slow node", _flat(720), Fault("straggler", 240, 720, 0.25, at=0))


def poison() -> Case:
    """Nothing of one partition can be read for two hours."""
    return _of("poison", _flat(600), Fault("poison", 240, 360, at=5))


def oom_ramp() -> Case:
    """State grows until tasks run out of memory."""
    made = _of("oom ramp", _flat(720), Fault("keys", 120, 600, 6.0))
    return replace(
        made,
        nature=replace(made.nature, stateful=True, state_mb=500.0, restart_s=STATEFUL_S),
        job=made.job._replace(stateful=True),
    )


def metric_loss() -> Case:
    """Nothing is reported for half an hour; later the same for half an hour; later all of it five
    minutes late."""
    faults = (
        Fault("vanished", 240, 270),
        Fault("frozen", 400, 430),
        Fault("late", 600, 660, 5),
    )
    return _after_days(_of("metric loss", _diurnal(900), *faults))


SCENARIOS: Mapping[str, Callable[[], Case]] = {
    "diurnal": diurnal,
    "step": step,
    "spike": spike,
    "ramp": ramp,
    "square": square,
    "backlog": backlog,
    "dependency": dependency,
    "hot-key": hot_key,
    "slow-node": slow_node,
    "poison": poison,
    "oom-ramp": oom_ramp,
    "metric-loss": metric_loss,
}
