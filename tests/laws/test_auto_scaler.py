"""Laws of what the auto scaler knows and says: total, lasting, told the same by all, and sound."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.auto_scaler.core.policies.turbine.demand import carries
from components.auto_scaler.decide import decide, effects, wake_ms
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    ProfileSlot,
    ScalingDecided,
    ScalingDeclined,
    ScalingReverted,
    ScalingVerified,
    WorkloadProfiled,
)
from events.topics import GRANTS, JOURNAL, LOADS, PROFILES
from events.wire.codec import Read, Record, encode
from projections.scaling.facts import keys_of
from projections.scaling.fold import ASKS, fold
from projections.scaling.row import ScalingRow
from projections.scaling.row_json import dump, load
from tests.kit.examples import at_most
from tests.unit.auto_scaler.desk import MINUTE_MS, Desk, split
from turbine_client.identity import change_id, valid_until_ms

POLICIES = ("turbine", "reactive", "proactive", "flink", "keda")
minutes = st.fixed_dictionaries(
    {
        "number": st.integers(1, 14),
        "rate": st.sampled_from([0.0, 100.0, 4_000.0, 9_000.0]),
        "busy": st.sampled_from([None, 0.05, 0.5, 0.9, 1.0]),
        "lag_s": st.sampled_from([None, 0, 30, 89, 200]),
        "hot": st.booleans(),
        "oom": st.booleans(),
        "silent": st.booleans(),
    }
)
acts: st.SearchStrategy[tuple[str, Any]] = st.one_of(
    st.tuples(st.just("minutes"), minutes),
    st.tuples(st.just("minutes"), minutes),
    st.tuples(st.just("carry out"), st.none()),
    st.tuples(st.just("carry out"), st.none()),
    st.tuples(st.just("accept"), st.none()),
    st.tuples(st.just("refuse"), st.none()),
    st.tuples(st.just("commit"), st.none()),
    st.tuples(st.just("wait"), st.sampled_from([1_000, 59_000, 61_000, 700_000])),
    st.tuples(
        st.just("oncall"),
        st.sampled_from(
            [
                {"tasks": 3},
                {"threads_per_task": 2, "resources": {"cpu_cores": 0.5}},
                {"resources": {"memory_mb": 512}},
                {"paused": False},
            ]
        ),
    ),
    st.tuples(st.just("expire"), st.none()),
    st.tuples(st.just("mode"), st.sampled_from(["off", "observe", "advise", "act"])),
    st.tuples(st.just("policy"), st.sampled_from(POLICIES)),
    st.tuples(st.just("grant"), st.sampled_from([None, 2, 5])),
    st.tuples(st.just("preempt"), st.sampled_from(["stop", "shrink"])),
    st.tuples(st.just("profile"), st.sampled_from([10.0, 8_000.0])),
    st.tuples(st.just("other"), st.booleans()),
    st.tuples(st.just("delete"), st.none()),
)
lives = st.lists(acts, max_size=10)


class Told(Desk):
    """A desk that keeps what each look was made on: how much was read, when, and what was said."""

    def __init__(self) -> None:
        super().__init__()
        self.looks: list[tuple[int, int, list[bytes]]] = []

    def decide(self) -> list[Body]:
        known = len(self.reads)
        said = super().decide()
        self.looks.append((known, self.now_ms, [encode(body) for body in said]))
        return said


def live(acted: list[tuple[str, Any]]) -> Told:
    """A job that went through all of it; after each step the scaler looks."""
    desk = Told()
    desk.runs()
    for act, said in acted:
        step(desk, act, said)
        desk.decide()
    return desk


def step(desk: Desk, act: str, said: Any) -> None:
    """What happens, if it can."""
    acts: dict[str, Callable[[], None]] = {
        "wait": lambda: setattr(desk, "now_ms", desk.now_ms + said),
        "grant": lambda: desk.grants(said),
        "preempt": lambda: desk.preempts(said, 2 if said == "shrink" else None),
        "profile": lambda: desk.tell(PROFILES, profile(desk.now_ms, said)),
    }
    if desk.row.config.alive:
        acts |= {
            "minutes": lambda: several(desk, **said),
            "commit": desk.commit,
            "oncall": lambda: desk.wants("oncall", **said),
            "expire": desk.expires,
            "mode": lambda: desk.wants("base", policy={"mode": said}),
            "policy": lambda: desk.wants("base", policy={"name": said}),
            "other": lambda: other(desk, accepted=said),
        }
    if desk.row.config.alive and desk.owed():
        acts |= {"carry out": desk.carry_out, "accept": desk.accepts, "refuse": desk.refuse}
    elif desk.row.config.alive:
        acts |= {"delete": desk.deleted}
    if act in acts:
        acts[act]()


def other(desk: Desk, *, accepted: bool) -> None:
    """Somebody else writes to the scaler's topic; the job service may not have come to it yet."""
    name = change_id(desk.now_ms + MINUTE_MS, f"other.{len(desk.reads)}")
    body = ConfigChangeProposed(change_id=name, job="orders", set_json='{"tasks":3}', author="eve")
    desk.tell(ASKS, body, name)
    if accepted:
        desk.accept("scaler", {"tasks": 3}, (), name)


