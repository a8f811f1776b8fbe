"""What is known of a job: its four layers, what they add up to, and the requests about it.

Read from the ingress topics, the journal and the tasks' reports by the job service; a reader of the
journal alone gets the same layers and versions, without the requests that wait.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    JobDeleteRequested,
    LayerVersions,
    OverrideExpired,
    SyncCommitted,
    SyncPlanned,
    TaskStarted,
)
from events.topics import CHANGES, LAYERS, OPERATOR
from events.wire.codec import Read
from projections.ingress import Ingress, IngressRoom, admit, answer, dump_ingress, load_ingress
from projections.kept_state import KINDS, StatefulJob, apply_kept

BASE, PROVISIONER, SCALER, ONCALL = range(4)
REQUESTS = (*LAYERS, "operator")
"""The doors by which requests about a job come in; a verdict names the one it answers."""
INGRESS_TOPICS = (*(CHANGES[layer] for layer in LAYERS), OPERATOR)

_ASKS = (ConfigChangeProposed, JobDeleteRequested)
_DOOR_OF_TOPIC = {topic: at for at, topic in enumerate(INGRESS_TOPICS)}

LAYER_KINDS = frozenset(
    {
        "ConfigChangeProposed",
        "JobDeleteRequested",
        "JobConfigChanged",
        "JobConfigRejected",
        "JobDeleted",
        "OverrideExpired",
    }
)
"""All that moves layers and requests."""
FOLDED_KINDS = LAYER_KINDS | KINDS


class End(NamedTuple):
    """An instant at which temporary changes end, and what their layer is from then on."""

    expires_ms: int
    change_id: str  # of the newest
    author: str
    config_json: str
    other_ids: tuple[str, ...] = ()  # the oldest first

    @property
    def texts(self) -> tuple[str, ...]:
        """All that a decision tells of it in texts."""
        return (self.change_id, self.author, self.config_json, *self.other_ids)


class LayerState(NamedTuple):
    """What one authority wants of the job, and who said so last."""

    version: int = 0  # counts the accepted changes; never goes back, not even by deletion
    config_json: str = "{}"
    author: str = ""
    reason: str = ""
    change_id: str = ""
    ends: tuple[End, ...] = ()  # soonest first; each is another layer than the one before it

    @property
    def expires_ms(self) -> int | None:
        """When the first of its temporary changes ends; None: it stays as it is."""
        return self.ends[0].expires_ms if self.ends else None

    @property
    def configs_json(self) -> tuple[str, ...]:
        """What it is now, and what it is from each of its ends on."""
        return (self.config_json, *(one.config_json for one in self.ends))

    @property
    def ended_ms(self) -> int | None:
        """When the last of its temporary changes ends."""
        return self.ends[-1].expires_ms if self.ends else None

    @property
    def lasting_json(self) -> str:
        """What was set in it for good: what is left once all temporary changes have ended."""
        return self.configs_json[-1]


class Job(NamedTuple):
    """One job. Never forgotten: a deleted one keeps its versions and what it knows of requests.

    A tuple, as its layers are: one is made for each record that is read.
    """

    name: str
    alive: bool = False
    layers: tuple[LayerState, ...] = (LayerState(), LayerState(), LayerState(), LayerState())
    expected_json: str = "{}"
    ingress: tuple[Ingress, ...] = (Ingress(),) * len(REQUESTS)
    kept: StatefulJob = StatefulJob()

    @property
    def versions(self) -> LayerVersions:
        """The layers' versions as a decision carries them."""
        return LayerVersions(*(layer.version for layer in self.layers))


def fold(job: Job | None, read: Read, room: IngressRoom | None = None) -> Job:
    """The job after the record. Total; what does not concern a job's config changes nothing."""
    record = read.record
    body = record.body
    if job is None:
        job = Job(record.key)
    if isinstance(body, _ASKS):
        at = _DOOR_OF_TOPIC.get(read.topic)
        if at is None:
            return job
        size = len(record.value)
        ingress, _ = admit(job.ingress[at], record.id, body, size, read.at_ms, room=room)
        return _at_door(job, at, ingress)
    return job if body is None else apply(job, body)


