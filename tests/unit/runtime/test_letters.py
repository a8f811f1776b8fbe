"""Which letters there are about many refused records, and who knows that they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from components.runtime.kafka import dead_letters as letters
from components.runtime.kafka.dead_letters import ALONE, DeadLetterWriter, LettersRead
from components.runtime.kafka.emitter import Emitter
from components.runtime.kafka.intake import SPOILT_BATCH, DeadLetter, Message, records_of, take_in

SHORT = "changes.base.v1"


class Written:
    """An emitter that keeps what is written, as messages of the letters' topic."""

    def __init__(self) -> None:
        self.found: list[Message] = []

    def write(self, _: str, partition: int, key: Any, value: Any, headers: Any) -> None:
        at = len(self.found)
        self.found.append(Message("dead-letters.v1", partition, at, 1, key, value, headers))

    def told(self, name: str) -> list[str]:
        heads = [dict(one.headers or ()) for one in self.found]
        return [(head.get(f"dead_letter_{name}") or b"").decode() for head in heads]


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def desk(written: Written) -> DeadLetterWriter:
    return DeadLetterWriter(cast("Emitter", written))


def bad(offset: int, partition: int = 0, **fields: Any) -> DeadLetter:
    one = {"at_ms": 7, "key": b"", "value": b"", "headers": None} | fields
    found = take_in(Message(SHORT, partition, offset, **one), 4, None)
    assert isinstance(found, DeadLetter)
    return found


def test_records_of_no_bytes_are_told_together(desk: DeadLetterWriter, written: Written) -> None:
    for offset in range(10, 20):
        desk.put(bad(offset))
    assert written.found == [], "not before it is known how many there are"
    desk.post()
    assert written.told("id") == [f"{SHORT}/0@10-19"]
    assert [records_of(one) for one in written.found] == [10]
    [said] = written.told("sentence")
    assert f"{SHORT}/0 at offset 10: " in said
    assert said.endswith("; so it is with 9 more up to offset 19")
    assert (written.told("offset"), written.told("last_offset")) == (["10"], ["19"])
    desk.post()
    assert len(written.found) == 1


def test_one_of_no_bytes_has_a_letter_as_any_other(
    desk: DeadLetterWriter, written: Written
) -> None:
    desk.put(bad(10, key=None, value=None))
    desk.post()
    assert written.told("id") == [f"{SHORT}/0@10"]
    assert written.told("records") == written.told("last_offset") == [""]
    assert [records_of(one) for one in written.found] == [1]


@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_so_many_of_a_place_have_a_letter_each(
    desk: DeadLetterWriter, written: Written, beyond: int
) -> None:
    for offset in range(ALONE + beyond):
        desk.put(bad(offset, value=b"junk %d" % offset))
        desk.put(bad(offset, partition=1, value=b"junk"))
    desk.post()
    ours = [one for one in written.found if one.key == f"{SHORT}/0".encode()]
    assert [one.value for one in ours[:ALONE]] == [b"junk %d" % n for n in range(ALONE)]
    assert sum(records_of(one) for one in ours) == ALONE + beyond
    assert len(ours) == ALONE + bool(beyond)
    if beyond:
        assert ours[-1].value == b"junk %d" % ALONE, "the first of them"
    desk.put(bad(1_000, value=b"later"))
    assert written.found[-1].value == b"later", "at another time there is room again"


def test_each_reason_has_its_own(desk: DeadLetterWriter, written: Written) -> None:
    for offset in range(10):
        desk.put(bad(offset, value=None if offset % 2 else b""))
    desk.post()
    assert written.told("id") == [f"{SHORT}/0@0-8", f"{SHORT}/0@1-9"]
    assert written.told("reason") == ["not-framed", "no-value"]
    assert written.told("records") == ["5", "5"]


def test_so_many_are_kept_until_they_are_written(
    desk: DeadLetterWriter, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "RUNS", 2)
    for partition in (0, 1):
        desk.put(bad(5, partition))
    assert written.found == []
    desk.put(bad(5, 2))
    assert written.told("place") == [f"{SHORT}/0", f"{SHORT}/1"]


def test_a_batch_that_nobody_inflates_has_a_letter_without_a_time(
    desk: DeadLetterWriter, written: Written
) -> None:
    for offset in (9, 19):
        desk.put(bad(offset, at_ms=0, key=None, value=None, spoilt=SPOILT_BATCH))
    assert written.told("reason") == ["spoilt-batch"] * 2
    assert written.told("at_ms") == ["", ""]
    desk.put(bad(20, value=b"junk"))
    assert written.told("at_ms")[-1] == "7"


def dense(offset: int) -> DeadLetter:
    return bad(offset)


def sparse(offset: int) -> DeadLetter:
    """Some have a letter of their own, and two reasons take turns."""
    value: bytes | None = b"junk" if offset % 7 == 0 else b""
    return bad(offset, value=None if offset % 3 == 0 else value)


@pytest.mark.parametrize("kind", [dense, sparse])
@pytest.mark.parametrize("cut", [1, 4, 100])
def test_whoever_reads_them_knows_which_records_they_are_about(
    desk: DeadLetterWriter, written: Written, kind: Callable[[int], DeadLetter], cut: int
) -> None:
    for offset in range(20, 60):
        desk.put(kind(offset))
        if offset % cut == 0:
            desk.post()
    desk.post()
    told = LettersRead(reversed(written.found))
    known = [offset for offset in range(100) if kind(offset) in told]
    assert known == list(range(20, 60))
    assert bad(30, partition=1) not in told
    assert sum(records_of(one) for one in written.found) == 40


def test_two_writers_need_not_agree_where_to_cut(written: Written) -> None:
    for cut in (3, 5):
        desk = DeadLetterWriter(cast("Emitter", written))
        for offset in range(20):
            desk.put(bad(offset))
            if offset % cut == 0:
                desk.post()
    told = LettersRead(written.found)
    assert [offset for offset in range(30) if bad(offset) in told] == list(range(19))


@pytest.mark.parametrize("header", [b"", b"0x7", "\u0662".encode(), b"9" * 5_000, None])
def test_a_header_that_is_no_number_is_one_record(header: bytes | None) -> None:
    one = Message("dead-letters.v1", 0, 0, 1, b"", b"", [("dead_letter_records", header)])
    assert records_of(one) == 1
    assert bad(1) not in LettersRead([one])
