"""Accepts or rejects what is wanted of a job (Turbine III-A); lets overrides expire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from components.job_service.core.doubt import doubt
from components.job_service.core.overrides import (
    ENDS_BYTES,
    ENDS_MOST,
    bytes_of,
    change_ends,
    changes_of,
    end_of,
    ends_whole,
    layer_then,
)
from components.runtime.core.component import Component
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    Layer,
    LayerVersions,
    OverrideEnd,
    OverrideExpired,
)
from events.job_config.config import Invalid, JobConfig
from events.job_config.merge import change_layer, merge_layers
from events.job_config.reserved import NO_JOB, is_reserved_job, reserved_topics
from events.job_config.strict_json import Malformed, canonical_json, parse_json, shorten
from events.job_config.text import proposed
from events.topics import JOURNAL, LAYERS, TASKS
from events.wire.traces import TRACE_CHARS_MAX
from projections.ingress import CROWDED, NO_ROOM, Ask, in_turn
from projections.jobs import (
    BASE,
    FOLDED_KINDS,
    INGRESS_TOPICS,
    ONCALL,
    REQUESTS,
    End,
    Job,
    apply,
    dump,
    fold,
    load,
)
from projections.jobs import LayerState as Held
from projections.kept_state import STATE_STAYS, stays_behind
from turbine_client.identity import is_job_id, valid_until_ms

LAYER_BYTES = 64 * 1024
EXPECTED_BYTES = 128 * 1024
"""A decision carries one layer and the merged config, and an event is at most 256 KiB."""
AUTHOR_CHARS, REASON_CHARS = 256, 4_096
"""What people say of themselves and of their reasons goes into decisions, so it has a bound too."""
EXPLANATION_CHARS, PATH_CHARS = 16_384, 4_096
"""An explanation quotes what was asked for, which may be as large as an event."""
OPERATOR_DOOR = REQUESTS.index("operator")
PEOPLE_FIRST = (ONCALL, OPERATOR_DOOR, BASE, 1, 2)
"""In which order waiting requests are answered: who mitigates an outage does not queue."""

REQUIRED = tuple(sorted(name for name, one in JobConfig.model_fields.items() if one.is_required()))
"""What every job has to say; a change that lacks any of it makes no job."""


@dataclass(frozen=True, slots=True)
class ChangeRefusal:
    """Why a request is rejected: a code for programs, a sentence for people, a path."""

    reason: str
    explanation: str
    path: str = ""


def _absent(job: Job, expected_json: str) -> ChangeRefusal | None:
    """Of a change that would have to make the job and cannot: that there is no such job comes
    first, as its author most likely meant another."""
    if job.alive:
        return None
    config = json.loads(expected_json)
    if not (lacking := [name for name in REQUIRED if name not in config]):
        return None
    said = f"there is no job {job.name}, and this change makes none: it lacks {', '.join(lacking)}"
    return ChangeRefusal("no-such-job", said, lacking[0])


def _stays(job: Job, expected_json: str, was_json: str) -> ChangeRefusal | None:
    """Of a change to what the job's state could not go along to."""
    found = stays_behind(job.kept, expected_json, was_json)
    if found is None:
        return None
    whose, first = "", "pause the job"
    if not job.alive:
        whose = "; the state is that of the deleted job of this name"
        first = "create the job as it was with `paused: true`"
    remedy = (
        f"{whose}; or give the state up: {first}, have all inputs read anew (`turbine reset job"
        f" {job.name} --to earliest --reason R`), and change it then"
    )
    return ChangeRefusal(STATE_STAYS, found.sentence + remedy, found.path)


@dataclass(frozen=True, slots=True)
class JobRules:
    """What a logic of the past judged otherwise."""

    no_room: str = NO_ROOM
    reserved: bool = True
    absent: Callable[[Job, str], ChangeRefusal | None] = _absent
    stays: Callable[[Job, str, str], ChangeRefusal | None] = _stays
    whole: bool = False  # a layer ended as a whole, when its last change did


