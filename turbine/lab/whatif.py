"""What another policy would have done with the input that a job really had, beside what was done.

The recorded input drives a plant that reads as the job did (`turbine.lab.plant.learnt`), under the
auto scaler itself (`turbine.lab.plant.closed_loop`): once with the policy that ran, which tells how
far the plant is off, and once with the other one. Pure, given a log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from events.generated.records import (
    Body,
    JobConfigChanged,
    OverrideExpired,
    ScalingDecided,
    ScalingReverted,
)
from events.wire.codec import Read
from projections.scaling.actions import REVERT, JobSize
from projections.scaling.facts import Facts
from projections.scaling.seen import MINUTE_MS
from turbine.lab.backtest import chosen_policy, settings_of
from turbine.lab.kernel import Streams
from turbine.lab.model_error import hold
from turbine.lab.plant.closed_loop import ClosedLoop
from turbine.lab.plant.learnt import LearntNature, Unlearnt, learn, luck_of, places
from turbine.lab.plant.plant import Plant
from turbine.lab.plant.played_job import PlantLayers, PlayedMinute, PolicyWish, SizeChange, sized
from turbine.lab.span import BadWhatIf, Reads, ReplaySpan, plain_settings, span_of, stretch
from turbine.lab.whatif_answer import OTHER, RECORDED, REPLAYED, Side, WhatIf

__all__ = ["BadWhatIf", "WhatIf", "what_if"]

Row = dict[str, Any]


# --- asked


def what_if(  # noqa: PLR0917 - who, what instead, and when: a line of the API names them in turn
    log: Reads,
    job: str,
    policy: str | None,
    settings: Mapping[str, Any] | None = None,
    begin_ms: int | None = None,
    end_ms: int | None = None,
) -> WhatIf:
    """A job's recorded input under another policy, or other settings of the one that ran.

    Without a policy it is the one that the job has, and its own settings are changed by those that
    are named. BadWhatIf or BadBackTest says in one sentence what cannot be played.
    """
    if policy is not None:
        _checked(policy, settings or {})
    if begin_ms is not None and end_ms is not None and begin_ms >= end_ms:
        raise BadWhatIf("the span ends before it begins; name an earlier --from, or a later --to")
    try:
        span = span_of(log, job, begin_ms, end_ms)
        learnt = _learnt(span)
    except Unlearnt as bad:
        raise BadWhatIf(f"{job}: {bad}; a what-if needs a job that was busy") from None
    wish = _wished(span.facts, policy, settings or {})
    return _played(span, learnt, wish)


def _checked(policy: str, settings: Mapping[str, Any]) -> Row:
    """All settings that are in force, or a sentence."""
    return settings_of(chosen_policy(policy, settings))


def _wished(facts: Facts, policy: str | None, settings: Mapping[str, Any]) -> PolicyWish:
    name = policy or facts.policy
    own = plain_settings(facts) if name == facts.policy else {}
    wish = PolicyWish(name, own | dict(settings))
    _checked(wish.name, wish.settings)
    return wish


def _learnt(span: ReplaySpan) -> LearntNature:
    minutes = [one.minute for one in span.minutes]
    took_s = [one.took_s for one in span.pauses()]
    stateful = span.row.learnt.rounds.stateful
    learnt = learn(minutes, span.facts, span.came, took_s, stateful=stateful)
    threads = span.facts.size.threads
    lucks = [
        found if (found := luck_of(one.minute, learnt.fit, threads)) is not None else 1.0
        for one in span.covering(span.steps())
    ]
    return learnt._replace(nature=replace(learnt.nature, lucks=tuple(lucks)))


def _played(span: ReplaySpan, learnt: LearntNature, wish: PolicyWish) -> WhatIf:
    steps = span.steps()
    rates = span.rates(steps)
    facts = span.facts
    ran = {"name": facts.policy, "settings": plain_settings(facts), "mode": facts.mode}
    other = {"name": wish.name, "settings": dict(wish.settings), "mode": "act"}
    recorded = Side(
        RECORDED, ran, _recorded(span, steps, rates), _deeds(span, steps), span.restarts()
    )
    replayed = _side(REPLAYED, ran, _play(span, learnt, steps, rates, None))
    others = _side(OTHER, other, _play(span, learnt, steps, rates, wish))
    return WhatIf(
        span.name,
        span.begin_ms,
        steps[-1],
        span.interval_ms,
        facts.slo_s,
        (recorded, replayed, others),
        hold(recorded.played, recorded.deeds, replayed.played, replayed.deeds, facts.slo_s),
        learnt.told,
        tuple(_notes(span, steps)),
    )


def _notes(span: ReplaySpan, steps: Sequence[int]) -> list[str]:
    """What who reads the figures has to know."""
    told = list[str]()
    unknown = sum(one.minute.arrived is None for one in span.minutes[1:])
    if unknown:
        told.append(
            f"of {stretch(unknown, span.interval_ms)} nobody knows what came in: what was read is"
            " taken for it"
        )
    if gaps := span.gaps():
        told.append(f"{gaps} times nobody reported for long: what came then is taken as even")
    if any(one.minute.lag_s is None for one in span.covering(steps)):
        told.append("at some instants nobody knows the lag: it is taken from what was left to read")
    if span.facts.mode != "act":
        told.append(f"the job's policy was in mode {span.facts.mode}: it changed nothing")
    if span.others:
        told.append(
            f"{len(span.others)} words of people and other components are said again on each side"
        )
    minutes = [one.minute for one in span.minutes if one.minute.at_ms > span.begin_ms]
    for count, what in (
        (sum(one.oom for one in minutes), "a task ran out of memory"),
        (sum(one.stuck > 0 for one in minutes), "nothing was read of a partition"),
    ):
        if count:
            told.append(f"in {stretch(count, span.interval_ms)} {what}: that is not played again")
    if span.gone_ms is not None:
        told.append("the job was deleted: it is played until then")
    return told


# --- played


def _side(name: str, policy: Row, stage: ClosedLoop) -> Side:
    return Side(name, policy, stage.played, stage.deeds, stage.restarts)


def _play(
    span: ReplaySpan,
    learnt: LearntNature,
    steps: Sequence[int],
    rates: Sequence[float],
    wish: PolicyWish | None,
) -> ClosedLoop:
    """The span from its beginning on, with all that others said in it."""
    layers = PlantLayers(
        [json.loads(one.config_json) for one in span.job.layers],
        [one.version for one in span.job.layers],
    )
    first = span.covering([span.begin_ms])[0].minute
    pace = span.interval_ms / MINUTE_MS
    plant = Plant(learnt.nature, span.facts.size, Streams(0).fork("plant"))
    if first.lag:
        plant.owe(first.lag / pace, (first.lag_s or 0.0) / pace)
    topics = (places(span.facts, span.came) or []) if span.came else []
    stage = ClosedLoop(
        plant, span.row, layers, span.begin_ms, wish=wish, topics=topics, pauses=span.pauses()
    )
    stage.begin()
    waiting = sorted(span.others, key=lambda read: read.at_ms)
    at = 0
    for step, rate in zip(steps, rates, strict=True):
        while at < len(waiting) and waiting[at].at_ms <= step:
            _say_again(stage, waiting[at])
            at += 1
        stage.step(step, rate)
    return stage


def _say_again(stage: ClosedLoop, read: Read) -> None:
    body = read.record.body
    stage.now_ms = max(stage.now_ms, read.at_ms)
    match body:
        case JobConfigChanged():
            stage.want(body.layer, json.loads(body.layer_json), body.change_id, body.author)
        case OverrideExpired():
            stage.want(body.layer, json.loads(body.layer_json or "{}"), read.record.id, "expiry")
        case _:
            stage.hear(read)


# --- recorded


def _recorded(span: ReplaySpan, steps: Sequence[int], rates: Sequence[float]) -> list[PlayedMinute]:
    told = zip(steps, rates, span.covering(steps), span.sizes(steps), strict=True)
    return [
        PlayedMinute(at_ms, rate, _lag_s(one.minute), size, one.minute.down_s)
        for at_ms, rate, one, size in told
    ]


def _lag_s(minute: Any) -> float:
    if minute.lag_s is not None:
        return float(minute.lag_s)
    if not minute.lag:
        return 0.0
    return float(minute.lag / minute.rate) if minute.rate > 0 else 0.0


def _deeds(span: ReplaySpan, steps: Sequence[int]) -> list[SizeChange]:
    """What was decided in the span, and was to be carried out."""
    words = [
        read
        for read in span.words
        if span.begin_ms < read.record.tick_ms <= steps[-1] and _acts(read.record.body)
    ]
    sizes = span.sizes([read.record.tick_ms for read in words])
    return [
        _recorded_deed(read.record.tick_ms, read.record.body, before)
        for read, before in zip(words, sizes, strict=True)
    ]


def _acts(body: Body | None) -> bool:
    match body:
        case ScalingDecided():
            return body.mode == "act"
        case ScalingReverted():
            return body.revert_change_id is not None
        case _:
            return False


def _recorded_deed(at_ms: int, body: Body | None, before: JobSize) -> SizeChange:
    if isinstance(body, ScalingDecided):
        after = sized(before, json.loads(body.set_json))
        return SizeChange(at_ms, body.action, before, after, body.explanation)
    assert isinstance(body, ScalingReverted), "nothing else is a deed"
    back = json.loads(body.measures_json).get("before")
    after = JobSize(**back) if isinstance(back, dict) else before
    return SizeChange(at_ms, REVERT, before, after, body.explanation)
