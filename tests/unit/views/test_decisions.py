"""The index of decisions: found by id, filtered, paged, counted; and bounded."""

from __future__ import annotations

import pytest

from events.wire.codec import SKIPPED, Read, Record
from turbine.read.state.decisions import CLASSES, DecisionFilter, Decisions, Names, class_of


def read_of(number: int, *, job: str = "a", kind: str = "JobConfigChanged", at: int = 0) -> Read:
    name = f"{number:08x}-0000-5000-8000-000000000000"
    record = Record(job, name, kind, b"", SKIPPED, parent="root", source="job-service")
    return Read(f"journal.v1/{at}", "journal.v1", number, 1_000 * number, record)


def index_of(count: int, most: int = 10_000) -> Decisions:
    """Of two jobs in turns; each third is void."""
    found = Decisions(most)
    for number in range(count):
        kind = "ScalingDeclined" if number % 2 else "JobConfigChanged"
        found.add(read_of(number, job="ab"[number % 2], kind=kind), number % 3 != 2)
    return found


def offsets(index: Decisions, wanted: DecisionFilter, limit: int = 100) -> list[int]:
    return [one.offset for one in index.page(wanted, limit)[0]]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (DecisionFilter(), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        (DecisionFilter(job="a"), [8, 6, 4, 2, 0]),
        (DecisionFilter(kind="ScalingDeclined"), [9, 7, 5, 3, 1]),
        (DecisionFilter(void=True), [8, 5, 2]),
        (DecisionFilter(job="b", void=False), [9, 7, 3, 1]),
        (DecisionFilter(component="nobody"), []),
        (DecisionFilter(upto={"journal.v1/0": 3}), [2, 1, 0]),
        (DecisionFilter(upto={}), []),
    ],
)
def test_the_wanted_ones_come_newest_first(wanted: DecisionFilter, numbers: list[int]) -> None:
    assert offsets(index_of(10), wanted) == numbers


def test_pages_go_on_where_they_end() -> None:
    index, seen, before = index_of(10), list[int](), ""
    while True:
        spots, before = index.page(DecisionFilter(job="a"), 2, before)
        seen += [one.offset for one in spots]
        if not before:
            break
    assert seen == [8, 6, 4, 2, 0]


@pytest.mark.parametrize(
    "before", ["journal.v1/0:77", "journal.v1/9:1", "nonsense", ":", "a:" + "9" * 30]
)
def test_a_position_that_is_none_has_nothing_before_it(before: str) -> None:
    assert index_of(10).page(DecisionFilter(), 5, before) == ([], "")


def test_a_decision_is_found_by_its_id_and_the_standing_one_of_two() -> None:
    index = index_of(4)
    index.add(read_of(2), stands=True)  # written twice: the first was void
    found = index.find(read_of(2).record.id)
    assert found is not None
    assert (found.offset, found.stands) == (2, True)
    assert index.find("nobody's") is None
    strange = Read(
        "tiers.v1/0", "tiers.v1", 0, 0, Record("t", "no uuid", "X", b"", None, parent="p")
    )
    index.add(strange, stands=True)
    again = index.find("no uuid")
    assert again is not None
    assert again.place == "tiers.v1/0"


def test_markers_count_by_class() -> None:
    told = index_of(10).markers(0, 10_000, 2)
    assert told["t_ms"] == [0, 5_000]
    assert (told["config"], told["scaling"]) == ([3, 2], [2, 3])
    assert all(told[name] == [0, 0] for name in ("sync", "placement", "alert"))
    assert sum(sum(told[name]) for name in CLASSES) == 10
    assert index_of(0).markers(0, 10, 1)["config"] == [0]


def test_each_kind_has_a_class() -> None:
    told = {kind: class_of(kind) for kind in ("AlertRaised", "SyncFailed", "TierDefined")}
    assert told == {"AlertRaised": "alert", "SyncFailed": "sync", "TierDefined": "placement"}


def test_at_the_bound_all_are_held_and_beyond_it_the_newer_half() -> None:
    most = 2_048
    full = index_of(most, most)
    assert (len(full), full.dropped) == (most, 0)
    more = index_of(most + 1, most)
    assert (len(more), more.dropped) == (most // 2 + 1, most // 2)
    assert offsets(more, DecisionFilter(), 1) == [most]
    assert more.find(read_of(0).record.id) is None


def test_names_beyond_the_bound_share_one() -> None:
    names = Names(3)
    assert [names.number(text) for text in ("a", "b", "c", "d", "a")] == [0, 1, 2, 2, 0]
    assert names.texts == ["a", "b", "other"]


def test_it_is_kept_and_put_back_also_beyond_the_bound() -> None:
    most = 2_048
    index, again, pieces = Decisions(most), Decisions(most), []
    for number in range(most + 500):
        index.add(read_of(number), number % 3 != 2)
        if number % 700 == 0:
            pieces.append(index.take_new())
    pieces.append(index.take_new())
    again.put_back(pieces)
    assert (len(again), again.dropped) == (len(index), index.dropped)
    assert again.page(DecisionFilter(), 5) == index.page(DecisionFilter(), 5)
    assert again.take_new()[0] == b""