def profile(to_ms: int, rate: float) -> WorkloadProfiled:
    slots = tuple(ProfileSlot(at, 3, rate, rate, 0.0, 0.0) for at in range(24))
    return WorkloadProfiled("orders", 0, to_ms, 3_600_000, slots)


def several(
    desk: Desk,
    number: int,
    rate: float,
    busy: float | None,
    lag_s: int | None,
    *,
    hot: bool,
    oom: bool,
    silent: bool,
) -> None:
    """Minutes of one kind; in silent ones a task is not heard."""
    tasks = desk.tasks
    lag = None if lag_s is None else int(lag_s * rate / tasks)
    for at in range(number):
        desk.minute(
            rate + at,
            busy_share=lambda task: busy if task == 0 or not hot else 0.4,
            lag_records=lag,
            lag_ms=lambda task: None if lag_s is None else 1000 * lag_s * (task == 0 or not hot),
            oom=oom,
            partitions=lambda task: split(task, tasks, dict.fromkeys(range(16), rate / 16)),
            tasks=tasks + silent,
        )
        desk.decide()


def of_journal(body: Body, now_ms: int) -> Read:
    record = Record(
        "orders", "?", type(body).__name__, encode(body), body, parent="?", tick_ms=now_ms
    )
    return Read(f"{JOURNAL}/0", JOURNAL, 0, now_ms, record)


@settings(deadline=None)
@given(lives)
def test_it_comes_to_rest_and_looks_again_later(acted: list[tuple[str, Any]]) -> None:
    desk = live(acted)  # each look is seen to come to rest
    at_ms = wake_ms(desk.row, desk.now_ms)
    assert at_ms is None or at_ms > desk.now_ms


@settings(deadline=None)
@given(lives)
def test_the_same_row_says_the_same_bytes(acted: list[tuple[str, Any]]) -> None:
    desk = live(acted)
    row = desk.row
    kept = load(json.loads(json.dumps(dump(row))))
    assert kept == row
    for later_ms in (0, MINUTE_MS, 3 * MINUTE_MS, 60 * MINUTE_MS):
        said = [encode(body) for body in decide(row, desk.now_ms + later_ms)]
        assert [encode(body) for body in decide(kept, desk.now_ms + later_ms)] == said
    assert [one.id for one in effects(kept)] == [one.id for one in effects(row)]


@settings(deadline=None)
@given(lives, st.tuples(st.just("x"), minutes), st.integers(0, 4))
def test_an_answer_that_is_cut_anywhere_goes_on_where_it_was_cut(
    acted: list[tuple[str, Any]], last: tuple[str, Any], cut: int
) -> None:
    desk = live(acted)
    if desk.row.config.alive:
        said = last[1]
        desk.minute(said["rate"], busy_share=said["busy"], lag_records=0, oom=said["oom"])
    row = desk.row
    said = list(decide(row, desk.now_ms))
    for body in said[:cut]:
        row = fold(row, of_journal(body, desk.now_ms))
    assert list(decide(row, desk.now_ms)) == said[cut:]


@settings(deadline=None)
@given(lives, st.randoms(use_true_random=False))
def test_the_row_does_not_depend_on_how_topics_interleave(
    acted: list[tuple[str, Any]], chance: Any
) -> None:
    desk = live(acted)
    assert in_another_order(desk.reads, chance) == desk.row


@settings(deadline=None)
@given(lives, st.randoms(use_true_random=False))
def test_what_was_read_is_enough_to_say_it_again(acted: list[tuple[str, Any]], chance: Any) -> None:
    """In another order, by a reader that has been stopped and started."""
    desk = live(acted)
    for known, now_ms, said in chance.sample(desk.looks, min(4, len(desk.looks))):
        row = in_another_order(desk.reads[:known], chance)
        again = load(json.loads(json.dumps(dump(row))))
        assert [encode(body) for body in decide(again, now_ms)] == said


def in_another_order(reads: list[Read], chance: Any) -> ScalingRow:
    """Each topic in its own, and nothing before what its author had read: who proposes has read the
    decision, who answers the proposal, and the scaler all that it was told of proposals. Whatever
    it had read of other topics, it may be read in any order before and after."""
    after, done = known_first(reads), set[int]()
    topics = (LOADS, GRANTS, PROFILES, ASKS, JOURNAL)
    queues = [[read for read in reads if read.topic == topic] for topic in topics]
    row = ScalingRow("orders")
    while queues := [queue for queue in queues if queue]:
        read = chance.choice([queue for queue in queues if after[queue[0].offset] <= done]).pop(0)
        done.add(read.offset)
        row = fold(row, read)
    return row


