"""What tasks report commutes, and repetition changes nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from events.generated.records import Generation, TaskFailed, TaskStarted, TaskStopped
from projections.reports import Report, from_floor, newest, report_of


@st.composite
def words(draw: st.DrawFn) -> tuple[int, Report]:
    task = draw(st.integers(-1, 3))
    both = Generation(draw(st.integers(0, 4)), draw(st.integers(1, 2)))
    attempt, at_ms = draw(st.integers(1, 3)), draw(st.integers(0, 9))
    match draw(st.sampled_from(["started", "stopped", "failed"])):
        case "started":
            return task, report_of(TaskStarted("j", task, both, "c", 1, attempt=attempt), at_ms)
        case "stopped":
            cause = draw(st.sampled_from(["plan", "dropped"]))
            return task, report_of(TaskStopped("j", task, both, "c", 1, cause), at_ms)
        case _:
            pause = draw(st.sampled_from([None, 1_000]))
            body = TaskFailed("j", task, both, "c", 1, "x", "y", attempt, pause_ms=pause)
            return task, report_of(body, at_ms)


def folded(said: list[tuple[int, Report]], floor: int = 0) -> Map[int, Report]:
    known: Map[int, Report] = Map()
    for task, word in said:
        known = newest(known, task, word, floor)
    return known


@given(st.lists(words(), max_size=20), st.data())
def test_the_order_of_reports_does_not_matter(
    said: list[tuple[int, Report]], data: st.DataObject
) -> None:
    again = data.draw(st.permutations(said)) + said[:3]
    assert folded(again) == folded(said)


@given(st.lists(words(), max_size=20), st.integers(0, 5), st.data())
def test_a_floor_may_move_before_or_after(
    said: list[tuple[int, Report]], floor: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(said)))
    known = from_floor(folded(said[:cut]), floor)
    for task, word in said[cut:]:
        known = newest(known, task, word, floor)
    assert known == folded(said, floor)
    assert all(word.specs >= floor for word in known.values())


@given(st.lists(words(), max_size=20))
def test_no_task_has_an_index_below_none(said: list[tuple[int, Report]]) -> None:
    assert all(task >= 0 for task in folded(said))
