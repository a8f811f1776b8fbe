"""Workers that die, freeze, join, leave and lose what they kept: every change has one verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, but not re-exported
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from components.runtime.core.store import CLAIM
from events.topics import BY_SHORT, TOPICS, place
from events.wire.codec import encode
from infra.topics import apply_topics
from infra.waiting import WAIT_S, until, within
from tests.integration.changes import (
    Author,
    Load,
    all_answered,
    all_derive,
    decisions,
    job_in,
    proposal,
    verdict,
)
from tests.integration.processes import PARTITIONS, Fleet, Process, fleet_on
from turbine.failures import Code
from turbine_client.clients import (
    admin,
    producer,
)
from turbine_client.reading import committed_now, ends_now, read_span, starts_now

pytestmark = pytest.mark.broker

GROUP = "turbine-job-service"
ROWS = "rows.job-service.v1"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("worker")) as fleet:
        fleet.start("clock")
        yield fleet


@pytest.fixture
def fleet(shared: Fleet) -> Iterator[Fleet]:
    """The module's broker and clock; the workers of a test end with it."""
    yield shared
    shared.end("job-service")


@pytest.mark.parametrize("kills", [1, pytest.param(6, marks=pytest.mark.chaos)])
def test_a_worker_is_killed_in_mid_flight_and_comes_back(fleet: Fleet, kills: int) -> None:
    again, two = fleet.workers("w0", "w1")
    with Load(fleet.settings, f"killed-{kills}") as load:
        until(lambda: load.sent > 200, "load")
        for _ in range(kills):
            again.kill()
            at = load.sent
            until(lambda: load.sent > at + 200, "load beside a dead worker")  # noqa: B023 - now
            again = fleet.worker("w0")
            at = load.sent
            until(lambda: load.sent > at + 200, "load on both")  # noqa: B023 - now
    all_answered(fleet.settings, load.author.taken)
    assert again.alive
    assert two.alive
    all_derive(fleet.settings)


def test_nothing_is_lost_that_comes_while_partitions_are_shared_out(fleet: Fleet) -> None:
    """The first records of places of which nothing was committed yet."""
    one = fleet.worker("w0")
    author = Author(fleet.settings)
    two = fleet.start("job-service", "w1")
    until(
        lambda: "rebalancing" in one.text() or one.said("assigned") > 1 or two.said("assigned"),
        "the first hears of it",
        pause_s=0.001,
    )
    for layer, partition in product(("oncall", "scaler", "provisioner"), range(PARTITIONS)):
        author.ask(proposal(job_in(partition, layer)), layer)
    author.settle()
    all_answered(fleet.settings, author.taken)
    assert (one.alive, two.alive) == (True, True)


def test_a_worker_joins_and_leaves_in_order(fleet: Fleet) -> None:
    [one] = fleet.workers("w0")
    with Load(fleet.settings, "joined") as load:
        until(lambda: load.sent > 100, "load")
        two = fleet.start("job-service", "w1")
        both = (one, two)
        until(lambda: _fell(both) or _shared_by(both), "the second has its share, of the first")
        assert _fell(both) == []
        assert two.stop() == 0
        # A static member is missed only when its session has run out.
        until(lambda: len(one.partitions()) == PARTITIONS, "the first has all again")
    all_answered(fleet.settings, load.author.taken)
    assert one.stop() == 0
    all_derive(fleet.settings)


def test_a_frozen_worker_wakes_up_beside_its_successor_and_dies(fleet: Fleet) -> None:
    one, two = fleet.workers("w0", "w1")
    with Load(fleet.settings, "frozen") as load:
        until(lambda: load.sent > 100, "load")
        one.freeze()
        until(lambda: len(two.partitions()) == PARTITIONS, "the other took over")
        at = load.sent
        until(lambda: load.sent > at + 100, "load on the other")
        one.thaw()
        assert one.ends() == 77
        assert "another may own the partitions" in one.why()
    all_answered(fleet.settings, load.author.taken)
    assert two.alive
    all_derive(fleet.settings)


def _shared_by(workers: Sequence[Process]) -> bool:
    return all(0 < len(worker.partitions()) < PARTITIONS for worker in workers)


