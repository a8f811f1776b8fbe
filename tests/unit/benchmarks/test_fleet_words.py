"""Containers that run nothing say what a real one would: of shards, of tasks, of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.fleet_containers import headers_for
from benchmarks.fleet_words import Chains, Crew, digest_of, load_of
from components.task_manager.heartbeat import digest_of as digest_of_real
from events.generated.records import (
    Body,
    Generation,
    LayerVersions,
    Position,
    ShardAdded,
    ShardAddRequested,
    ShardDropped,
    ShardDropRequested,
    ShardForceKilled,
    ShardLoad,
    TaskSpecsPublished,
    TaskStarted,
    TaskStopped,
    TierDefined,
)
from events.topics import CONTAINERS, TASKS, partition_of
from events.wire.codec import Record, encode, headers_of, read_message
from projections.shards import shard_of

EACH, JOB, TASKS_OF = 8, "clicks", 6
TIER = TierDefined("default", EACH, ("local",))
ONE, TWO = LayerVersions(1, 0, 0, 0), LayerVersions(2, 0, 0, 0)
SHARD = shard_of(f"{JOB}/0", 1, EACH)
THERE = tuple(task for task in range(TASKS_OF) if shard_of(f"{JOB}/{task}", 1, EACH) == SHARD)


def given(shard: int = SHARD, container: str = "c1", generation: int = 1) -> ShardAddRequested:
    return ShardAddRequested("default", shard, generation, container, 1, "default#1", "new")


def dropped(generation: int = 1, container: str = "c1") -> ShardDropRequested:
    return ShardDropRequested(
        "default", SHARD, generation, container, 1, "default#2", "over", 0, "c9"
    )


def listed(
    versions: LayerVersions = ONE, generation: int = 1, tasks: int = TASKS_OF
) -> TaskSpecsPublished:
    return TaskSpecsPublished(
        JOB, "p1", generation, 1, 1, tasks, versions, "default", "a:b", "exactly_once", ()
    )


def crew_of(*bodies: Body) -> Crew:
    crew = Crew(frozenset({"c1", "c2"}))
    for body in bodies:
        list(crew.hear(body))
    return crew


def started(tasks: tuple[int, ...], name: str, shard: int, versions: LayerVersions) -> list[Body]:
    return [
        TaskStarted(JOB, task, Generation(1, shard), name, 1, versions=versions) for task in tasks
    ]


def test_who_is_given_a_shard_starts_its_tasks_and_says_so() -> None:
    said = list(crew_of(TIER, listed()).hear(given()))
    added = ShardAdded("c1", 1, "default", SHARD, 1, len(THERE))
    assert said == [*started(THERE, "c1", 1, ONE), added]


def test_a_shard_of_another_process_is_not_ours() -> None:
    assert list(crew_of(TIER, listed()).hear(given(container="c9"))) == []


def test_a_list_starts_the_tasks_whose_shards_are_held() -> None:
    crew = crew_of(TIER, given())
    assert list(crew.hear(listed())) == started(THERE, "c1", 1, ONE)
    assert list(crew.hear(listed(TWO))) == started(THERE, "c1", 1, TWO)


def test_a_list_that_is_heard_before_the_tier_counts_from_then_on() -> None:
    crew = crew_of(listed(), TIER)
    assert list(crew.hear(given()))[:-1] == started(THERE, "c1", 1, ONE)


def test_a_list_in_parts_counts_with_its_last() -> None:
    crew = crew_of(TIER, given())
    assert list(crew.hear(replace(listed(), part=1, parts=2))) == []
    assert list(crew.hear(replace(listed(), part=2, parts=2))) == started(THERE, "c1", 1, ONE)


@pytest.mark.parametrize(("generation", "tasks"), [(2, TASKS_OF), (2, 0)])
def test_tasks_of_another_shape_stop_first(generation: int, tasks: int) -> None:
    said = list(crew_of(TIER, given(), listed()).hear(listed(TWO, generation, tasks)))
    stops = [TaskStopped(JOB, task, Generation(1, 1), "c1", 1, "plan") for task in THERE]
    assert said[: len(stops)] == stops
    assert len(said) == len(stops) + (len(THERE) if tasks else 0)


def killed(generation: int = 1) -> ShardForceKilled:
    return ShardForceKilled("default", SHARD, generation, "c1", 1, "too slow")


@pytest.mark.parametrize("order", [dropped(), killed()])
def test_a_shard_that_is_taken_is_given_up_with_its_tasks(order: Body) -> None:
    crew = crew_of(TIER, listed(), given())
    stops = [TaskStopped(JOB, task, Generation(1, 1), "c1", 1, "dropped") for task in THERE]
    assert list(crew.hear(order)) == [*stops, ShardDropped("c1", 1, "default", SHARD, 1)]
    assert list(crew.hear(order)) == []
    assert list(crew.hear(listed(TWO))) == []


@pytest.mark.parametrize("order", [dropped(2), killed(2), dropped(container="c2")])
def test_an_order_about_another_generation_or_container_is_not_followed(order: Body) -> None:
    assert list(crew_of(TIER, listed(), given()).hear(order)) == []


def test_a_shard_that_is_given_away_is_held_no_longer() -> None:
    crew = crew_of(TIER, listed(), given())
    (*_, added) = crew.hear(given(container="c2", generation=2))
    assert added == ShardAdded("c2", 1, "default", SHARD, 2, len(THERE))
    assert list(crew.hear(dropped())) == []
    assert list(crew.hear(listed(TWO))) == started(THERE, "c2", 2, TWO)


def test_a_beat_tells_what_is_held_at_that_moment() -> None:
    crew, read_to = crew_of(TIER, listed()), (Position("tiers.v1/0", 7),)
    empty = crew.beat("c1", 1, 5, read_to)
    assert (empty.shards, empty.shards_digest, empty.tasks) == (0, "", 0)
    list(crew.hear(given()))
    full = crew.beat("c1", 2, 6, read_to)
    assert (full.shards, full.tasks, full.read_to) == (1, len(THERE), read_to)
    assert full.shards_digest == digest_of_real([(SHARD, 1)])
    list(crew.hear(given(generation=2)))
    assert crew.beat("c1", 3, 7, read_to).shards_digest == digest_of_real([(SHARD, 2)])


def test_digests_are_those_of_real_containers() -> None:
    held = {12: 3, 2: 1, 100: 7}
    assert digest_of(held.items()) == digest_of_real(sorted(held.items()))
    assert digest_of([]) == digest_of_real([])


def test_a_report_weighs_every_shard_and_no_task_twice() -> None:
    crew = crew_of(TIER, listed(), *(given(shard) for shard in range(EACH)))
    loads = crew.loads("c1", 1, 600_000).loads
    assert [one.shard for one in loads] == list(range(EACH))
    assert sum(one.tasks for one in loads) == TASKS_OF


def test_a_shard_without_tasks_uses_nothing() -> None:
    assert load_of("default", 3, 1, ()) == ShardLoad("default", 3, 1, 0, 0.0, 0, 0, 0.0, "")


def test_what_is_used_grows_with_the_tasks_and_differs_by_shard() -> None:
    one, two = (load_of("default", 3, 1, ((JOB, 0),) * count) for count in (1, 2))
    assert (one.cpu_cores or 0) * 2 == two.cpu_cores
    assert len({load_of("default", n, 1, ((JOB, 0),)).cpu_cores for n in range(50)}) == 50


def beats() -> Iterator[tuple[str, str, Body, tuple[str, int] | None]]:
    crew = crew_of(TIER, listed(), given())
    yield CONTAINERS, "c1", crew.begin("c1", "default", "local"), None
    yield CONTAINERS, "c1", crew.beat("c1", 1, 1, (Position("tiers.v1/0", 7),)), None
    yield CONTAINERS, "c1", crew.loads("c1", 2, 600_000), None
    yield CONTAINERS, "c1", ShardAdded("c1", 1, "default", 3, 1, 0), ("tiers.v1/0", 9)
    yield TASKS, JOB, started((0,), "c1", 1, ONE)[0], ("journal.v1/3", 4)


@pytest.mark.parametrize(("short", "key", "body", "known"), list(beats()))
def test_what_is_said_can_be_read_as_it_was_meant(
    short: str, key: str, body: Body, known: tuple[str, int] | None
) -> None:
    value, kind = encode(body), type(body).__name__
    headers = headers_for(short, kind, key, value, known)
    evidence = dict([known]) if known is not None else {}
    whole = Record(key, "", kind, value, body, evidence=evidence, source="task-manager")
    assert headers == headers_of(whole, short)
    partition = partition_of(key, 16)
    read = read_message(short, partition, 0, 1, key.encode(), value, headers, 16)
    assert (read.record.body, read.record.evidence) == (body, evidence)


def test_the_first_child_of_the_last_decision_stands() -> None:
    chains = Chains()
    first, second, loser = (
        {"ce_parent": parent, "ce_id": name}
        for parent, name in ((b"root", b"a"), (b"a", b"b"), (b"a", b"x"))
    )
    assert chains.stands(b"k", first)
    assert not chains.stands(b"k", first)
    assert chains.stands(b"k", second)
    assert not chains.stands(b"k", loser)
    assert chains.stands(b"other", first)