NEWEST = JobRules()


def decide(job: Job, now_ms: int, rules: JobRules = NEWEST) -> Iterator[Body]:
    """What should be said of the job now: expiries, then one verdict for each waiting request."""
    for at, layer in enumerate(job.layers):
        for end in (one for one in layer.ends if one.expires_ms <= now_ms):
            body: Body = _expiry(job, at, end, rules)
            yield body
            job = apply(job, body)
    for door in PEOPLE_FIRST:
        for ask, crowded in in_turn(job.ingress[door]):
            body = _verdict(job, door, ask, now_ms, rules, crowded=crowded)
            yield body
            job = apply(job, body)


def wake_ms(job: Job, now_ms: int) -> int | None:
    """The next end of an override."""
    due = (end.expires_ms for layer in job.layers for end in layer.ends)
    return min((at_ms for at_ms in due if at_ms > now_ms), default=None)


def _expiry(job: Job, at: int, end: End, rules: JobRules) -> OverrideExpired:
    return OverrideExpired(
        job=job.name,
        layer=_layer(at),
        version=job.layers[at].version + 1,
        versions=_bumped(job, at),
        expected_json=_expected_json(job, at, end.config_json),
        expires_ms=end.expires_ms,
        change_id=None if rules.whole else end.change_id,
        layer_json=None if rules.whole else end.config_json,
        other_ids=end.other_ids,
    )


def _verdict(job: Job, door: int, ask: Ask, now_ms: int, rules: JobRules, *, crowded: bool) -> Body:
    refusal = ChangeRefusal("overloaded", CROWDED) if crowded else _untimely(ask, now_ms, rules)
    if refusal is not None:
        return _rejected(job, door, ask, refusal)
    refusal = _too_long(ask.body)
    if refusal is not None:
        return _rejected(job, door, ask, refusal)
    if not isinstance(ask.body, ConfigChangeProposed):
        return _deleted(job, door, ask)
    change = _change(job, door, ask.body, now_ms, rules)
    if isinstance(change, ChangeRefusal):
        return _rejected(job, door, ask, change)
    return change


def _untimely(ask: Ask, now_ms: int, rules: JobRules) -> ChangeRefusal | None:
    if ask.passed or valid_until_ms(ask.id) < now_ms:
        return ChangeRefusal(
            "too-late", "its validity passed before it could be decided; ask again"
        )
    return ChangeRefusal("overloaded", rules.no_room) if ask.body is None else None


def _too_long(body: Body | None) -> ChangeRefusal | None:
    for name, most in (("author", AUTHOR_CHARS), ("reason", REASON_CHARS)):
        length = len(getattr(body, name, ""))
        if length > most:
            return ChangeRefusal("too-large", f"{name}: expected at most {most} characters", name)
    return None


def _deleted(job: Job, door: int, ask: Ask) -> Body:
    if not job.alive:
        return _rejected(job, door, ask, _no_such_job(job))
    return JobDeleted(
        job=job.name,
        change_id=ask.id,
        # Every layer moves on, so that no change that was proposed to the deleted job can be
        # accepted for one that is created anew under its name.
        versions=LayerVersions(*(layer.version + 1 for layer in job.layers)),
        author=getattr(ask.body, "author", ""),
        reason=getattr(ask.body, "reason", ""),
        traceparent=_trace(ask.body),
    )