def _fell(workers: Sequence[Process]) -> list[str]:
    """What those said that have ended."""
    return [worker.text() for worker in workers if not worker.alive]


def _some_decisions(fleet: Fleet, prefix: str, *, in_order: bool = False) -> int:
    """Has some made by a worker that then ends; how many lie in the journal in all."""
    worker = fleet.worker("w0")
    author = Author(fleet.settings)
    asked = [author.ask(proposal(job_in(p, prefix))) for p in range(PARTITIONS)]
    author.settle()
    all_answered(fleet.settings, asked)
    if in_order:
        assert worker.stop() == 0
    else:
        worker.kill()
    return len(decisions(fleet.settings))


def _goes_on(fleet: Fleet, prefix: str, said: int) -> None:
    """A new worker says nothing again, and answers what is asked now, in every partition."""
    fleet.worker("w0")
    author = Author(fleet.settings)
    asked = [author.ask(proposal(job_in(p, prefix))) for p in range(PARTITIONS)]
    author.settle()
    all_answered(fleet.settings, asked)
    # The first thing said in a partition comes after all that a rebuilt row would call for.
    assert len(decisions(fleet.settings)) == said + len(asked)
    all_derive(fleet.settings)


def test_the_groups_offsets_are_deleted(fleet: Fleet) -> None:
    said = _some_decisions(fleet, "uncommitted", in_order=True)
    places = [place("journal.v1", p) for p in range(PARTITIONS)]
    assert sum(committed_now(fleet.settings, GROUP, places).values()) == said
    client = admin(fleet.settings)

    def deleted() -> bool:
        try:
            client.delete_consumer_groups([GROUP])[GROUP].result(WAIT_S)
        except KafkaException:  # a static member is in the group until its session runs out
            return False
        return True

    until(deleted, "the group is deleted")
    assert sum(committed_now(fleet.settings, GROUP, places).values()) == 0
    _goes_on(fleet, "uncommitted", said)


def test_a_start_waits_for_no_tick(fleet: Fleet) -> None:
    """Where nothing goes on the next one may be half a minute away: the last one is read again."""
    said = _some_decisions(fleet, "untimed", in_order=True)
    fleet.end("clock")
    try:
        _goes_on(fleet, "untimed", said)
    finally:
        fleet.start("clock")


