"""Laws of the row of a tier's capacity: read in any order, kept, looked ahead, and come to rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from components.capacity_manager.core.row_json import dump, load
from components.capacity_manager.decide import SHORTAGE, component, decide, effects, wake_ms
from components.runtime.core.step import AT_ONCE
from events.generated.records import (
    AlertCleared,
    AlertRaised,
    Body,
    CapacityGranted,
    CapacityReported,
    DrainRequested,
    JobConfigChanged,
    JobsPreempted,
    LayerVersions,
    PreemptionRequested,
    ShardLoadsReported,
    UndrainRequested,
)
from events.wire.codec import VALUE_BYTES_MAX, Read, Record, encode
from projections.capacity import PLENTY, SHORT, TIGHT, Capacity
from projections.capacity_folds import fold
from projections.demands import demand_of
from projections.resource_sums import NOTHING, plus, total
from tests.kit.examples import at_most
from tests.laws.orders import in_any_order
from tests.unit.capacity_manager.tiers import CHAIN, NO_HEADROOM, STEP_MS, TOLD, Tale

TIERS = ("default", "rich")
JOBS = ("a", "b", "c")
CONTAINERS = ("c0", "c1", "c2")
LATER_MS = (1_000, 60_000, 300_000, 1_800_000)

jobs, containers = st.sampled_from(JOBS), st.sampled_from(CONTAINERS)
tiers, tasks = st.sampled_from(TIERS), st.integers(1, 24)
steps = st.one_of(
    st.tuples(st.just("start"), containers, tiers, st.sampled_from((0.0, 10.0, 40.0))),
    st.tuples(st.just("end"), containers),
    st.tuples(st.just("beat"), containers, st.sampled_from(("serving", "draining"))),
    st.tuples(st.just("use"), containers, st.sampled_from((0.0, 4.0, 30.0)), tiers),
    st.tuples(
        st.just("job"),
        jobs,
        tasks,
        st.fixed_dictionaries(
            {
                "tier": tiers,
                "priority": st.integers(0, 3),
                "privileged": st.booleans(),
                "paused": st.booleans(),
            }
        ),
    ),
    st.tuples(st.just("delete"), jobs),
    st.tuples(st.just("wish"), jobs, tasks),
    st.tuples(st.just("decided"), jobs, tasks),
    st.tuples(st.just("content"), jobs),
    st.tuples(st.just("drain"), containers, st.sampled_from((DrainRequested, UndrainRequested))),
    st.tuples(st.just("heed")),
    st.tuples(st.just("arrive")),
    st.tuples(st.just("round")),
    st.tuples(st.just("later"), st.sampled_from(LATER_MS)),
)
tables = st.sampled_from(
    (
        NO_HEADROOM,
        "{}",
        '{"headroom":0,"lend_max":1000,"lend_to":700}',
        '{"preempt":0}',
        '{"headroom":0,"tight":500,"plenty":400,"time_per_mille":100}',
    )
)


def _start(tale: Tale, name: str, tier: str, cores: float) -> None:
    tale.start(name, tier=tier, capacity={"cpu_cores": cores} if cores else {})


def _arrive(tale: Tale) -> None:
    for tier in tale.tiers:
        for name, to in sorted(tale.rows[tier].tenants.items()):
            life = tale.rows[tier].lives[name]
            if life.lives and life.tier != to:
                tale.start(name, tier=to, capacity=dict(life.capacity))


TURNS: dict[str, Callable[..., object]] = {
    "start": _start,
    "end": lambda tale, name: tale.end(name) if name in tale.epochs else None,
    "beat": lambda tale, name, state: tale.beat(name, state) if name in tale.epochs else None,
    "use": lambda tale, name, cores, tier: (
        tale.use(name, cores, len(tale.log), tier) if name in tale.epochs else None
    ),
    "job": lambda tale, name, count, more: tale.job(name, count, **more),
    "delete": Tale.delete,
    "drain": Tale.drain,
    "wish": lambda tale, name, count: tale.wish(name, float(count), 1.0),
    "decided": Tale.decided,
    "content": Tale.content,
    "heed": Tale.heed,
    "arrive": _arrive,
    "round": lambda tale: [tale.speak(tier) for tier in tale.tiers],
    "later": Tale.later,
}


def a_story(table: str, story: list[tuple[Any, ...]]) -> Tale:
    tale = Tale(*TIERS, settings=table)
    tale.start("c0")
    for step in story:
        TURNS[step[0]](tale, *step[1:])
    return tale


stories = st.builds(a_story, tables, st.lists(steps, max_size=18))
told = settings(deadline=None, max_examples=at_most(60))


def reordered(log: list[Read], data: Any) -> list[Read]:
    """Who tells a job of a decision had read the chain."""
    return in_any_order(log, data, CHAIN, lambda read: read.place == TOLD)


@settings(deadline=None, max_examples=at_most(40))
@given(stories, st.data())
def test_a_story_may_be_read_in_any_order_that_its_evidence_allows(tale: Tale, data: Any) -> None:
    for tier in TIERS:
        other: Capacity | None = None
        for read in reordered(tale.log, data):
            other = fold(other, read, tier)
        assert other == tale.rows[tier]
        said = [encode(body) for body in decide(other, tale.now_ms)]
        assert said == [encode(body) for body in tale.would_emit(tier)]


@told
@given(stories)
def test_facts_that_are_read_again_change_nothing(tale: Tale) -> None:
    """A newer word about the same replaces an older one; the last one of each is the same again."""
    last: dict[tuple[str, str], Read] = {}
    for read in tale.log:
        if isinstance(read.record.body, JobConfigChanged | ShardLoadsReported):
            last[read.record.key, read.record.kind] = read
    gone = [read for read in last.values() if read.record.kind == "JobConfigChanged"]
    for read in last.values():
        row = tale.row
        if read in gone and row.jobs.get(read.record.key) is None:
            continue  # deleted since
        assert fold(row, read) == row


@told
@given(stories)
def test_a_row_comes_back_from_text_and_decides_the_same(tale: Tale) -> None:
    for tier in TIERS:
        text = json.dumps(dump(tale.rows[tier]))
        back = load(json.loads(text))
        assert back == tale.rows[tier]
        assert json.dumps(dump(back)) == text
        assert list(decide(back, tale.now_ms)) == tale.would_emit(tier)


@told
@given(stories)
def test_deciders_look_ahead_as_the_fold_will(tale: Tale) -> None:
    ahead = tale.row
    for body in tale.would_emit():
        assert type(body).__name__ in component.says
        assert len(encode(body)) <= VALUE_BYTES_MAX
        ahead = applied(ahead, body, tale.now_ms)
        tale.told("default", body)
    # Of what is not said yet the id is not known.
    nameless = [
        {job: owed._replace(id="", decision_id="") for job, owed in row.owed.items()}
        for row in (ahead, tale.row)
    ]
    assert nameless[0] == nameless[1]
    stopped = [
        {job: one._replace(id="", decision_id="") for job, one in row.preempted.items()}
        for row in (ahead, tale.row)
    ]
    assert stopped[0] == stopped[1]
    assert set(ahead.words) == set(tale.row.words)
    row = tale.row
    assert ahead._replace(owed=row.owed, words=row.words, preempted=row.preempted) == row


def applied(row: Capacity, body: Body, now_ms: int) -> Capacity:
    record = Record("default/capacity", "", type(body).__name__, b"", body, tick_ms=now_ms)
    return fold(row, Read(CHAIN, "tiers.v1", 0, now_ms, record))


@told
@given(stories)
def test_sums_are_those_of_what_is_known(tale: Tale) -> None:
    """What is kept up to date piece by piece, added up anew."""
    for row in tale.rows.values():
        assert row.capacity == total(row.rooms.values())
        assert set(row.rooms) == {name for name, life in row.lives.items() if row.counts(life)}
        assert row.reserved == total(one.asked for one in row.jobs.values())
        used = NOTHING
        for use in row.uses.values():
            used = plus(used, total(amounts for _, amounts in use.parts))
        assert row.used == used
        for job in {*row.jobs, *row.limits, *row.wishes}:
            demand, limit = row.jobs.get(job), row.limits.get(job)
            due = job in row.wishes or (
                limit is not None and (demand is None or limit != demand.tasks)
            )
            assert (job in row.open) == due


@told
@given(stories)
def test_what_is_said_comes_to_an_end_and_every_grant_is_told_once(tale: Tale) -> None:
    tale.settle()
    for tier in TIERS:
        assert tale.would_emit(tier) == []
        assert list(effects(tale.rows[tier])) == []
    ids = [read.record.id for read in tale.log if read.place == TOLD]
    assert len(set(ids)) == len(ids)
    for tier in TIERS:
        alerts = [one for one in tale.said if getattr(one, "subject", "") == tier]
        raised = sum(isinstance(one, AlertRaised) for one in alerts)
        cleared = sum(isinstance(one, AlertCleared) for one in alerts)
        assert raised - cleared == (SHORTAGE in tale.rows[tier].alerts)


@told
@given(stories, st.integers(1, 4_000_000))
def test_what_only_time_calls_for_is_waited_for(tale: Tale, later_ms: int) -> None:
    tale.settle()
    for tier in TIERS:
        row = tale.rows[tier]
        at_ms = wake_ms(row, tale.now_ms)
        assert at_ms is None or at_ms > tale.now_ms
        if any(True for _ in decide(row, tale.now_ms + later_ms)):
            assert at_ms is not None
            assert at_ms <= tale.now_ms + later_ms


@told
@given(stories)
def test_the_last_word_to_each_job_is_what_stands(tale: Tale) -> None:
    """Of jobs that never changed their tier: in another one they have another manager."""
    tale.settle()
    row = tale.rows["default"]
    last: dict[str, CapacityGranted | PreemptionRequested] = {}
    for read in tale.log:
        body = read.record.body
        if isinstance(body, CapacityGranted | PreemptionRequested) and body.tier == "default":
            last[body.job] = body
    for job, said in last.items():
        if isinstance(said, PreemptionRequested):
            assert job in row.preempted
        else:
            assert job not in row.preempted
            assert said.tasks_max == row.limits.get(job)


@told
@given(stories)
def test_privileged_jobs_never_stop_and_nobody_does_before_the_tier_was_short_for_long(
    tale: Tale,
) -> None:
    tale.settle()
    for tier in TIERS:
        known: Capacity | None = None
        for read in tale.log:
            body = read.record.body
            if isinstance(body, JobsPreempted) and body.tier == tier:
                assert known is not None
                assert known.said is not None
                assert known.said.state == SHORT
                assert known.short_ms is not None
                assert read.record.tick_ms >= known.short_ms + known.sharing.short_ms
                assert len(body.jobs) <= AT_ONCE
                assert not any(known.jobs[job].privileged for job in body.jobs)
            known = fold(known, read, tier)


@told
@given(stories)
def test_reports_keep_their_distance(tale: Tale) -> None:
    for tier in TIERS:
        pause_ms = tale.rows[tier].sharing.pause_ms
        at_ms = [
            read.at_ms
            for read in tale.log
            if isinstance(read.record.body, CapacityReported) and read.record.body.tier == tier
        ]
        assert all(b - a >= pause_ms for a, b in pairwise(at_ms))


@told
@given(stories)
def test_what_is_given_fits_into_what_there_is(tale: Tale) -> None:
    """Limits never add up to more than a tier holds, but for what jobs had already."""
    tale.wait(3)
    row = tale.row
    if row.said is None or row.said.state not in (TIGHT, SHORT):
        # Where nothing is known any more, what stands stands.
        assert row.said is None or row.said.state != PLENTY or not row.limits
        return
    granted = NOTHING
    for job, most in row.limits.items():
        demand = row.jobs.get(job)
        if demand is not None and most > demand.tasks and job not in row.preempted:
            more = tuple(a * (most - demand.tasks) for a in demand.each)
            granted = plus(granted, more)
    room = tuple(max(0, a - b) for a, b in zip(row.capacity, row.reserved, strict=True))
    assert all(a <= room[at] for at, a in enumerate(granted) if row.capacity[at])


@settings(deadline=None, max_examples=25)
@given(stories)
def test_in_the_end_everything_is_as_it_was(tale: Tale) -> None:
    """When there is plenty for long, nobody is limited, stopped, or has what is another's."""
    for tier in TIERS:
        tale.define(tier)
    for n, tier in enumerate(TIERS):
        tale.start(*(f"{tier}-{one}" for one in range(3)), tier=tier, capacity={"cpu_cores": 400.0})
        tale.start(f"c{n}", tier=tier)
    for name in CONTAINERS:
        tale.drain(name, UndrainRequested)
    for job in JOBS:
        tale.job(job, 2)
        tale.content(job)
    for _ in range(10):
        tale.heed()
        _arrive(tale)
        tale.later(STEP_MS * 6 + 1)
    for tier in TIERS:
        row = tale.rows[tier]
        assert row.said is not None
        assert row.said.state == PLENTY
        assert not row.limits
        assert not row.preempted
        assert not row.loans
        assert not row.alerts
    assert all(told is None for told in tale.grants().values())


# --- single parts


configs = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(("tasks", "resources", "limits", "tier", "cpu_cores", "paused")),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.one_of(st.text(), configs.map(json.dumps)))
def test_whatever_a_config_says_a_job_asks_for_something_finite_or_nothing(text: str) -> None:
    versions = LayerVersions(1, 0, 0, 0)
    body = JobConfigChanged("a", "base", "1.a", 1, versions, "{}", text, "ops")
    record = Record("a", "x", "JobConfigChanged", encode(body), body)
    row = fold(None, Read("journal.v1/0", "journal.v1", 0, 1, record))
    demand = demand_of(text, "default")
    assert row.jobs.get("a") == demand
    if demand is not None:
        assert all(0 <= amount <= 2**60 for amount in demand.whole)
