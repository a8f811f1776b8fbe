"""The small pure parts: periods, claims, knobs, and the words between supervisor and engine."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.task_manager.core.periods import UNIT, Periods, periods_of, scale_of
from components.task_manager.heartbeat import digest_of
from tasks import session as seat
from tasks.core.claims import Claim, claim_of
from tasks.core.process_knobs import BadKnob, Knobs, knobs_of
from tasks.core.protocol import (
    REFUSED,
    Ended,
    InputSpot,
    Left,
    RunLoads,
    Started,
    WorkOrder,
    event_of,
    line,
)
from tasks.counters import LOOKED_MS_MAX, Counters
from tasks.process_engine.engine import measured
from tasks.session import Over, TaskSession, refuse_reserved
from tasks.watchdog import LOOK_S, Watchdog
from turbine_client.settings import Settings

numbers = st.integers(0, 5)
claims = st.builds(Claim, numbers, numbers, numbers, st.sampled_from(["c1", "c2"]), numbers)
MINE = Claim(4, 7, 1, "c1", 2)


# --- periods


def test_all_periods_scale_and_none_becomes_nothing() -> None:
    tenth = Periods().scaled(100)
    assert (tenth.load_ms, tenth.stop_ms, tenth.pause_ms) == (6_000, 3_000, 100)
    assert set(Periods().scaled(1)) >= {1}
    assert min(Periods(1, 1, 1, 1, 1, 1, 1).scaled(1)) == 1
    assert Periods().scaled(UNIT) == Periods()


@pytest.mark.parametrize(
    ("failures", "pause_ms"), [(0, 1), (1, 1), (2, 2), (6, 32), (7, 60), (10**9, 60)]
)
def test_pauses_double_up_to_a_minute(failures: int, pause_ms: int) -> None:
    assert Periods().pause_after(failures) == 1_000 * pause_ms


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ('{"time_per_mille": 100}', 100),
        ("{}", UNIT),
        ("", UNIT),
        ("[1]", UNIT),
        ("no JSON", UNIT),
        ('{"time_per_mille": 0}', UNIT),
        ('{"time_per_mille": true}', UNIT),
        ('{"time_per_mille": "100"}', UNIT),
        ('{"time_per_mille": 100001}', UNIT),
    ],
)
def test_the_scale_is_the_tiers_or_the_usual_one(text: str, scale: int) -> None:
    assert scale_of(text) == scale


def test_what_tasks_take_to_stop_and_start_scales_by_itself_where_a_tier_says_so() -> None:
    tenth = Periods().scaled(100)
    assert periods_of('{"time_per_mille": 100}') == tenth
    apart = periods_of('{"time_per_mille": 100, "acts_per_mille": 1000}')
    assert apart == tenth._replace(stop_ms=Periods().stop_ms, start_ms=Periods().start_ms)


# --- claims


@given(claims)
def test_a_claim_comes_back_from_the_metadata(claim: Claim) -> None:
    assert claim_of(claim.text()) == claim
    assert claim_of(claim.text() + "\0") == claim
    assert not claim.outranks(claim)


@pytest.mark.parametrize(
    "text",
    [None, "", "\0", "{", "[]", "5", "{}", '{"specs":1}', MINE.text().replace("4", '"4"')],
)
def test_what_others_leave_in_the_metadata_is_no_claim(text: str | None) -> None:
    assert claim_of(text) is None


def test_a_newer_shape_of_the_job_outranks_whatever_the_shard() -> None:
    assert MINE._replace(specs=5, shard=1, shard_number=9).outranks(MINE)
    assert not MINE._replace(specs=3, shard=9).outranks(MINE)


def test_generations_of_one_shard_are_compared_and_of_two_are_not() -> None:
    assert MINE._replace(shard=8, container="c2").outranks(MINE)
    assert not MINE._replace(shard=6).outranks(MINE)
    assert not MINE._replace(shard=8, shard_number=2).outranks(MINE)


@given(claims, claims)
def test_no_two_outrank_each_other(one: Claim, other: Claim) -> None:
    assert not (one.outranks(other) and other.outranks(one))


# --- knobs


def test_knobs_are_found_among_other_arguments() -> None:
    argv = ("--window", "60", "--work-us", "5", "--ignore-sigterm", "--fail-after", "0")
    assert knobs_of(argv) == Knobs(work_us=5, fail_after=0, ignore_sigterm=True)
    assert knobs_of(("--window", "60")) == Knobs()


def test_a_batch_waits_half_a_second_at_most() -> None:
    knobs = knobs_of(("--wait-us", "5000", "--at-once", "4", "--among", "2"))
    assert (knobs.wait_us, knobs.batch_records) == (2500, 200)
    assert knobs_of(("--wait-us", "9000000")).batch_records == 2
    assert Knobs().batch_records == 10_000


@pytest.mark.parametrize("argv", [("--work-us",), ("--work-us", "-1"), ("--work-us", "x" * 99)])
def test_a_knob_without_a_number_is_refused_in_a_sentence(argv: tuple[str, ...]) -> None:
    with pytest.raises(BadKnob, match="--work-us is followed by a whole number"):
        knobs_of(argv)


# --- words


def work() -> WorkOrder:
    return WorkOrder(
        run=3,
        job="orders",
        task=1,
        specs=2,
        shard=5,
        shard_number=7,
        container="c1",
        epoch=1,
        operator="a:b",
        guarantee="exactly_once",
        argv=("--x",),
        inputs=(("clicks", (0, 1)),),
        checkpoint="/c",
        config_json="{}",
        memory_bytes=None,
        cpu_cores=0.5,
        package="p",
        package_version="1",
        threads=1,
    )


@pytest.mark.parametrize(
    "more",
    [
        {"config_json": '{"output":{"topic":"turbine.operator.v1"}}'},
        {"inputs": (("clicks", (0,)), ("turbine.operator.v1", (1,)))},
    ],
)
def test_a_task_of_the_logs_own_topics_is_not_run(more: dict[str, Any]) -> None:
    refuse_reserved(work(), Settings())
    with pytest.raises(Over) as over:
        refuse_reserved(work()._replace(**more), Settings())
    assert (over.value.how, over.value.cause) == (REFUSED, "reserved-topic")
    assert str(over.value) == (
        "turbine.operator.v1 is no topic for a job; change its config: name a topic of your own,"
        ' which begins with neither "turbine." nor "__"'
    )


def test_a_task_of_the_own_logs_topics_is_not_run_under_any_prefix() -> None:
    one = work()._replace(inputs=(("staging.operator.v1", (1,)),))
    refuse_reserved(one, Settings())
    with pytest.raises(Over) as over:
        refuse_reserved(one, Settings(prefix="staging"))
    assert (over.value.how, over.value.cause) == (REFUSED, "reserved-topic")
    assert str(over.value) == (
        "staging.operator.v1 is no topic for a job; change its config: name one that does not begin"
        ' with "staging."'
    )


def seat_of(
    one: WorkOrder, monkeypatch: pytest.MonkeyPatch
) -> tuple[TaskSession, dict[str, object]]:
    """One without a broker, and what its clients were made with."""
    made: dict[str, object] = {}
    monkeypatch.setattr(seat, "transactional", lambda _, name, *__, **___: made.update(name=name))
    monkeypatch.setattr(seat, "consumer", lambda _, **more: made.update(more))
    nothing: Any = None
    return TaskSession(one, Settings(prefix="staging"), nothing, lambda: False), made


def test_a_task_has_its_names_at_the_broker_from_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    _, made = seat_of(work(), monkeypatch)
    assert (made["group.id"], made["name"]) == ("staging-job.orders", "staging-job.orders/1")


def test_who_would_read_the_logs_own_topics_takes_no_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = seat_of(work()._replace(inputs=(("turbine.operator.v1", (1,)),)), monkeypatch)
    with pytest.raises(Over, match=r"turbine\.operator\.v1 is no topic for a job"):
        one.take()


def test_work_goes_through_a_pipe_unchanged() -> None:
    plain = json.loads(line("start", work=work().to_plain()))
    assert WorkOrder.from_plain(plain["work"]) == work()
    assert work().name == "orders/1"
    assert work().places == (("clicks", 0), ("clicks", 1))


@pytest.mark.parametrize(
    "event",
    [
        Started(3, (InputSpot("clicks", 0, 9),)),
        Ended(
            3, "failed", "operator-error", "it broke", "ValueError", (InputSpot("clicks", 0, 9),)
        ),
    ],
)
def test_events_go_through_a_pipe_unchanged(event: Started | Ended) -> None:
    what = type(event).__name__.lower()
    assert event_of(json.loads(line(what, **event._asdict()))) == event


def test_loads_are_by_run_and_unknown_words_are_nobodys() -> None:
    left = Left("clicks", 1, 7, None, 12)
    said = line("loads", runs={3: {"cpu_ms": None}}, partitions={3: [left]})
    assert event_of(json.loads(said)) == RunLoads({3: {"cpu_ms": None}}, {3: (left,)})
    old = event_of(json.loads(line("loads", runs={3: {"cpu_ms": None}})))
    assert old == RunLoads({3: {"cpu_ms": None}}, {})
    older = event_of(json.loads(line("loads", runs={}, partitions={3: [left[:4]]})))
    assert older == RunLoads({}, {3: (Left("clicks", 1, 7),)}), "what it does not tell is unknown"
    assert event_of({"what": "song"}) is None
    assert event_of({}) is None


# --- counters, digests, watches


def test_counters_add_up_and_do_not_know_the_lag_at_first() -> None:
    one, two = ("clicks", 0), ("clicks", 1)
    counters = Counters([one, two])
    first, left = counters.read(5)
    assert (first["lag_records"], first["checkpoint_age_ms"]) == (None, None)
    assert left == [Left(*one, read=0), Left(*two, read=0)]
    counters.add({one: 5}, 50, 1, 10)
    counters.add({one: 2, two: 3}, 50, 1, 10)
    counters.lag({one: 7, two: 0}, 5)
    counters.busy(3)
    counters.committed(12)
    found, left = counters.read(15)
    assert found == {
        "records_in": 10,
        "bytes_in": 100,
        "records_out": 2,
        "bytes_out": 20,
        "lag_records": 7,
        "busy_us": 3,
        "checkpoint_age_ms": 3,
    }
    assert left == [Left(*one, 7, read=7), Left(*two, 0, read=3)]
    counters.lag({one: 7, two: None}, 15)
    found, left = counters.read(15)
    assert found["lag_records"] is None
    assert left == [Left(*one, 7, read=7), Left(*two, read=3)]


def test_who_reads_nothing_is_behind_nothing() -> None:
    counters = Counters()
    counters.lag({}, 15)
    found, left = counters.read(15)
    assert (found["lag_records"], found["records_in"], left) == (0, 0, [])


@pytest.mark.parametrize(("later_ms", "known"), [(LOOKED_MS_MAX, 7), (LOOKED_MS_MAX + 1, None)])
def test_a_lag_that_nobody_has_looked_at_for_long_is_unknown(
    later_ms: int, known: int | None
) -> None:
    one = ("clicks", 0)
    counters = Counters([one])
    counters.lag({one: 7}, 1_000)
    counters.add({one: 3}, 1, 1, 1)
    found, left = counters.read(1_000 + later_ms)
    assert found["lag_records"] == known
    assert left == [Left(*one, known, read=3)], "what was read stays known"


def test_a_digest_tells_shards_and_generations_apart() -> None:
    found = {digest_of(held) for held in ([(1, 2)], [(2, 1)], [(1, 3)], [(1, 2), (2, 1)])}
    assert len(found) == 4
    assert digest_of([]) == ""


def test_a_call_that_does_not_return_ends_the_process_and_one_that_does_ends_nothing() -> None:
    ended: list[str] = []
    watch = Watchdog(lambda _, sentence: ended.append(sentence))
    most = round(3600 / LOOK_S)
    with watch.within(3600, "commit"):
        for _ in range(most - 5):  # its own thread may look as well meanwhile
            watch.look()
        assert ended == []
    watch.look()
    assert ended == []
    with watch.within(3600, "commit"):
        for _ in range(most + 1):
            watch.look()
    assert ended
    assert ended[0] == "commit did not return in 3600 s"


def test_of_a_processors_time_both_modes_count() -> None:
    """And nothing of what children took that it had."""
    child: Any = SimpleNamespace(pid=os.getpid(), counters=Counters())
    before, (used, _), after = os.times(), measured(child), os.times()
    assert used["cpu_ms"] is not None
    least, most = (1000 * (one.user + one.system) for one in (before, after))
    assert least - 20 <= used["cpu_ms"] <= most + 20
    assert (used["memory_bytes"] or 0) > 2**20
