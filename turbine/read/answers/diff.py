"""What differs in the fleet between two instants: jobs and tiers, field by field, and by whom."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from events.job_config.merge import merge_layers
from events.topics import LAYERS
from projections.jobs import Job
from projections.syncs import Sync
from turbine.read.answers.blame import Hand, Hands, hands_of
from turbine.read.answers.capacity import tiers_in
from turbine.read.answers.tiers import containers, shards
from turbine.read.differences import Difference, differences
from turbine.read.plain import plain
from turbine.read.sources.log import Log, Standing
from turbine.read.state.running import condition, state_of

Row = dict[str, Any]

OF_TIER = ("state", "shards", "regions", "limits", "loans", "preempted")
OF_CONTAINER = ("state", "region", "drain", "epoch")
CONFIG_KINDS = frozenset({"JobConfigChanged", "JobDeleted", "OverrideExpired"})


@dataclass(frozen=True, slots=True)
class Changed:
    """One field that differs, and by whose hand, where that is known."""

    difference: Difference
    hand: Hand | None = None

    def to_plain(self) -> Row:
        """As JSON."""
        by = None if self.hand is None else self.hand.to_plain()
        return self.difference.to_plain() | {"by": by}

    def __str__(self) -> str:
        by = "" if self.hand is None else f"   ({self.hand})"
        return f"{self.difference}{by}"


@dataclass(frozen=True, slots=True)
class Subject:
    """A job or a tier, and all that differs of it."""

    kind: str
    name: str
    changes: tuple[Changed, ...]

    def to_plain(self) -> Row:
        """As JSON."""
        return {"kind": self.kind, "name": self.name, "differences": _plain(self.changes)}


def _plain(changes: Iterable[Changed]) -> list[Row]:
    return [one.to_plain() for one in changes]


def changed(
    before: Mapping[str, Any], after: Mapping[str, Any], hands: Hands | None = None
) -> list[Changed]:
    """Field by field, with who made what is expected another."""
    return [
        Changed(one, None if hands is None else hands.of_expected(one.path))
        for one in differences(before, after)
    ]


# --- the fleet


def compare(before: Log, after: Log, jobs: Sequence[str] = ()) -> list[Subject]:
    """What differs between the two, of these jobs or of the whole fleet."""
    found = list(_jobs(before, after, jobs))
    return found if jobs else [*found, *_tiers(before, after)]


def _jobs(before: Log, after: Log, jobs: Sequence[str]) -> Iterator[Subject]:
    only = jobs[0] if len(jobs) == 1 else None
    was, now = (_seen(log, only) for log in (before, after))
    decisions = defaultdict[str, list[Standing]](list)
    # Whoever is compared with an earlier instant was changed by what came between.
    later = after if sum(_positions(after)) >= sum(_positions(before)) else before
    for one in later.decisions(job=only, kinds=CONFIG_KINDS):
        if one.read.record.kind in CONFIG_KINDS:
            decisions[one.read.record.key].append(one)
    for name in sorted({*was, *now}):
        if jobs and name not in jobs:
            continue
        hands = hands_of(name, decisions[name])
        old, new = was.get(name, {}), now.get(name, {})
        changes = [
            *changed(old.get("expected", {}), new.get("expected", {}), hands),
            *changed({"is": old.get("is", {})}, {"is": new.get("is", {})}),
        ]
        if changes:
            yield Subject("job", name, tuple(changes))


def _positions(log: Log) -> list[int]:
    return list(log.ends(log.places(log.counts)).values())


def _seen(log: Log, only: str | None) -> dict[str, Row]:
    """What is expected of each job, and how it is."""
    jobs: dict[str, Job]
    if only is None:
        jobs = log.jobs()
    else:
        found = log.job(only)
        jobs = {} if found is None else {only: found}
    syncs = log.syncs(job=only)
    return {
        name: {"expected": json.loads(job.expected_json), "is": _is(job, syncs.get(name))}
        for name, job in jobs.items()
        if job.versions.base
    }


def _is(job: Job, sync: Sync | None) -> Row:
    row: Row = {"alive": job.alive}
    if sync is not None:
        tasks = 0 if sync.listed is None else sync.listed.tasks
        row |= {"state": state_of(sync), "condition": condition(sync), "listed_tasks": tasks}
    return row


# --- tiers


def _tiers(before: Log, after: Log) -> Iterator[Subject]:
    was, now = ({row["tier"]: row for row in plain(tiers_in(log))} for log in (before, after))
    for name in sorted({*was, *now}):
        sides = [
            _tier(log, rows[name]) if name in rows else {}
            for log, rows in ((before, was), (after, now))
        ]
        moved = _movers(after.chain(name))
        changes = [Changed(one, moved.get(one.path)) for one in differences(sides[0], sides[1])]
        if changes:
            yield Subject("tier", name, tuple(changes))


def _tier(log: Log, row: Row) -> Row:
    """The tier as one tree: its own words, its containers, and where its shards are."""
    tree = {name: row[name] for name in OF_TIER if row[name] is not None}
    fleet = log.fleet(row["tier"])
    if fleet is None:
        return tree
    tree["containers"] = {
        one["container"]: {name: one[name] for name in OF_CONTAINER}
        for one in plain(containers(fleet, gone=True))
    }
    tree["shard"] = {str(one.shard): one.container for one in shards(fleet)}
    return tree


def _movers(chain: Iterable[Standing]) -> dict[str, Hand]:
    """By the path of a shard: who last gave it to somebody."""
    found: dict[str, Hand] = {}
    for one in chain:
        record = one.read.record
        shard, reason = getattr(record.body, "shard", None), getattr(record.body, "reason", "")
        if one.stands and shard is not None:
            known = found.get(f"shard.{shard}")
            why = reason or (known.reason if known is not None else "")
            found[f"shard.{shard}"] = Hand(
                "moved", record.id, one.read.at_ms, author=record.source, reason=why
            )
    return found


# --- jobs and layers


def between_jobs(one: Hands, other: Hands) -> list[Changed]:
    """What is expected of the one against what is expected of the other; by whom it is the
    other's, or the one's where only that has it."""
    before, after = json.loads(one.job.expected_json), json.loads(other.job.expected_json)
    return [
        Changed(found, other.of_layers(found.path) or one.of_layers(found.path))
        for found in differences(before, after)
    ]


def between_layers(hands: Hands, lower: str, upper: str) -> list[Changed]:
    """What the layers above the lower one, up to the upper one, make of what lies below."""
    configs = [json.loads(layer.config_json) for layer in hands.job.layers]
    low, high = LAYERS.index(lower) + 1, LAYERS.index(upper) + 1
    return [
        Changed(
            found, hands.of_layers(found.path, LAYERS[:high]) or hands.hider(found.path, low, high)
        )
        for found in differences(merge_layers(configs[:low]), merge_layers(configs[:high]))
    ]
