"""Whether the log is the one that was read: each way in which it is not has one sentence."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException

from components.job_service.decide import component as job_service
from components.runtime.core.ground import RUNBOOK, Ground, begin_at, headless, misfit, remedy_of
from components.runtime.core.standing import standing as publisher
from components.runtime.core.step import Stepper
from components.runtime.core.store import Restored
from components.runtime.faust.rows import KeptRows, Opened
from components.runtime.kafka import surveying
from components.runtime.kafka.surveying import TopicWatch, last_look
from components.runtime.process.exits import (
    EXIT_EVICTED,
    EXIT_FAILED_HANDLER,
    EXIT_REFUSED_WRITE,
    EXIT_STUCK,
    EXIT_UNREADABLE,
)
from events.topics import CHANGES_BASE, CLOCK, JOURNAL, OUTCOMES, place
from turbine_client.reading import LogUnreadable
from turbine_client.settings import Settings

AT, TICKS = place(JOURNAL, 0), place(CLOCK, 0)
IDS = {JOURNAL: "one"}
AWAY = KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN))


def ground(start: int, end: int, name: str = "one", at: str = AT) -> Ground:
    return Ground({JOURNAL: name}, {at: start}, {at: end})


@pytest.mark.parametrize("position", [3, 5, 9])
def test_a_position_within_the_log_fits(position: int) -> None:
    assert misfit(IDS, {AT: position}, ground(3, 9)) == ""


@pytest.mark.parametrize(
    ("position", "now", "told"),
    [
        (2, ground(3, 9), f"{AT}: it had been read up to 2, and what lies below 3 has expired or"),
        (10, ground(3, 9), f"{AT}: it had been read up to 10, and the log ends at 9, so it is"),
        (5, ground(0, 9, "two"), "the topic journal.v1 was deleted and made again: what"),
        (5, Ground(), "the topic journal.v1 is gone, and had been read"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(position: int, now: Ground, told: str) -> None:
    assert misfit(IDS, {AT: position}, now).startswith(told)


def test_of_the_clock_alone_nothing_is_lost() -> None:
    assert misfit({}, {TICKS: 2}, ground(3, 9, at=TICKS)) == ""
    assert misfit({}, {TICKS: 10}, ground(3, 9, at=TICKS)), "but it is another clock"


def test_decisions_need_the_first_of_them_and_nothing_else_does() -> None:
    assert headless(ground(0, 9)) == ""
    assert headless(ground(1, 9, at=place(CHANGES_BASE, 0))) == ""
    told = f"{AT}: what lies below 1 was deleted, and nothing stands without it; that topic has to"
    assert headless(ground(1, 9)).startswith(told)
    assert headless(ground(1, 9)).endswith(f"see {RUNBOOK}")


def test_what_was_never_read_begins_where_the_log_does() -> None:
    other = place(JOURNAL, 1)
    owner: Stepper[None] = Stepper(publisher, [AT, other, TICKS], lambda *_: True, seen={AT: 7})
    begin_at(owner, Ground({}, {AT: 2, other: 5, TICKS: 0}, {AT: 9, other: 5, TICKS: 0}))
    assert owner.seen == {AT: 7, other: 5, TICKS: 0}


class Asker:
    """An emitter and a broker of rows that are only asked."""

    def write(self, *_: object) -> None: ...


def test_kept_rows_that_know_nothing_of_a_place_do_not_fit_where_it_begins_late() -> None:
    """What came there and is gone was never read: only who begins from nothing begins behind it."""
    asker = cast("Any", Asker())
    rows: KeptRows[None] = KeptRows(Settings(), job_service, "one", asker)
    late, other = place(CHANGES_BASE, 1), place(CHANGES_BASE, 2)
    now = Ground(IDS, {AT: 0, late: 3, other: 0}, {AT: 9, late: 3, other: 0})
    kept: dict[int, Opened[Any]] = {
        0: Opened(0, Restored(seen={AT: 5}, log=IDS)),
        2: Opened(0, Restored(seen={TICKS: 1}, log=IDS)),
    }
    rows.stand(kept, now, "do this")
    kept[1] = Opened(0, Restored(seen={place(CLOCK, 1): 1}, log=IDS))
    with pytest.raises(
        LogUnreadable, match=f"^{late}: it had been read up to 0.* never read; do this$"
    ):
        rows.stand(kept, now, "do this")
    with pytest.raises(LogUnreadable, match="nothing stands without it"):
        rows.stand({0: kept[0]}, ground(1, 9), "do this")  # read beyond, and yet of no worth


def test_news_that_expired_cannot_be_told_any_more_and_a_log_that_ends_sooner_is_another() -> None:
    news = place(OUTCOMES, 0)
    assert misfit({}, {news: 2}, ground(3, 9, at=news)) == ""
    assert misfit({}, {news: 10}, ground(3, 9, at=news))


def test_the_remedy_is_a_command_and_a_page() -> None:
    assert remedy_of("job-service", "auto-scaler").endswith(
        "`turbine rows forget job-service auto-scaler`; see docs/runbooks/log-replaced.md"
    )


# --- looking again and again


class Surveyor:
    """One that finds what it is told to find, the last of it for ever."""

    def __init__(self, _: Settings) -> None:
        self.found = list(FOUND)

    def look(self, places: Mapping[str, int], topics: Mapping[str, str]) -> Ground:
        assert set(topics) == set(IDS)
        assert set(places) == {AT}
        found = self.found.pop(0) if len(self.found) > 1 else self.found[0]
        if isinstance(found, Exception):
            raise found
        return found


FOUND: list[Ground | Exception] = []


def watched(monkeypatch: pytest.MonkeyPatch, *found: Ground | Exception) -> tuple[str, int]:
    """What a watch tells of what it finds, and after how many looks."""
    FOUND[:] = found
    monkeypatch.setattr(surveying, "Surveyor", Surveyor)
    told, looks, heard = [""], [0], threading.Event()

    def seen() -> tuple[Mapping[str, str], Mapping[str, int]]:
        looks[0] += 1
        return IDS, {AT: 5}

    def tell(why: str) -> None:
        told[0] = why
        heard.set()

    watch = TopicWatch(Settings(), seen, remedy="do this", tell=tell, every_s=0.001)
    assert heard.wait(60)
    watch.close()
    return told[0], looks[0]


def test_a_watch_tells_what_two_looks_in_a_row_have_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, gone = ground(0, 9), Ground()
    why, looks = watched(monkeypatch, fits, gone, fits, gone, AWAY, gone, ground(0, 9, "two"))
    assert why == (
        "the topic journal.v1 was deleted and made again: what had been read was another"
        " log's; do this"
    )
    assert looks >= 7, "one look that found something, and a broker that was away, told nothing"


def test_a_watch_tells_at_once_that_the_beginning_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    why, _ = watched(monkeypatch, ground(0, 9), ground(5, 9))
    assert why == headless(ground(5, 9)), "the position that was read up to is still there"


# --- before a process ends


def ended(
    monkeypatch: pytest.MonkeyPatch, code: int, *found: Ground | Exception
) -> tuple[int, str]:
    """With what a process ends that would have ended with the code."""
    FOUND[:] = found
    monkeypatch.setattr(surveying, "Surveyor", Surveyor)
    monkeypatch.setattr(surveying, "AGAIN_S", 0.001)
    monkeypatch.setattr(surveying, "_WATCHES", [])  # other tests' own go on in this process
    watch = TopicWatch(Settings(), lambda: (IDS, {AT: 5}), remedy="do this", every_s=60)
    try:
        return last_look(code, "as it was met")
    finally:
        watch.close()


@pytest.mark.parametrize("code", [EXIT_FAILED_HANDLER, EXIT_REFUSED_WRITE, EXIT_EVICTED])
def test_what_a_cut_log_did_to_a_process_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    told, why = ended(monkeypatch, code, AWAY, ground(0, 3))
    assert told == EXIT_UNREADABLE
    assert (
        why
        == f"{AT}: it had been read up to 5, and the log ends at 3, so it is another log; do this"
    )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (EXIT_REFUSED_WRITE, [ground(0, 9)]),
        (EXIT_REFUSED_WRITE, [Ground(), ground(0, 9)]),  # a broker that has just started
        (EXIT_STUCK, [ground(0, 3)]),  # it has been waited for long enough
    ],
)
def test_what_lies_behind_nothing_is_told_as_it_was_met(
    monkeypatch: pytest.MonkeyPatch, code: int, found: list[Ground]
) -> None:
    assert ended(monkeypatch, code, *found) == (code, "as it was met")


def test_a_broker_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "ASK_S", 0.0)
    assert ended(monkeypatch, EXIT_EVICTED, AWAY) == (EXIT_EVICTED, "as it was met")


def test_who_is_watched_no_more_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    ended(monkeypatch, EXIT_EVICTED, ground(0, 3))
    assert last_look(EXIT_EVICTED, "as it was met") == (EXIT_EVICTED, "as it was met")
