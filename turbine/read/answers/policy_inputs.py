"""What a verdict of the auto scaler can be asked about again: each input and each setting. Pure.

An input has the value of the evaluation, the bounds within which another one makes sense, and the
evaluation that another value makes. Nothing but the one thing is changed.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from components.auto_scaler.core.catalogue import replays
from components.auto_scaler.core.evaluation import job_of
from components.auto_scaler.core.policies.turbine.shapes import reads
from events.job_config.config import TASKS_MAX
from events.job_config.policies.table import SETTINGS, trouble_in
from events.job_config.strict_json import canonical_json
from projections.scaling import ring
from projections.scaling.seen import Minute
from turbine.read.answers.evaluation import Evaluation

Value = float | int | bool | str | None
TIMES = 50.0
"""As much more or less of what was measured is tried."""
WAIT_MOST_S = 7 * 86_400.0
LAG_MOST_S = 86_400.0
BOUNDS, LITTLE, UNBOUNDED = ("ge", "gt", "le", "lt"), 1e-6, 1e9
INPUT, SETTING = "input", "setting"


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """One thing that may have been otherwise."""

    kind: str  # input or setting
    name: str
    value: Value  # as it was
    change: Callable[[Value], Evaluation | None]  # None: that value is no value of it
    least: float = 0.0
    most: float = 0.0
    whole: bool = False
    scale: float = 1.0  # against which a distance is measured
    choices: tuple[Value, ...] = ()  # instead of bounds
    what: str = ""  # how people name it
    unit: str = ""


def inputs_of(given: Evaluation) -> Iterator[PolicyInput]:
    """All of an evaluation; what was not measured, or has no part in it, is left out."""
    yield from _measured(given)
    yield from _limits(given)
    yield from _times(given)
    yield from _settings(given)


# --- what was measured


def _measured(given: Evaluation) -> Iterator[PolicyInput]:
    newest = given.row.learnt.known.seen.newest
    if newest is None:
        return
    came = newest.rate if newest.arrived is None else newest.arrived
    if came > 0:
        yield _times_of(given, ("rate", "what came in", "records/s"), came, _with_rate)
    if newest.lag_s is not None:
        yield PolicyInput(
            INPUT, "lag_seconds", newest.lag_s, lambda lag_s: _with_lag(given, _number(lag_s)),
            0.0, max(LAG_MOST_S, 2 * newest.lag_s),
            scale=newest.lag_s or given.facts.slo_s, what="the lag", unit="s",
        )  # fmt: skip
    can = _reads(given, newest)
    if can is not None:
        yield _times_of(given, ("capacity", "what it can read", "records/s"), can, _with_capacity)
    used = given.row.learnt.known.used_mb
    if used:
        yield _times_of(given, ("memory", "the memory of a task", "MiB"), used, _with_memory)
    yield _flag(given, "oom", newest.oom, "out_of_memory", "a task had run out of memory")
    stuck = "nothing had been read of a partition that has records"
    yield _flag(given, "stuck", newest.stuck > 0, "stuck_partition", stuck)
    if given.row.days.days:
        yield _times_of(given, ("usual_days", "what usual days say", "times that"), 1.0, _with_days)


def _times_of(
    given: Evaluation,
    told: tuple[str, str, str],
    base: float,
    make: Callable[[Evaluation, float], Evaluation],
) -> PolicyInput:
    name, what, unit = told

    def change(value: Value) -> Evaluation:
        return make(given, _number(value) / base)

    return PolicyInput(
        INPUT, name, base, change, base / TIMES, base * TIMES, scale=base, what=what, unit=unit
    )  # fmt: skip


def _flag(given: Evaluation, field: str, value: bool, name: str, what: str) -> PolicyInput:
    kind = {"oom": bool, "stuck": int}[field]
    return PolicyInput(
        INPUT, name, value, lambda other: _newest(given, **{field: kind(bool(other))}),
        choices=(not value,), what=what,
    )  # fmt: skip


def _number(value: Value) -> float:
    assert isinstance(value, float | int), "a varied with bounds has a number"
    return float(value)


def _reads(given: Evaluation, newest: Minute) -> float | None:
    """Records a second, as the policy has them: by its curve, or by how busy it was."""
    curve = given.row.learnt.known.curve
    if not replays(given.facts.policy):
        return reads(curve, job_of(given.row, given.facts, given.now_ms)) if curve.known else None
    return newest.rate / newest.busy if newest.busy and newest.rate else None


def _mapped(
    given: Evaluation, make: Callable[[Minute], Minute], *, last: bool = False
) -> Evaluation:
    """Each minute that the row remembers becomes another one, or the last alone."""
    learnt = given.row.learnt
    kept, packed = list(ring.minutes(learnt.ring)), b""
    for at, minute in enumerate(kept):
        packed = ring.kept(packed, make(minute) if not last or at == len(kept) - 1 else minute)
    seen = learnt.known.seen
    newest = None if seen.newest is None else make(seen.newest)
    known = learnt.known._replace(seen=seen._replace(newest=newest))
    return given._replace(row=given.row._replace(learnt=learnt._replace(known=known, ring=packed)))


def _newest(given: Evaluation, **more: Any) -> Evaluation:
    return _mapped(given, lambda minute: minute._replace(**more), last=True)


def _known(given: Evaluation, **more: Any) -> Evaluation:
    learnt = given.row.learnt
    known = learnt.known._replace(**more)
    return given._replace(row=given.row._replace(learnt=learnt._replace(known=known)))


def _with_rate(given: Evaluation, times: float) -> Evaluation:
    """So many times as much came in, in each minute; it was read as far as the tasks had time."""

    def more(minute: Minute) -> Minute:
        busy = minute.busy or 0.0
        read = times if times <= 1 or not busy else max(1.0, min(times, 1 / busy))
        return minute._replace(
            arrived=None if minute.arrived is None else minute.arrived * times,
            rate=minute.rate * read,
            busy=None if minute.busy is None else min(1.0, minute.busy * read),
            busy_most=None if minute.busy_most is None else min(1.0, minute.busy_most * read),
        )

    came = tuple([one * times for one in given.row.learnt.known.arrived])
    return _known(_mapped(given, more), arrived=came)


def _with_lag(given: Evaluation, lag_s: float) -> Evaluation:
    """The oldest record was so old, and as many more were left."""
    known = given.row.learnt.known
    newest = known.seen.newest
    assert newest is not None, "a lag was measured in some minute"
    came = newest.rate if newest.arrived is None else newest.arrived
    held = bool(newest.lag and newest.lag_s)
    lag = (newest.lag or 0.0) * lag_s / (newest.lag_s or 1.0) if held else lag_s * came
    lows = (*known.lows[:-1], (newest.at_ms, lag_s)) if known.lows else known.lows
    changed = _newest(given, lag=lag, lag_s=lag_s)
    return _known(changed, lag=lag, lags_s=(*known.lags_s[:-1], lag_s), lows=lows)


def _with_capacity(given: Evaluation, times: float) -> Evaluation:
    """Each thread reads so many times as much; what came in was read with as much less of its
    time."""

    def faster(minute: Minute) -> Minute:
        busy = None if minute.busy is None else min(1.0, minute.busy / times)
        most = None if minute.busy_most is None else min(1.0, minute.busy_most / times)
        return minute._replace(busy=busy, busy_most=most)

    curve = given.row.learnt.known.curve
    more = log(times)
    curve = curve._replace(y=curve.y + curve.weight * more, xy=curve.xy + curve.x * more)
    return _known(_mapped(given, faster), curve=curve)


def _with_memory(given: Evaluation, times: float) -> Evaluation:
    used = given.row.learnt.known.used_mb

    def larger(minute: Minute) -> Minute:
        known = minute.memory_mb
        return minute._replace(memory_mb=None if known is None else known * times)

    return _known(_mapped(given, larger), used_mb=None if used is None else used * times)


def _with_days(given: Evaluation, times: float) -> Evaluation:
    days = given.row.days
    mean, peak = (
        array("f", [one * times for one in array("f", packed)]).tobytes()
        for packed in (days.mean, days.peak)
    )
    return given._replace(row=given.row._replace(days=days._replace(mean=mean, peak=peak)))


# --- limits and times


def _limits(given: Evaluation) -> Iterator[PolicyInput]:
    facts, grant = given.facts, given.row.grant
    yield PolicyInput(
        INPUT, "limits.tasks", facts.tasks_max,
        lambda most: given._replace(facts=facts._replace(tasks_max=int(_number(most)))),
        1, TASKS_MAX, whole=True, scale=facts.tasks_max, what="the limit of its tasks",
    )  # fmt: skip
    if grant.holds(given.now_ms) and grant.tasks_max is not None:
        yield PolicyInput(
            INPUT, "granted", grant.tasks_max,
            lambda most: given._replace(
                row=given.row._replace(grant=grant._replace(tasks_max=int(_number(most))))
            ),
            1, TASKS_MAX, whole=True, scale=max(1, grant.tasks_max), what="the tasks granted",
        )  # fmt: skip
    yield PolicyInput(
        INPUT, "slo.lag_seconds", facts.slo_s,
        lambda slo_s: given._replace(facts=facts._replace(slo_s=_number(slo_s))),
        1.0, LAG_MOST_S, scale=facts.slo_s, what="the lag that its SLO allows", unit="s",
    )  # fmt: skip


def _times(given: Evaluation) -> Iterator[PolicyInput]:
    """How long it waited since its last change, and how long a failed one holds it."""
    done, now_ms = given.row.done, given.now_ms
    if replays(given.facts.policy):
        return  # what it remembers is made again of its minutes

    def changed(**more: Any) -> Evaluation:
        return given._replace(row=given.row._replace(done=done._replace(**more)))

    if done.acted_ms is not None:
        waited_s = (now_ms - done.acted_ms) / 1000
        yield PolicyInput(
            INPUT, "waited_seconds", waited_s,
            lambda other: changed(acted_ms=now_ms - round(_number(other) * 1000)),
            0.0, WAIT_MOST_S, scale=max(60.0, waited_s),
            what="the time since its last change", unit="s",
        )  # fmt: skip
    if done.held_ms > now_ms:
        left_s = (done.held_ms - now_ms) / 1000
        yield PolicyInput(
            INPUT, "held_seconds", left_s,
            lambda other: changed(held_ms=now_ms + round(_number(other) * 1000)),
            0.0, left_s, scale=left_s, what="the time for which it is still held", unit="s",
        )  # fmt: skip


# --- settings


def _settings(given: Evaluation) -> Iterator[PolicyInput]:
    """Of the policy; lists and parts of settings are left to people."""
    name, said = given.facts.policy, json.loads(given.facts.settings_json)
    if name not in SETTINGS:
        return  # it is not installed here
    model = SETTINGS[name]
    in_force = model.model_validate(said).model_dump(mode="json")
    for setting, field in model.model_fields.items():
        kinds = _kinds(field.annotation)
        value = in_force[setting]

        def change(other: Value, setting: str = setting) -> Evaluation | None:
            made = said | {setting: other}
            if trouble_in(name, made) is not None:
                return None
            return given._replace(facts=given.facts._replace(settings_json=canonical_json(made)))

        if get_origin(kinds[0]) is Literal or kinds[0] is bool:
            ones = get_args(kinds[0]) or (True, False)
            others = tuple(one for one in ones if one != value)
            yield PolicyInput(SETTING, setting, value, change, choices=others)
        elif kinds[0] in (int, float) and value is not None:
            least, most, whole = _bounds(field.metadata, whole=kinds[0] is int)
            scale = abs(value) or min(1.0, most)
            yield PolicyInput(SETTING, setting, value, change, least, most, whole, scale)


def _kinds(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, UnionType):
        return [one for one in get_args(annotation) if one is not type(None)]
    return [annotation]


def _bounds(metadata: list[Any], *, whole: bool) -> tuple[float, float, bool]:
    """What a number may be at least and at most; what it has to be above is missed by a little."""
    # Pydantic keeps each bound as an object of its own, with one attribute.
    said = {name: getattr(one, name) for one in metadata for name in BOUNDS if hasattr(one, name)}
    little = 1.0 if whole else LITTLE
    least = said["gt"] + little if "gt" in said else said.get("ge", -UNBOUNDED)
    most = said["lt"] - little if "lt" in said else said.get("le", UNBOUNDED)
    return float(least), float(most), whole
