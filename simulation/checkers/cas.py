"""K3: compare-and-set. One winner a version, no gap, one verdict a request, each one justified."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from events.generated.records import (
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    OverrideExpired,
)
from simulation.checkers.history import History

DOORS = {
    "base": "changes.base.v1",
    "provisioner": "changes.provisioner.v1",
    "scaler": "changes.scaler.v1",
    "oncall": "changes.oncall.v1",
    "operator": "operator.v1",
}
OF_OTHERS = frozenset(
    {
        "PauseRequested",
        "ResumeRequested",
        "ReleaseRequested",
        "OffsetResetRequested",
        "DrainRequested",
        "UndrainRequested",
        "PlacementApplyRequested",
    }
)
"""Requests at the operators' door that another component answers, or that hold at once."""
AHEAD_MS = 600_000
LAYERS = ("base", "provisioner", "scaler", "oncall")


def check_cas(history: History, known: int = 1024) -> Iterator[str]:
    """Every violation, as a sentence."""
    owed = {
        (door, key, name): body
        for door, topic in DOORS.items()
        for key, name, body in counting(history, topic, known, OF_OTHERS)
    }
    versions: dict[tuple[str, str], int] = defaultdict(int)
    answered: Counter[tuple[str, str, str]] = Counter()
    for read in history.standing:
        key, body = read.record.key, read.record.body
        yield from _versions(key, body, versions)
        door = _door(body)
        if door is not None:
            name = getattr(body, "change_id", "")
            answered[door, key, name] += 1
            yield from _justified(key, body, owed.get((door, key, name)), versions)
            if isinstance(body, JobConfigChanged | JobDeleted) and read.record.tick_ms > _until(
                name
            ):
                yield f"{key} {name}: accepted at {read.record.tick_ms}, after its validity"
    for request, count in sorted(answered.items()):
        if count > 1:
            yield f"{request} has {count} verdicts"
        if request not in owed:
            yield f"{request} has a verdict, but such a request does not count"
    for request in sorted(owed.keys() - answered.keys()):
        yield f"{request} has no verdict"


def counting(
    history: History, topic: str, known: int, but: frozenset[str]
) -> Iterator[tuple[str, str, ConfigChangeProposed | None]]:
    """Which requests of a topic are owed a verdict, by the rules as told; but for some kinds."""
    high: dict[str, int] = defaultdict(int)
    alive: dict[str, dict[str, int]] = defaultdict(dict)
    for at, reads in history.log.items():
        if at.partition("/")[0] != topic:
            continue
        seen: set[tuple[str, str]] = set()
        for read in reads:
            if history.impossible(read) or read.record.kind in but:
                continue
            key, name, body = read.record.key, read.record.id, read.record.body
            high[key] = max(high[key], read.at_ms)
            alive[key] = {i: until for i, until in alive[key].items() if until >= high[key]}
            until = _until(name)
            if (key, name) in seen or not high[key] <= until <= high[key] + AHEAD_MS:
                continue
            if len(alive[key]) < known:
                alive[key][name] = until
                seen.add((key, name))
                yield key, name, body if isinstance(body, ConfigChangeProposed) else None


def _until(name: str) -> int:
    """Until when a request is valid, by its id; -1 for never."""
    head, _, token = name.partition(".")
    return int(head) if token and head.isdigit() and len(head) < 16 else -1


def _door(body: object) -> str | None:
    match body:
        case JobConfigChanged():
            return body.layer
        case JobConfigRejected():
            return body.ingress
        case JobDeleted():
            return "operator"
        case _:
            return None


def _versions(key: str, body: object, versions: dict[tuple[str, str], int]) -> Iterator[str]:
    match body:
        case JobConfigChanged() | OverrideExpired():
            versions[key, body.layer] += 1
            if body.version != versions[key, body.layer]:
                want = versions[key, body.layer]
                yield f"{key} {body.layer}: version {body.version} where {want} comes next"
        case JobDeleted():
            for layer in LAYERS:
                versions[key, layer] += 1
        case _:
            return
    for layer in LAYERS:
        told = getattr(body.versions, layer)
        if told != versions[key, layer]:
            yield f"{key} {layer}: told as version {told}, but it is {versions[key, layer]}"


def _justified(
    key: str,
    body: object,
    asked: ConfigChangeProposed | None,
    versions: dict[tuple[str, str], int],
) -> Iterator[str]:
    if asked is None or asked.expected_version is None:
        if isinstance(body, JobConfigRejected) and body.reason == "stale" and asked is not None:
            yield f"{key} {body.change_id}: rejected as stale, but it expected no version"
        return
    if isinstance(body, JobConfigChanged) and asked.expected_version != body.version - 1:
        yield f"{key} {body.change_id}: accepted over {body.version - 1}, not what it expected"
    match body:
        case JobConfigRejected(reason="stale", ingress=layer):
            if asked.expected_version == versions[key, layer]:
                yield f"{key} {body.change_id}: rejected as stale, but it was not"