def apply(job: Job, body: Body) -> Job:
    """The job once a decision about it stands; deciders look ahead of their own words with it."""
    match body:
        case JobConfigChanged() if body.layer in LAYERS:
            return _changed(job, LAYERS.index(body.layer), body)
        case JobConfigRejected() if body.ingress in REQUESTS:
            at = REQUESTS.index(body.ingress)
            return _at_door(job, at, answer(job.ingress[at], body.change_id))
        case OverrideExpired() if body.layer in LAYERS:
            at = LAYERS.index(body.layer)
            layers = _put(job.layers, at, _ended(job.layers[at], body))
            return Job(job.name, job.alive, layers, body.expected_json, job.ingress, job.kept)
        case JobDeleted():
            layers = tuple(LayerState(version) for version in _numbers(body.versions))
            at = REQUESTS.index("operator")
            ingress = _put(job.ingress, at, answer(job.ingress[at], body.change_id))
            return Job(job.name, layers=layers, ingress=ingress, kept=apply_kept(job.kept, body))
        case SyncPlanned() | SyncCommitted() | TaskStarted():
            return job._replace(kept=apply_kept(job.kept, body))
        case _:
            return job


def _changed(job: Job, at: int, body: JobConfigChanged) -> Job:
    layer = LayerState(
        body.version, body.layer_json, body.author, body.reason, body.change_id, _ends(body)
    )
    return Job(
        job.name,
        alive=job.alive or at == BASE,
        layers=_put(job.layers, at, layer),
        expected_json=body.expected_json,
        ingress=_put(job.ingress, at, answer(job.ingress[at], body.change_id)),
        kept=job.kept,
    )


def _ends(body: JobConfigChanged) -> tuple[End, ...]:
    if body.ends is not None:
        return tuple(
            End(one.expires_ms, one.change_id, one.author, one.layer_json, one.other_ids)
            for one in body.ends
        )
    if body.expires_ms is None:
        return ()
    # By a logic of the past the end of the last change was that of the whole layer.
    return (End(body.expires_ms, body.change_id, body.author, "{}"),)


def _ended(layer: LayerState, body: OverrideExpired) -> LayerState:
    """The layer without the change; of whose word is the last one in it then nothing is known."""
    if body.layer_json is None:
        return LayerState(body.version)
    ends = tuple(one for one in layer.ends if one.expires_ms > body.expires_ms)
    last = LayerState() if layer.change_id == body.change_id else layer
    return last._replace(version=body.version, config_json=body.layer_json, ends=ends)


def _at_door(job: Job, at: int, ingress: Ingress) -> Job:
    return job._replace(ingress=_put(job.ingress, at, ingress))


def _numbers(versions: LayerVersions) -> tuple[int, ...]:
    return (versions.base, versions.provisioner, versions.scaler, versions.oncall)


def _put(row: tuple[Any, ...], at: int, value: object) -> tuple[Any, ...]:
    return (*row[:at], value, *row[at + 1 :])


def dump(job: Job) -> object:
    """Plain JSON of the row, for keeping; `load` is its inverse."""
    return {
        "name": job.name,
        "alive": job.alive,
        "layers": [
            [x.version, x.config_json, x.author, x.reason, x.change_id, [*x.ends]]
            for x in job.layers
        ],
        "expected": job.expected_json,
        "ingress": [dump_ingress(ingress) for ingress in job.ingress],
        "kept": [*job.kept],
    }


def load(plain: Any) -> Job:
    """The row that `dump` made plain."""
    return Job(
        plain["name"],
        alive=plain["alive"],
        layers=tuple(_layer(layer) for layer in plain["layers"]),
        expected_json=plain["expected"],
        ingress=tuple(load_ingress(ingress) for ingress in plain["ingress"]),
        kept=_kept(*plain["kept"]),
    )


def _layer(plain: list[Any]) -> LayerState:
    *head, ends = plain
    return LayerState(*head)._replace(
        ends=tuple(End(*one[:4], *map(tuple, one[4:])) for one in ends)
    )


def _kept(config_json: str, reset: str, wish: str, state: list[Any]) -> StatefulJob:
    generation, keeps = state
    return StatefulJob(config_json, reset, wish, (generation, keeps))