def _change(
    job: Job, at: int, asked: ConfigChangeProposed, now_ms: int, rules: JobRules
) -> Body | ChangeRefusal:
    refusal = _taken(job, at, rules) or _precheck(job, at, asked, now_ms)
    if refusal is not None:
        return refusal
    made = _made(job.layers[at], at, asked, rules)
    if isinstance(made, ChangeRefusal):
        return made
    expected_json = _expected_json(job, at, made.config_json)
    refusal = rules.absent(job, expected_json)
    refusal = refusal or _unfit(expected_json, rules, job.expected_json if job.alive else "{}")
    refusal = refusal or rules.stays(job, expected_json, job.expected_json)
    refusal = refusal or _unfit_later(job, at, made, rules)
    refusal = refusal or _too_large(expected_json)
    if refusal is not None:
        return refusal
    return JobConfigChanged(
        job=job.name,
        layer=_layer(at),
        change_id=asked.change_id,
        version=job.layers[at].version + 1,
        versions=_bumped(job, at),
        layer_json=made.config_json,
        expected_json=expected_json,
        author=asked.author,
        reason=asked.reason,
        expires_ms=asked.expires_ms,
        traceparent=_trace(asked),
        ends=None if rules.whole else tuple(OverrideEnd(*one) for one in made.ends),
    )


def _made(
    layer: Held, at: int, asked: ConfigChangeProposed, rules: JobRules
) -> Held | ChangeRefusal:
    """What the change makes of its layer, now and from each end on."""
    try:
        change = parse_json(asked.set_json, what="set_json")
        if not isinstance(change, dict):
            return ChangeRefusal("invalid", "set_json: expected a JSON object", "set_json")

        def changed(config_json: str) -> str:
            return canonical_json(change_layer(json.loads(config_json), change, asked.clear))

        if rules.whole:
            layer_json, ends = changed(layer.config_json), ends_whole(asked)
        else:
            layer_json, ends = change_ends(layer, changed, end_of(asked))
    except Malformed as bad:
        return ChangeRefusal("invalid", str(bad), bad.path)
    if len(layer_json.encode()) > LAYER_BYTES:
        return ChangeRefusal(
            "too-large", f"the {LAYERS[at]} layer would be over {LAYER_BYTES} bytes"
        )
    if changes_of(ends) > ENDS_MOST:
        said = (
            f"the {LAYERS[at]} layer would have over {ENDS_MOST} temporary changes at once;"
            " clear what is not needed any more, or let one end first"
        )
        return ChangeRefusal("too-large", said, "expires_ms")
    if bytes_of(ends) > ENDS_BYTES:
        said = f"what the {LAYERS[at]} layer will be at its ends would be over {ENDS_BYTES} bytes"
        return ChangeRefusal("too-large", f"{said}; set less in it", "expires_ms")
    return layer._replace(config_json=layer_json, ends=ends)


def _precheck(job: Job, at: int, asked: ConfigChangeProposed, now_ms: int) -> ChangeRefusal | None:
    """What can be told without looking at the config that is asked for."""
    version = job.layers[at].version
    if not is_job_id(job.name):
        return ChangeRefusal(
            "invalid",
            "job: expected up to 128 of a-z, 0-9, '.', '_', '-', beginning and ending with a "
            "letter or digit",
            "job",
        )
    if at != BASE and not job.alive:
        return _no_such_job(job)
    if asked.expected_version is not None and asked.expected_version != version:
        return ChangeRefusal("stale", _overtaken(job, at, asked.expected_version))
    if at == ONCALL and not asked.reason.strip():
        return ChangeRefusal(
            "reason-required", "an oncall change needs a reason; say why", "reason"
        )
    if asked.expires_ms is not None and at != ONCALL:
        return ChangeRefusal("expiry-not-allowed", "only an oncall change may expire", "expires_ms")
    if asked.expires_ms is not None and asked.expires_ms <= now_ms:
        return ChangeRefusal("invalid", "expires_ms: expected an instant to come", "expires_ms")
    return None


def _taken(job: Job, at: int, rules: JobRules) -> ChangeRefusal | None:
    """Of a job that would be created under a name of Turbine's own."""
    if not rules.reserved or at != BASE or job.alive or not is_reserved_job(job.name):
        return None
    return ChangeRefusal("invalid", f"job: expected {NO_JOB}, found {shorten(job.name)}", "job")


def _no_such_job(job: Job) -> ChangeRefusal:
    return ChangeRefusal("no-such-job", f"there is no job {job.name}; a base change creates it")


