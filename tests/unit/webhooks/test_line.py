"""One receiver's line: what is put aside and kept, and in which order, with fakes at its edges."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prometheus_client import REGISTRY

from components.runtime.kafka.intake import DeadLetter, Message
from components.webhooks.agents import REASON, ReceiverQueue
from components.webhooks.config import Hook
from components.webhooks.core.envelope import envelope, header_id
from components.webhooks.core.outbox import MESSAGES_MAX, Delivery, DeliveryAnswer, RetryLimits
from events.generated.records import AlertRaised, Body, JobDeleted, LayerVersions
from events.topics import ALERTS, OUTCOMES, place
from events.wire.codec import Record, encode, headers_of
from events.wire.lock import newest_of, read_lock
from tests.unit.webhooks.receiver import KEY

TAKEN, GONE = DeliveryAnswer(200, "200 OK"), DeliveryAnswer(410, "410 Gone")


def message(offset: int, key: str = "a", body: Body | None = None) -> Message:
    """One as the publisher writes it; P is 1 here."""
    said = body or JobDeleted(key, "1.x", LayerVersions(1, 0, 0, 0), "ana", "over")
    kind, topic = type(said).__name__, ALERTS if isinstance(said, AlertRaised) else OUTCOMES
    record = Record(
        key, f"id-{offset}", kind, encode(said), said, tick_ms=1_000, source="job-service",
        cause="1.x",
    )  # fmt: skip
    headers: Any = headers_of(record, topic)
    return Message(topic, 0, offset, 5_000, key.encode(), record.value, headers)


class Desk:
    """Reader, sender, bookmark and dead letters of a test, and all that was done in its order."""

    def __init__(self, hook: Hook, *messages: Message) -> None:
        self.unread = list(messages)
        self.sent: list[Delivery] = []
        self.done: list[tuple[str, Any]] = []
        self.closed = 0
        starts = {place(topic, 0): 0 for topic in hook.topics}
        self.line = ReceiverQueue(
            hook, 1, starts, reader=self, sender=self, bookmark=self, bury=self.bury
        )

    def poll(self, timeout_s: float, most: int = 200) -> list[Message]:
        found, self.unread = self.unread[:most], self.unread[most:]
        return found

    def send(self, delivery: Delivery) -> None:
        self.sent.append(delivery)

    def keep(self, positions: Mapping[str, int]) -> None:
        self.done.append(("kept", dict(positions)))

    def bury(self, letters: list[DeadLetter]) -> None:
        self.done.append(("buried", letters))

    def close(self) -> None:
        self.closed += 1

    def turn(self, answer: DeliveryAnswer = TAKEN, now_ms: int = 1) -> list[str]:
        """Reads, sends, and answers all that was sent."""
        self.line.read()
        self.line.send(now_ms)
        sent, self.sent = self.sent, []
        for one in sent:
            self.line.hear(one, answer, now_ms)
        return [one.id for one in sent]


def hook(**fields: Any) -> Hook:
    return Hook("pager", "https://hooks.example.org/secret-path", (KEY,), **fields)


def test_it_is_told_how_far_was_read_though_nothing_was_taken() -> None:
    """By that a log is found that was cut; what is kept lies below."""
    desk = Desk(hook(topics=(OUTCOMES,)), message(0), message(1))
    desk.line.read()
    desk.line.keep()
    assert desk.line.seen == {place(OUTCOMES, 0): 2}
    assert desk.done == [("kept", {place(OUTCOMES, 0): 0})]


def test_the_body_is_a_cloud_event_with_the_records_fields() -> None:
    desk = Desk(hook(), message(0))
    desk.line.read()
    desk.line.send(1)
    assert json.loads(desk.sent[0].body) == {
        "specversion": "1.0",
        "id": "id-0",
        "source": "job-service",
        "type": "turbine.JobDeleted",
        "subject": "a",
        "time": "1970-01-01T00:00:01.000Z",
        "datacontenttype": "application/json",
        "dataschema": newest_of(read_lock())["JobDeleted"].urn,
        "causationid": "1.x",
        "position": "outcomes.v1/0:0",
        "summary": "deleted by ana: over",
        "data": JobDeleted("a", "1.x", LayerVersions(1, 0, 0, 0), "ana", "over").to_plain(),
    }


def test_filters_pass_by_what_is_not_wanted_and_move_on() -> None:
    alert = AlertRaised("a", "lag", "critical", "why", "docs/runbooks/lag.md")
    desk = Desk(hook(jobs=("a",), kinds=frozenset({"JobDeleted"})),
                message(0, "b"), message(1), message(0, "a", alert))  # fmt: skip
    assert desk.turn() == ["id-1"]
    desk.line.keep()
    assert desk.done == [("kept", {"outcomes.v1/0": 2, "alerts.v1/0": 1})]


def test_what_cannot_be_read_is_passed_by() -> None:
    desk = Desk(hook(), message(0)._replace(value=b"nonsense"), message(1))
    assert desk.turn() == ["id-1"]
    desk.line.keep()
    assert desk.done[-1] == ("kept", {"outcomes.v1/0": 2, "alerts.v1/0": 0})


def test_what_is_given_up_is_put_aside_before_the_position_passes_it() -> None:
    desk = Desk(hook(), message(0))
    desk.turn(GONE)
    assert desk.done == []
    desk.line.keep()
    [(buried, [letter]), (kept, positions)] = desk.done
    assert (buried, kept, positions["outcomes.v1/0"]) == ("buried", "kept", 1)
    assert letter.reason == REASON
    assert letter.message == message(0)
    assert letter.id == "outcomes.v1/0@0@pager"
    assert letter.sentence == (
        "outcomes.v1/0 at offset 0: the webhook pager at https://hooks.example.org did not take"
        " JobDeleted id-0, asked once, the last time: 410 Gone; put the receiver right, then"
        " `turbine webhooks rewind pager --to outcomes.v1/0:0` sends it again"
    )
    desk.line.keep()
    assert desk.done[2:] == [("kept", {})]


def test_positions_never_pass_what_is_not_done() -> None:
    desk = Desk(hook(limits=RetryLimits(parallel=1)), message(0), message(1), message(2, "b"))
    desk.line.read()
    desk.line.send(1)
    desk.line.keep()
    assert desk.done == [("kept", {"outcomes.v1/0": 0, "alerts.v1/0": 0})]
    assert (desk.line.busy, desk.line.waiting) == (1, 3)
    desk.line.hear(desk.sent[0], TAKEN, 1)
    desk.line.keep()
    assert desk.done[-1] == ("kept", {"outcomes.v1/0": 1})


def test_no_more_is_read_than_there_is_room_for() -> None:
    desk = Desk(hook(), *(message(offset) for offset in range(MESSAGES_MAX + 400)))
    for _ in range(20):
        desk.line.read()
    assert MESSAGES_MAX <= desk.line.waiting < MESSAGES_MAX + 200
    assert desk.unread


def test_each_job_in_its_order_while_another_one_waits() -> None:
    desk = Desk(hook(limits=RetryLimits(parallel=2)), message(0), message(1), message(2, "b"))
    assert desk.turn() == ["id-0", "id-2"]
    assert desk.turn() == ["id-1"]


def test_it_leaves_reader_and_bookmark() -> None:
    desk = Desk(hook())
    desk.line.close()
    assert desk.closed == 2


def test_an_id_with_a_dot_is_hashed_where_it_would_divide_what_is_signed() -> None:
    assert header_id("0d9c-1_a") == "0d9c-1_a"
    assert header_id("a.b") == header_id("a.b") != header_id("a-b")
    assert len(header_id("x" * 129)) == 64


def test_the_source_and_time_of_a_record_without_them() -> None:
    from components.runtime.kafka.intake import take_in
    from events.wire.codec import Read

    bare = take_in(message(0)._replace(headers=[]), 1, None)
    assert isinstance(bare, Read)
    event = envelope(bare)
    assert (event["source"], event["time"]) == ("turbine", "1970-01-01T00:00:05.000Z")
    assert "causationid" not in event


def test_what_becomes_of_attempts_is_counted() -> None:
    def counted(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, {"hook": "counted", **labels}) or 0.0

    one = replace(hook(limits=RetryLimits(parallel=3)), name="counted")
    desk = Desk(one, message(0), message(1, "b"), message(2, "c"), message(3, "d"))
    desk.turn(DeliveryAnswer(0, "Connection refused"))
    assert counted("turbine_webhook_attempts_total", verdict="down") == 3
    assert counted("turbine_webhook_down") == 1
    desk.line.keep()
    assert counted("turbine_webhook_waiting") == 4
    desk.turn(TAKEN, 100_000)
    assert counted("turbine_webhook_attempts_total", verdict="taken") == 1
    assert counted("turbine_webhook_down") == 0
    desk.turn(GONE, 200_000)
    assert counted("turbine_webhook_given_up_total") == 3
