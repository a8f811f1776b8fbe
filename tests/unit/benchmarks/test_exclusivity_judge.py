"""What the benchmark of exclusivity finds wrong with a history, and what it lets pass."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.exclusivity_faults import KINDS, Fault, Kind, sequence
from benchmarks.exclusivity_heard import Output, first_since, output_of, silence_ms
from benchmarks.exclusivity_judge import (
    Accepted,
    claims_of,
    counts_of,
    effects_of,
    grants_of,
    instances,
    offsets_back,
    overlap_ms,
    overlaps,
    past_lease_ms,
    readers_of,
    recoveries,
    stale_effects,
    sums,
)
from benchmarks.exclusivity_lives import (
    FailOver,
    Lives,
    clipped,
    epochs_in,
    lives_of,
    outside,
)
from benchmarks.exclusivity_offsets import Committed
from benchmarks.exclusivity_watch import Seen, Span
from components.runtime.core.step import ROOT
from events.generated.records import (
    Body,
    ContainerFailedOver,
    ContainerFailOverRequested,
    ContainerHeartbeat,
    ContainerStarted,
    ResourceAmount,
    ShardAddRequested,
    ShardDropped,
)
from events.wire.codec import Read, Record
from tasks.core.claims import Claim

WALL_MS, LEASE_MS = 1_000_000, 4_000
NUMBERS = {"j/0": 0, "j/1": 1}
EPOCHS = {("a", 10): 1, ("b", 20): 1}


# --- leases


def life(*said: tuple[Body, int]) -> list[Read]:
    """Records of one partition, with the times of the holders' clock."""
    return [
        Read("containers.v1/0", "containers.v1", at, ms + WALL_MS, record(body, f"r{at}"))
        for at, (body, ms) in enumerate(said)
    ]


def record(body: Body, name: str, parent: str = "", **evidence: int) -> Record:
    key = getattr(body, "container", "")
    known = {f"{topic}.v1/0": offset for topic, offset in evidence.items()}
    return Record(key, name, type(body).__name__, b"", body, parent=parent, evidence=known)


def started(name: str, epoch: int = 1) -> ContainerStarted:
    return ContainerStarted(name, epoch, "t", "local", (ResourceAmount("cpu_cores", 1.0),))


def beat(name: str, sent_ms: int, epoch: int = 1) -> ContainerHeartbeat:
    return ContainerHeartbeat(name, epoch, 1, sent_ms, "serving", 0, "", 0)


def over(name: str, heard: int | None, epoch: int = 1) -> ContainerFailedOver:
    return ContainerFailedOver(name, epoch, "d", "silent", "containers.v1/0", heard)


def test_a_lease_runs_from_the_log_to_its_end_after_the_sending() -> None:
    reads = life((started("a"), 0), (beat("a", 100), 150), (beat("a", 600), 900))
    assert lives_of(reads, LEASE_MS, WALL_MS).leases == {("a", 1): [(150, 4_600)]}


def test_a_gap_between_leases_is_one() -> None:
    reads = life((started("a"), 0), (beat("a", 100), 100), (beat("a", 5_000), 5_100))
    assert lives_of(reads, LEASE_MS, WALL_MS).leases["a", 1] == [(100, 4_100), (5_100, 9_000)]


def test_a_heartbeat_that_comes_too_late_renews_nothing() -> None:
    reads = life((started("a"), 0), (beat("a", 100), 4_200))
    assert lives_of(reads, LEASE_MS, WALL_MS).leases["a", 1] == []


def test_a_fail_over_ends_a_lease_unless_a_heartbeat_lies_between() -> None:
    said = [(started("a"), 0), (beat("a", 100), 100), (beat("a", 200), 200)]
    void = lives_of(life(*said, (over("a", 1), 300)), LEASE_MS, WALL_MS)
    assert (void.leases["a", 1], void.fail_overs) == ([(100, 4_200)], [])
    valid = lives_of(life(*said, (over("a", 2), 300)), LEASE_MS, WALL_MS)
    assert (valid.leases["a", 1], valid.fail_overs) == ([(100, 300)], [FailOver("a", 1, 300)])