def known_first(reads: list[Read]) -> dict[int, set[int]]:
    """Of each record those that are read before it, beside its own topic's."""
    after, decided, asked = dict[int, set[int]](), dict[str, int](), dict[str, int]()
    for read in reads:
        body, known = read.record.body, set[int | None]()
        match body:
            case ConfigChangeProposed():
                known = {decided.get(body.change_id)}
                asked[body.change_id] = read.offset
            case JobConfigChanged() | JobConfigRejected():
                known = {asked.get(body.change_id)}
            case ScalingDecided(change_id=name) | ScalingReverted(revert_change_id=name):
                known = {max(asked.values(), default=None)}
                decided[name or ""] = read.offset
            case ScalingDeclined() | ScalingVerified():
                known = {max(asked.values(), default=None)}
            case _:
                pass
        after[read.offset] = {one for one in known if one is not None}
    return after


@settings(deadline=None)
@given(lives)
def test_facts_that_are_read_again_change_nothing(acted: list[tuple[str, Any]]) -> None:
    desk = live(acted)
    row = desk.row
    for read in desk.reads:
        if read.topic in {LOADS, GRANTS, PROFILES}:
            row = fold(row, read)
    assert row == desk.row


@settings(deadline=None)
@given(lives)
def test_nothing_is_decided_without_evidence_or_without_a_reason(
    acted: list[tuple[str, Any]],
) -> None:
    for body in live(acted).said:
        if isinstance(body, ScalingDecided | ScalingDeclined):
            evidence = json.loads(body.evidence_json)
            assert body.explanation
            if isinstance(body, ScalingDecided) or body.change_id is None:
                assert {"size", "limits"} <= evidence.keys()
                wanted = body.diagnosis not in {"preempted", "restored"}
                assert not wanted or "minute" in evidence
        if isinstance(body, ScalingDecided):
            assert body.symptom
            assert body.diagnosis
            assert body.set_json != "{}" or body.clear


@settings(deadline=None)
@given(lives)
def test_each_change_has_one_end_at_most_and_none_overlap(acted: list[tuple[str, Any]]) -> None:
    pending = ""
    for body in live(acted).said:
        match body:
            case ScalingDecided(mode="act"):
                assert not pending, "another change before the end of one"
                assert valid_until_ms(body.change_id)
                pending = body.change_id
            case ScalingVerified() | ScalingDeclined() | ScalingReverted() if body.change_id:
                assert body.change_id == pending
                pending = ""
                if isinstance(body, ScalingReverted) and body.revert_change_id:
                    pending = body.revert_change_id
            case _:
                continue
        if isinstance(body, ScalingReverted):
            pending = ""  # what takes a change back is closed by its commit


@settings(deadline=None)
@given(lives)
def test_what_people_have_set_is_never_fought(acted: list[tuple[str, Any]]) -> None:
    desk = Desk().runs()
    for act, said in acted:
        step(desk, act, said)
        theirs = desk.row.config.oncall
        for body in desk.decide():
            if isinstance(body, ScalingDecided):
                assert not keys_of(body.set_json) & theirs
            if isinstance(body, ScalingReverted) and body.revert_change_id:
                [owed] = desk.row.owed
                assert not keys_of(owed.set_json) & theirs


@settings(deadline=None, max_examples=at_most(60))
@given(
    st.integers(1_000, 8_000),
    st.sampled_from([0.3, 0.6, 0.9]),
    st.lists(st.integers(0, 3_000_000), min_size=2, max_size=5),
)
def test_more_input_never_gives_fewer_threads(rate: int, busy: float, lags: list[int]) -> None:
    """All else equal: the tasks read what they can, and more and more of what came is left."""
    found = []
    for lag in sorted(lags):
        desk = Desk().runs()
        desk.minutes(4, rate, busy_share=busy)
        desk.minutes(1, rate / busy, busy_share=1.0, lag_records=lag // 4, lag_ms=lag // 40)
        size = desk.row.change.wanted if desk.row.change is not None else desk.row.size
        assert size is not None
        found.append(size.tasks * size.threads)
    assert found == sorted(found)


@settings(deadline=None, max_examples=at_most(60))
@given(
    st.lists(st.integers(500, 6_000), min_size=20, max_size=40),
    st.sampled_from([2, 4, 12]),
)
def test_a_healthy_job_is_never_scaled_below_what_its_estimate_carries(
    rates: list[int], tasks: int
) -> None:
    desk = Desk().runs(tasks=tasks)
    for at, rate in enumerate(rates):
        threads = 1 if desk.row.size is None else desk.row.size.tasks * desk.row.size.threads
        busy = min(1.0, rate / (1_500 * threads))
        desk.minute(rate, busy_share=busy)
        for body in desk.decide():
            if isinstance(body, ScalingDecided) and body.action == "scale-down":
                reads = body.expected_records_per_s
                assert reads is not None
                # A peak may wait for less than a minute, and nearly all of it is read at once.
                assert reads >= 0.999 * carries(rates[max(0, at - 4) : at + 1], 60)
                assert reads >= 0.89 * rate
        if desk.owed():
            desk.carry_out()
