"""What differs in the fleet between two instants: jobs and tiers, field by field, and by whom."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from events.job_config.merge import merge_layers
from events.topics import LAYERS
from turbine.read.answers.blame import Hand, Hands, hands_of
from turbine.read.answers.tiers import containers, shards, tiers
from turbine.read.differences import Difference, differences
from turbine.read.plain import made, means, plain
from turbine.read.sources.log import Log, Standing
from turbine.read.state.running import condition, state_of
from turbine.read.state.view import JobView, View

Tree = Mapping[str, object]

OF_TIER = ("state", "shards", "regions", "limits", "loans", "preempted")
OF_CONTAINER = ("state", "region", "drain", "epoch")
CONFIG_KINDS = frozenset({"JobConfigChanged", "JobDeleted", "OverrideExpired"})


@dataclass(frozen=True, slots=True)
class ChangedField(Difference):
    """One field that differs between two moments."""

    by: Annotated[Hand | None, means("Whose decision made it so, where that is known.")] = None

    def __str__(self) -> str:
        by = "" if self.by is None else f"   ({self.by})"
        return f"{Difference.__str__(self)}{by}"


@dataclass(frozen=True, slots=True)
class ChangedSubject:
    """A job or a tier, and all that differs of it."""

    kind: Annotated[str, means("job or tier.")]
    name: str
    differences: tuple[ChangedField, ...]


def changed(before: Tree, after: Tree, hands: Hands | None = None) -> list[ChangedField]:
    """Field by field, with who made what is expected another."""
    return [
        by(found, None if hands is None else hands.of_expected(found.path))
        for found in differences(before, after)
    ]


def by(found: Difference, hand: Hand | None) -> ChangedField:
    """A difference with whose hand made it."""
    return made(ChangedField, found, by=hand)


# --- the fleet


def diff(log: Log, before: View, after: View, jobs: Collection[str] = ()) -> list[ChangedSubject]:
    """What differs between the two, of these jobs or of the whole fleet; whose hand made it so is
    read from the log."""
    # Whoever is compared with an earlier instant was changed by what came between.
    later = max(after, before, key=lambda view: sum(view.at.values()))
    found = list(_jobs(log, before, after, later.at, jobs))
    return found if jobs else [*found, *_tiers(log, before, after, later.at)]


def _jobs(
    log: Log, before: View, after: View, end: Mapping[str, int], jobs: Collection[str]
) -> Iterator[ChangedSubject]:
    names = sorted(jobs or {*before.jobs, *after.jobs})
    sides = {name: (_seen(before, name), _seen(after, name)) for name in names}
    differing = [name for name, (was, now) in sides.items() if was != now]
    decisions = defaultdict[str, list[Standing]](list)
    only = differing[0] if len(differing) == 1 else None
    for one in log.decisions(job=only, kinds=CONFIG_KINDS, end=end) if differing else ():
        if one.read.record.kind in CONFIG_KINDS:
            decisions[one.read.record.key].append(one)
    for name in differing:
        (expected, how), (wanted, now) = sides[name]
        hands = hands_of(name, decisions[name])
        changes = [*changed(expected, wanted, hands), *changed({"is": how}, {"is": now})]
        if changes:
            yield ChangedSubject("job", name, tuple(changes))


def _seen(view: View, name: str) -> tuple[Tree, Tree]:
    """What is expected of a job, and how it is."""
    seen = view.jobs.get(name)
    if seen is None or not seen.existed:
        return {}, {}
    return json.loads(seen.job.expected_json), _is(seen)


def _is(seen: JobView) -> Tree:
    sync = seen.sync
    if sync is None:
        return {"alive": seen.job.alive}
    return {
        "alive": seen.job.alive,
        "state": state_of(sync),
        "condition": condition(sync),
        "listed_tasks": 0 if sync.listed is None else sync.listed.tasks,
    }


# --- tiers


def _tiers(log: Log, before: View, after: View, end: Mapping[str, int]) -> Iterator[ChangedSubject]:
    was, now = _trees(before), _trees(after)
    for name in sorted({*was, *now}):
        found = differences(was.get(name, {}), now.get(name, {}))
        if found:
            moved = _movers(log.chain(name, end=end))
            changes = tuple(by(one, moved.get(one.path)) for one in found)
            yield ChangedSubject("tier", name, changes)


def _trees(view: View) -> dict[str, Tree]:
    """Each tier as one tree: its own words, its containers, and where its shards are."""
    found = dict[str, Tree]()
    for row in plain(tiers(view)):
        name, tree = row["tier"], {name: row[name] for name in OF_TIER if row[name] is not None}
        if (fleet := view.tiers.get(name)) is not None:
            tree["containers"] = {
                each["container"]: {word: each[word] for word in OF_CONTAINER}
                for each in plain(containers(fleet, gone=True))
            }
            tree["shard"] = {str(each.shard): each.container for each in shards(fleet)}
        found[name] = tree
    return found


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


def between_jobs(one: Hands, other: Hands) -> list[ChangedField]:
    """What is expected of the one against what is expected of the other; by whom it is the
    other's, or the one's where only that has it."""
    before, after = json.loads(one.job.expected_json), json.loads(other.job.expected_json)
    return [
        by(found, other.of_layers(found.path) or one.of_layers(found.path))
        for found in differences(before, after)
    ]


def between_layers(hands: Hands, lower: str, upper: str) -> list[ChangedField]:
    """What the layers above the lower one, up to the upper one, make of what lies below."""
    configs = [json.loads(layer.config_json) for layer in hands.job.layers]
    low, high = LAYERS.index(lower) + 1, LAYERS.index(upper) + 1
    return [
        by(found, hands.of_layers(found.path, LAYERS[:high]) or hands.hider(found.path, low, high))
        for found in differences(merge_layers(configs[:low]), merge_layers(configs[:high]))
    ]