def test_nothing_of_a_life_counts_once_it_was_failed_over_or_another_began() -> None:
    late = (beat("a", 400), 400)
    gone = life((started("a"), 0), (beat("a", 100), 100), (over("a", 1), 300), late)
    assert lives_of(gone, LEASE_MS, WALL_MS).leases["a", 1] == [(100, 300)]
    after = life((started("a"), 0), (started("a", 2), 50), late)
    assert lives_of(after, LEASE_MS, WALL_MS).leases == {}


@pytest.mark.parametrize(
    ("spans", "to", "both", "only"),
    [
        ([(0, 10)], [], [], [(0, 10)]),
        ([(0, 10)], [(2, 4), (6, 20)], [(2, 4), (6, 10)], [(0, 2), (4, 6)]),
        ([(0, 3), (8, 9)], [(0, 9)], [(0, 3), (8, 9)], []),
    ],
)
def test_spans(spans: list[Span], to: list[Span], both: list[Span], only: list[Span]) -> None:
    assert (clipped(spans, to), outside(spans, to)) == (both, only)


def test_the_epoch_of_a_process_is_in_its_log(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    said = json.dumps({"event": "life begins", "container": "a", "epoch": 3, "pid": 10})
    path.write_text(f'noise\n{said}\n{{"event": "life begins", "epo\n')
    found = epochs_in({"a": path, "b": tmp_path / "b.log"})
    assert found == {("a", 10): 3}


# --- K1


def seen(container: str, root: int, *spans: Span, name: str = "j/0") -> Seen:
    return Seen(root + 1, root, container, root, 0, name, list(spans))


LEASES: Mapping[tuple[str, int], list[Span]] = {("a", 1): [(0, 1_000)], ("b", 1): [(500, 2_000)]}


def test_two_who_are_awake_under_their_leases_overlap() -> None:
    processes = [seen("a", 10, (0, 800)), seen("b", 20, (700, 900))]
    found = list(instances(processes, LEASES, EPOCHS, NUMBERS))
    assert overlap_ms(found) == 100
    [sentence] = overlaps(found)
    assert "100 ms from 700" in sentence


@pytest.mark.parametrize(
    "other",
    [
        seen("b", 20, (800, 900)),  # one after the other
        seen("b", 20, (300, 400)),  # without a lease
        seen("b", 20, (700, 900), name="j/1"),  # another task
        seen("b", 20, (700, 900), name="engine"),  # no task
        seen("b", 21, (700, 900)),  # of a life that never began
    ],
)
def test_others_do_not_overlap(other: Seen) -> None:
    found = list(instances([seen("a", 10, (0, 800)), other], LEASES, EPOCHS, NUMBERS))
    assert (overlap_ms(found), overlaps(found)) == (0, [])


def test_one_who_sleeps_meanwhile_does_not_overlap() -> None:
    processes = [seen("a", 10, (0, 600), (750, 990)), seen("b", 20, (600, 750))]
    found = list(instances(processes, LEASES, EPOCHS, NUMBERS))
    assert len(found) == 2
    assert (overlap_ms(found), overlaps(found)) == (0, [])


def test_three_at_once_overlap_by_twice_as_much() -> None:
    leases = {("a", 1): [(0, 9_000)]}
    processes = [seen("a", 10, (0, 100)) for _ in range(3)]
    assert overlap_ms(instances(processes, leases, EPOCHS, NUMBERS)) == 200


def test_a_task_that_is_awake_without_a_lease_is_told_of() -> None:
    processes = [seen("a", 10, (900, 1_030)), seen("a", 10, (2_000, 2_020))]
    assert past_lease_ms(processes, LEASES, EPOCHS) == 30
    assert past_lease_ms([], LEASES, EPOCHS) == 0


# --- K2


def output(
    shard: int = 1, container: str = "a", *, since: int = 0, until: int = 3, **more: object
) -> Output:
    plain = {
        "task": "j/0",
        "specs": 2,
        "shard": shard,
        "container": container,
        "epoch": 1,
        "begun_ms": 0,
        "done_ms": 0,
        "records": 3,
        "from": {"in/0": since},
        "to": {"in/0": until},
    }
    return output_of({**plain, **more}, 0, 0)


def commit(offset: int, shard: int = 1, container: str = "a") -> Committed:
    return Committed("j", "in", 0, offset, Claim(2, shard, 5, container, 1), 0)


def stale(outputs: list[Output], commits: list[Committed]) -> list[str]:
    by_task = {"j/0": outputs}
    claims = claims_of(commits, readers_of({"j/0": [output()]}), NUMBERS)
    return stale_effects(effects_of(by_task, NUMBERS), claims)


def test_effects_in_the_order_of_generations_are_good() -> None:
    outputs = [output(), output(), output(shard=2, container="b")]
    assert stale(outputs, [commit(0), commit(3), commit(3, 2, "b")]) == []


def test_an_output_of_an_older_generation_is_stale() -> None:
    [sentence] = stale([output(shard=2, container="b"), output()], [])
    assert "of a.1 was taken after" in sentence


def test_offsets_of_an_older_generation_are_stale() -> None:
    [sentence] = stale([], [commit(0, 2, "b"), commit(3)])
    assert sentence.startswith("offsets: ")


def test_a_generation_is_one_holders() -> None:
    [sentence] = stale([output(), output(container="b")], [])
    assert "the generation is another's" in sentence


def test_what_was_committed_by_nobody_of_ours_is_passed_over() -> None:
    foreign = Committed("other", "elsewhere", 0, 9, Claim(1, 1, 5, "x", 1), 0)
    unclaimed = Committed("j", "in", 0, 9, None, 0)
    assert list(claims_of([foreign, unclaimed], {"in/0": "j/0"}, NUMBERS)) == []


def test_offsets_that_go_back_are_counted() -> None:
    assert offsets_back([commit(0), commit(5), commit(3), commit(4), commit(6)]) == 2


def test_shapes_come_before_generations_of_shards() -> None:
    [first, second] = effects_of({"j/0": [output(shard=9), output(shard=1, specs=3)]}, NUMBERS)
    assert isinstance(first, Accepted)
    assert first.generation < second.generation


# --- K2, grants


def grant(name: str, generation: int, offset: int, parent: str, evidence: int) -> Read:
    body = ShardAddRequested("t", 7, generation, name, 1, "p", "plan")
    said = record(body, f"d{offset}", parent, containers=evidence)
    return Read("tiers.v1/0", "tiers.v1", offset, WALL_MS + 9_000, said)


def granted(lives: list[Read]) -> dict[str, list[Read]]:
    end = len(lives)
    chain = [grant("a", 1, 0, ROOT, end), grant("b", 2, 1, "d0", end)]
    for one in chain:
        object.__setattr__(one.record, "key", "t/placement")
    return {"containers.v1/0": lives, "tiers.v1/0": chain}


def test_a_grant_follows_a_drop() -> None:
    dropped = (ShardDropped("a", 1, "t", 7, 1), 200)
    assert grants_of(granted(life((started("a"), 0), dropped)), 100) == ([], [])


def test_a_grant_without_one_has_no_right() -> None:
    [sentence], early = grants_of(granted(life((started("a"), 0))), 100)
    assert "shard 7 is given to b" in sentence
    assert early == []


@pytest.mark.parametrize(("silence_ms", "early"), [(6_000, 0), (5_900, 1)])
def test_silence_is_judged_at_the_scale_of_the_tier(silence_ms: int, early: int) -> None:
    lives = life((started("a"), 0), (beat("a", 0), 0))
    body = ContainerFailOverRequested("t", "a", 1, silence_ms, "nothing", "containers.v1/0", 1)
    said = record(body, "d0", ROOT, containers=2)
    chain = [Read("tiers.v1/0", "tiers.v1", 0, WALL_MS + silence_ms, said)]
    _, found = grants_of({"containers.v1/0": lives, "tiers.v1/0": chain}, 100)
    assert len(found) == early


# --- K5


def test_sums() -> None:
    outputs = {"j/0": [output(), output(since=3, until=6)]}
    assert sums({("in", 0): 6}, outputs) == {
        "inputs": 6,
        "inputs_missing": 0,
        "inputs_doubled": 0,
        "inputs_counted": 6,
    }


@pytest.mark.parametrize(
    ("since", "until", "missing", "doubled"),
    [(4, 6, 1, 0), (3, 5, 1, 0), (2, 6, 0, 1), (0, 3, 3, 3), (0, 6, 0, 3)],
)
def test_sums_that_do_not_add_up(since: int, until: int, missing: int, doubled: int) -> None:
    second = output(since=since, until=until)
    found = sums({("in", 0): 6}, {"j/0": [output(), second]})
    assert (found["inputs_missing"], found["inputs_doubled"]) == (missing, doubled)


def test_an_input_of_which_no_output_speaks_is_missing() -> None:
    assert sums({("in", 0): 3, ("in", 1): 4}, {"j/0": [output()]})["inputs_missing"] == 4


# --- faults


KILL, PAUSE = Kind("kill", 3, "task", stays=True), Kind("pause", 1, "freeze", 2.0, stays=True)
CUT = Kind("cut", 1, "cut", 9.0)


def fault(kind: Kind, *, at_ms: int = 1_000, back: bool = True) -> Fault:
    found = Fault(kind, "a", ["j/0", "j/1"], at_ms, over_ms=at_ms + 500)
    found.recovered_s = {"j/0": 0.5, "j/1": 0.7} if back else {"j/0": 0.5}
    return found


def test_faults_are_counted_by_what_they_do() -> None:
    figures = counts_of([fault(KILL), fault(CUT, back=False)], Lives())
    assert (figures["kills"], figures["pauses_and_cuts"]) == (1, 1)
    assert (figures["tasks_hit"], figures["tasks_not_recovered"]) == (4, 1)


@pytest.mark.parametrize(
    ("kind", "container", "at_ms", "moved"),
    [
        (PAUSE, "a", 1_200, 2),
        (KILL, "a", 1_200, 2),
        (CUT, "a", 1_200, 0),  # it is what a long cut is to lead to
        (PAUSE, "b", 1_200, 0),
        (PAUSE, "a", 900, 0),
        (PAUSE, "a", 9_000, 0),
    ],
)
def test_tasks_that_need_not_have_moved(kind: Kind, container: str, at_ms: int, moved: int) -> None:
    lives = Lives(fail_overs=[FailOver(container, 1, at_ms)])
    assert counts_of([fault(kind)], lives)["tasks_moved_needlessly"] == moved


def test_a_cut_leads_to_one_fail_over_at_most() -> None:
    lives = Lives(fail_overs=[FailOver("a", 1, 1_100), FailOver("a", 2, 1_300)])
    assert counts_of([fault(CUT)], lives)["fail_overs_per_fault_max"] == 2
    assert counts_of([fault(KILL)], lives)["fail_overs_per_fault_max"] == 0


def test_recoveries_by_kind() -> None:
    found = recoveries([fault(KILL), fault(KILL, back=False), fault(CUT)])
    assert found == {"kill": [0.5, 0.7, 0.5], "cut": [0.5, 0.7]}


def test_a_first_effect_is_one_that_was_begun_since() -> None:
    found = [output(begun_ms=100), output(begun_ms=200), output(begun_ms=300)]
    assert first_since(found, 200) is found[1]
    assert first_since(found, 201) is found[2]
    assert first_since(found, 301) is None


def test_a_silence_is_the_longest_time_without_an_effect() -> None:
    found = [output()._replace(heard_ms=at_ms) for at_ms in (90, 130, 200, 900, 950, 2_000)]
    assert silence_ms(found, 100, 900) == 700
    assert silence_ms(found, 210, 900) == 690
    assert silence_ms(found, 100, 130) == 30
    assert silence_ms(found, 910, 1_500) == 1_050


def test_a_run_has_a_hundred_kills_and_twenty_of_shard_managers() -> None:
    import random

    full = sequence(KINDS, 1.0, random.Random(1))
    assert sum(kind.kills for kind in full) >= 100
    assert sum(kind.act == "manager" for kind in full) == 20
    quick = sequence(KINDS, 0.1, random.Random(1))
    assert {kind.name for kind in quick} == {kind.name for kind in full}
    assert sum(kind.kills for kind in quick) == 10
    assert sequence(KINDS, 0.1, random.Random(1)) == quick