def _overtaken(job: Job, at: int, expected: int) -> str:
    layer = job.layers[at]
    by = f", set by {layer.author}" if layer.author else ""
    return f"expected version {expected} of the {LAYERS[at]} layer, but it is {layer.version}{by}"


def _too_large(expected_json: str) -> ChangeRefusal | None:
    if len(expected_json.encode()) > EXPECTED_BYTES:
        return ChangeRefusal("too-large", f"the merged config would be over {EXPECTED_BYTES} bytes")
    return None


def _unfit(expected_json: str, rules: JobRules, was_json: str) -> ChangeRefusal | None:
    config = proposed(expected_json, was_json)
    found = config if isinstance(config, Invalid) else None
    if isinstance(config, JobConfig) and rules.reserved:
        found = next(reserved_topics(config), None)
    return None if found is None else ChangeRefusal("invalid", str(found), found.path)


def _unfit_later(job: Job, at: int, made: Held, rules: JobRules) -> ChangeRefusal | None:
    """The config must stand on its own once an override that expires is gone, whichever goes first:
    nobody will be asked then, and an expiry cannot be rejected."""
    now, was = list(job.layers), list(job.layers)
    now[at] = made
    for end in now[ONCALL].ends:
        now[ONCALL] = Held(config_json=end.config_json)
        was[ONCALL] = Held(config_json=layer_then(job.layers[ONCALL], end.expires_ms))
        later_json, was_json = _merged(now), _merged(was)
        refusal = _unfit(later_json, rules, was_json) or rules.stays(job, later_json, was_json)
        if refusal is None and not rules.whole:
            refusal = _too_large(later_json)
        if refusal is not None:
            said = f"once the oncall override expires, {refusal.explanation}"
            return ChangeRefusal(refusal.reason, said, refusal.path)
    return None


def _merged(layers: Iterable[Held]) -> str:
    return canonical_json(merge_layers([json.loads(one.config_json) for one in layers]))


def _rejected(job: Job, door: int, ask: Ask, why: ChangeRefusal) -> JobConfigRejected:
    return JobConfigRejected(
        job=job.name,
        ingress=REQUESTS[door],
        change_id=ask.id,
        reason=why.reason,
        explanation=why.explanation[:EXPLANATION_CHARS],
        path=why.path[:PATH_CHARS],
        version=job.layers[BASE if door == OPERATOR_DOOR else door].version,
        author=getattr(ask.body, "author", "")[:AUTHOR_CHARS],
        traceparent=_trace(ask.body),
    )


def _trace(body: Body | None) -> str | None:
    trace: str | None = getattr(body, "traceparent", None)
    return None if trace is None or len(trace) > TRACE_CHARS_MAX else trace


def _layer(at: int) -> Layer:
    return cast("Layer", LAYERS[at])


def _expected_json(job: Job, at: int, layer_json: str) -> str:
    """What all layers add up to. Most jobs have one layer, and no tombstone in it."""
    others = [one.config_json for i, one in enumerate(job.layers) if i != at]
    if others == ["{}"] * len(others) and "null" not in layer_json:
        return layer_json
    return _merged(
        Held(config_json=layer_json) if i == at else one for i, one in enumerate(job.layers)
    )


def _bumped(job: Job, at: int) -> LayerVersions:
    return LayerVersions(*(layer.version + (i == at) for i, layer in enumerate(job.layers)))


component: Component[Job] = Component(
    name="job-service",
    logic="job-service/2",
    output=JOURNAL,
    inputs=frozenset(INGRESS_TOPICS) | {JOURNAL, TASKS},
    folds=FOLDED_KINDS,
    says=frozenset({"JobConfigChanged", "JobConfigRejected", "OverrideExpired", "JobDeleted"}),
    fold=fold,
    decide=decide,
    effects=lambda _: (),
    wake_ms=wake_ms,
    dump=dump,
    load=load,
    doubt=doubt,
)