def _set_policy(fleet: Fleet, policy: str) -> None:
    client, name = admin(fleet.settings), BY_SHORT[ROWS].name
    entry = ConfigEntry("cleanup.policy", policy, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
    client.incremental_alter_configs([resource])[resource].result(WAIT_S)

    def is_so() -> bool:
        asked = ConfigResource(ResourceType.TOPIC, name)
        found = client.describe_configs([asked])[asked].result(WAIT_S)
        return str(found["cleanup.policy"].value) == policy

    until(is_so, f"cleanup.policy is {policy}")


@pytest.mark.parametrize("share", [0.5, pytest.param(1.0, marks=pytest.mark.chaos)])
def test_kept_rows_are_deleted_and_folded_again_from_the_log(fleet: Fleet, share: float) -> None:
    """Half of them is worse than all: what is left looks like a whole."""
    prefix = f"deleted-{share:g}"
    letters = ends_now(fleet.settings, ["dead-letters.v1/0"])
    author = Author(fleet.settings)
    author.producer.produce(BY_SHORT["operator.v1"].name, key=b"nonsense", value=b"nonsense")
    author.settle()
    said = _some_decisions(fleet, prefix, in_order=True)
    told = ends_now(fleet.settings, ["dead-letters.v1/0"])
    assert told["dead-letters.v1/0"] == letters["dead-letters.v1/0"] + 1
    places = [place(ROWS, p) for p in range(PARTITIONS)]
    first, next_ = starts_now(fleet.settings, places), ends_now(fleet.settings, places)
    client = admin(fleet.settings)
    # The broker deletes nothing from a topic that is compacted only: somebody changed the policy.
    _set_policy(fleet, "compact,delete")
    cut = [
        TopicPartition(BY_SHORT[ROWS].name, p, first[at] + int((next_[at] - first[at]) * share))
        for p, at in enumerate(places)
    ]
    for done in client.delete_records(cut).values():
        done.result(WAIT_S)
    process = fleet.start("job-service", "w0")
    ended, why = process.ends(), process.text()
    _set_policy(fleet, "compact")
    assert ended == Code.FAILED
    assert "cleanup.policy should be compact and is compact,delete" in why
    _goes_on(fleet, prefix, said)
    assert ends_now(fleet.settings, ["dead-letters.v1/0"]) == told
    if share < 1:  # what was folded anew is kept, and from now on trusted again
        fleet.processes[-1].kill()
        _goes_on(fleet, f"{prefix}-again", said + PARTITIONS)


def test_kept_rows_of_another_form_are_left_aside(fleet: Fleet) -> None:
    said = _some_decisions(fleet, "unfit")
    forger, name = producer(fleet.settings), BY_SHORT[ROWS].name
    for p, claim in _claims(fleet).items():
        # As if the owner had kept it in another form: under its claim.
        key, headers = job_in(p, "unfit").encode(), [("claim", str(claim).encode())]
        forger.produce(name, key=key, value=b'{"row": 7}', partition=p, headers=headers)
        forger.produce(name, key=b"\xff", value=b"?", partition=p)
    assert forger.flush(within(WAIT_S)) == 0
    _goes_on(fleet, "unfit", said)
    assert fleet.processes[-1].said("kept rows left aside") == PARTITIONS


def _claims(fleet: Fleet) -> dict[int, int]:
    """The offset of the last claim of each partition."""
    spans = {place(ROWS, p): (0, None) for p in range(PARTITIONS)}
    found = [one for poll in read_span(fleet.settings, spans) for one in poll]
    return {one.partition: one.offset for one in found if one.key.startswith(CLAIM.encode())}


def test_a_log_that_ends_with_an_authors_transaction_keeps_nobody_waiting(fleet: Fleet) -> None:
    """Its marker is the last offset and no record: whoever waits to read it waits for ever."""
    places = [place("changes.base.v1", p) for p in range(PARTITIONS)]
    before = ends_now(fleet.settings, places)
    author = producer(fleet.settings, **{"transactional.id": "author"})
    author.init_transactions(WAIT_S)
    author.begin_transaction()
    asked = []
    for p in range(PARTITIONS):
        body = proposal(job_in(p, "marker"))
        asked.append(body.change_id)
        author.produce(BY_SHORT["changes.base.v1"].name, key=body.job.encode(), value=encode(body))
    author.commit_transaction(WAIT_S)

    def marked() -> bool:
        ends = ends_now(fleet.settings, places)
        return all(ends[at] == offset + 2 for at, offset in before.items())

    # The broker acknowledges a transaction a little before its readers get to see it.
    until(marked, "a record and a marker in each partition")
    fleet.worker("w0")
    all_answered(fleet.settings, asked)  # two doors are read in any order: first there is a job
    plain = Author(fleet.settings)
    body = proposal(job_in(0, "marker"), set_json='{"tasks": 2}', reason="traffic")
    assert verdict(fleet.settings, plain.ask(body, "oncall")).layer == "oncall"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_on(tmp_path_factory.mktemp("bare"), topics=False) as fleet:
        yield fleet


def test_topics_that_are_missing_or_unlike_are_told_in_a_sentence(bare: Fleet) -> None:
    """In this order: topics are never taken away."""

    def told(name: str) -> str:
        process = bare.start(name)
        assert process.ends() == Code.FAILED
        [line] = process.text().splitlines()
        return line

    for name in ("job-service", "publisher", "clock"):
        assert "turbine.journal.v1: partitions should be 4 and is missing" in told(name)
    client = {"bootstrap.servers": bare.broker.bootstrap}
    unlike = [BY_SHORT["changes.oncall.v1"], BY_SHORT["rows.publisher.v1"]]
    apply_topics(client, unlike, PARTITIONS + 1)
    apply_topics(client, [topic for topic in TOPICS if topic not in unlike], PARTITIONS)
    for name in ("job-service", "publisher", "clock"):
        assert "turbine.changes.oncall.v1: partitions should be 4 and is 5" in told(name)
